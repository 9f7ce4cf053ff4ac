// What the endpoint keeps beside each connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dccp/endpoint.h"
#include "stack/base/intrusive_list.h"
#include "stack/conn/connection.h"

namespace dccp {

struct ConnEntry {
  std::unique_ptr<Connection> conn;
  ConnId id;
  FlowTuple tuple;
  ListenerId listener;        // of a server's connection
  bool half_open = false;     // a server's connection that the application does not know yet
  TimePoint half_open_since;  // with half_open, as are the next two
  std::uint32_t half_open_index = 0;
  ListLink<ConnEntry> half_open_link;
  TimePoint cookie_until = TimePoint::min();  // its Init Cookie could still be played back
  bool released = false;                      // the application gave the handle back
  bool close_asked = false;                   // Close() succeeded
  bool over = false;             // reached CLOSED or TIMEWAIT: the tuple is no longer its own
  bool port_claimed = false;     // a client's: its local port is claimed from the arbiter
  std::uint32_t event_bits = 0;  // taken from the connection, not polled yet
  std::uint64_t user_data = 0;
  ListLink<ConnEntry> event_link;
  ListLink<ConnEntry> transmit_link;
};

// A first-in first-out list of connections that want something; each is on it at most once, so that
// taking from the front and putting back at the end serves all in turn.
template <ListLink<ConnEntry> ConnEntry::*kLink>
class ReadyList {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const ConnEntry* front() const { return list_.front(); }
  static const ConnEntry* Next(const ConnEntry& entry) { return List::Next(entry); }

  void Add(ConnEntry& entry) {
    if (List::Contains(entry)) return;
    list_.PushBack(entry);
    ++size_;
  }
  void Remove(ConnEntry& entry) {
    if (!List::Contains(entry)) return;
    list_.Remove(entry);
    --size_;
  }
  // Null when empty.
  ConnEntry* Pop() {
    ConnEntry* entry = list_.PopFront();
    if (entry != nullptr) --size_;
    return entry;
  }

 private:
  using List = IntrusiveList<ConnEntry, kLink>;
  List list_;
  std::size_t size_ = 0;
};

}  // namespace dccp
