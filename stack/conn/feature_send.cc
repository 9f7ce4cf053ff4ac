// FeatureNegotiator: what goes on outgoing packets, and when. RFC 4340 §6.6.1, §6.6.3
#include <algorithm>

#include "stack/conn/feature_negotiator.h"

namespace dccp {
namespace {

bool Carries(PacketType type) {
  return type != PacketType::kData && type != PacketType::kReset && type != PacketType::kListen;
}

// A connection that closes starts no negotiation.
bool CarriesChanges(PacketType type) {
  return type != PacketType::kClose && type != PacketType::kCloseReq;
}

constexpr std::size_t kMaxValueBytes = 1 + PreferenceList::kCapacity;

std::size_t EncodeInteger(std::uint64_t value, std::size_t bytes,
                          std::array<std::byte, kMaxValueBytes>& out) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<std::byte>(value >> (8 * (bytes - 1 - i)));
  }
  return bytes;
}

}  // namespace

void FeatureNegotiator::WriteOptions(const Outgoing& packet, OptionWriter& writer) {
  if (!Carries(packet.type)) return;
  if (open_ && unanswered_ == 0 && waiting_ == 0) return;

  bool any_new = false;
  for (std::size_t i = 0; i < entry_count_; ++i) any_new = any_new || entries_[i].HasNewChange();
  any_new = any_new && CarriesChanges(packet.type);
  // A new Change raises FGSS, which voids the answers to Changes on older packets: repeat them too.
  const bool repeat = !open_ || any_new || repeat_due_ || EarlyRepeatDue(packet.now);

  bool wrote_confirm = false;
  bool wrote_change = false;
  bool wrote_new = false;
  for (std::size_t i = 0; i < entry_count_; ++i) {
    FeatureEntry& entry = entries_[i];
    if (WriteConfirm(entry, packet, writer)) wrote_confirm = true;
    if (!CarriesChanges(packet.type)) continue;
    const bool is_new = entry.HasNewChange();
    if (!is_new && !(repeat && entry.state == FeatureState::kChanging)) continue;
    if (!WriteChange(entry, packet, writer)) continue;
    wrote_change = true;
    wrote_new = wrote_new || is_new;
  }
  for (Located at : {Located::kLocal, Located::kRemote}) {
    if (WriteEmptyConfirms(at, packet, writer)) wrote_confirm = true;
  }
  if (wrote_change) {
    last_change_time_ = packet.now;
    last_change_seq_ = packet.seq;
    ArmTimer(packet, wrote_new);
  }
  if (wrote_change || wrote_confirm) {
    quiet_ = true;
    quiet_until_ = packet.now + rtt_;
  }
  Recount();
}

// A Confirm is an answer only on a packet that acknowledges the Change, or a later packet. §6.6.4
bool FeatureNegotiator::WriteConfirm(FeatureEntry& entry, const Outgoing& packet,
                                     OptionWriter& writer) {
  if (!entry.confirm_due && (open_ || !entry.confirm_given)) return false;
  if (!packet.ack || *packet.ack < entry.change_seq) return false;
  std::array<std::byte, kMaxValueBytes> value = {};
  std::size_t size = EncodeInteger(entry.answer, entry.info.value_bytes, value);
  if (entry.IsSp()) {
    std::ranges::copy(entry.answer_list.bytes(), value.begin() + 1);
    size += entry.answer_list.size();
  }
  const OptionType type =
      entry.at == Located::kLocal ? OptionType::kConfirmL : OptionType::kConfirmR;
  if (!writer.AddFeature(type, entry.info.number, std::span(value).first(size), false)) {
    return false;
  }
  entry.confirmed_up_to = std::max(entry.confirmed_up_to, *packet.ack);
  entry.confirm_given = true;
  if (!entry.confirm_due) return true;
  entry.confirm_due = false;
  SetValue(entry, entry.answer);  // "as soon as it sends the Confirm". §6.6.1
  return true;
}

bool FeatureNegotiator::WriteEmptyConfirms(Located at, const Outgoing& packet,
                                           OptionWriter& writer) {
  auto& due = empty_due_[static_cast<std::size_t>(at)];
  auto& given = empty_given_[static_cast<std::size_t>(at)];
  const auto wanted = open_ ? due : due | given;
  if (wanted.none() || !packet.ack || *packet.ack < empty_change_seq_) return false;
  bool wrote = false;
  for (std::size_t number = 0; number < wanted.size(); ++number) {
    if (!wanted.test(number)) continue;
    const auto feature = static_cast<FeatureNumber>(number);
    const OptionType type = at == Located::kLocal ? OptionType::kConfirmL : OptionType::kConfirmR;
    if (!writer.AddFeature(type, feature, {}, false)) break;
    wrote = true;
    due.reset(number);
    given.set(number);
    if (FeatureEntry* entry = Find(feature, at)) {
      entry->confirmed_up_to = std::max(entry->confirmed_up_to, *packet.ack);
    }
  }
  return wrote;
}

bool FeatureNegotiator::WriteChange(FeatureEntry& entry, const Outgoing& packet,
                                    OptionWriter& writer) {
  std::array<std::byte, kMaxValueBytes> value = {};
  std::size_t size = 0;
  if (entry.IsSp()) {
    std::ranges::copy(entry.preferences.bytes(), value.begin());
    size = entry.preferences.size();
  } else {
    size = EncodeInteger(entry.proposed, entry.info.value_bytes, value);
  }
  const OptionType type = entry.at == Located::kLocal ? OptionType::kChangeL : OptionType::kChangeR;
  if (!writer.AddFeature(type, entry.info.number, std::span(value).first(size), entry.mandatory)) {
    return false;
  }
  if (!entry.HasNewChange()) return true;
  entry.wish = false;
  entry.state = FeatureState::kChanging;
  entry.acked_unanswered = false;
  entry.proposed_at = packet.now;
  ++entry.proposals;
  fgss_ = packet.seq;
  return true;
}

// ------------------------------------------------------------------------------------- timer ----

// "rcv non-ack: snd Change" of the state diagram: on a packet that goes anyway, once an interval.
bool FeatureNegotiator::EarlyRepeatDue(TimePoint now) const {
  return early_repeat_ && !early_repeat_spent_ && now - last_change_time_ >= rtt_;
}

void FeatureNegotiator::ArmTimer(const Outgoing& packet, bool any_new) {
  early_repeat_ = false;
  if (any_new) {
    interval_ = FirstInterval();
  } else if (repeat_due_) {
    interval_ = std::min(2 * interval_, std::max(kMaxInterval, rtt_));
  } else {
    early_repeat_spent_ = true;
    return;
  }
  early_repeat_spent_ = false;
  repeat_due_ = false;
  // Until then the packets of the handshake have timers of their own.
  repeat_at_ = open_ ? packet.now + interval_ : kNever;
}

void FeatureNegotiator::SetOpen(TimePoint now) {
  if (open_) return;
  open_ = true;
  for (std::size_t i = 0; i < entry_count_; ++i) entries_[i].confirm_given = false;
  for (auto& given : empty_given_) given.reset();
  early_repeat_spent_ = false;
  if (unanswered_ > 0) {
    interval_ = FirstInterval();
    repeat_at_ = now + interval_;
  }
}

bool FeatureNegotiator::HasPending(TimePoint now) const {
  return WorthAPacket() && (!quiet_ || now >= quiet_until_);
}

TimePoint FeatureNegotiator::NextTimeout() const {
  const TimePoint repeat = repeat_due_ ? kNever : repeat_at_;
  return WorthAPacket() && quiet_ ? Earlier(repeat, quiet_until_) : repeat;
}

void FeatureNegotiator::HandleTimeout(TimePoint now) {
  if (now >= quiet_until_) quiet_ = false;
  if (repeat_due_ || now < repeat_at_) return;
  GiveUpUnanswered(now);
  repeat_due_ = unanswered_ > 0;
}

// Deviation: §6.6.3 has a Change repeated until the connection ends. Linux acknowledges the packet
// and never answers a server-priority Change once the connection is open.
void FeatureNegotiator::GiveUpUnanswered(TimePoint now) {
  if (patience_ == Duration::max()) return;
  for (std::size_t i = 0; i < entry_count_; ++i) {
    FeatureEntry& entry = entries_[i];
    if (entry.state != FeatureState::kChanging || !entry.IsSp() || !entry.acked_unanswered ||
        now - entry.proposed_at < patience_) {
      continue;
    }
    entry.state = FeatureState::kStable;
    Report(entry, FeatureOutcome::kGivenUp);
  }
  Recount();
}

}  // namespace dccp
