// A CCID 2 half-connection over a path of fixed delay in virtual time: real sender, real receiver,
// a model of everything between them. Data and acknowledgements are lost or marked at random.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "ccid/ccid2/ccid2_receiver.h"
#include "tests/unit/ccid/ccid2_model.h"

namespace dccp::test {

struct LoopbackConfig {
  Duration one_way = 50ms;
  double data_loss = 0;
  double data_mark = 0;
  double ack_loss = 0;
  Duration app_interval = Duration::zero();  // one packet each; zero: always backlogged
  bool by_ratio_only = false;  // the receiver acknowledges each Ack Ratio packets, else never
  std::uint64_t seed = 1;
  Ccid2Options options;
  std::uint64_t sequence_window = 100;
};

struct LoopbackResult {
  double mean_cwnd = 0;  // over time, without the first tenth
  std::uint64_t delivered = 0;
  std::uint64_t acks = 0;
  std::uint32_t max_cwnd = 0;
  std::uint32_t max_ratio = 0;
  Duration longest_pause = Duration::zero();  // between packets sent, with the app having some
  std::uint64_t max_behind = 0;               // most packets sent in a row without an ack of acks
  SenderStats stats;
};

class Ccid2Loopback {
 public:
  explicit Ccid2Loopback(const LoopbackConfig& config)
      : config_(config),
        random_(config.seed),
        model_(Init(config), config.options),
        receiver_(Init(config)),
        next_app_(model_.now) {
    model_.report_in_flight = false;
  }

  LoopbackResult Run(Duration duration) {
    const TimePoint begin = model_.now;
    const TimePoint end = begin + duration;
    double area = 0;
    last_sent_ = begin;
    Transmit();
    for (;;) {
      const TimePoint next = NextEvent();
      if (next >= end) break;
      const TimePoint counted = std::max(model_.now, begin + duration / 10);
      if (next > counted) area += model_.cwnd() * Seconds(next - counted);
      model_.now = std::max(next, model_.now);
      Step();
      Transmit();
      result_.max_cwnd = std::max(result_.max_cwnd, model_.cwnd());
      result_.max_ratio = std::max(result_.max_ratio, model_.sender.Stats().ack_ratio);
      EXPECT_EQ(model_.pipe(), model_.in_flight());
    }
    result_.mean_cwnd = area / Seconds(duration - duration / 10);
    result_.stats = model_.sender.Stats();
    return result_;
  }

 private:
  struct Event {
    TimePoint at;
    std::int64_t seq = 0;  // data: its number
    bool marked = false;
    std::size_t reported = 0;  // acknowledgement: how many arrivals it reports
    std::uint32_t lost_before = 0;
  };
  struct Change {
    TimePoint at;
    FeatureRequest request;
    bool confirmed;
  };

  static CcidInit Init(const LoopbackConfig& config) {
    CcidInit init = DefaultInit();
    init.path.rtt = 2 * config.one_way;
    init.sequence_window = config.sequence_window;
    return init;
  }
  static double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }

  TimePoint NextEvent() const {
    TimePoint next = model_.sender.NextTimeout();
    if (!config_.by_ratio_only) next = Earlier(next, receiver_.NextTimeout());
    if (!data_.empty()) next = Earlier(next, data_.front().at);
    if (!acks_.empty()) next = Earlier(next, acks_.front().at);
    if (!changes_.empty()) next = Earlier(next, changes_.front().at);
    if (config_.app_interval > Duration::zero()) next = Earlier(next, next_app_);
    return Earlier(next, pace_);
  }

  void Step() {
    const TimePoint now = model_.now;
    while (!changes_.empty() && changes_.front().at <= now) {
      const Change change = changes_.front();
      changes_.pop_front();
      Apply(change);
    }
    while (!data_.empty() && data_.front().at <= now) {
      const Event event = data_.front();
      data_.pop_front();
      Arrive(event);
    }
    while (!acks_.empty() && acks_.front().at <= now) {
      const Event event = acks_.front();
      acks_.pop_front();
      Acknowledge(event);
    }
    if (!config_.by_ratio_only && receiver_.NextTimeout() <= now &&
        receiver_.OnTimeout(now).kind == AckDemand::Kind::kNow) {
      SendAck();
    }
    if (model_.sender.NextTimeout() <= now) Ask(model_.Timeout());
    while (config_.app_interval > Duration::zero() && next_app_ <= now) {
      ++waiting_;
      next_app_ += config_.app_interval;
    }
  }

  void Transmit() {
    pace_ = kNever;
    for (;;) {
      if (config_.app_interval > Duration::zero() && waiting_ == 0) {
        last_sent_ = model_.now;  // nothing to wait for
        return;
      }
      const SendPermit permit = model_.sender.MaySend(1000, model_.now);
      if (permit.kind == SendPermit::Kind::kAt) pace_ = permit.at;
      if (permit.kind != SendPermit::Kind::kNow) return;
      for (std::uint32_t i = 0; i < permit.packets; ++i) {
        if (config_.app_interval > Duration::zero()) {
          if (waiting_ == 0) return;
          --waiting_;
        }
        SendData();
      }
    }
  }

  void SendData() {
    behind_ = model_.Build(PacketType::kData).acknowledge ? 0 : behind_ + 1;
    result_.max_behind = std::max(result_.max_behind, behind_);
    const std::int64_t seq = model_.Send();
    result_.longest_pause = std::max(result_.longest_pause, model_.now - last_sent_);
    last_sent_ = model_.now;
    if (Chance(config_.data_loss)) return;
    data_.push_back({model_.now + config_.one_way, seq, Chance(config_.data_mark), 0, 0});
  }

  void Arrive(const Event& event) {
    ArrivedRun run = {};
    run.first = Seq64(event.seq);
    run.packets = 1;
    run.payload_bytes = 1000;
    run.data = true;
    run.in_order = event.seq == expected_;
    run.ecn = event.marked ? Ecn::kCe : Ecn::kEct0;
    run.arrival = model_.now;
    expected_ = event.seq + 1;
    log_.push_back(event);
    ++result_.delivered;
    if (config_.by_ratio_only) {
      if (++since_ack_ >= ratio_) SendAck();
      return;
    }
    if (receiver_.OnPackets(run).ack.kind == AckDemand::Kind::kNow) SendAck();
  }

  void SendAck() {
    std::array<std::byte, 64> buffer;
    OptionWriter writer(buffer);
    receiver_.OnBuildAck({PacketType::kAck, Seq64(1), 0, model_.now}, writer);
    ++result_.acks;
    since_ack_ = 0;
    if (Chance(config_.ack_loss)) {
      ++lost_acks_;
      return;
    }
    acks_.push_back({model_.now + config_.one_way, 0, false, log_base_ + log_.size(), lost_acks_});
    lost_acks_ = 0;
  }

  void Acknowledge(const Event& ack) {
    std::vector<std::int64_t> received;
    std::vector<std::int64_t> marked;
    while (log_base_ < ack.reported) {
      (log_.front().marked ? marked : received).push_back(log_.front().seq);
      log_.pop_front();
      ++log_base_;
    }
    Feedback base;
    base.reverse_lost = ack.lost_before;
    Ask(model_.Ack(received, marked, base));
    model_.Trim();
  }

  void Ask(const CcidRequests& requests) {
    for (std::size_t i = 0; i < requests.feature_count; ++i) {
      const FeatureRequest& request = requests.features[i];
      changes_.push_back({model_.now + config_.one_way, request, false});
    }
  }
  void Apply(const Change& change) {
    if (change.confirmed) {
      model_.sender.OnFeature(change.request.feature, change.request.value, true);
      return;
    }
    receiver_.OnFeature(change.request.feature, change.request.value, false);
    if (change.request.feature == FeatureNumber::kAckRatio) ratio_ = change.request.value;
    changes_.push_back({model_.now + config_.one_way, change.request, true});
  }

  LoopbackConfig config_;
  std::mt19937_64 random_;
  Ccid2Model model_;
  ccid2::Ccid2Receiver receiver_;
  std::deque<Event> data_;
  std::deque<Event> acks_;
  std::deque<Change> changes_;
  std::deque<Event> log_;     // arrivals that no acknowledgement has told of, in order
  std::size_t log_base_ = 0;  // number of the first of them
  std::int64_t expected_ = kFirstSeq;
  std::uint32_t lost_acks_ = 0;
  std::uint64_t ratio_ = 2;
  std::uint64_t since_ack_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint64_t behind_ = 0;
  TimePoint next_app_;
  TimePoint pace_ = kNever;
  TimePoint last_sent_;
  LoopbackResult result_;
};

}  // namespace dccp::test
