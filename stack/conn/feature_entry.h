// The negotiation state of one feature at one location. RFC 4340 §6.6.2
#pragma once

#include <cstdint>

#include "dccp/seqno.h"
#include "dccp/time.h"
#include "stack/conn/feature_preferences.h"
#include "stack/conn/feature_table.h"

namespace dccp {

enum class FeatureOutcome : std::uint8_t {
  kChanged,  // the value changed; from now on it holds
  kRefused,  // the peer does not know the feature or shares no value with us
  kGivenUp,  // the peer acknowledged our Change for long without an answer; the value stays
};

// RFC 4340 §6.6.2. kUnstable: the list changed after the Change that is outstanding.
enum class FeatureState : std::uint8_t { kStable, kChanging, kUnstable };

// One row of the negotiator's table; a value without behaviour of its own.
struct FeatureEntry {
  FeatureInfo info = {};
  Located at = Located::kLocal;
  FeatureState state = FeatureState::kStable;
  std::uint64_t value = 0;

  // Our wish.
  PreferenceList preferences;  // SP; empty: none of our own
  bool adopted = false;        // SP: the list stems from the peer's first Change
  std::uint64_t proposed = 0;  // NN: the value of our Change
  bool mandatory = false;
  bool wish = false;            // STABLE, and a Change waits to be sent
  bool restated = false;        // the wish differs from what an earlier option of ours said
  std::uint32_t proposals = 0;  // new Changes sent
  TimePoint proposed_at = TimePoint::min();
  bool acked_unanswered = false;  // the peer acknowledged our Change and did not answer it

  // Our answer to the peer's newest Change.
  bool confirm_due = false;
  bool confirm_given = false;
  std::uint64_t answer = 0;
  PreferenceList answer_list;  // SP: what the Confirm shows as our list
  PreferenceList peer_list;    // SP: the peer's list, if it fits
  bool peer_list_whole = false;
  Seq64 change_seq;       // the packet that carried the Change
  Seq64 confirmed_up_to;  // Acknowledgement Number of our newest Confirm; 0: none

  // What PollChange has to tell; 0: nothing.
  std::uint32_t report = 0;
  FeatureOutcome outcome = FeatureOutcome::kChanged;

  bool IsSp() const { return info.rule == FeatureRule::kServerPriority; }
  // Options of ours with other content than the present wish may still be under way.
  bool SaidOtherwise() const { return restated || proposals > 1; }
  // A Change with new content waits to be sent.
  bool HasNewChange() const { return wish || state == FeatureState::kUnstable; }
  // The value once the answer that waits has been sent.
  std::uint64_t EffectiveValue() const { return confirm_due ? answer : value; }
};

}  // namespace dccp
