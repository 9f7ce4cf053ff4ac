// A pair of hosts whose client sends all that its CCID permits, for tests of rates.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "ccid/common/tfrc_equation.h"
#include "dccp/ccid2.h"
#include "dccp/ccid3.h"
#include "dccp/ccid4.h"
#include "stack/sim/sim_pair.h"

namespace dccp {

// Every CCID there is, for a configuration.
struct AllCcids {
  explicit AllCcids(const Ccid3Options& options = {}, const Ccid2Options& options2 = {})
      : ccid2(options2), ccid3(options) {
    registry.Add(ccid2);
    registry.Add(ccid3);
    registry.Add(ccid4);
  }
  Ccid2Factory ccid2;
  Ccid3Factory ccid3;
  Ccid4Factory ccid4;
  CcidRegistry registry;
};

struct BulkConfig {
  CcidId ccid = CcidId::k3;
  Duration one_way = std::chrono::milliseconds(20);
  double loss = 0;          // of the data's direction
  double reverse_loss = 0;  // of the acknowledgements'
  std::uint64_t rate_bps = 0;
  std::uint64_t queue_packets = 0;
  std::size_t payload_bytes = 1400;
  std::uint64_t seed = 1;
  bool both_ways = false;
  Ccid3Options sender = {};
  Ccid3Options receiver = {};
  Ccid2Options ccid2 = {};  // of the sender
};

class BulkPair {
 public:
  explicit BulkPair(const BulkConfig& config)
      : config_(config),
        client_ccids_(config.sender, config.ccid2),
        server_ccids_(config.receiver) {
    SimPairConfig pair;
    pair.seed = config.seed;
    pair.to_server = {.delay = config.one_way,
                      .rate_bps = config.rate_bps,
                      .queue_packets = config.queue_packets,
                      .loss = config.loss};
    pair.to_client = {.delay = config.one_way,
                      .rate_bps = config.both_ways ? config.rate_bps : 0,
                      .queue_packets = config.both_ways ? config.queue_packets : 0,
                      .loss = config.reverse_loss};
    pair.client.tx_ccids = {config.ccid};
    pair.server.tx_ccids = {config.ccid, config.ccid == CcidId::k3 ? CcidId::k2 : CcidId::k3};
    pair.client.send_queue_datagrams = pair.server.send_queue_datagrams = 2048;
    pair.endpoint.registry = &client_ccids_.registry;
    pair.server_endpoint = pair.endpoint;
    pair.server_endpoint->registry = &server_ccids_.registry;
    pair_ = std::make_unique<SimPair>(pair);
    pair_->client.keep_data = pair_->server.keep_data = false;
  }

  bool Establish() { return pair_->Establish(std::chrono::seconds(60)); }

  // Keeps the send queue filled.
  void Run(Duration duration) {
    const TimePoint end = pair_->now() + duration;
    while (pair_->now() < end) {
      Fill(pair_->client);
      if (config_.both_ways) Fill(pair_->server);
      Step(end);
    }
  }
  // Sends nothing.
  void Rest(Duration duration) { pair_->Run(duration); }
  // As Run, and takes the mean of what the equation would give meanwhile, in bytes a second.
  double RunAgainstEquation(Duration duration) {
    const TimePoint end = pair_->now() + duration;
    double sum = 0;
    std::uint64_t n = 0;
    while (pair_->now() < end) {
      Fill(pair_->client);
      Step(end);
      const SenderStats s = stats();
      if (s.loss_event_rate <= 0) continue;
      sum += TfrcThroughput(static_cast<double>(config_.payload_bytes), s.srtt, s.loss_event_rate);
      ++n;
    }
    return n == 0 ? 0 : sum / static_cast<double>(n);
  }

  SimPair& pair() { return *pair_; }
  SenderStats stats() { return pair_->client.info().sender; }
  std::uint64_t sent_bytes() { return pair_->client.info().counters.data_bytes_sent; }
  std::uint64_t received_bytes() { return pair_->server.received_bytes; }

  void Fill(SimPair::Side& side) {
    while (side.Send(std::span<const std::byte>(payload_).first(config_.payload_bytes)).ok()) {
    }
    // The simulation learns that there is something to send.
    side.node->Settle();
  }

 private:
  void Step(TimePoint end) {
    pair_->Run(std::min<Duration>(std::chrono::milliseconds(5), end - pair_->now()));
  }

  BulkConfig config_;
  AllCcids client_ccids_;
  AllCcids server_ccids_;
  std::unique_ptr<SimPair> pair_;
  std::array<std::byte, 1460> payload_ = {};
};

}  // namespace dccp
