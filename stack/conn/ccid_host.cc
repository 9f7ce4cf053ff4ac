#include "stack/conn/ccid_host.h"

namespace dccp {

bool CcidHost::StartSender(CcidId id, const CcidInit& init) {
  const CcidFactory* factory = registry_.Find(id);
  if (factory == nullptr) return false;
  sender_ = factory->NewSender(init);
  sender_traits_ = &factory->traits();
  burst_ = 0;
  blocked_ = held_;
  return true;
}

bool CcidHost::StartReceiver(CcidId id, const CcidInit& init) {
  const CcidFactory* factory = registry_.Find(id);
  if (factory == nullptr) return false;
  receiver_ = factory->NewReceiver(init);
  receiver_traits_ = &factory->traits();
  return true;
}

bool CcidHost::TakePermit(std::uint32_t payload_bytes, TimePoint now, TimerSet& timers) {
  if (sender_ == nullptr || blocked_) return false;
  if (burst_ > 0 && burst_time_ == now) {
    --burst_;
    return true;
  }
  const SendPermit permit = sender_->MaySend(payload_bytes, now);
  if (permit.kind == SendPermit::Kind::kNow && permit.packets > 0) {
    burst_ = permit.packets - 1;
    burst_time_ = now;
    return true;
  }
  burst_ = 0;
  blocked_ = true;
  if (permit.kind == SendPermit::Kind::kAt) timers.Set(Timer::kPacing, permit.at);
  return false;
}

void CcidHost::UpdateTimers(TimerSet& timers) const {
  if (sender_ != nullptr) {
    const TimePoint t = sender_->NextTimeout();
    if (timers.Get(Timer::kCcidSender) != t) timers.Set(Timer::kCcidSender, t);
  }
  if (receiver_ != nullptr) {
    const TimePoint t = receiver_->NextTimeout();
    if (timers.Get(Timer::kCcidReceiver) != t) timers.Set(Timer::kCcidReceiver, t);
  }
}

}  // namespace dccp
