// One endpoint in virtual time whose behaviour is judged after every step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dccp/ccid2.h"
#include "dccp/ccid3.h"
#include "dccp/ccid4.h"
#include "dccp/endpoint.h"
#include "stack/sim/seeded_random.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/test_sealer.h"

namespace dccp::fuzz {

struct NodeConfig {
  Encapsulation encapsulation = Encapsulation::kUdp;
  std::uint64_t seed = 1;
  bool reads_ecn = true;
  std::uint64_t memory_bytes = 1u << 20;
  bool cookies = false;  // listeners keep no half-open connections
};

// A packet that the endpoint sent.
struct Outgoing {
  std::vector<std::byte> bytes;
  Path path;
  Ecn ecn = Ecn::kNotEct;
};

// What the application does, as bytes choose it.
ConnectionOptions MakeOptions(FuzzInput& input);

// Owns an endpoint with its CCIDs and plays its driver and its application. After every step it
// holds the endpoint to its promises and ends the program where one is broken:
//
// - events match state: accepted or connected at most once, closed exactly once and last, readable
//   only with data, nothing of a released connection, states only ever move on
// - what is sent is a packet: it parses, its checksum is right, it fits the path
// - at most eight Syncs a second for each connection. RFC 4340 §7.5.4
// - to an address that nobody has validated goes at most three times what came from it, counted as
//   IP datagrams
// - counters never fall and agree with one another, no packet in flight that was never sent
// - memory stays within the budget
class Node final : private TraceSink {
 public:
  static constexpr std::uint32_t kMaxConnections = 12;

  explicit Node(const NodeConfig& config);
  ~Node() override = default;

  // ---- as the driver; each ends with everything sent and all events taken
  // `segment_bytes`: of each of the packets in `bytes`, as GRO delivers them; 0: it is one packet.
  void Receive(std::span<const std::byte> bytes, const Path& path, Ecn ecn, TimePoint now,
               std::uint32_t segment_bytes = 0);
  void Icmp(const IcmpError& error, TimePoint now);
  // Lets time pass, timer by timer.
  void RunUntil(TimePoint end);
  TimePoint NextTimeout() const { return endpoint_->NextTimeout(); }
  std::vector<Outgoing> TakeSent() { return std::exchange(sent_, {}); }

  // ---- as the application
  void Connect(const ConnectParams& params, TimePoint now);
  void Listen(ListenParams params);
  void StopListening();
  // One call on one connection, all chosen by bytes.
  void Call(FuzzInput& input, TimePoint now);
  void CloseAll(TimePoint now);
  // Aborts and releases all; then what was released while it closed has an hour to end.
  void AbortAll(TimePoint now);

  Endpoint& endpoint() { return *endpoint_; }
  // The marked datagrams that were read since the last call, and whether Call() sent this one.
  std::vector<std::vector<std::byte>> TakeRead() { return std::exchange(read_, {}); }
  bool HasSent(std::span<const std::byte> datagram) const;

 private:
  using Remote = std::pair<std::array<std::uint8_t, 16>, std::uint16_t>;
  struct Traffic {
    std::uint64_t in_bytes = 0;
    std::uint64_t out_bytes = 0;
    bool validated = false;
  };
  struct Known {
    ConnId id;
    bool opened = false;
    bool closed = false;
    bool readable = false;       // said so, and no Read() has found the end since
    bool readable_owed = false;  // said so, and nothing was read or refused since
    ConnectionCounters last = {};
  };

  void OnPacket(const PacketEvent& event) override;
  void OnState(const StateEvent& event) override;

  void Settle(TimePoint now);
  void TakeEvents();
  void OnEvent(const Event& event);
  void CheckSent(const OutboundDatagram& datagram);
  void CheckConnection(Known& known);
  void CheckMemory() const;
  void Read(Known& known, std::size_t count);
  void Send(Known& known, std::size_t bytes);
  void Commit(Known& known, FuzzInput& input);
  Known* Find(ConnId id);
  void Forget(std::size_t which);
  // A datagram that no other equals, if it has the room for a mark.
  std::vector<std::byte> Marked(std::uint32_t number, std::size_t bytes) const;
  static Remote RemoteOf(const Path& path) { return {path.remote.bytes, path.remote_udp_port}; }

  const NodeConfig config_;
  Ccid2Factory ccid2_;
  Ccid3Factory ccid3_;
  Ccid4Factory ccid4_;
  CcidRegistry registry_;
  SeededRandom random_;
  TestSealer sealer_;
  std::size_t heap_before_ = 0;
  std::unique_ptr<Endpoint> endpoint_;
  std::vector<Outgoing> sent_;
  std::vector<std::vector<std::byte>> read_;
  std::uint32_t marked_ = 0;  // datagrams sent with a mark
  std::vector<Known> conns_;
  std::vector<ListenerId> listeners_;
  std::map<Remote, Traffic> traffic_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<TimePoint>> syncs_;
  TimePoint now_ = TimePoint::min();  // the latest that the endpoint was told
  std::uint64_t steps_ = 0;
};

}  // namespace dccp::fuzz
