// FeatureNegotiator: what received options do. RFC 4340 §6.6.2
#include <algorithm>

#include "stack/conn/feature_negotiator.h"

namespace dccp {
namespace {

// The option is sent by the other end: its L is our R. §6
Located LocationOf(const FeatureOptionView& option) {
  return option.is_local() ? Located::kRemote : Located::kLocal;
}

ResetReason ResetFor(ResetCode code, const FeatureOptionView& option) {
  const std::uint8_t first = option.empty() ? 0 : static_cast<std::uint8_t>(option.value[0]);
  return {
      code,
      {static_cast<std::uint8_t>(option.type), static_cast<std::uint8_t>(option.feature), first}};
}

// Nothing that a non-negotiable feature may hold is longer than 8 bytes.
std::optional<std::uint64_t> DecodeNn(const FeatureInfo& info, std::span<const std::byte> bytes) {
  if (bytes.size() != info.value_bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (std::byte b : bytes) value = value << 8 | static_cast<std::uint64_t>(b);
  if (value < info.min || value > info.max) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ResetReason> FeatureNegotiator::OnOption(const Received& packet,
                                                       const FeatureOptionView& option,
                                                       bool mandatory) {
  if (packet.type == PacketType::kData || packet.type == PacketType::kListen) return std::nullopt;
  packet_had_options_ = true;
  // §6.6.4 puts this in a MUST for every option; §6.6.2's pseudocode, a SHOULD, would still reset
  // for an old packet's Mandatory Change of an unknown feature, against §6.6.9's last paragraph.
  if (packet.seq <= fgsr_) return std::nullopt;
  FeatureEntry* entry = FindKnown(option.feature, LocationOf(option));
  if (option.is_change()) {
    if (entry == nullptr) return OnBadChange(packet, option, mandatory);
    return OnChange(*entry, packet, option, mandatory);
  }
  const bool answers_us = packet.ack.has_value() && *packet.ack >= fgss_;
  if (entry == nullptr || entry->state != FeatureState::kChanging || !answers_us) {
    return std::nullopt;
  }
  const auto reset = OnConfirm(*entry, option);
  Recount();
  return reset;
}

// ----------------------------------------------------------------------------------- changes ----

std::optional<ResetReason> FeatureNegotiator::OnBadChange(const Received& packet,
                                                          const FeatureOptionView& option,
                                                          bool mandatory) {
  if (mandatory) return ResetFor(ResetCode::kMandatoryError, option);
  const Located at = LocationOf(option);
  if (FeatureEntry* entry = Find(option.feature, at)) {
    // Of two answers that wait the newer one counts: in packets of their own they could arrive in
    // either order, or one of them alone.
    entry->confirm_due = false;
    entry->confirm_given = false;
  }
  empty_due_[static_cast<std::size_t>(at)].set(static_cast<std::size_t>(option.feature));
  empty_change_seq_ = packet.seq;
  Recount();
  return std::nullopt;
}

std::optional<ResetReason> FeatureNegotiator::OnChange(FeatureEntry& entry, const Received& packet,
                                                       const FeatureOptionView& option,
                                                       bool mandatory) {
  if (entry.state == FeatureState::kUnstable) return std::nullopt;
  // A Confirm of ours with this Acknowledgement Number or a greater one may have ended the peer's
  // negotiation. To act on an older Change afterwards would undo the agreement on our side only.
  if (packet.seq <= entry.confirmed_up_to) return std::nullopt;

  if (entry.IsSp()) {
    if (option.empty()) return OnBadChange(packet, option, mandatory);
    const auto chosen = Choose(entry, option.value);
    if (!chosen && mandatory) return ResetFor(ResetCode::kMandatoryError, option);
    PrepareSpAnswer(entry, option.value, chosen);
  } else {
    const auto value = DecodeNn(entry.info, option.value);
    // Only the location sets a non-negotiable feature: Change R is invalid. §6.3.2
    if (!value || entry.at == Located::kLocal) return OnBadChange(packet, option, mandatory);
    entry.answer = *value;
  }
  entry.confirm_due = true;
  entry.change_seq = packet.seq;
  // The peer's Change answers ours, and we "can then transition to STABLE" (§6.6.6). Not so where
  // we said something else before: the Change may be an old repeat whose negotiation is over for
  // the peer, which then ignores our Confirm, and only our own Change tells it of the new list.
  if (!entry.SaidOtherwise()) entry.state = FeatureState::kStable;
  const auto index = static_cast<std::size_t>(entry.at);
  const auto number = static_cast<std::size_t>(entry.info.number);
  empty_due_[index].reset(number);
  empty_given_[index].reset(number);
  Recount();
  return std::nullopt;
}

void FeatureNegotiator::PrepareSpAnswer(FeatureEntry& entry, std::span<const std::byte> peer,
                                        std::optional<std::uint8_t> chosen) {
  entry.answer = chosen ? *chosen : entry.value;
  if (entry.preferences.empty()) AdoptPreferences(entry);
  entry.answer_list = entry.preferences;
  entry.peer_list = PreferenceList::From(peer);
  entry.peer_list_whole = peer.size() <= PreferenceList::kCapacity;
  // The peer's Change brought what ours would have. Where we said something else before, an option
  // of then may still be under way, and only a Change of ours settles which one counts.
  if (chosen && !entry.SaidOtherwise() && entry.proposals == 0) entry.wish = false;
}

// Who preferred nothing prefers what it has answered first, then everything else that it
// understands. From then on the list is as fixed as any: an answer that depended on the peer's list
// alone would let an old Confirm pass for the answer to a newer Change.
void FeatureNegotiator::AdoptPreferences(FeatureEntry& entry) {
  entry.adopted = true;
  entry.preferences.Add(static_cast<std::uint8_t>(entry.answer));
  for (std::uint64_t v = entry.info.min; v <= entry.info.max; ++v) {
    if (Understands(entry, v)) entry.preferences.Add(static_cast<std::uint8_t>(v));
  }
}

// The value that both lists give. Without a list of our own: the first of the peer's values that we
// understand, which is what our list would begin with.
std::optional<std::uint8_t> FeatureNegotiator::Choose(const FeatureEntry& entry,
                                                      std::span<const std::byte> peer) const {
  if (!entry.preferences.empty()) return Reconcile(role_, entry.preferences.bytes(), peer);
  for (std::byte v : peer) {
    if (Understands(entry, static_cast<std::uint64_t>(v))) return static_cast<std::uint8_t>(v);
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------- confirms ----

// Mandatory before a Confirm alters nothing. §6.6.9
std::optional<ResetReason> FeatureNegotiator::OnConfirm(FeatureEntry& entry,
                                                        const FeatureOptionView& option) {
  if (option.empty()) return OnEmptyConfirm(entry, option);
  return entry.IsSp() ? OnSpConfirm(entry, option) : OnNnConfirm(entry, option);
}

std::optional<ResetReason> FeatureNegotiator::OnEmptyConfirm(FeatureEntry& entry,
                                                             const FeatureOptionView& option) {
  // A Linux server that shares no CCID with us says so and goes on with CCID 2, which is no fault
  // where CCID 2 is one of those we can run.
  const bool tolerable =
      !entry.info.required || (entry.info.number == FeatureNumber::kCcid &&
                               entry.preferences.Contains(static_cast<std::uint8_t>(entry.value)));
  if (!tolerable || entry.mandatory) return ResetFor(ResetCode::kOptionError, option);
  entry.state = FeatureState::kStable;
  Report(entry, FeatureOutcome::kRefused);
  return std::nullopt;
}

std::optional<ResetReason> FeatureNegotiator::OnNnConfirm(FeatureEntry& entry,
                                                          const FeatureOptionView& option) {
  const auto value = DecodeNn(entry.info, option.value);
  if (!value) return ResetFor(ResetCode::kOptionError, option);
  // Deviation: §6.6.8 has another value than the proposed one reset the connection. But when a
  // second Change is lost, the late Confirm of the first can acknowledge a packet after it, and is
  // no fault of the peer's. The repeat of our Change settles it.
  if (*value != entry.proposed) return std::nullopt;
  SetValue(entry, *value);
  entry.state = FeatureState::kStable;
  return std::nullopt;
}

std::optional<ResetReason> FeatureNegotiator::OnSpConfirm(FeatureEntry& entry,
                                                          const FeatureOptionView& option) {
  const auto chosen = static_cast<std::uint8_t>(option.value[0]);
  const auto peer = option.value.subspan(1);
  // As in OnNnConfirm: the Confirm may answer an earlier Change of ours with another list, and the
  // peer's old value may be one that an earlier negotiation gave.
  const bool ambiguous = entry.SaidOtherwise();
  const auto shared = Reconcile(role_, entry.preferences.bytes(), peer);
  bool fits = false;
  if (shared) {
    fits = chosen == *shared;
  } else if (peer.empty() && entry.preferences.Contains(chosen)) {
    fits = true;  // the list is there "possibly" only (§6.2); nothing contradicts the value
  } else {
    // No shared entry, so the value must be the old one, and a Mandatory Change cannot be confirmed
    // at all. §6.6.9
    fits = !entry.mandatory && (chosen == entry.value || (ambiguous && Understands(entry, chosen)));
  }
  if (!fits) {
    if (ambiguous) return std::nullopt;
    return ResetFor(ResetCode::kOptionError, option);
  }
  SetValue(entry, chosen);
  entry.state = FeatureState::kStable;
  if (!entry.preferences.Contains(chosen)) Report(entry, FeatureOutcome::kRefused);
  return std::nullopt;
}

// ---------------------------------------------------------------------------- end of a packet ----

void FeatureNegotiator::EndPacket(const Received& packet) {
  if (packet_had_options_) {
    packet_had_options_ = false;
    fgsr_ = std::max(fgsr_, packet.seq);
    SettleCcid(Located::kLocal);
    SettleCcid(Located::kRemote);
  } else if (!open_) {
    SettleCcid(Located::kLocal);
    SettleCcid(Located::kRemote);
  }
  if (!open_ || unanswered_ == 0 || !packet.ack || *packet.ack < last_change_seq_) return;
  early_repeat_ = true;
  for (std::size_t i = 0; i < entry_count_; ++i) {
    FeatureEntry& entry = entries_[i];
    if (entry.state == FeatureState::kChanging) entry.acked_unanswered = true;
  }
}

// Once no wish of ours stands against it, the CCID is known, and what it needs can be negotiated.
void FeatureNegotiator::SettleCcid(Located at) {
  const FeatureEntry& ccid = *Find(FeatureNumber::kCcid, at);
  if (ccid.wish || ccid.state != FeatureState::kStable) return;
  const std::uint64_t settled = ccid.EffectiveValue();
  const std::uint64_t before = needs_added_[static_cast<std::size_t>(at)];
  if (settled == before) return;
  if (before != 0) ForgetCcidFeatures(at);
  AddCcidNeeds(at, CcidId{static_cast<std::uint8_t>(settled)});
}

// A CCID-specific number means something else, or nothing, to another CCID. §10.3
void FeatureNegotiator::ForgetCcidFeatures(Located ccid_at) {
  for (std::size_t i = 0; i < entry_count_; ++i) {
    FeatureEntry& entry = entries_[i];
    if (!IsCcidSpecific(entry.info.number) || entry.confirm_due ||
        CcidLocation(entry.info.number, entry.at) != ccid_at) {
      continue;
    }
    const FeatureInfo info = entry.info;
    const Located at = entry.at;
    entry = FeatureEntry{};
    entry.info = info;
    entry.at = at;
    entry.value = info.initial;
  }
}

}  // namespace dccp
