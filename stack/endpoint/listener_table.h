// Who waits for connections, and for which service.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dccp/endpoint.h"
#include "stack/base/flat_map.h"
#include "stack/base/slot_map.h"
#include "stack/endpoint/half_open_set.h"

namespace dccp {

// One listener and its connections that are not open yet; the endpoint keeps that set.
struct Listener {
  explicit Listener(const ListenParams& p) : params(p) {}

  // With so many half-open connections the next Request is answered by a cookie.
  std::uint32_t cookies_above() const {
    return params.cookies_above.value_or((params.backlog + 1) / 2);
  }

  ListenParams params;
  HalfOpenSet half_open;
  TimePoint cookies_until = TimePoint::min();  // the latest cookie of this listener ends
};

// Several listeners may share a port when their service codes differ, or when they are bound to
// different local addresses; the same code twice is refused. RFC 4340 §8.1.2, RFC 5595 §3.3
class ListenerTable {
 public:
  enum class Verdict : std::uint8_t {
    kAccept,
    kNoPort,          // nobody listens there: Reset 7. RFC 5595 §3.3.1
    kBadServiceCode,  // somebody does, but not for this service: Reset 8
  };
  struct Match {
    Verdict verdict = Verdict::kNoPort;
    ListenerId id;
    Listener* listener = nullptr;  // with kAccept
  };

  // kInvalidArgument on port 0, no code, a code twice or 4294967295; kPortInUse.
  Result<ListenerId> Add(const ListenParams& params);
  bool Remove(ListenerId id);
  Listener* Find(ListenerId id) { return listeners_.Find(id); }
  // `visit` takes a const Listener&.
  template <typename Visit>
  void ForEach(Visit visit) {
    listeners_.ForEach([&](ListenerId, const Listener& listener) { visit(listener); });
  }

  bool HasPort(std::uint16_t port) const {
    return by_port_.Find(port, [](std::uint32_t) { return true; }) != FlatMap::kNone;
  }
  // For a Request with `code` to `port` at `local`.
  Match Lookup(std::uint16_t port, const IpAddress& local, ServiceCode code);

 private:
  static bool Valid(const ListenParams& params);
  static bool Conflict(const ListenParams& a, const ListenParams& b);

  SlotMap<Listener, ListenerId> listeners_;
  FlatMap by_port_;  // the hash is the port: the application chooses it, no stranger does
};

}  // namespace dccp
