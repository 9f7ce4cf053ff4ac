// The timers of connection set-up. RFC 4340 §8.1
#pragma once

#include "dccp/time.h"
#include "stack/conn/timer_set.h"

namespace dccp {

// Decides when a Request or the Ack of PARTOPEN is repeated and when to give up. Sets the timers
// kRequest, kPartOpen and kRespond of the connection's TimerSet; sends nothing.
class Handshake {
 public:
  enum class Action : std::uint8_t { kNothing, kRepeat, kGiveUp };

  // The first Request left: repeats come after 1 s, 2 s, 4 s ... up to 64 s. §8.1.1
  void StartRequest(TimePoint now, Duration give_up, TimerSet& timers);
  Action OnRequestTimer(TimePoint now, TimerSet& timers);

  // A server waits for the client's answer to its Response: 4 MSL. §8.1.3
  void StartRespond(TimePoint now, Duration msl, TimerSet& timers);

  // The Response came: Acks are repeated about 200 ms after the last packet, backing off. §8.1.5
  void StartPartOpen(TimePoint now, Duration give_up, TimerSet& timers);
  // Each packet that leaves in PARTOPEN restarts the timer.
  void OnPartOpenSent(TimePoint now, TimerSet& timers);
  Action OnPartOpenTimer(TimePoint now, TimerSet& timers);

  // Set-up is over, one way or another.
  void Stop(TimerSet& timers);

 private:
  static constexpr Duration kCap = std::chrono::seconds(64);

  Backoff request_{std::chrono::seconds(1), kCap};
  Backoff part_open_{std::chrono::milliseconds(200), kCap};
  Duration part_open_interval_ = std::chrono::milliseconds(200);
  TimePoint give_up_at_ = kNever;
};

}  // namespace dccp
