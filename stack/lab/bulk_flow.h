// A connection whose client sends all that its CCID permits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dccp/ccid2.h"
#include "dccp/ccid3.h"
#include "dccp/ccid4.h"
#include "stack/sim/sim_node.h"

namespace dccp::lab {

// Every CCID there is, in a registry of their own.
class Ccids {
 public:
  explicit Ccids(const Ccid2Options& two = {}, const Ccid3Options& three = {});
  Ccids(const Ccids&) = delete;
  Ccids& operator=(const Ccids&) = delete;

  const CcidRegistry& registry() const { return registry_; }

 private:
  Ccid2Factory ccid2_;
  Ccid3Factory ccid3_;
  Ccid4Factory ccid4_;
  CcidRegistry registry_;
};

// Interfaces wide enough for full Ethernet payloads whatever the headers, as jumbo frames are.
class WideInterface final : public PathMtuSource {
 public:
  std::uint32_t InitialMtu(const Path& /*path*/) override { return 2000; }
};

struct BulkFlowConfig {
  CcidId ccid = CcidId::k3;
  std::size_t payload_bytes = 1440;
  std::uint16_t port = 5001;
  ConnectionOptions options = {};  // of both ends; tx_ccids and rx_ccids are set by `ccid`
};

// Owns the application of two hosts, whose event handlers it takes: one sends while it may, the
// other reads and counts. The nodes must outlive it.
class BulkFlow {
 public:
  BulkFlow(SimNode& client, SimNode& server, const BulkFlowConfig& config);
  BulkFlow(const BulkFlow&) = delete;
  BulkFlow& operator=(const BulkFlow&) = delete;

  // Connects and begins to send; once.
  void Start();
  // Sends nothing more than what is queued, or goes on.
  void Pause() { paused_ = true; }
  void Resume();

  bool open() const { return open_; }
  bool failed() const { return failed_; }
  ConnectionInfo info() const;
  // The receiving end's.
  ConnectionInfo peer_info() const;
  std::uint64_t sent_bytes() const { return info().counters.data_bytes_sent; }
  std::uint64_t sent_packets() const { return info().counters.data_packets_sent; }
  std::uint64_t received_bytes() const { return received_bytes_; }
  const BulkFlowConfig& config() const { return config_; }

 private:
  void OnClientEvent(const Event& event);
  void OnServerEvent(const Event& event);
  void Fill();

  SimNode& client_;
  SimNode& server_;
  BulkFlowConfig config_;
  std::vector<std::byte> payload_;
  ConnId conn_;
  ConnId peer_conn_;
  bool open_ = false;
  bool failed_ = false;
  bool paused_ = false;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace dccp::lab
