#include "stack/sim/link.h"

#include <utility>

namespace dccp {

namespace {

void FlipBit(std::uint64_t random, SimPacket* packet) {
  packet->corrupted = true;
  if (packet->bytes.empty()) return;
  const std::uint64_t bit = random % (packet->bytes.size() * 8);
  packet->bytes[bit / 8] ^= std::byte{1} << (bit % 8);
}

}  // namespace

Link::Link(std::string name, Simulator& simulator, PacketPool& pool, const PathConfig& config,
           std::uint64_t seed, PacketSink& to)
    : name_(std::move(name)), simulator_(simulator), pool_(pool), to_(to), model_(config, seed) {}

void Link::Accept(PacketPtr packet) {
  const std::uint64_t index = counters_.offered++;
  counters_.offered_bytes += packet->ip_bytes();
  const LinkAction action = hook_ ? hook_(*packet, index) : LinkAction();
  const PathVerdict verdict = Judge(*packet, action);
  if (observer_ != nullptr) observer_->OnOffered(*this, *packet, action, verdict, simulator_.now());
  if (action.kind == LinkAction::Kind::kDrop) {
    ++counters_.hook_drops;
    return;
  }
  Count(*packet, verdict);
  if (verdict.fate == PathVerdict::Fate::kTooBig) {
    if (!black_hole_ && packet->origin != nullptr) ReportTooBig(std::move(packet));
    return;
  }
  if (verdict.copies == 0) return;
  packet->ecn = verdict.ecn;
  if (verdict.corrupt) FlipBit(verdict.corrupt_bit, packet.get());
  if (verdict.copies == 2)
    simulator_.Schedule(verdict.arrival[1], *this, pool_.Park(pool_.Copy(*packet)));
  simulator_.Schedule(verdict.arrival[0], *this, pool_.Park(std::move(packet)));
}

PathVerdict Link::Judge(const SimPacket& packet, const LinkAction& action) {
  if (action.kind == LinkAction::Kind::kDrop) return {.fate = PathVerdict::Fate::kLost};
  PathVerdict verdict =
      model_.Offer(packet.ip_bytes(), packet.ecn, simulator_.now(), packet.may_fragment);
  if (verdict.copies == 0) return verdict;
  switch (action.kind) {
    case LinkAction::Kind::kPass:
    case LinkAction::Kind::kDrop:
      break;
    case LinkAction::Kind::kDuplicate:
      verdict.copies = 2;
      verdict.arrival[1] = verdict.arrival[0] + action.delay;
      break;
    case LinkAction::Kind::kDelay:
      for (TimePoint& at : verdict.arrival) at += action.delay;
      break;
    case LinkAction::Kind::kCorrupt:
      verdict.corrupt = true;
      break;
    case LinkAction::Kind::kMark:
      verdict.ecn = Ecn::kCe;
      break;
  }
  return verdict;
}

void Link::Count(const SimPacket& packet, const PathVerdict& verdict) {
  counters_.delivered += verdict.copies;
  counters_.delivered_bytes += verdict.copies * packet.ip_bytes();
  switch (verdict.fate) {
    case PathVerdict::Fate::kDelivered:
      if (verdict.ecn == Ecn::kCe && packet.ecn != Ecn::kCe) ++counters_.marked;
      if (verdict.corrupt) ++counters_.corrupted;
      break;
    case PathVerdict::Fate::kLost:
      ++counters_.lost;
      break;
    case PathVerdict::Fate::kQueueFull:
    case PathVerdict::Fate::kRedDropped:
      ++counters_.queue_drops;
      break;
    case PathVerdict::Fate::kTooBig:
      ++counters_.too_big;
      break;
  }
}

void Link::ReportTooBig(PacketPtr packet) {
  const TimePoint at = simulator_.now() + model_.config().delay;
  simulator_.Schedule(at, *this, kIcmpFlag | pool_.Park(std::move(packet)));
}

void Link::OnSimEvent(std::uint64_t cookie) {
  PacketPtr packet = pool_.Unpark(static_cast<std::uint32_t>(cookie));
  if ((cookie & kIcmpFlag) != 0) {
    packet->origin->OnIcmp(IcmpKind::kTooBig, model_.config().mtu_bytes, *packet);
  } else {
    to_.Accept(std::move(packet));
  }
}

}  // namespace dccp
