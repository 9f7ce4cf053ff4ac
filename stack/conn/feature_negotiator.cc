// Set-up, wishes and state; feature_receive.cc and feature_send.cc hold the exchange of options.
#include "stack/conn/feature_negotiator.h"

#include <algorithm>

#include "stack/base/check.h"

namespace dccp {

FeatureNegotiator::FeatureNegotiator(Role role) : role_(role) {
  for (std::uint8_t n = 1; const FeatureInfo* info = FindFeature(FeatureNumber{n}); ++n) {
    AddEntry(*info, Located::kLocal);
    AddEntry(*info, Located::kRemote);
  }
  // Short sequence numbers are easier to attack, and not every peer can extend them. §7.6
  Find(FeatureNumber::kAllowShortSeqnos, Located::kLocal)->preferences = {0};
}

FeatureEntry* FeatureNegotiator::AddEntry(const FeatureInfo& info, Located at) {
  if (entry_count_ == kMaxEntries) return nullptr;
  FeatureEntry& entry = entries_[entry_count_++];
  entry.info = info;
  entry.at = at;
  entry.value = info.initial;
  return &entry;
}

// The constructor lays the general features out by number and location.
FeatureEntry* FeatureNegotiator::Find(FeatureNumber feature, Located at) {
  if (FindFeature(feature) != nullptr) {
    return &entries_[2 * (static_cast<std::size_t>(feature) - 1) + static_cast<std::size_t>(at)];
  }
  for (std::size_t i = kGeneralEntries; i < entry_count_; ++i) {
    if (entries_[i].info.number == feature && entries_[i].at == at) return &entries_[i];
  }
  return nullptr;
}

const FeatureEntry* FeatureNegotiator::Find(FeatureNumber feature, Located at) const {
  return const_cast<FeatureNegotiator*>(this)->Find(feature, at);
}

// A CCID-specific feature exists only while its CCID is in force or under negotiation. §10.3
FeatureEntry* FeatureNegotiator::FindKnown(FeatureNumber feature, Located at) {
  if (!IsCcidSpecific(feature)) return Find(feature, at);
  if (!CcidFeatureKnown(feature, at)) return nullptr;
  FeatureEntry* entry = Find(feature, at);
  return entry != nullptr ? entry : AddEntry(CcidFeatureInfo(feature), at);
}

bool FeatureNegotiator::CcidFeatureKnown(FeatureNumber feature, Located at) const {
  const FeatureEntry& ccid = *Find(FeatureNumber::kCcid, CcidLocation(feature, at));
  if (CcidHasFeature(ccid.EffectiveValue(), feature)) return true;
  if (ccid.state == FeatureState::kStable && !ccid.wish) return false;
  for (std::size_t i = 0; i < ccid.preferences.size(); ++i) {
    if (CcidHasFeature(ccid.preferences[i], feature)) return true;
  }
  return false;
}

bool FeatureNegotiator::CcidHasFeature(std::uint64_t id, FeatureNumber feature) const {
  const Ccid* ccid = FindCcid(id);
  return ccid != nullptr &&
         std::ranges::find(ccid->needs, feature, &CcidFeatureNeed::feature) != ccid->needs.end();
}

const FeatureNegotiator::Ccid* FeatureNegotiator::FindCcid(std::uint64_t id) const {
  for (std::size_t i = 0; i < ccid_count_; ++i) {
    if (static_cast<std::uint64_t>(ccids_[i].id) == id) return &ccids_[i];
  }
  return nullptr;
}

bool FeatureNegotiator::Understands(const FeatureEntry& entry, std::uint64_t value) const {
  if (entry.info.number == FeatureNumber::kCcid) return FindCcid(value) != nullptr;
  return value >= entry.info.min && value <= entry.info.max;
}

bool FeatureNegotiator::UnderstandsAll(const FeatureEntry& entry,
                                       const PreferenceList& list) const {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!Understands(entry, list[i])) return false;
  }
  return !list.empty();
}

bool FeatureNegotiator::RegisterCcid(CcidId id, std::span<const CcidFeatureNeed> needs) {
  if (ccid_count_ == kMaxCcids || FindCcid(static_cast<std::uint64_t>(id)) != nullptr) return false;
  ccids_[ccid_count_++] = {id, needs};
  return true;
}

Result<void> FeatureNegotiator::Configure(const FeatureConfig& config) {
  FeatureEntry* entry = FindKnown(config.feature, config.at);
  if (entry == nullptr) return Error::kInvalidArgument;
  if (!entry->IsSp()) return ConfigureNn(*entry, config);
  if (config.preferences.empty()) {
    if (config.propose) return Error::kInvalidArgument;
    entry->preferences = {};
    return {};
  }
  if (!UnderstandsAll(*entry, config.preferences)) return Error::kInvalidArgument;
  entry->preferences = config.preferences;
  entry->wish = config.propose;
  entry->mandatory = config.mandatory;
  Recount();
  return {};
}

Result<void> FeatureNegotiator::ConfigureNn(FeatureEntry& entry, const FeatureConfig& config) {
  if (config.at == Located::kRemote || !Understands(entry, config.value)) {
    return Error::kInvalidArgument;
  }
  entry.proposed = config.value;
  entry.wish = config.propose;
  entry.mandatory = config.mandatory;
  Recount();
  return {};
}

// ------------------------------------------------------------------------------------ wishes ----

void FeatureNegotiator::Start(Seq64 iss) {
  fgss_ = iss;
  for (Located at : {Located::kLocal, Located::kRemote}) {
    FeatureEntry& ccid = *Find(FeatureNumber::kCcid, at);
    if (ccid.preferences.empty()) {
      for (std::size_t i = 0; i < ccid_count_; ++i) {
        ccid.preferences.Add(static_cast<std::uint8_t>(ccids_[i].id));
      }
    }
    if (ccid.preferences.empty()) continue;
    // Both half-connections start with CCID 2; who cannot live with it must say so. §10
    if (!ccid.preferences.Contains(static_cast<std::uint8_t>(ccid.info.initial))) {
      ccid.wish = true;
      ccid.mandatory = true;
    }
    if (ccid.preferences.size() == 1) AddCcidNeeds(at, CcidId{ccid.preferences[0]});
  }
  Recount();
}

void FeatureNegotiator::OnPeerInitial(Seq64 isr) { fgsr_ = isr - 1; }

Result<void> FeatureNegotiator::ChangeLocalNn(FeatureNumber feature, std::uint64_t value) {
  FeatureEntry* entry = FindKnown(feature, Located::kLocal);
  if (entry == nullptr || entry->IsSp() || !Understands(*entry, value)) {
    return Error::kInvalidArgument;
  }
  const bool open_question = entry->wish || entry->state != FeatureState::kStable;
  if (value == (open_question ? entry->proposed : entry->value)) return {};
  entry->proposed = value;
  entry->mandatory = false;
  Announce(*entry);
  return {};
}

Result<void> FeatureNegotiator::ChangePreference(FeatureNumber feature, Located at,
                                                 const PreferenceList& list, bool mandatory) {
  FeatureEntry* entry = FindKnown(feature, at);
  if (entry == nullptr || !entry->IsSp() || !UnderstandsAll(*entry, list)) {
    return Error::kInvalidArgument;
  }
  ReplacePreferences(*entry, list);
  entry->mandatory = mandatory;
  Announce(*entry);
  return {};
}

// A Change with the present wish is to be sent. An unanswered one makes the feature UNSTABLE until
// then, so that agreement rests on the wish of now. §6.6.5
void FeatureNegotiator::Announce(FeatureEntry& entry) {
  if (entry.state == FeatureState::kStable) {
    entry.wish = true;
  } else {
    entry.state = FeatureState::kUnstable;
  }
  Recount();
}

void FeatureNegotiator::ReplacePreferences(FeatureEntry& entry, const PreferenceList& list) {
  if (entry.proposals > 0 || entry.confirmed_up_to != Seq64()) entry.restated = true;
  entry.preferences = list;
  entry.adopted = false;
  if (!entry.confirm_due) return;
  // The answer that waits must follow from the list that it shows.
  if (!entry.peer_list_whole) {
    entry.confirm_due = false;
    return;
  }
  entry.answer = Reconcile(role_, list.bytes(), entry.peer_list.bytes())
                     .value_or(static_cast<std::uint8_t>(entry.value));
  entry.answer_list = list;
}

void FeatureNegotiator::AddCcidNeeds(Located ccid_at, CcidId ccid) {
  needs_added_[static_cast<std::size_t>(ccid_at)] = static_cast<std::uint64_t>(ccid);
  const Ccid* known = FindCcid(static_cast<std::uint64_t>(ccid));
  if (known == nullptr) return;
  for (const CcidFeatureNeed& need : known->needs) {
    FeatureEntry* entry = FindKnown(need.feature, need.at_sender ? ccid_at : Opposite(ccid_at));
    if (entry == nullptr || !Understands(*entry, need.value)) continue;
    if (entry->IsSp()) {
      AddSpNeed(*entry, need);
    } else if (entry->at == Located::kLocal && !entry->wish && need.value != entry->value) {
      entry->proposed = need.value;
      entry->mandatory = need.mandatory;
      Announce(*entry);
    }
  }
  Recount();
}

void FeatureNegotiator::AddSpNeed(FeatureEntry& entry, const CcidFeatureNeed& need) {
  // What the embedder prefers yields only to what the CCID cannot work without.
  if (!entry.preferences.empty() && !entry.adopted && !need.mandatory) return;
  const PreferenceList list = {static_cast<std::uint8_t>(need.value)};
  if (list != entry.preferences) {
    const bool outstanding = entry.state != FeatureState::kStable;
    ReplacePreferences(entry, list);
    if (outstanding) entry.state = FeatureState::kUnstable;
  }
  entry.mandatory = need.mandatory;
  if (entry.state == FeatureState::kStable && entry.EffectiveValue() != need.value) {
    entry.wish = true;
  }
}

// ------------------------------------------------------------------------------------- state ----

std::uint64_t FeatureNegotiator::value(FeatureNumber feature, Located at) const {
  const FeatureEntry* entry = Find(feature, at);
  return entry != nullptr ? entry->value : 0;
}

bool FeatureNegotiator::stable(FeatureNumber feature, Located at) const {
  const FeatureEntry* entry = Find(feature, at);
  return entry == nullptr ||
         (entry->state == FeatureState::kStable && !entry->wish && !entry->confirm_due);
}

std::optional<FeatureChange> FeatureNegotiator::PollChange() {
  if (reports_ == 0) return std::nullopt;  // asked for every packet
  FeatureEntry* oldest = nullptr;
  for (std::size_t i = 0; i < entry_count_; ++i) {
    FeatureEntry& entry = entries_[i];
    if (entry.report != 0 && (oldest == nullptr || entry.report < oldest->report)) oldest = &entry;
  }
  if (oldest == nullptr) return std::nullopt;
  oldest->report = 0;
  --reports_;
  return FeatureChange{oldest->info.number, oldest->at, oldest->value, oldest->outcome};
}

void FeatureNegotiator::Report(FeatureEntry& entry, FeatureOutcome outcome) {
  const bool untold_change = entry.report != 0 && entry.outcome == FeatureOutcome::kChanged;
  if (entry.report == 0) ++reports_;
  entry.report = next_report_++;
  entry.outcome = untold_change ? FeatureOutcome::kChanged : outcome;
}

void FeatureNegotiator::SetValue(FeatureEntry& entry, std::uint64_t value) {
  if (value == entry.value) return;
  entry.value = value;
  Report(entry, FeatureOutcome::kChanged);
}

void FeatureNegotiator::Recount() {
  unanswered_ = 0;
  waiting_ = static_cast<int>(empty_due_[0].any()) + static_cast<int>(empty_due_[1].any());
  for (std::size_t i = 0; i < entry_count_; ++i) {
    const FeatureEntry& entry = entries_[i];
    if (entry.state == FeatureState::kChanging) ++unanswered_;
    if (entry.confirm_due) ++waiting_;
    if (entry.HasNewChange()) ++waiting_;
  }
  if (unanswered_ > 0) return;
  repeat_at_ = kNever;
  repeat_due_ = false;
  early_repeat_ = false;
}

}  // namespace dccp
