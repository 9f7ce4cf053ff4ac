// Negotiates the features of one connection. RFC 4340 §6
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dccp/ccid.h"
#include "dccp/option_writer.h"
#include "dccp/result.h"
#include "dccp/seqno.h"
#include "dccp/time.h"
#include "dccp/types.h"
#include "stack/conn/feature_entry.h"
#include "stack/conn/feature_preferences.h"
#include "stack/conn/feature_table.h"
#include "stack/wire/feature_codec.h"

namespace dccp {

// What this endpoint wants of one feature.
struct FeatureConfig {
  FeatureNumber feature;
  Located at = Located::kLocal;
  PreferenceList preferences = {};  // server-priority: best first. Empty: whatever the peer wants
  std::uint64_t value = 0;          // non-negotiable: located here only
  bool mandatory = false;           // put Mandatory before the Change
  bool propose = true;              // send a Change at the start, even for the initial value
};

struct FeatureChange {
  FeatureNumber feature;
  Located at;
  std::uint64_t value;  // in force now
  FeatureOutcome outcome;
};

// Owns the negotiation state of every feature at both locations, the answers due to the peer, and
// the timer of our own Changes. Values in, values out: it reads no clock, sends nothing, and
// allocates nothing. Feature options of packets that passed the sequence checks go in by OnOption,
// in order; WriteOptions puts what is due on a packet that the connection is about to send; new
// values come out of PollChange. RFC 4340 §6.6
//
// Reordering protection uses one FGSR and one FGSS for the connection, the RFC's first algorithm.
// Being unwrapped numbers they cannot exceed GSR and GSS by wrapping, so erratum 974's correction
// has nothing to correct ("alternate implementations that correctly handle wrapping").
//
// Choices where the RFC leaves one:
// - A peer's first Change for a feature without configured preferences gets the first value of its
//   list that we understand, which becomes our first preference, before all other values that we
//   understand. Unconfigured CCID prefers the registered CCIDs in order, unconfigured Allow Short
//   Seqnos at this end prefers 0.
// - An empty Confirm for CCID keeps the CCID in force if our list holds it, else Reset 5; for the
//   other required features it is always Reset 5. §6.6.7
// - Until SetOpen every packet repeats all Changes that are unanswered and all Confirms that were
//   given, since the packet that carried one may be lost and Linux needs all of them at once.
class FeatureNegotiator {
 public:
  struct Received {
    PacketType type;
    Seq64 seq;
    std::optional<Seq64> ack;
  };
  struct Outgoing {
    PacketType type;
    Seq64 seq;
    std::optional<Seq64> ack;
    TimePoint now;
  };

  static constexpr Duration kMaxInterval = std::chrono::seconds(64);  // RFC 4340 §6.6.3
  static constexpr Duration kDefaultPatience = 4 * kMsl;

  explicit FeatureNegotiator(Role role);

  // ---- Set-up, before Start.

  // Makes a CCID one that we can run, with the features it needs; `needs` is static storage. False:
  // no room.
  bool RegisterCcid(CcidId id, std::span<const CcidFeatureNeed> needs);
  // kInvalidArgument: unknown feature, value out of range, NN feature at the peer, or a CCID list
  // with unregistered CCIDs. A CCID list without 2 is always proposed with Mandatory. §10
  Result<void> Configure(const FeatureConfig& config);

  // Initial sequence numbers. Start also adds the needs of a CCID whose list has one entry.
  void Start(Seq64 iss);
  void OnPeerInitial(Seq64 isr);

  // ---- Receiving: OnOption for each feature option of a packet, then EndPacket for every packet.

  // A value: the connection must be reset with it.
  std::optional<ResetReason> OnOption(const Received& packet, const FeatureOptionView& option,
                                      bool mandatory);
  // Advances FGSR, and adds the needs of a CCID that this packet decided.
  void EndPacket(const Received& packet);

  // ---- Sending. The packet must then be sent: values that its Confirms announce hold from here.

  // Writes what is due and fits. Nothing goes on Data, Reset and Listen.
  void WriteOptions(const Outgoing& packet, OptionWriter& writer);
  // A Confirm or a due Change waits, and no feature option left within the last RTT: worth a packet
  // of its own (an Ack, or a Sync) if congestion control allows one. §6.6.1
  bool HasPending(TimePoint now) const;
  TimePoint NextTimeout() const;
  void HandleTimeout(TimePoint now);
  void SetRtt(Duration rtt) { rtt_ = rtt; }
  // The handshake is over: options go out once, Changes are repeated by timer.
  void SetOpen(TimePoint now);
  // How long to repeat a server-priority Change to a peer that acknowledges and does not answer;
  // Duration::max(): for ever.
  void SetPatience(Duration patience) { patience_ = patience; }

  // ---- Wishes, at any time after Start.

  // A new value of a non-negotiable feature located here.
  Result<void> ChangeLocalNn(FeatureNumber feature, std::uint64_t value);
  // A new preference list of a server-priority feature, always announced by a Change.
  Result<void> ChangePreference(FeatureNumber feature, Located at, const PreferenceList& list,
                                bool mandatory = false);
  // Wishes for what `ccid` needs on the half-connection whose CCID is located at `ccid_at`. Start
  // and EndPacket do so by themselves.
  void AddCcidNeeds(Located ccid_at, CcidId ccid);

  // ---- State.

  std::uint64_t value(FeatureNumber feature, Located at) const;  // 0 for an unknown feature
  // No Change is unanswered or waiting and no Confirm waits to be sent.
  bool stable(FeatureNumber feature, Located at) const;
  bool AllStable() const { return unanswered_ == 0 && waiting_ == 0; }
  // What happened since the last call, oldest first, each once. Of several events of one feature
  // there is one, with the value of now, and kChanged if any of them was.
  std::optional<FeatureChange> PollChange();

 private:
  static constexpr std::size_t kGeneralEntries = 2 * 9;
  static constexpr std::size_t kMaxEntries = kGeneralEntries + 6;
  static constexpr std::size_t kMaxCcids = 16;
  struct Ccid {
    CcidId id;
    std::span<const CcidFeatureNeed> needs;
  };

  FeatureEntry* AddEntry(const FeatureInfo& info, Located at);
  FeatureEntry* Find(FeatureNumber feature, Located at);
  const FeatureEntry* Find(FeatureNumber feature, Located at) const;
  FeatureEntry* FindKnown(FeatureNumber feature, Located at);
  const Ccid* FindCcid(std::uint64_t id) const;
  bool CcidHasFeature(std::uint64_t id, FeatureNumber feature) const;
  bool CcidFeatureKnown(FeatureNumber feature, Located at) const;
  bool Understands(const FeatureEntry& entry, std::uint64_t value) const;
  bool UnderstandsAll(const FeatureEntry& entry, const PreferenceList& list) const;

  Result<void> ConfigureNn(FeatureEntry& entry, const FeatureConfig& config);
  void Announce(FeatureEntry& entry);
  void ReplacePreferences(FeatureEntry& entry, const PreferenceList& list);
  void AddSpNeed(FeatureEntry& entry, const CcidFeatureNeed& need);

  std::optional<ResetReason> OnChange(FeatureEntry& entry, const Received& packet,
                                      const FeatureOptionView& option, bool mandatory);
  std::optional<ResetReason> OnBadChange(const Received& packet, const FeatureOptionView& option,
                                         bool mandatory);
  std::optional<ResetReason> OnConfirm(FeatureEntry& entry, const FeatureOptionView& option);
  std::optional<ResetReason> OnEmptyConfirm(FeatureEntry& entry, const FeatureOptionView& option);
  std::optional<ResetReason> OnNnConfirm(FeatureEntry& entry, const FeatureOptionView& option);
  std::optional<ResetReason> OnSpConfirm(FeatureEntry& entry, const FeatureOptionView& option);
  std::optional<std::uint8_t> Choose(const FeatureEntry& entry,
                                     std::span<const std::byte> peer) const;
  void AdoptPreferences(FeatureEntry& entry);
  void PrepareSpAnswer(FeatureEntry& entry, std::span<const std::byte> peer,
                       std::optional<std::uint8_t> chosen);
  void SettleCcid(Located at);
  void ForgetCcidFeatures(Located ccid_at);

  bool WriteConfirm(FeatureEntry& entry, const Outgoing& packet, OptionWriter& writer);
  bool WriteEmptyConfirms(Located at, const Outgoing& packet, OptionWriter& writer);
  bool WriteChange(FeatureEntry& entry, const Outgoing& packet, OptionWriter& writer);
  bool EarlyRepeatDue(TimePoint now) const;
  void ArmTimer(const Outgoing& packet, bool any_new);
  void GiveUpUnanswered(TimePoint now);
  bool WorthAPacket() const { return waiting_ > 0 || (repeat_due_ && unanswered_ > 0); }
  Duration FirstInterval() const { return rtt_ > kDefaultRtt ? rtt_ : kDefaultRtt; }

  void Report(FeatureEntry& entry, FeatureOutcome outcome);
  void SetValue(FeatureEntry& entry, std::uint64_t value);
  void Recount();

  Role role_;
  bool open_ = false;
  bool packet_had_options_ = false;
  Seq64 fgsr_;
  Seq64 fgss_;
  std::array<FeatureEntry, kMaxEntries> entries_ = {};
  std::size_t entry_count_ = 0;
  std::array<Ccid, kMaxCcids> ccids_ = {};
  std::size_t ccid_count_ = 0;
  std::array<std::uint64_t, 2> needs_added_ = {0, 0};  // by location of the CCID: for which one
  // Empty Confirms to send, and those given, by location and feature number. They answer unknown
  // features and invalid values alike, so the number alone identifies one.
  std::array<std::bitset<256>, 2> empty_due_;
  std::array<std::bitset<256>, 2> empty_given_;
  Seq64 empty_change_seq_;  // the newest packet that one of them answers

  int unanswered_ = 0;  // features that are CHANGING
  int waiting_ = 0;     // Confirms, empty Confirms and new Changes not yet written
  std::uint32_t next_report_ = 1;
  std::uint32_t reports_ = 0;  // entries with one

  Duration rtt_ = kDefaultRtt;
  Duration patience_ = kDefaultPatience;
  Duration interval_ = Duration::zero();
  TimePoint last_change_time_;
  TimePoint repeat_at_ = kNever;
  Seq64 last_change_seq_;      // the newest packet with a Change of ours
  bool repeat_due_ = false;    // the timer ran out
  bool early_repeat_ = false;  // the peer acknowledged a Change without answering it
  bool early_repeat_spent_ = false;
  bool quiet_ = false;  // one feature negotiation packet a round trip. §6.6.1
  TimePoint quiet_until_ = TimePoint::min();
};

}  // namespace dccp
