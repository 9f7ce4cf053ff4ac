#include "stack/conn/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stack/conn/connection_impl.h"

namespace dccp {
namespace {

constexpr std::uint64_t kMaxSeqWindow = SequenceSpace::kMaxWindow;

QueueLimits SendLimits(const ConnectionOptions& o) {
  return {o.send_queue_datagrams, o.send_queue_bytes};
}
QueueLimits ReceiveLimits(const ConnectionOptions& o) {
  return {o.receive_queue_datagrams, o.receive_queue_bytes};
}

PathMtu::Config MtuConfig(const ConnectionEnv& env, const ConnectionInit& init) {
  PathMtu::Config config;
  config.family = init.tuple.path.local.family;
  config.encapsulation = env.encapsulation;
  config.interface_mtu = LimitedMtu(init.mtu_bytes, init.options.max_packet_bytes);
  config.fragment = init.options.allow_fragmentation;
  constexpr std::uint32_t kDataChecksumBytes = 8;  // the option, in whole words
  if (init.options.data_checksum) config.reserve_bytes += kDataChecksumBytes;
  return config;
}

// The wished CCIDs in order; empty wishes mean every registered one. Empty result: one of them is
// not registered.
PreferenceList CcidList(const std::vector<CcidId>& wishes, const CcidRegistry& registry) {
  PreferenceList list;
  for (CcidId id : wishes) {
    if (registry.Find(id) == nullptr) return {};
    list.Add(static_cast<std::uint8_t>(id));
  }
  if (wishes.empty()) {
    for (const CcidFactory* factory : registry.all())
      list.Add(static_cast<std::uint8_t>(factory->traits().id));
  }
  return list;
}

}  // namespace

Connection::Impl::Impl(const ConnectionEnv& env, const ConnectionInit& init)
    : env_(env),
      role_(init.role),
      id_(init.id),
      tuple_(init.tuple),
      service_code_(init.service_code),
      options_(init.options),
      iss_(init.iss),
      features_(init.role),
      ccids_(*env.registry),
      send_queue_(*env.slab, SendLimits(init.options), init.options.queue_policy),
      recv_queue_(*env.slab, ReceiveLimits(init.options)),
      closer_(init.role, init.options.server_timewait),
      liveness_(init.options.user_timeout),
      path_mtu_(MtuConfig(env, init)),
      prober_(init.tuple.path.local.family, path_mtu_.interface_mtu()),
      short_policy_(env.msl),
      assembler_({env.slab, env.tx, env.trace, env.encapsulation, init.id, init.tuple,
                  init.options.allow_fragmentation}),
      ecn_out_(init.options.ecn) {}

Connection::Impl::~Impl() {
  env_.slab->Free(reserved_);
  for (Cell* cell : lent_) env_.slab->Free(cell);
}

Result<void> Connection::Impl::Configure() {
  for (const CcidFactory* factory : env_.registry->all()) {
    if (!features_.RegisterCcid(factory->traits().id, factory->traits().needs))
      return Error::kInvalidArgument;
  }
  // Times that a deadline can be made of.
  static constexpr Duration kLongest = std::chrono::hours(24 * 365 * 10);
  static constexpr Duration kShortest = std::chrono::milliseconds(1);
  const auto off_or_sane = [](Duration d) {
    return d == Duration::zero() || (d >= kShortest && d <= kLongest);
  };
  if (!off_or_sane(options_.user_timeout) || !off_or_sane(options_.keep_alive) ||
      options_.request_timeout < kShortest || options_.request_timeout > kLongest)
    return Error::kInvalidArgument;
  const std::uint64_t window = options_.sequence_window;
  if (window < SequenceSpace::kMinWindow || window > kMaxSeqWindow || options_.ack_ratio > 0xFFFF ||
      !service_code_.valid())
    return Error::kInvalidArgument;

  const PreferenceList tx = CcidList(options_.tx_ccids, *env_.registry);
  const PreferenceList rx =
      CcidList(options_.rx_ccids.empty() ? options_.tx_ccids : options_.rx_ccids, *env_.registry);
  if (tx.empty() || rx.empty()) return Error::kUnsupportedCcid;
  // Both half-connections start with CCID 2: who has no wish, or only that, need not say so.
  // RFC 4340 §10
  const auto propose = [](const PreferenceList& list, bool wished) {
    return wished ? !(list == PreferenceList{2}) : list[0] != 2;
  };
  const bool tx_wished = !options_.tx_ccids.empty();
  const bool rx_wished = tx_wished || !options_.rx_ccids.empty();
  const PreferenceList short_seqnos =
      options_.short_seqnos ? PreferenceList{1, 0} : PreferenceList{0};

  const std::array<FeatureConfig, 7> wishes = {{
      {FeatureNumber::kCcid, Located::kLocal, tx, 0, false, propose(tx, tx_wished)},
      {FeatureNumber::kCcid, Located::kRemote, rx, 0, false, propose(rx, rx_wished)},
      {FeatureNumber::kSequenceWindow,
       Located::kLocal,
       {},
       window,
       false,
       window != SequenceSpace::kDefaultWindow},
      {FeatureNumber::kAckRatio,
       Located::kLocal,
       {},
       options_.ack_ratio,
       false,
       options_.ack_ratio != 2},
      // Short numbers save four bytes and cost safety: only on request. §7.6.1
      {FeatureNumber::kAllowShortSeqnos, Located::kLocal, short_seqnos, 0, false,
       options_.short_seqnos},
      {FeatureNumber::kAllowShortSeqnos, Located::kRemote, short_seqnos, 0, false, false},
      {FeatureNumber::kEcnIncapable, Located::kLocal,
       env_.reads_ecn ? PreferenceList{0} : PreferenceList{1}, 0, !env_.reads_ecn, !env_.reads_ecn},
  }};
  for (const FeatureConfig& wish : wishes) {
    if (auto r = features_.Configure(wish); !r.ok()) return r;
  }
  if (options_.send_ndp_count) {
    for (Located at : {Located::kLocal, Located::kRemote}) {
      if (auto r = features_.Configure({FeatureNumber::kSendNdpCount, at, {1}, 0, false, true});
          !r.ok())
        return r;
    }
  }
  if (auto r = ConfigureChecksums(); !r.ok()) return r;
  seq_.SetIss(iss_);
  features_.Start(seq_.iss());
  return {};
}

// Minimum Checksum Coverage n says "0, or n and above": a sender of coverage c can live with any n
// up to c, a receiver whose least is n with any stricter one. §9.2.1
Result<void> Connection::Impl::ConfigureChecksums() {
  constexpr std::uint8_t kMax = 15;
  const std::uint8_t send = options_.checksum_coverage;
  const std::uint8_t least = options_.min_checksum_coverage;
  if (send > kMax || least > kMax) return Error::kInvalidArgument;
  if (send > 0) {
    PreferenceList list;
    for (std::uint8_t n = send; n > 0; --n) list.Add(n);
    list.Add(0);
    const FeatureConfig wish = {
        FeatureNumber::kMinChecksumCoverage, Located::kRemote, list, 0, false, true};
    if (auto r = features_.Configure(wish); !r.ok()) return r;
  }
  PreferenceList accept;
  for (std::uint8_t n = least; n > 0 && n <= kMax; ++n) accept.Add(n);
  accept.Add(0);
  const FeatureConfig wish = {
      FeatureNumber::kMinChecksumCoverage, Located::kLocal, accept, 0, false, least > 0};
  if (auto r = features_.Configure(wish); !r.ok()) return r;
  if (!options_.data_checksum) return {};
  return features_.Configure(
      {FeatureNumber::kCheckDataChecksum, Located::kRemote, {1}, 0, false, true});
}

void Connection::Impl::StartClient(std::span<const std::byte> request_data, TimePoint now) {
  request_data_.assign(request_data.begin(), request_data.end());
  liveness_.OnStart(now);
  SetState(State::kRequest, now);
  SendRequest(now);
  handshake_.StartRequest(now, options_.request_timeout, timers_);
  UpdateTimers();
}

Result<std::span<std::byte>> Connection::Impl::ReserveSend(std::size_t bytes) {
  if (state_ == State::kClosed || state_ == State::kTimeWait) return Error::kNotConnected;
  if (closer_.requested() || state_ > State::kOpen || peer_stopped_) return Error::kBadState;
  if (bytes > path_mtu_.mps_bytes()) return Error::kMessageTooLarge;
  if (options_.queue_policy == QueuePolicy::kRejectNewest &&
      !send_queue_.HasRoom(static_cast<std::uint32_t>(bytes))) {
    was_full_ = true;
    return Error::kQueueFull;
  }
  if (reserved_ != nullptr && reserved_->capacity < kDataHeadroomBytes + bytes) {
    env_.slab->Free(reserved_);
    reserved_ = nullptr;
  }
  if (reserved_ == nullptr && !MemoryShort())
    reserved_ = env_.slab->Allocate(kDataHeadroomBytes + bytes);
  if (reserved_ == nullptr) {
    was_full_ = true;
    return Error::kNoBuffers;
  }
  reserved_->offset = kDataHeadroomBytes;
  reserved_->length = static_cast<std::uint32_t>(bytes);
  return reserved_->bytes();
}

Result<void> Connection::Impl::CommitSend(std::size_t bytes, const SendOptions& options) {
  if (reserved_ == nullptr || bytes > reserved_->length) return Error::kInvalidArgument;
  if (state_ == State::kClosed || state_ > State::kOpen || closer_.requested() || peer_stopped_)
    return Error::kBadState;
  // The path may have shrunk since the reservation. §14
  if (bytes > path_mtu_.mps_bytes()) return Error::kMessageTooLarge;
  reserved_->length = static_cast<std::uint32_t>(bytes);
  // The deadline of what is queued now can only pass later, so no time is needed here.
  if (!send_queue_.Push({reserved_, options.deadline, options.priority}, TimePoint::min())) {
    was_full_ = true;
    return Error::kQueueFull;
  }
  reserved_ = nullptr;
  return {};
}

// Queues leave the last eighth of the endpoint's memory to control packets: otherwise the slow
// readers of some connections would silence all.
bool Connection::Impl::MemoryShort() const {
  return env_.slab->bytes_in_use() > env_.slab->budget_bytes() / 8 * 7;
}

std::uint32_t Connection::Impl::SendRoom(std::size_t bytes) const {
  if (closer_.requested() || state_ == State::kClosed || state_ > State::kOpen || peer_stopped_ ||
      bytes > path_mtu_.mps_bytes())
    return 0;
  const std::uint32_t slots = options_.send_queue_datagrams > send_queue_.datagrams()
                                  ? options_.send_queue_datagrams - send_queue_.datagrams()
                                  : 0;
  const std::uint64_t room = options_.send_queue_bytes > send_queue_.bytes()
                                 ? options_.send_queue_bytes - send_queue_.bytes()
                                 : 0;
  return static_cast<std::uint32_t>(bytes == 0 ? slots
                                               : std::min<std::uint64_t>(slots, room / bytes));
}

std::size_t Connection::Impl::Read(std::span<ReceivedDatagram> out) {
  for (Cell* cell : lent_) env_.slab->Free(cell);
  lent_.clear();
  while (lent_.size() < out.size() && !recv_queue_.empty()) {
    const RecvItem item = recv_queue_.Pop();
    out[lent_.size()] = {std::as_const(*item.cell).bytes(), item.seq.Wrap(), item.arrival,
                         item.corrupt};
    lent_.push_back(item.cell);
  }
  return lent_.size();
}

void Connection::Impl::StopReading() {
  reading_stopped_ = true;
  recv_queue_.Clear();
}

void Connection::Impl::SetSlowReceiver(bool slow) {
  if (slow && !slow_receiver_) want_ack_ = true;
  slow_receiver_ = slow;
}

Result<void> Connection::Impl::Close(TimePoint now, Duration drain) {
  switch (state_) {
    case State::kClosed:
    case State::kTimeWait:
      return Error::kNotConnected;
    case State::kRequest:
    case State::kRespond:
      // Nothing is agreed yet: the peer forgets its half at once.
      return Abort(now, ResetCode::kAborted);
    default:
      break;
  }
  if (state_ > State::kOpen) return {};
  closer_.Request(now, drain, timers_);
  UpdateTimers();
  return {};
}

Result<void> Connection::Impl::Abort(TimePoint now, ResetCode code) {
  if (state_ == State::kClosed || state_ == State::kTimeWait) return Error::kNotConnected;
  Fail(ClosedBy::kLocal, {code, {}}, now);
  return {};
}

ConnectionInfo Connection::Impl::Info() const {
  ConnectionInfo info;
  info.state = state_;
  info.role = role_;
  info.tuple = tuple_;
  info.service_code = service_code_;
  info.tx_ccid = static_cast<CcidId>(features_.value(FeatureNumber::kCcid, Located::kLocal));
  info.rx_ccid = static_cast<CcidId>(features_.value(FeatureNumber::kCcid, Located::kRemote));
  info.mps_bytes = path_mtu_.mps_bytes();
  info.path_mtu_bytes = path_mtu_.pmtu();
  info.rtt = rtt_;
  info.send_queue_datagrams = send_queue_.datagrams();
  info.counters = counters_;
  info.counters.mtu_black_holes = prober_.black_holes();
  info.counters.nonce_mismatches = conduct_.mismatches();
  info.counters.false_acks = conduct_.lies();
  info.counters.elapsed_too_large = conduct_.elapsed_too_large();
  info.counters.queue_drops = send_queue_.dropped() + send_queue_.expired();
  if (ccids_.sender() != nullptr) info.sender = ccids_.sender()->Stats();
  if (ccids_.receiver() != nullptr) info.receiver = ccids_.receiver()->Stats();
  info.close = close_;
  return info;
}

std::uint64_t Connection::Impl::Feature(FeatureNumber feature, bool located_here) const {
  return features_.value(feature, located_here ? Located::kLocal : Located::kRemote);
}

Result<std::unique_ptr<Connection>> Connection::Create(const ConnectionEnv& env,
                                                       const ConnectionInit& init) {
  auto impl = std::make_unique<Impl>(env, init);
  if (auto r = impl->Configure(); !r.ok()) return r.error();
  return std::unique_ptr<Connection>(new Connection(std::move(impl)));
}

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

void Connection::StartClient(std::span<const std::byte> request_data, TimePoint now) {
  impl_->StartClient(request_data, now);
}
std::optional<ResetReason> Connection::StartServer(const PacketView& request, Ecn ecn,
                                                   TimePoint now) {
  return impl_->StartServer(request, ecn, now);
}
void Connection::Refuse(const ResetReason& reason, TimePoint now) { impl_->Refuse(reason, now); }
std::optional<ResetReason> Connection::DraftResponse(const PacketView& request, Ecn ecn,
                                                     RequestData data, TimePoint now,
                                                     OptionWriter& options) {
  return impl_->DraftResponse(request, ecn, data, now, options);
}
void Connection::OnPacket(const PacketView& packet, Ecn ecn, TimePoint now) {
  impl_->OnPacket(packet, ecn, now);
}
void Connection::OnIcmp(const IcmpError& error, TimePoint now) { impl_->OnIcmp(error, now); }
TimePoint Connection::NextTimeout() const { return impl_->NextTimeout(); }
void Connection::HandleTimeout(TimePoint now) { impl_->HandleTimeout(now); }
bool Connection::WantsTransmit(TimePoint now) const { return impl_->WantsTransmit(now); }
void Connection::Transmit(TimePoint now, std::uint32_t max_packets) {
  impl_->Transmit(now, max_packets);
}

Result<void> Connection::Send(std::span<const std::byte> data, const SendOptions& options) {
  auto room = impl_->ReserveSend(data.size());
  if (!room) return room.error();
  if (!data.empty()) std::memcpy(room->data(), data.data(), data.size());
  return impl_->CommitSend(data.size(), options);
}
Result<std::span<std::byte>> Connection::ReserveSend(std::size_t bytes) {
  return impl_->ReserveSend(bytes);
}
Result<void> Connection::CommitSend(std::size_t bytes, const SendOptions& options) {
  return impl_->CommitSend(bytes, options);
}
std::uint32_t Connection::SendRoom(std::size_t bytes) const { return impl_->SendRoom(bytes); }
std::size_t Connection::Read(std::span<ReceivedDatagram> out) { return impl_->Read(out); }
void Connection::StopReading() { impl_->StopReading(); }
void Connection::SetSlowReceiver(bool slow) { impl_->SetSlowReceiver(slow); }
Result<void> Connection::PathChanged(std::uint32_t mtu_bytes, TimePoint now) {
  return impl_->PathChanged(mtu_bytes, now);
}
Result<void> Connection::RediscoverMtu(TimePoint now) { return impl_->RediscoverMtu(now); }
Result<void> Connection::Close(TimePoint now, Duration drain) { return impl_->Close(now, drain); }
Result<void> Connection::Abort(TimePoint now, ResetCode code) { return impl_->Abort(now, code); }

std::uint32_t Connection::TakeEvents() { return impl_->TakeEvents(); }
bool Connection::HasEvents() const { return impl_->HasEvents(); }
State Connection::state() const { return impl_->state(); }
Role Connection::role() const { return impl_->role(); }
ConnectionInfo Connection::Info() const { return impl_->Info(); }
std::uint64_t Connection::Feature(FeatureNumber feature, bool located_here) const {
  return impl_->Feature(feature, located_here);
}

}  // namespace dccp
