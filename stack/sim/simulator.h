// Virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dccp/time.h"
#include "stack/sim/event_queue.h"

namespace dccp {

// Something that acts before time moves on, such as a node with datagrams to send.
class SimParticipant {
 public:
  virtual ~SimParticipant() = default;
  // The application may have called in since: do what is due now.
  virtual void Settle() = 0;
};

// Runs events in the order of their times, equal times in the order in which they were scheduled,
// and moves the clock from one to the next. An hour of network passes as fast as its events can be
// computed. Owns the clock and the queue; actors outlive it or are never called again.
class Simulator {
 public:
  // Not zero, so that a time that somebody forgot to set does not pass for the beginning.
  static constexpr TimePoint kStart = TimePoint(std::chrono::seconds(1));

  TimePoint now() const { return now_; }
  std::uint64_t events_run() const { return events_run_; }

  // Calls actor.OnSimEvent(cookie) at `at`, or now if that is past. There is no cancelling: an
  // actor ignores what it no longer wants.
  void Schedule(TimePoint at, SimActor& actor, std::uint64_t cookie) {
    queue_.Push(Later(at, now_), &actor, cookie);
  }
  void At(TimePoint at, std::function<void()> call);
  void After(Duration delay, std::function<void()> call) { At(now_ + delay, std::move(call)); }

  void Add(SimParticipant& participant) { participants_.push_back(&participant); }

  // Runs everything up to `end` and sets the clock there.
  void RunUntil(TimePoint end);
  void RunFor(Duration duration) { RunUntil(now_ + duration); }
  // Stops as soon as `done()`, which is asked after each event; false when `limit` passed first.
  bool RunUntil(const std::function<bool()>& done, Duration limit);
  // Until no event is left or `limit` has passed; false in the second case.
  bool RunUntilIdle(Duration limit);

 private:
  // The calls given to At().
  class Calls final : public SimActor {
   public:
    void OnSimEvent(std::uint64_t cookie) override;
    std::uint64_t Keep(std::function<void()> call);

   private:
    std::vector<std::function<void()>> calls_;
    std::vector<std::uint64_t> free_;
  };

  void SettleAll();
  void RunNext();

  TimePoint now_ = kStart;
  std::uint64_t events_run_ = 0;
  EventQueue queue_;
  Calls calls_;
  std::vector<SimParticipant*> participants_;
};

}  // namespace dccp
