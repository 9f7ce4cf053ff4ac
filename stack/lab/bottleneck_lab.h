// Many flows through one queue.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stack/lab/bulk_flow.h"
#include "stack/lab/tcp_reno.h"
#include "stack/sim/network.h"

namespace dccp::lab {

enum class FlowKind : std::uint8_t { kCcid2, kCcid3, kTcp };

struct BottleneckLabConfig {
  std::uint64_t seed = 1;
  std::vector<FlowKind> flows;
  PathConfig bottleneck;        // of the data's direction
  Duration reverse_delay = {};  // of the acknowledgements', which has no limit
  Duration access_delay = {};   // from each host to its router
  Duration access_spread = {};  // each host's own, uniform in [0, spread]
  // Of each packet, uniform in [0, jitter], order kept: a packet's time on the bottleneck keeps
  // flows of nearly equal round trips from falling into step. S. Floyd, V. Jacobson, "On Traffic
  // Phase Effects in Packet-Switched Gateways", 1992
  Duration access_jitter = {};
  Duration start_spread = std::chrono::seconds(2);  // flows begin at random within
  std::size_t payload_bytes = 1440;
  Ccid2Options ccid2 = {};
  Ccid3Options ccid3 = {};
};

// Owns a dumbbell whose flows go from left to right, each between two hosts of its own.
class BottleneckLab {
 public:
  explicit BottleneckLab(const BottleneckLabConfig& config);

  void Run(Duration duration) { simulator().RunFor(duration); }

  Simulator& simulator() { return network_.simulator(); }
  // Payload that has arrived, by flow.
  std::vector<std::uint64_t> ReceivedBytes() const;
  Link& bottleneck() { return *bottleneck_; }

 private:
  // One of the two.
  struct Flow {
    std::unique_ptr<BulkFlow> dccp;
    std::unique_ptr<TcpFlow> tcp;
  };

  void AddFlow(FlowKind kind, Router& left, Router& right);

  BottleneckLabConfig config_;
  Ccids ccids_;
  WideInterface interface_;
  Network network_;
  SeededRandom random_;
  std::vector<Flow> flows_;
  Link* bottleneck_ = nullptr;
};

}  // namespace dccp::lab
