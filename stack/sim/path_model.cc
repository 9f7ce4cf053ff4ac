#include "stack/sim/path_model.h"

namespace dccp {

const char* ToString(PathVerdict::Fate fate) {
  switch (fate) {
    case PathVerdict::Fate::kDelivered:
      return "delivered";
    case PathVerdict::Fate::kLost:
      return "lost";
    case PathVerdict::Fate::kQueueFull:
      return "queue-full";
    case PathVerdict::Fate::kRedDropped:
      return "red-dropped";
    case PathVerdict::Fate::kTooBig:
      return "too-big";
  }
  return "?";
}

PathModel::PathModel(const PathConfig& config, std::uint64_t seed) : random_(seed) {
  Reconfigure(config);
}

void PathModel::Reconfigure(const PathConfig& config) {
  config_ = config;
  red_.reset();
  if (config_.red) red_.emplace(*config_.red);
}

std::uint64_t PathModel::queued_packets(TimePoint now) {
  Depart(now);
  return queue_.size();
}

std::uint64_t PathModel::queued_bytes(TimePoint now) {
  Depart(now);
  return queue_bytes_;
}

PathVerdict PathModel::Offer(std::size_t packet_bytes, Ecn ecn, TimePoint now, bool may_fragment) {
  PathVerdict verdict;
  verdict.ecn = ecn;
  if (config_.mtu_bytes != 0 && packet_bytes > config_.mtu_bytes && !may_fragment) {
    verdict.fate = PathVerdict::Fate::kTooBig;
    return verdict;
  }
  TimePoint departure = now;
  if (config_.rate_bps != 0) {
    verdict.fate = Enqueue(packet_bytes, &verdict.ecn, now);
    if (verdict.fate != PathVerdict::Fate::kDelivered) return verdict;
    departure = idle_since_;
  }
  if (verdict.ecn != Ecn::kNotEct && random_.Chance(config_.ecn_mark)) verdict.ecn = Ecn::kCe;
  if (LosesPacket()) {
    verdict.fate = PathVerdict::Fate::kLost;
    return verdict;
  }
  if (random_.Chance(config_.corrupt)) {
    verdict.corrupt = true;
    verdict.corrupt_bit = random_.Next();
  }
  verdict.arrival[verdict.copies++] = Arrival(departure, &verdict.reordered);
  bool copy_reordered = false;
  if (random_.Chance(config_.duplicate))
    verdict.arrival[verdict.copies++] = Arrival(departure, &copy_reordered);
  return verdict;
}

Duration PathModel::ServiceTime(std::size_t bytes) const {
  constexpr std::uint64_t kBitNanosPerByte = 8'000'000'000u;
  const std::uint64_t rate = config_.rate_bps;
  return Duration(static_cast<std::int64_t>((bytes * kBitNanosPerByte + rate - 1) / rate));
}

void PathModel::Depart(TimePoint now) {
  while (!queue_.empty() && queue_.front().at <= now) {
    queue_bytes_ -= queue_.front().bytes;
    queue_.pop_front();
  }
}

PathVerdict::Fate PathModel::Enqueue(std::size_t bytes, Ecn* ecn, TimePoint now) {
  Depart(now);
  const Duration service = ServiceTime(bytes);
  if (red_) {
    double idle_packets = 0;
    if (queue_.empty() && idle_since_ != TimePoint::min())
      idle_packets =
          static_cast<double>((now - idle_since_).count()) / static_cast<double>(service.count());
    if (red_->Strikes(queue_.size(), idle_packets, random_)) {
      if (!config_.red->mark || *ecn == Ecn::kNotEct) return PathVerdict::Fate::kRedDropped;
      *ecn = Ecn::kCe;
    }
  }
  const bool full = (config_.queue_packets != 0 && queue_.size() >= config_.queue_packets) ||
                    (config_.queue_bytes != 0 && queue_bytes_ + bytes > config_.queue_bytes);
  if (full) return PathVerdict::Fate::kQueueFull;
  idle_since_ = Later(idle_since_, now) + service;
  queue_.push_back({idle_since_, bytes});
  queue_bytes_ += bytes;
  return PathVerdict::Fate::kDelivered;
}

bool PathModel::LosesPacket() {
  if (config_.burst_loss) {
    const GilbertElliottConfig& chain = *config_.burst_loss;
    bad_state_ =
        bad_state_ ? !random_.Chance(chain.bad_to_good) : random_.Chance(chain.good_to_bad);
    if (random_.Chance(bad_state_ ? chain.loss_bad : chain.loss_good)) return true;
  }
  return random_.Chance(config_.loss);
}

TimePoint PathModel::Arrival(TimePoint departure, bool* reordered) {
  TimePoint at = departure + config_.delay;
  if (config_.jitter > Duration::zero())
    at += Duration(static_cast<std::int64_t>(
        random_.Below(static_cast<std::uint64_t>(config_.jitter.count()) + 1)));
  if (random_.Chance(config_.reorder)) {
    *reordered = true;
    return at + config_.reorder_delay;
  }
  if (config_.jitter_keeps_order) at = Later(at, last_arrival_);
  last_arrival_ = Later(at, last_arrival_);
  return at;
}

}  // namespace dccp
