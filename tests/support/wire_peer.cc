#include "tests/support/wire_peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace dccp::peer {
namespace {

Path MakePath(Encapsulation encapsulation, IpFamily family) {
  Path path;
  path.local.family = path.remote.family = family;
  if (family == IpFamily::kV4) {
    path.local.bytes = {192, 0, 2, 1};
    path.remote.bytes = {192, 0, 2, 2};
  } else {
    path.local.bytes = {0x20, 0x01, 0x0D, 0xB8, 1};
    path.remote.bytes = {0x20, 0x01, 0x0D, 0xB8, 2};
  }
  if (encapsulation == Encapsulation::kUdp) {
    path.local_udp_port = kDefaultUdpPort;
    path.remote_udp_port = 40000;
  }
  return path;
}

WirePeerConfig WithIss(WirePeerConfig config) {
  if (config.fixed_iss && !config.options.initial_sequence)
    config.options.initial_sequence = SeqNo(kIss);
  return config;
}

}  // namespace

void TestRandom::Fill(std::span<std::byte> out) {
  for (std::byte& b : out) {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    b = static_cast<std::byte>(z >> 56);
  }
}

WirePeer::WirePeer(WirePeerConfig config)
    : config_(WithIss(std::move(config))),
      random_(config_.seed),
      path_(MakePath(config_.encapsulation, config_.family)) {
  EXPECT_TRUE(registry_.Add(ccid2_));
  EndpointConfig endpoint;
  endpoint.encapsulation = config_.encapsulation;
  endpoint.registry = &registry_;
  endpoint.random = &random_;
  endpoint.trace = &trace_;
  if (config_.adjust) config_.adjust(endpoint);
  endpoint_ = std::move(Endpoint::Create(endpoint).value());
}

void WirePeer::Listen() {
  ListenParams params;
  params.port = kEndpointPort;
  params.service_codes = config_.service_codes;
  params.options = config_.options;
  if (config_.adjust_listen) config_.adjust_listen(params);
  ASSERT_TRUE(endpoint_->Listen(params).ok());
}

void WirePeer::Connect() {
  ConnectParams params;
  params.path = path_;
  params.local_port = kEndpointPort;
  params.remote_port = kPeerPort;
  params.service_code = config_.service_codes.front();
  params.options = config_.options;
  params.request_data = std::as_bytes(std::span(config_.request_data));
  const Result<ConnId> conn = endpoint_->Connect(params, now_);
  ASSERT_TRUE(conn.ok());
  conn_ = *conn;
  Pump();
}

void WirePeer::ClientInRequest() {
  Connect();
  ASSERT_EQ(state(), State::kRequest);
  Take();
}

void WirePeer::ServerInRespond(const Octets& request_options) {
  Listen();
  Inject(Request(Next()).With(request_options).Service(config_.service_codes.front().value()));
  ASSERT_EQ(state(), State::kRespond);
  Take();
}

void WirePeer::ClientInPartOpen(const Octets& response_options) {
  Connect();
  const SentPacket request = TakeOne();
  Inject(Response(Next(), request.seq)
             .With(ConfirmsFor(request))
             .With(response_options)
             .Service(config_.service_codes.front().value()));
  ASSERT_EQ(state(), State::kPartOpen);
  Take();
}

void WirePeer::OpenAsServer(const Octets& request_options) {
  Listen();
  Inject(Request(Next()).With(request_options).Service(config_.service_codes.front().value()));
  const SentPacket response = TakeOne();
  Inject(Ack(Next(), response.seq).With(ConfirmsFor(response)));
  ASSERT_EQ(state(), State::kOpen);
  Take();
  TakeEvents();
}

void WirePeer::OpenAsClient(const Octets& response_options) {
  Connect();
  const SentPacket request = TakeOne();
  Inject(Response(Next(), request.seq)
             .With(ConfirmsFor(request))
             .With(response_options)
             .Service(config_.service_codes.front().value()));
  const SentPacket ack = TakeOne();
  Inject(Ack(Next(), ack.seq).With(ConfirmsFor(ack)));
  ASSERT_EQ(state(), State::kOpen);
  Take();
  TakeEvents();
}

Bytes WirePeer::BuildPacket(const PacketSpec& spec) const {
  return Build(spec, kPeerPort, endpoint_port_,
               config_.encapsulation == Encapsulation::kNative ? &path_ : nullptr);
}

void WirePeer::Inject(const PacketSpec& spec) { InjectRaw(BuildPacket(spec), spec.ecn); }

void WirePeer::InjectRaw(std::span<const std::byte> bytes, Ecn ecn) {
  InjectRawFrom(bytes, path_, ecn);
}

void WirePeer::InjectRawFrom(std::span<const std::byte> bytes, const Path& path, Ecn ecn) {
  // An allocation of exactly this size lets a sanitizer see any read beyond it.
  const std::vector<std::byte> exact(bytes.begin(), bytes.end());
  InboundDatagram datagram;
  datagram.bytes = exact;
  datagram.path = path;
  datagram.ecn = ecn;
  endpoint_->Receive(std::span(&datagram, 1), now_);
  Pump();
}

void WirePeer::Icmp(IcmpKind kind, std::span<const std::byte> quoted, std::uint32_t mtu_bytes) {
  const std::vector<std::byte> exact(quoted.begin(), quoted.end());
  endpoint_->OnIcmp({kind, mtu_bytes, path_, exact}, now_);
  Pump();
}

SentPacket WirePeer::TakeOne() {
  std::vector<SentPacket> all = Take();
  EXPECT_EQ(all.size(), 1u) << ::testing::PrintToString(all);
  return all.empty() ? SentPacket() : all.front();
}

void WirePeer::Advance(Duration d) {
  const TimePoint end = now_ + d;
  for (int rounds = 0; endpoint_->NextTimeout() <= end; ++rounds) {
    if (rounds == 1'000'000) {
      ADD_FAILURE() << "the endpoint's timers never end";
      break;
    }
    now_ = Later(now_, endpoint_->NextTimeout());
    endpoint_->HandleTimeout(now_);
    Pump();
  }
  now_ = end;
  endpoint_->HandleTimeout(now_);
  Pump();
}

Result<void> WirePeer::Send(std::string_view data) {
  const Result<void> sent = endpoint_->Send(conn_, std::as_bytes(std::span(data)));
  Pump();
  return sent;
}

Result<void> WirePeer::Close() {
  const Result<void> closed = endpoint_->Close(conn_, now_);
  Pump();
  return closed;
}

Result<void> WirePeer::Abort(ResetCode code) {
  const Result<void> aborted = endpoint_->Abort(conn_, now_, code);
  Pump();
  return aborted;
}

std::vector<std::string> WirePeer::Read() {
  std::vector<std::string> out;
  std::array<ReceivedDatagram, 8> datagrams;
  while (const std::size_t n = endpoint_->Read(conn_, datagrams)) {
    for (const ReceivedDatagram& datagram : std::span(datagrams).first(n)) {
      std::string text;
      for (std::byte b : datagram.bytes) text += static_cast<char>(b);
      out.push_back(text);
    }
  }
  return out;
}

std::uint64_t WirePeer::DroppedInAll() const {
  const auto& dropped = endpoint_->counters().dropped;
  return std::accumulate(dropped.begin(), dropped.end(), std::uint64_t{0});
}

void WirePeer::Pump() {
  while (const std::optional<Event> event = endpoint_->PollEvent()) {
    events_ |= event->bits;
    if ((event->bits & kEventAccepted) != 0) conn_ = event->conn;
  }
  std::array<OutboundDatagram, 16> out;
  while (const std::size_t n = endpoint_->Transmit(out, now_)) {
    for (const OutboundDatagram& datagram : std::span(out).first(n)) {
      sent_.push_back(Decode(datagram, config_.encapsulation, now_));
      gss_ = sent_.back().seq;
    }
  }
  while (const std::optional<Event> event = endpoint_->PollEvent()) events_ |= event->bits;
}

}  // namespace dccp::peer
