#include "stack/endpoint/listener_table.h"

#include <algorithm>

#include "stack/base/check.h"

namespace dccp {

namespace {

bool Has(const std::vector<ServiceCode>& codes, ServiceCode code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

bool ListenerTable::Valid(const ListenParams& params) {
  if (params.port == 0 || params.service_codes.empty()) return false;
  if (params.local && params.local->IsMulticastOrBroadcast()) return false;
  for (auto it = params.service_codes.begin(); it != params.service_codes.end(); ++it) {
    if (!it->valid() || std::find(params.service_codes.begin(), it, *it) != it) return false;
  }
  return true;
}

bool ListenerTable::Conflict(const ListenParams& a, const ListenParams& b) {
  if (a.port != b.port) return false;
  if (a.local && b.local && *a.local != *b.local) return false;
  return std::any_of(a.service_codes.begin(), a.service_codes.end(),
                     [&](ServiceCode code) { return Has(b.service_codes, code); });
}

Result<ListenerId> ListenerTable::Add(const ListenParams& params) {
  if (!Valid(params)) return Error::kInvalidArgument;
  const std::uint32_t taken = by_port_.Find(params.port, [&](std::uint32_t index) {
    return Conflict(listeners_.AtIndex(index)->params, params);
  });
  if (taken != FlatMap::kNone) return Error::kPortInUse;
  const ListenerId id = listeners_.Emplace(params);
  by_port_.Insert(params.port, id.index);
  return id;
}

bool ListenerTable::Remove(ListenerId id) {
  const Listener* listener = listeners_.Find(id);
  if (listener == nullptr) return false;
  DCCP_CHECK(by_port_.Erase(listener->params.port, id.index));
  return listeners_.Erase(id);
}

ListenerTable::Match ListenerTable::Lookup(std::uint16_t port, const IpAddress& local,
                                           ServiceCode code) {
  Match match;
  const std::uint32_t found = by_port_.Find(port, [&](std::uint32_t index) {
    const ListenParams& params = listeners_.AtIndex(index)->params;
    if (params.local && *params.local != local) return false;
    match.verdict = Verdict::kBadServiceCode;
    return Has(params.service_codes, code);
  });
  if (found == FlatMap::kNone) return match;
  match.verdict = Verdict::kAccept;
  match.id = listeners_.HandleAt(found);
  match.listener = listeners_.AtIndex(found);
  return match;
}

}  // namespace dccp
