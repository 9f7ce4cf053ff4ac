// One real endpoint against a test that writes every packet itself.
#pragma once

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dccp/ccid2.h"
#include "dccp/endpoint.h"
#include "tests/support/wire_peer_packet.h"

namespace dccp {
namespace peer {

// Seeded, so that runs repeat (SplitMix64).
class TestRandom final : public RandomSource {
 public:
  explicit TestRandom(std::uint64_t seed) : state_(seed) {}
  void Fill(std::span<std::byte> out) override;
  std::uint64_t Below(std::uint64_t bound) { return NextUint64() % bound; }

 private:
  std::uint64_t state_;
};

struct WirePeerConfig {
  Encapsulation encapsulation = Encapsulation::kUdp;
  IpFamily family = IpFamily::kV4;
  ConnectionOptions options = {};  // of both Connect and Listen; the ISS is kIss unless set
  std::vector<ServiceCode> service_codes = {ServiceCode()};
  std::string request_data = {};
  std::uint64_t seed = 1;
  bool fixed_iss = true;  // false: unpredictable, as in the field
  std::function<void(EndpointConfig&)> adjust = {};
  std::function<void(ListenParams&)> adjust_listen = {};
};

// The endpoint's first sequence number, and the one with which tests begin as its peer.
inline constexpr std::uint64_t kIss = 1000;
inline constexpr std::uint64_t kPeerIss = 5000;

// Owns an Endpoint with CCID 2 in virtual time and plays its peer: what the test injects is what
// arrives, what the endpoint sends is kept, decoded, until Take(). Nothing is answered but by the
// test. After each call everything that the endpoint has to send at that moment has been collected.
class WirePeer {
 public:
  explicit WirePeer(WirePeerConfig config = {});

  static constexpr std::uint16_t kEndpointPort = 5001;
  static constexpr std::uint16_t kPeerPort = 50000;

  // ---- set-up
  void Listen();
  void Connect();
  // Request, Response, and an Ack that confirms all that the Response asked for; the endpoint's
  // connection is then OPEN. `request_options` go on the Request.
  void OpenAsServer(const Octets& request_options = {});
  // The same with the endpoint as client; `response_options` go on the Response after the Confirms.
  void OpenAsClient(const Octets& response_options = {});
  // The endpoint in REQUEST, RESPOND or PARTOPEN.
  void ClientInRequest();
  void ServerInRespond(const Octets& request_options = {});
  void ClientInPartOpen(const Octets& response_options = {});

  // ---- as the peer
  void Inject(const PacketSpec& spec);
  void InjectRaw(std::span<const std::byte> bytes, Ecn ecn = Ecn::kNotEct);
  void InjectRawFrom(std::span<const std::byte> bytes, const Path& path, Ecn ecn = Ecn::kNotEct);
  Bytes BuildPacket(const PacketSpec& spec) const;
  void Icmp(IcmpKind kind, std::span<const std::byte> quoted, std::uint32_t mtu_bytes = 0);
  // The peer's next unused number. Every call takes one.
  std::uint64_t Next() { return next_++; }
  std::uint64_t PeekNext() const { return next_; }
  // The greatest number that the endpoint has used.
  std::uint64_t gss() const { return gss_; }
  // What the endpoint sent since the last call, in order.
  std::vector<SentPacket> Take() { return std::exchange(sent_, {}); }
  // Take() where exactly one packet is expected.
  SentPacket TakeOne();

  // ---- time
  TimePoint now() const { return now_; }
  // Lets time pass, timer by timer.
  void Advance(Duration d);

  // ---- as the application
  Result<void> Send(std::string_view data);
  Result<void> Close();
  Result<void> Abort(ResetCode code = ResetCode::kAborted);
  std::vector<std::string> Read();
  Endpoint& endpoint() { return *endpoint_; }
  ConnId conn() const { return conn_; }
  // The state of the connection that changed state last, half-open ones too.
  State state() const { return trace_.state; }
  ConnectionInfo Info() const { return endpoint_->Info(conn_).value(); }
  std::uint64_t Feature(FeatureNumber feature, bool located_here) const {
    return endpoint_->Feature(conn_, feature, located_here).value();
  }
  // Event bits of all connections since the last call.
  std::uint32_t TakeEvents() { return std::exchange(events_, 0); }
  std::uint64_t Dropped(DropReason reason) const {
    return endpoint_->counters().dropped[static_cast<std::size_t>(reason)];
  }
  std::uint64_t DroppedInAll() const;
  const Path& path() const { return path_; }
  std::uint16_t endpoint_port() const { return endpoint_port_; }

 private:
  struct StateTrace final : TraceSink {
    void OnState(const StateEvent& event) override { state = event.to; }
    State state = State::kClosed;
  };

  // Collects events and packets.
  void Pump();

  const WirePeerConfig config_;
  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  TestRandom random_;
  StateTrace trace_;
  std::unique_ptr<Endpoint> endpoint_;
  Path path_;
  std::uint16_t endpoint_port_ = kEndpointPort;
  TimePoint now_ = TimePoint(std::chrono::seconds(100));
  ConnId conn_;
  std::uint64_t next_ = kPeerIss;
  std::uint64_t gss_ = 0;
  std::uint32_t events_ = 0;
  std::vector<SentPacket> sent_;
};

// ---- matchers of SentPacket. EXPECT_THAT(peer.Take(), ElementsAre(IsSync(1002, 5077)));

// clang-format off
template <typename M> auto HasType(M m) { return ::testing::Field("type", &SentPacket::type, m); }
template <typename M> auto HasSeq(M m) { return ::testing::Field("seq", &SentPacket::seq, m); }
template <typename M> auto HasPayload(M m) {
  return ::testing::Field("payload", &SentPacket::payload, m);
}
template <typename M> auto HasEcn(M m) { return ::testing::Field("ecn", &SentPacket::ecn, m); }
template <typename M> auto HasAck(M m) {
  return ::testing::Field("ack", &SentPacket::ack, ::testing::Optional(m));
}
// clang-format on

// Has an option of this type, Mandatory or not, whose data match.
template <typename M>
auto HasOption(OptionType type, M data) {
  return ::testing::Field(
      "options", &SentPacket::options,
      ::testing::Contains(::testing::AllOf(::testing::Field("type", &WireOption::type, type),
                                           ::testing::Field("data", &WireOption::data, data))));
}
inline auto HasOption(OptionType type) { return HasOption(type, ::testing::_); }
// Has this very option with Mandatory before it.
inline auto HasMandatory(OptionType type, const Octets& data) {
  return ::testing::Field("options", &SentPacket::options,
                          ::testing::Contains(WireOption{type, true, data}));
}

// One packet of that type with numbers that match; further matchers may follow.
template <typename S, typename A, typename... More>
auto IsPacket(PacketType type, S seq, A ack, More... more) {
  return ::testing::AllOf(HasType(type), HasSeq(seq), HasAck(ack), more...);
}
template <typename S, typename A, typename... More>
auto IsSync(S seq, A ack, More... more) {
  return IsPacket(PacketType::kSync, seq, ack, more...);
}
template <typename S, typename A, typename... More>
auto IsSyncAck(S seq, A ack, More... more) {
  return IsPacket(PacketType::kSyncAck, seq, ack, more...);
}
template <typename S, typename A, typename... More>
auto IsAck(S seq, A ack, More... more) {
  return IsPacket(PacketType::kAck, seq, ack, more...);
}
template <typename S, typename A, typename... More>
auto IsResponse(S seq, A ack, More... more) {
  return IsPacket(PacketType::kResponse, seq, ack, more...);
}
template <typename S, typename A, typename... More>
auto IsClose(S seq, A ack, More... more) {
  return IsPacket(PacketType::kClose, seq, ack, more...);
}
template <typename S, typename A, typename... More>
auto IsCloseReq(S seq, A ack, More... more) {
  return IsPacket(PacketType::kCloseReq, seq, ack, more...);
}
template <typename S, typename... More>
auto IsRequest(S seq, More... more) {
  return ::testing::AllOf(HasType(PacketType::kRequest), HasSeq(seq), more...);
}
// Reset with this code and data bytes.
MATCHER_P4(HasReason, code, d1, d2, d3, "") {
  return static_cast<int>(arg.reset.code) == code && arg.reset.data[0] == d1 &&
         arg.reset.data[1] == d2 && arg.reset.data[2] == d3;
}
template <typename S, typename A>
auto IsReset(S seq, A ack, int code, int d1 = 0, int d2 = 0, int d3 = 0) {
  return IsPacket(PacketType::kReset, seq, ack, HasReason(code, d1, d2, d3));
}

}  // namespace peer
}  // namespace dccp
