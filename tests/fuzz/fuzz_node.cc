#include "tests/fuzz/fuzz_node.h"

#include <algorithm>

#include "stack/base/byte_order.h"
#include "stack/wire/checksum.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_view.h"

namespace dccp::fuzz {
namespace {

using std::chrono::seconds;

// IPv4 and UDP header.
constexpr std::size_t kLowerHeaderBytes = 28;
constexpr std::size_t kPathMtu = 1500;
// RFC 4340 §7.5.4
constexpr std::size_t kSyncsPerSecond = 8;
constexpr std::size_t kMarkBytes = 8;
constexpr std::byte kMark{0x5A};
constexpr int kMaxRounds = 20'000;
// What an endpoint may hold besides queued datagrams: tables, and rings and histories of each
// connection.
constexpr std::size_t kFixedHeap = 1u << 20;
constexpr std::size_t kHeapPerConnection = 512u << 10;

bool IsOver(State state) { return state == State::kClosed || state == State::kTimeWait; }

// No counter may fall.
void CheckGrowth(const ConnectionCounters& a, const ConnectionCounters& b) {
  Expect(a.packets_sent <= b.packets_sent && a.packets_received <= b.packets_received &&
             a.data_packets_sent <= b.data_packets_sent && a.data_bytes_sent <= b.data_bytes_sent &&
             a.data_packets_received <= b.data_packets_received &&
             a.data_bytes_received <= b.data_bytes_received &&
             a.data_packets_lost <= b.data_packets_lost && a.acks_sent <= b.acks_sent &&
             a.acks_received <= b.acks_received && a.syncs_sent <= b.syncs_sent &&
             a.sequence_invalid <= b.sequence_invalid && a.queue_drops <= b.queue_drops,
         "counters never fall");
}

}  // namespace

ConnectionOptions MakeOptions(FuzzInput& input) {
  ConnectionOptions options;
  const std::uint8_t a = input.Byte();
  const std::uint8_t b = input.Byte();
  options.ecn = (a & 1) == 0;
  options.data_checksum = (a & 2) != 0;
  options.deliver_corrupt = (a & 4) != 0;
  options.short_seqnos = (a & 8) != 0;
  options.send_ndp_count = (a & 16) != 0;
  options.server_timewait = (a & 32) != 0;
  if ((a & 64) != 0) options.user_timeout = seconds(20);
  if ((a & 128) != 0) options.keep_alive = seconds(5);
  options.queue_policy = static_cast<QueuePolicy>(b % 3);
  options.sequence_window = std::array<std::uint64_t, 4>{100, 32, 5000, 1u << 20}[b >> 2 & 3];
  options.ack_ratio = b >> 4 & 3;
  options.ecn_nonce = (b & 12) == 12;
  if ((b & 64) != 0) options.checksum_coverage = static_cast<std::uint8_t>(1 + input.Below(15));
  if ((b & 128) != 0) options.min_checksum_coverage = static_cast<std::uint8_t>(input.Below(16));
  options.request_timeout = seconds(30);
  if ((b & 3) == 3) options.tx_ccids = {(b & 64) != 0 ? CcidId::k4 : CcidId::k3, CcidId::k2};
  options.send_queue_datagrams = 8;
  options.receive_queue_datagrams = 16;
  return options;
}

Node::Node(const NodeConfig& config)
    : config_(config), random_(config.seed), heap_before_(HeapBytes()) {
  Expect(registry_.Add(ccid2_) && registry_.Add(ccid3_) && registry_.Add(ccid4_),
         "the registry takes three CCIDs");
  EndpointConfig endpoint;
  endpoint.encapsulation = config.encapsulation;
  endpoint.registry = &registry_;
  endpoint.random = &random_;
  endpoint.trace = this;
  endpoint.cookie_sealer = &sealer_;
  endpoint.max_connections = kMaxConnections;
  endpoint.memory_bytes = config.memory_bytes;
  endpoint.reads_ecn = config.reads_ecn;
  auto made = Endpoint::Create(endpoint);
  Expect(made.ok(), "the configuration is a legal one");
  endpoint_ = std::move(*made);
}

// -------------------------------------------------------------------------------- the driver ----

void Node::Receive(std::span<const std::byte> bytes, const Path& path, Ecn ecn, TimePoint now,
                   std::uint32_t segment_bytes) {
  const std::size_t segments =
      segment_bytes == 0 ? 1 : (bytes.size() + segment_bytes - 1) / segment_bytes;
  traffic_[RemoteOf(path)].in_bytes += bytes.size() + segments * kLowerHeaderBytes;
  // An allocation of exactly this size lets a sanitizer see any read beyond it.
  const std::vector<std::byte> exact(bytes.begin(), bytes.end());
  const InboundDatagram datagram = {exact, segment_bytes, path, ecn};
  endpoint_->Receive(std::span(&datagram, 1), now);
  Settle(now);
}

void Node::Icmp(const IcmpError& error, TimePoint now) {
  endpoint_->OnIcmp(error, now);
  Settle(now);
}

void Node::RunUntil(TimePoint end) {
  for (int rounds = 0; endpoint_->NextTimeout() <= end; ++rounds) {
    Expect(rounds < kMaxRounds, "timers let time pass");
    const TimePoint at = Later(now_, endpoint_->NextTimeout());
    endpoint_->HandleTimeout(at);
    Settle(at);
  }
  endpoint_->HandleTimeout(end);
  Settle(end);
}

void Node::Settle(TimePoint now) {
  now_ = now;
  TakeEvents();
  std::array<OutboundDatagram, 16> out;
  int rounds = 0;
  while (const std::size_t n = endpoint_->Transmit(out, now)) {
    Expect(++rounds < kMaxRounds, "transmission ends");
    for (const OutboundDatagram& datagram : std::span(out).first(n)) {
      CheckSent(datagram);
      sent_.push_back(
          {{datagram.bytes.begin(), datagram.bytes.end()}, datagram.path, datagram.ecn});
    }
    TakeEvents();
  }
  Expect(!endpoint_->WantsTransmit(now), "who wants to transmit does so when asked");
  TakeEvents();
  for (Known& known : conns_) CheckConnection(known);
  if (++steps_ % 16 == 0) CheckMemory();
}

// ----------------------------------------------------------------------------------- promises ----

void Node::OnPacket(const PacketEvent& event) {
  if (event.direction != Direction::kSent || event.conn == ConnId()) return;
  PacketView packet;
  Expect(PacketView::Parse(event.dccp_bytes, &packet) == ParseError::kNone, "a sent packet parses");
  if (packet.type() != PacketType::kSync) return;
  std::deque<TimePoint>& times = syncs_[{event.conn.index, event.conn.generation}];
  times.push_back(event.time);
  if (times.size() <= kSyncsPerSecond) return;
  Expect(event.time - times.front() >= seconds(1), "at most eight Syncs a second");
  times.pop_front();
}

void Node::OnState(const StateEvent& event) {
  Expect(event.from != State::kTimeWait, "TIMEWAIT ends without a word");
  Expect(event.to > event.from || event.to == State::kClosed, "states only move on");
}

void Node::CheckSent(const OutboundDatagram& datagram) {
  PacketView packet;
  Expect(PacketView::Parse(datagram.bytes, &packet) == ParseError::kNone, "a sent packet parses");
  const std::size_t below = config_.encapsulation == Encapsulation::kUdp ? 28 : 20;
  Expect(datagram.bytes.size() + below <= kPathMtu, "a sent packet fits the path");
  if (config_.encapsulation == Encapsulation::kUdp) {
    Expect(packet.checksum() == 0, "in DCCP-UDP the checksum field is 0");
  } else {
    Expect(VerifyChecksum(datagram.path.local, datagram.path.remote, packet), "a good checksum");
  }
  OptionReader reader(packet.options());
  for (OptionView option; reader.Next(&option);)
    Expect(option.data.size() <= 253, "an option has a length");
  Expect(!reader.malformed(), "sent options are well-formed");
  Traffic& traffic = traffic_[RemoteOf(datagram.path)];
  traffic.out_bytes += datagram.bytes.size() + kLowerHeaderBytes;
  Expect(traffic.validated || traffic.out_bytes <= 3 * traffic.in_bytes,
         "an unvalidated address gets at most three times what it sent");
}

void Node::TakeEvents() {
  for (int n = 0; const std::optional<Event> event = endpoint_->PollEvent(); ++n) {
    Expect(n < kMaxRounds, "events end");
    OnEvent(*event);
  }
}

void Node::OnEvent(const Event& event) {
  Expect(event.bits != 0, "an event says something");
  if ((event.bits & kEventAccepted) != 0) {
    Expect(Find(event.conn) == nullptr, "accepted once");
    conns_.push_back({event.conn});
    const Result<ConnectionInfo> info = endpoint_->Info(event.conn);
    Expect(info.ok() && info->role == Role::kServer, "an accepted connection is there");
    traffic_[RemoteOf(info->tuple.path)].validated = true;
  }
  Known* known = Find(event.conn);
  if (known == nullptr) Broken("an event is of a connection that is known and not released");
  Expect(!known->closed, "closed is the last event, and comes once");
  if ((event.bits & (kEventAccepted | kEventConnected)) != 0) {
    Expect(!known->opened, "a connection opens once");
    known->opened = true;
  }
  if ((event.bits & kEventReadable) != 0) known->readable = known->readable_owed = true;
  if ((event.bits & kEventClosed) != 0) {
    known->closed = true;
    const Result<ConnectionInfo> info = endpoint_->Info(event.conn);
    Expect(info.ok() && IsOver(info->state), "closed means closed");
    Expect(info->close.by != ClosedBy::kNobody, "somebody closed it");
  }
}

void Node::CheckConnection(Known& known) {
  const Result<ConnectionInfo> info = endpoint_->Info(known.id);
  Expect(info.ok(), "a connection stays known until it is released");
  Expect(IsOver(info->state) == known.closed, "the closed event tells of every end");
  if (info->state == State::kOpen) Expect(known.opened, "an open connection has said so");
  const ConnectionCounters& c = info->counters;
  CheckGrowth(known.last, c);
  known.last = c;
  Expect(c.data_packets_sent + c.acks_sent + c.syncs_sent <= c.packets_sent, "parts of a whole");
  Expect(c.data_packets_received + c.acks_received + c.syncs_received <= c.packets_received,
         "parts of a whole");
  // A Request with data counts as one that can be lost, and not among the data packets sent.
  Expect(c.data_packets_lost <= c.packets_sent, "only what was sent is lost");
  Expect(c.data_packets_marked <= c.packets_sent, "only what was sent is marked");
  Expect(info->sender.pipe_packets <= c.packets_sent, "only what was sent is in flight");
  Expect(info->sender.cwnd_packets >= 0, "a window is not negative");
  Expect(info->rtt >= Duration::zero(), "a round trip takes time");
  Expect(info->mps_bytes < kPathMtu, "a datagram of the greatest size fits the path");
  Expect(info->send_queue_datagrams <= 256, "the send queue has a limit");
  for (bool here : {true, false}) {
    const auto window = endpoint_->Feature(known.id, FeatureNumber::kSequenceWindow, here);
    Expect(window.ok() && *window >= 32 && *window < std::uint64_t{1} << 46, "a legal window");
  }
}

void Node::CheckMemory() const {
  const std::size_t now = HeapBytes();
  std::size_t own = 0;
  for (const Outgoing& packet : sent_) own += packet.bytes.capacity() + sizeof packet;
  const std::size_t used = now > heap_before_ + own ? now - heap_before_ - own : 0;
  // The pair's other node, and what the harness keeps, count towards the fixed part.
  Expect(used <= 2 * (config_.memory_bytes + kFixedHeap + kMaxConnections * kHeapPerConnection),
         "memory stays within the budget");
}

// ------------------------------------------------------------------------------- application ----

Node::Known* Node::Find(ConnId id) {
  const auto it = std::ranges::find(conns_, id, &Known::id);
  return it == conns_.end() ? nullptr : &*it;
}

void Node::Connect(const ConnectParams& params, TimePoint now) {
  const Result<ConnId> conn = endpoint_->Connect(params, now);
  if (conn.ok()) {
    Expect(Find(*conn) == nullptr, "a new handle is a new one");
    conns_.push_back({*conn});
    traffic_[RemoteOf(params.path)].validated = true;
  }
  Settle(now);
}

void Node::Listen(ListenParams params) {
  if (config_.cookies) params.cookies_above = 0;
  const Result<ListenerId> listener = endpoint_->Listen(params);
  if (listener.ok()) listeners_.push_back(*listener);
}

void Node::StopListening() {
  for (const ListenerId listener : listeners_)
    Expect(endpoint_->StopListening(listener).ok(), "a listener can be stopped");
  listeners_.clear();
}

void Node::Read(Known& known, std::size_t count) {
  std::array<ReceivedDatagram, 16> datagrams;
  const std::span out = std::span(datagrams).first(count);
  const std::size_t n = endpoint_->Read(known.id, out);
  Expect(n <= count, "Read fills what it is given");
  Expect(n == 0 || known.readable, "data is announced");
  Expect(n != 0 || !known.readable_owed, "what was announced is there");
  known.readable_owed = false;
  if (n < count) known.readable = false;
  for (const ReceivedDatagram& datagram : out.first(n)) {
    const auto bytes = datagram.bytes;
    if (bytes.size() >= kMarkBytes && bytes.front() == kMark)
      read_.emplace_back(bytes.begin(), bytes.end());
  }
}

std::vector<std::byte> Node::Marked(std::uint32_t number, std::size_t bytes) const {
  std::vector<std::byte> out(bytes, static_cast<std::byte>(number));
  if (bytes < kMarkBytes) return out;
  out[0] = kMark;
  out[1] = static_cast<std::byte>(config_.seed);
  StoreBe16(out.data() + 2, static_cast<std::uint16_t>(bytes));
  StoreBe32(out.data() + 4, number);
  return out;
}

bool Node::HasSent(std::span<const std::byte> datagram) const {
  const std::uint32_t number = LoadBe32(datagram.data() + 4);
  return number < marked_ && std::ranges::equal(datagram, Marked(number, datagram.size()));
}

void Node::Forget(std::size_t which) {
  const ConnId id = conns_[which].id;
  conns_.erase(conns_.begin() + static_cast<std::ptrdiff_t>(which));
  Expect(!endpoint_->Info(id).ok(), "a released handle is stale");
  Expect(!endpoint_->Send(id, {}).ok(), "a released handle is stale");
}

void Node::Send(Known& known, std::size_t bytes) {
  const std::vector<std::byte> data = Marked(marked_++, bytes);
  const std::uint32_t room = endpoint_->SendRoom(known.id, bytes);
  const Result<void> sent = endpoint_->Send(known.id, data);
  Expect(!sent.ok() || !known.closed, "nothing is sent on a closed connection");
  Expect(sent.ok() || room == 0 || sent.error() == Error::kNoBuffers,
         "where there is room a datagram is taken");
}

void Node::Commit(Known& known, FuzzInput& input) {
  const std::size_t bytes = input.Integer(2) % 2000;
  const auto room = endpoint_->ReserveSend(known.id, bytes);
  if (room.ok()) {
    Expect(room->size() == bytes, "a reservation has the size asked for");
    std::ranges::fill(*room, std::byte{0xA5});
  }
  if (input.Bool()) return;
  SendOptions options;
  options.priority = input.Byte();
  if (input.Bool()) options.deadline = now_ + std::chrono::milliseconds(input.Byte());
  const Result<void> sent =
      endpoint_->CommitSend(known.id, bytes - input.Byte() % (bytes + 1), options);
  Expect(!sent.ok() || !known.closed, "nothing is sent on a closed connection");
}

void Node::Call(FuzzInput& input, TimePoint now) {
  const unsigned call = input.Below(12);
  if (conns_.empty()) return;
  const std::size_t which = input.Below(16) % conns_.size();
  Known& known = conns_[which];
  const ConnId id = known.id;
  Result<void> done;
  switch (call) {
    case 0:
    case 1:
      Send(known, input.Integer(1 + call));
      break;
    case 2:
      Commit(known, input);
      break;
    case 3:
    case 4:
      Read(known, 1 + input.Below(16));
      break;
    case 5:
      done = endpoint_->StopReading(id);
      if (done.ok()) known.readable_owed = false;
      break;
    case 6:
      done = endpoint_->SetSlowReceiver(id, input.Bool());
      break;
    case 7:
      done = endpoint_->Close(id, now, std::chrono::milliseconds(100) * input.Byte());
      break;
    case 8:
      done = endpoint_->Abort(id, now, static_cast<ResetCode>(input.Byte()));
      break;
    case 9:
      endpoint_->Release(id, now);
      Forget(which);
      break;
    case 10:
      endpoint_->SetUserData(id, input.Byte());
      break;
    default:
      endpoint_->SendRoom(id, input.Integer(2));
  }
  Settle(now);
}

void Node::CloseAll(TimePoint now) {
  for (Known& known : conns_) {
    const Result<void> closed = endpoint_->Close(known.id, now, seconds(5));
    Expect(closed.ok() || closed.error() != Error::kNoSuchConnection, "it is there");
  }
  StopListening();
  Settle(now);
}

void Node::AbortAll(TimePoint now) {
  StopListening();
  for (std::size_t i = 0; i < conns_.size(); ++i) {
    const Result<void> aborted = endpoint_->Abort(conns_[i].id, now);
    Expect(aborted.ok() || aborted.error() != Error::kNoSuchConnection, "it is there");
  }
  Settle(now);
  for (const Known& known : conns_) Expect(known.closed, "an abort ends a connection at once");
  while (!conns_.empty()) {
    endpoint_->Release(conns_.back().id, now);
    Forget(conns_.size() - 1);
  }
  Settle(now);
  RunUntil(now + std::chrono::hours(1));
  Expect(endpoint_->ActiveConnections() == 0, "nothing outlives an abort");
  Expect(endpoint_->NextTimeout() == kNever, "an endpoint without connections waits for nothing");
}

}  // namespace dccp::fuzz
