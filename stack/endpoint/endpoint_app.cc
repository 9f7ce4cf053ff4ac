#include <array>
#include <utility>

#include "stack/endpoint/endpoint_impl.h"

namespace dccp {

Endpoint::Impl::Impl(const EndpointConfig& config)
    : config_(config),
      slab_(config.memory_bytes),
      refuser_(slab_, config.encapsulation, config.refusals_per_second, config.trace),
      demux_(SipKey::Random(*config.random)),
      time_wait_(SipKey::Random(*config.random), 2 * config.msl, config.max_connections),
      isn_(SipKey::Random(*config.random)),
      ports_(*config.random) {}

Endpoint::Impl::~Impl() {
  listeners_.ForEach([this](const Listener& listener) { ReleasePort(listener.params.port); });
  conns_.ForEach([this](ConnId, ConnEntry& entry) {
    if (entry.port_claimed) ReleasePort(entry.tuple.local_port);
    events_.Remove(entry);
    transmit_.Remove(entry);
  });
}

ConnectionEnv Endpoint::Impl::Env() {
  ConnectionEnv env;
  env.slab = &slab_;
  env.tx = &ring_;
  env.registry = config_.registry;
  env.random = config_.random;
  env.trace = config_.trace;
  env.drops = &counters_.dropped;
  env.encapsulation = config_.encapsulation;
  env.reads_ecn = config_.reads_ecn;
  env.msl = config_.msl;
  return env;
}

std::uint32_t Endpoint::Impl::InitialMtu(const Path& path) const {
  constexpr std::uint32_t kEthernetMtu = 1500;
  return config_.mtu == nullptr ? kEthernetMtu : config_.mtu->InitialMtu(path);
}

bool Endpoint::Impl::AtCapacity() const { return conns_.size() >= config_.max_connections; }

bool Endpoint::Impl::TupleFree(const FlowTuple& tuple, TimePoint now) {
  return demux_.Find(tuple) == Demux::kNone && !time_wait_.Contains(tuple, now);
}

Result<void> Endpoint::Impl::CheckConnect(const ConnectParams& params) const {
  const Path& path = params.path;
  const bool valid = params.remote_port != 0 && params.service_code.valid() &&
                     path.local.family == path.remote.family && !path.remote.IsUnspecified() &&
                     !path.remote.IsMulticastOrBroadcast() &&
                     !path.local.IsMulticastOrBroadcast() &&
                     (config_.encapsulation == Encapsulation::kNative || path.remote_udp_port != 0);
  return valid ? Result<void>() : Error::kInvalidArgument;
}

Result<void> Endpoint::Impl::ChoosePort(std::uint16_t wanted, FlowTuple* tuple, TimePoint now) {
  const auto free_with = [&](std::uint16_t port) {
    tuple->local_port = port;
    return TupleFree(*tuple, now) && ClaimPort(port);
  };
  if (wanted != 0) return free_with(wanted) ? Result<void>() : Error::kPortInUse;
  return ports_.Choose(free_with) ? Result<void>() : Error::kNoPortAvailable;
}

bool Endpoint::Impl::ClaimPort(std::uint16_t port) {
  return config_.port_arbiter == nullptr || config_.port_arbiter->Claim(port);
}

void Endpoint::Impl::ReleasePort(std::uint16_t port) {
  if (config_.port_arbiter != nullptr) config_.port_arbiter->Release(port);
}

Result<ConnEntry*> Endpoint::Impl::NewConnection(const ConnectionInit& init) {
  const ConnId id = conns_.Emplace();
  ConnEntry& entry = *conns_.Find(id);
  ConnectionInit with_id = init;
  with_id.id = id;
  Result<std::unique_ptr<Connection>> conn = Connection::Create(Env(), with_id);
  if (!conn.ok()) {
    conns_.Erase(id);
    return conn.error();
  }
  entry.conn = std::move(conn.value());
  entry.id = id;
  entry.tuple = init.tuple;
  if (!demux_.Insert(init.tuple, id.index)) {
    conns_.Erase(id);
    return Error::kPortInUse;
  }
  ++active_;
  return &entry;
}

Result<ConnId> Endpoint::Impl::Connect(const ConnectParams& params, TimePoint now) {
  if (const Result<void> valid = CheckConnect(params); !valid.ok()) return valid.error();
  time_wait_.Expire(now);
  if (AtCapacity()) return Error::kTooManyConnections;
  ConnectionInit init;
  init.role = Role::kClient;
  init.tuple = {params.path, 0, params.remote_port};
  if (const Result<void> port = ChoosePort(params.local_port, &init.tuple, now); !port.ok())
    return port.error();
  init.service_code = params.service_code;
  init.options = params.options;
  init.iss = params.options.initial_sequence.value_or(isn_.Generate(init.tuple, now));
  init.mtu_bytes = InitialMtu(params.path);
  const Result<ConnEntry*> made = NewConnection(init);
  if (!made.ok()) {
    ReleasePort(init.tuple.local_port);
    return made.error();
  }
  ConnEntry& entry = **made;
  entry.port_claimed = true;
  if (params.request_data.size() > entry.conn->Info().mps_bytes) {
    --active_;
    Destroy(entry);
    return Error::kMessageTooLarge;
  }
  const ConnId id = entry.id;
  entry.conn->StartClient(params.request_data, now);
  Refresh(entry, now);
  return id;
}

Result<ListenerId> Endpoint::Impl::Listen(const ListenParams& params) {
  // A trial connection tells now, rather than at each Request, that the options cannot be met.
  ConnectionInit trial;
  trial.role = Role::kServer;
  trial.tuple.local_port = params.port;
  trial.options = params.options;
  const Result<std::unique_ptr<Connection>> conn = Connection::Create(Env(), trial);
  if (!conn.ok()) return conn.error();
  if (!ClaimPort(params.port)) return Error::kPortInUse;
  const Result<ListenerId> added = listeners_.Add(params);
  if (!added.ok()) ReleasePort(params.port);
  return added;
}

Result<void> Endpoint::Impl::StopListening(ListenerId listener) {
  Listener* const found = listeners_.Find(listener);
  if (found == nullptr) return Error::kNoSuchListener;
  ReleasePort(found->params.port);
  // Half-open connections go without a word: what their clients send next is answered as in CLOSED.
  while (ConnEntry* const entry = found->half_open.oldest()) Discard(*entry);
  listeners_.Remove(listener);
  return {};
}

ConnEntry* Endpoint::Impl::Find(ConnId id) {
  ConnEntry* entry = conns_.Find(id);
  return entry == nullptr || entry->released || entry->half_open ? nullptr : entry;
}

Result<void> Endpoint::Impl::PathChanged(ConnId id, TimePoint now) {
  ConnEntry* entry = Find(id);
  if (entry == nullptr) return Error::kNoSuchConnection;
  const Result<void> changed = entry->conn->PathChanged(InitialMtu(entry->tuple.path), now);
  Refresh(*entry, now);
  return changed;
}

Result<void> Endpoint::Impl::RediscoverMtu(ConnId id, TimePoint now) {
  ConnEntry* entry = Find(id);
  if (entry == nullptr) return Error::kNoSuchConnection;
  const Result<void> begun = entry->conn->RediscoverMtu(now);
  Refresh(*entry, now);
  return begun;
}

Result<void> Endpoint::Impl::Close(ConnId id, TimePoint now, Duration drain) {
  ConnEntry* entry = Find(id);
  if (entry == nullptr) return Error::kNoSuchConnection;
  const Result<void> closed = entry->conn->Close(now, drain);
  if (closed.ok()) entry->close_asked = true;
  Refresh(*entry, now);
  return closed;
}

Result<void> Endpoint::Impl::Abort(ConnId id, TimePoint now, ResetCode code) {
  ConnEntry* entry = Find(id);
  if (entry == nullptr) return Error::kNoSuchConnection;
  const Result<void> aborted = entry->conn->Abort(now, code);
  Refresh(*entry, now);
  return aborted;
}

void Endpoint::Impl::Release(ConnId id, TimePoint now) {
  ConnEntry* entry = Find(id);
  if (entry == nullptr) return;
  events_.Remove(*entry);
  std::array<ReceivedDatagram, 16> unread;
  while (entry->conn->Read(unread) != 0) {
  }
  entry->conn->StopReading();  // what still comes is refused, not stored
  // One that is closing goes on in the background until the peer has answered.
  if (!entry->over && !entry->close_asked) {
    if (const Result<void> aborted = entry->conn->Abort(now, ResetCode::kAborted); !aborted.ok()) {
      // Nothing to abort: it is ending already.
    }
  }
  entry->released = true;
  Refresh(*entry, now);
}

ConnectionInfo Endpoint::Impl::Info(const ConnEntry& entry) const {
  ConnectionInfo info = entry.conn->Info();
  // The connection knows that it entered TIMEWAIT; only the table knows when that ended.
  if (info.state == State::kTimeWait && !time_wait_.Contains(entry.tuple, last_now_))
    info.state = State::kClosed;
  return info;
}

}  // namespace dccp
