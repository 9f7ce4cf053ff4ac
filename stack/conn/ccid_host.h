// The two congestion control modules of a connection. RFC 4340 §10
#pragma once

#include <memory>

#include "dccp/ccid.h"
#include "stack/conn/timer_set.h"

namespace dccp {

// Owns the CCID objects, the permit of the sender that is being used up, and the timers kPacing,
// kCcidSender and kCcidReceiver. Both objects exist from the moment the handshake has settled them.
class CcidHost {
 public:
  explicit CcidHost(const CcidRegistry& registry) : registry_(registry) {}

  // (Re)creates one side. False: the registry has no such CCID.
  bool StartSender(CcidId id, const CcidInit& init);
  bool StartReceiver(CcidId id, const CcidInit& init);

  CcidSender* sender() { return sender_.get(); }
  const CcidSender* sender() const { return sender_.get(); }
  CcidReceiver* receiver() { return receiver_.get(); }
  const CcidReceiver* receiver() const { return receiver_.get(); }
  const CcidTraits* sender_traits() const { return sender_traits_; }
  const CcidTraits* receiver_traits() const { return receiver_traits_; }

  // May a data packet leave now? Asks the sender once a burst. Where the answer is "later" the
  // sender is not asked again before Unblock, or the time it named.
  bool TakePermit(std::uint32_t payload_bytes, TimePoint now, TimerSet& timers);
  // Would TakePermit ask or grant?
  bool blocked() const { return blocked_; }
  // Something happened that may have changed the sender's mind.
  void Unblock(TimerSet& timers) {
    burst_ = 0;
    if (held_) return;
    blocked_ = false;
    if (timers.IsSet(Timer::kPacing)) timers.Cancel(Timer::kPacing);
  }
  // No data before `until`, whatever the sender says and whatever happens.
  void Hold(TimePoint until, TimerSet& timers) {
    timers.Set(Timer::kPacing, held_ ? Later(until, timers.Get(Timer::kPacing)) : until);
    held_ = blocked_ = true;
  }
  // kPacing came.
  void OnPacingTimer(TimerSet& timers) {
    held_ = false;
    Unblock(timers);
  }
  // Brings the timers in line with what the objects want.
  void UpdateTimers(TimerSet& timers) const;

 private:
  const CcidRegistry& registry_;
  std::unique_ptr<CcidSender> sender_;
  std::unique_ptr<CcidReceiver> receiver_;
  const CcidTraits* sender_traits_ = nullptr;
  const CcidTraits* receiver_traits_ = nullptr;
  std::uint32_t burst_ = 0;  // packets left of the last permit,
  TimePoint burst_time_;     // which holds for the moment it was given
  bool blocked_ = false;
  bool held_ = false;  // blocked by Hold()
};

}  // namespace dccp
