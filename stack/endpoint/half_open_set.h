// The half-open connections of one listener, and which of them to give up under pressure.
#pragma once

#include <cstddef>
#include <vector>

#include "dccp/random.h"
#include "dccp/time.h"
#include "stack/endpoint/conn_entry.h"

namespace dccp {

// Does not own the connections; one must be removed before it is destroyed. All operations take
// constant time. RFC 4340 §8.1.3 lets a half-open connection last 4 MSL, in which a handful of
// forged Requests a second could fill every place; so a full listener gives one up for a newcomer:
//
// - the oldest, once it is older than kPatience: a client that lives answers within a round trip,
//   and repeats within a second what was lost. All honest clients get through as long as a flood
//   takes longer than kPatience to fill the backlog.
// - else any, by chance. With a backlog of N and a flood of r Requests a second an honest client
//   of round trip t is still there in time with probability exp(-t r / N), where taking the oldest
//   would leave none beyond t = N / r, and refusing the newcomer would let in only as many as
//   leave, all of them the attacker's. Whose own half-open connections are given up has lost
//   nothing.
//
// The one that goes gets no word: its address may be forged, and should its client be real, it will
// be told when it next sends something.
class HalfOpenSet {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(3);

  std::size_t size() const { return entries_.size(); }
  void Add(ConnEntry& entry, TimePoint now);
  // Nothing happens when it is not in the set.
  void Remove(ConnEntry& entry);
  // Null when empty.
  ConnEntry* oldest() const { return by_age_.front(); }
  ConnEntry* Victim(TimePoint now, RandomSource& random) const;

 private:
  std::vector<ConnEntry*> entries_;  // each at its half_open_index
  IntrusiveList<ConnEntry, &ConnEntry::half_open_link> by_age_;
};

}  // namespace dccp
