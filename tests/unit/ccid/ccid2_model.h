// A model of the connection around a Ccid2Sender: what was sent, and what each acknowledgement
// makes of it. Written for clarity, not speed, and independent of the connection's own history.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ccid/ccid2/ccid2_sender.h"

namespace dccp::test {

using namespace std::chrono_literals;

inline constexpr std::int64_t kFirstSeq = (std::int64_t{1} << 48) + 1000;
inline constexpr TimePoint kStart = TimePoint(1000s);

inline CcidInit DefaultInit() {
  CcidInit init;
  init.now = kStart;
  init.next_seq = Seq64(kFirstSeq);
  init.path.mps_bytes = 1000;
  init.path.rtt = 100ms;
  init.sequence_window = 1u << 20;
  init.ack_ratio = 2;
  return init;
}

class Ccid2Model {
 public:
  explicit Ccid2Model(const CcidInit& init = DefaultInit(), const Ccid2Options& options = {})
      : sender(init, options), now(init.now), next_(init.next_seq.value()) {}

  ccid2::Ccid2Sender sender;
  TimePoint now;

  std::uint32_t cwnd() const { return static_cast<std::uint32_t>(sender.Stats().cwnd_packets); }
  std::uint32_t ssthresh() const {
    return static_cast<std::uint32_t>(sender.Stats().ssthresh_packets);
  }
  std::uint32_t pipe() const { return sender.Stats().pipe_packets; }
  std::int64_t next() const { return next_; }
  std::uint32_t in_flight() const { return data_in_flight_; }
  const std::set<std::int64_t>& undecided() const { return flight_; }
  // Off: the sender gets no word of what is in flight and must keep the account alone.
  bool report_in_flight = true;

  BuildDecision Build(PacketType type) {
    std::array<std::byte, 64> buffer;
    OptionWriter writer(buffer);
    return sender.OnBuild({type, Seq64(next_), 1000, now}, writer);
  }

  // Sends one packet, without asking.
  std::int64_t Send(bool data = true) {
    sent_[next_] = {now, data, State::kFlight};
    flight_.insert(next_);
    if (data) ++data_in_flight_;
    sender.OnSent({Seq64(next_), 1, data ? 1000u : 0u, data, false, now});
    return next_++;
  }
  std::vector<std::int64_t> SendMany(std::uint32_t n) {
    std::vector<std::int64_t> seqs;
    for (std::uint32_t i = 0; i < n; ++i) seqs.push_back(Send());
    return seqs;
  }
  // Sends all that is permitted now.
  std::vector<std::int64_t> Fill() {
    std::vector<std::int64_t> seqs;
    for (;;) {
      const SendPermit permit = sender.MaySend(1000, now);
      if (permit.kind != SendPermit::Kind::kNow) return seqs;
      for (std::uint32_t i = 0; i < permit.packets; ++i) seqs.push_back(Send());
    }
  }

  // An acknowledgement that reports `received` (State 0) and `marked` (State 1); fates follow,
  // losses by the rule of three. `base` brings what else the packet says.
  CcidRequests Ack(const std::vector<std::int64_t>& received,
                   const std::vector<std::int64_t>& marked = {}, Feedback base = {}) {
    std::map<std::int64_t, Fate> fates;
    std::optional<std::int64_t> newest;
    auto take = [&](std::int64_t seq, Fate fate) {
      Packet& packet = sent_.at(seq);
      if (packet.state == State::kAcked) return;
      fates[seq] = packet.state == State::kGone ? Fate::kLate : fate;
      Decide(seq, State::kAcked);
      acked_.insert(seq);
      if (!newest || *newest < seq) newest = seq;
    };
    for (std::int64_t seq : received) take(seq, Fate::kReceived);
    for (std::int64_t seq : marked) take(seq, Fate::kMarked);
    if (acked_.size() >= 3) {
      const std::int64_t third = *std::next(acked_.rbegin(), 2);
      while (!flight_.empty() && *flight_.begin() < third) {
        fates[*flight_.begin()] = Fate::kLost;
        Decide(*flight_.begin(), State::kGone);
      }
    }
    base.now = now;
    base.ack_vector = true;
    base.acked = Seq64(acked_.empty() ? kFirstSeq : *acked_.rbegin());
    if (newest && !base.rtt) base.rtt = now - sent_.at(*newest).time;
    return Deliver(fates, base);
  }

  CcidRequests Timeout() {
    const CcidRequests requests = sender.OnTimeout(now);
    if (requests.abandon_in_flight) {
      while (!flight_.empty()) Decide(*flight_.begin(), State::kGone);
    }
    return requests;
  }

  // Forgets what was decided long ago, for long runs.
  void Trim() {
    while (acked_.size() > 3) acked_.erase(acked_.begin());
    while (sent_.size() > 20000) sent_.erase(sent_.begin());
  }

 private:
  enum class State { kFlight, kAcked, kGone };
  struct Packet {
    TimePoint time;
    bool data;
    State state;
  };

  void Decide(std::int64_t seq, State state) {
    Packet& packet = sent_.at(seq);
    if (flight_.erase(seq) > 0 && packet.data) --data_in_flight_;
    packet.state = state;
  }

  CcidRequests Deliver(const std::map<std::int64_t, Fate>& fates, Feedback& feedback) {
    std::vector<FateRun> runs;
    for (const auto& [seq, fate] : fates) {
      const Packet& packet = sent_.at(seq);
      if (runs.empty() || runs.back().fate != fate ||
          runs.back().first.value() + runs.back().packets != seq) {
        runs.push_back({Seq64(seq), 0, 0, 0, packet.time, packet.time, fate});
      }
      FateRun& run = runs.back();
      ++run.packets;
      run.sent_last = packet.time;
      if (!packet.data) continue;
      ++run.data_packets;
      run.data_bytes += 1000;
      if (fate == Fate::kReceived) ++feedback.received_data_packets;
      if (fate == Fate::kMarked) ++feedback.marked_data_packets;
      if (fate == Fate::kLost) ++feedback.lost_data_packets;
    }
    feedback.received_data_bytes = 1000ull * feedback.received_data_packets;
    feedback.runs = runs;
    feedback.in_flight_data_packets = report_in_flight ? in_flight() : 0xFFFFFFFFu;
    return sender.OnFeedback(feedback);
  }

  std::int64_t next_;
  std::map<std::int64_t, Packet> sent_;
  std::set<std::int64_t> flight_;
  std::set<std::int64_t> acked_;
  std::uint32_t data_in_flight_ = 0;
};

inline std::optional<std::uint64_t> Requested(const CcidRequests& requests, FeatureNumber feature) {
  for (std::size_t i = 0; i < requests.feature_count; ++i) {
    if (requests.features[i].feature == feature) return requests.features[i].value;
  }
  return std::nullopt;
}

}  // namespace dccp::test
