// One flow over one path.
#pragma once

#include <cstdint>

#include "stack/lab/bulk_flow.h"
#include "stack/sim/network.h"

namespace dccp::lab {

struct PairLabConfig {
  std::uint64_t seed = 1;
  IpFamily family = IpFamily::kV4;
  Encapsulation encapsulation = Encapsulation::kNative;
  PathConfig forward;  // of the data,
  PathConfig reverse;  // of the acknowledgements
  BulkFlowConfig flow = {};
  Ccid2Options ccid2 = {};
  Ccid3Options ccid3 = {};
  const CcidRegistry* server_ccids = nullptr;  // default: the same
};

// Owns a network of two hosts and a flow between them, and keeps no log.
class PairLab {
 public:
  explicit PairLab(const PairLabConfig& config);

  // Connects and runs until data may flow; false when that fails.
  bool Open(Duration limit = std::chrono::seconds(60));
  void Run(Duration duration) { simulator().RunFor(duration); }

  Simulator& simulator() { return network_.simulator(); }
  TimePoint now() { return simulator().now(); }
  BulkFlow& flow() { return *flow_; }
  Link& forward() { return *links_.forward; }
  Link& reverse() { return *links_.reverse; }
  SimNode& server() { return *server_; }
  // IP packet size of a data packet, by what passed so far.
  double PacketBytes() const;

 private:
  Ccids ccids_;
  WideInterface interface_;
  Network network_;
  SimNode* server_ = nullptr;
  DuplexLink links_;
  std::unique_ptr<BulkFlow> flow_;
};

}  // namespace dccp::lab
