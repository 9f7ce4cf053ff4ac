// Listening without keeping state: Init Cookies. RFC 4340 §8.1.4, §8.5 step 3
#include <algorithm>
#include <array>

#include "stack/conn/packet_assembler.h"
#include "stack/endpoint/endpoint_impl.h"
#include "stack/endpoint/flow_hash.h"
#include "stack/endpoint/init_cookie.h"
#include "stack/wire/crc32c.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_writer.h"

namespace dccp {

namespace {

// Three options of full length. A client must carry them on every packet of its handshake.
constexpr std::size_t kMaxSealedBytes = 3 * kMaxInitCookieBytes;

using CookieBuffer = std::array<std::byte, OptionWriter::kMaxBytes>;

// IP and UDP header.
std::size_t LowerBytes(const Path& path, Encapsulation encapsulation) {
  return (path.remote.family == IpFamily::kV4 ? 20u : 40u) +
         (encapsulation == Encapsulation::kUdp ? 8u : 0u);
}

// The types that a client sends in PARTOPEN and that a listener takes a cookie from. A Reset would
// only end what it begins.
constexpr bool MayOpen(PacketType type) {
  return type == PacketType::kAck || type == PacketType::kDataAck || type == PacketType::kSync ||
         type == PacketType::kSyncAck || type == PacketType::kClose;
}

// Joins the Init Cookies of a packet. Empty: there are none.
std::span<const std::byte> CollectCookies(const PacketView& packet, CookieBuffer& buffer) {
  OptionReader reader(packet.options());
  std::size_t size = 0;
  for (OptionView option; reader.Next(&option);) {
    if (option.type != OptionType::kInitCookie) continue;
    std::ranges::copy(option.data, buffer.begin() + static_cast<std::ptrdiff_t>(size));
    size += option.data.size();
  }
  return std::span(buffer).first(size);
}

// The Request that a cookie remembers.
class RebuiltRequest {
 public:
  RebuiltRequest(const InitCookie& cookie, const FlowTuple& tuple) {
    HeaderFields fields;
    fields.source_port = tuple.remote_port;
    fields.destination_port = tuple.local_port;
    fields.type = PacketType::kRequest;
    fields.seq = cookie.isr;
    fields.service_code = cookie.service_code;
    constexpr std::size_t kFixed = FixedHeaderBytes(PacketType::kRequest, true);
    const std::size_t option_bytes = (cookie.options.size() + 3) / 4 * 4;
    const auto options = std::span(bytes_).subspan(kFixed, option_bytes);
    std::ranges::copy(cookie.options, options.begin());
    const auto header = std::span(bytes_).first(kFixed + option_bytes);
    WriteHeader(fields, options, header);
    const auto payload = std::span(bytes_).subspan(header.size());
    std::ranges::copy(cookie.data, payload.begin());
    // Of data that was refused only matters that there was some.
    const std::size_t payload_bytes = cookie.data_refused ? 1 : cookie.data.size();
    good_ = PacketView::Parse(std::span(bytes_).first(header.size() + payload_bytes), &view_) ==
            ParseError::kNone;
  }
  RebuiltRequest(const RebuiltRequest&) = delete;
  RebuiltRequest& operator=(const RebuiltRequest&) = delete;

  bool good() const { return good_; }
  const PacketView& view() const { return view_; }

 private:
  std::array<std::byte, kMaxHeaderBytes + kMaxSealedBytes> bytes_ = {};
  PacketView view_;
  bool good_ = false;
};

RequestData DataFate(const InitCookie& cookie) {
  return cookie.data_refused ? RequestData::kRefuse : RequestData::kDeliver;
}

}  // namespace

// All Responses to one client within an epoch have one number where cookies are about, since the
// one that its cookie comes back from must be followed by the server's next packet, whichever it
// was. Deviation: §8.1.3 wants each Response to have a new number; a server that keeps no state
// cannot count them.
SeqNo Endpoint::Impl::ServerIss(const Listener& listener, const FlowTuple& tuple,
                                TimePoint now) const {
  if (listener.params.options.initial_sequence) return *listener.params.options.initial_sequence;
  const bool cookies_about = now < listener.cookies_until;
  const Duration into_epoch = now.time_since_epoch() % (2 * config_.msl);
  return isn_.Generate(tuple, cookies_about ? now - into_epoch : now);
}

bool Endpoint::Impl::AnswerWithCookie(const Inbound& in, const PacketView& packet,
                                      const FlowTuple& tuple, Listener& listener) {
  listener.cookies_until = in.now + config_.msl;
  InitCookie cookie;
  cookie.iss = ServerIss(listener, tuple, in.now);
  cookie.isr = packet.seq();
  cookie.service_code = packet.service_code();
  cookie.answered = TenMicros::TimestampAt(in.now);
  cookie.ecn = in.ecn;
  cookie.options = UnpaddedOptions(packet);
  cookie.data = packet.payload();
  const std::size_t overhead = config_.cookie_sealer->overhead_bytes();
  if (InitCookieBytes(cookie) + overhead > kMaxInitCookieBytes && !cookie.data.empty()) {
    cookie.data = {};
    cookie.data_refused = true;
  }
  if (InitCookieBytes(cookie) + overhead > kMaxSealedBytes) return false;

  // Nobody needs to know what the connection goes through that only drafts the answer.
  ConnectionEnv env = Env();
  env.trace = nullptr;
  const auto conn =
      Connection::Create(env, ServerInit(listener, tuple, cookie.service_code, cookie.iss));
  if (!conn.ok()) return false;
  CookieBuffer area;
  OptionWriter options(area);
  const TimePoint answered = TimeOf(cookie.answered, in.now);
  if ((*conn)->DraftResponse(packet, in.ecn, DataFate(cookie), answered, options)) return false;
  cookie.response_crc = Crc32c(options.bytes());
  if (!AddCookie(cookie, tuple, in.now, options)) return false;
  options.Pad();
  // Deviation: §8.1.4 knows no such case. Nobody has shown that the Request's source address is
  // not forged, so no more than three times what came from it goes there, as QUIC has it
  // (RFC 9000 §8). A Request without options to a server with many wishes can be too short for
  // that; it is then answered without a cookie, within the backlog.
  const std::size_t lower = LowerBytes(tuple.path, config_.encapsulation);
  const std::size_t bytes = FixedHeaderBytes(PacketType::kResponse, true) + options.size() + lower;
  if (bytes > 3 * (in.bytes.size() + lower)) return false;
  SendCookieResponse(in, cookie, tuple, options.bytes());
  return true;
}

bool Endpoint::Impl::AddCookie(const InitCookie& cookie, const FlowTuple& tuple, TimePoint now,
                               OptionWriter& options) {
  CookieSealer& sealer = *config_.cookie_sealer;
  CookieBuffer text;
  CookieBuffer sealed;
  const auto plain = std::span(text).first(InitCookieBytes(cookie));
  auto rest = std::span(sealed).first(plain.size() + sealer.overhead_bytes());
  WriteInitCookie(cookie, plain);
  FlowBytes flow;
  if (!sealer.Seal(WriteFlow(tuple, flow), plain, now, rest)) return false;
  while (!rest.empty()) {
    const std::size_t n = std::min(rest.size(), kMaxInitCookieBytes);
    if (!AddInitCookie(options, rest.first(n))) return false;
    rest = rest.subspan(n);
  }
  return true;
}

void Endpoint::Impl::SendCookieResponse(const Inbound& in, const InitCookie& cookie,
                                        const FlowTuple& tuple,
                                        std::span<const std::byte> options) {
  TraceReceived(in, ConnId());
  HeaderFields fields;
  fields.type = PacketType::kResponse;
  fields.seq = cookie.iss;
  fields.ack = cookie.isr;
  fields.service_code = cookie.service_code;
  PacketAssembler assembler(
      {&slab_, &ring_, config_.trace, config_.encapsulation, ConnId(), tuple});
  // The reserve of the ring is for the connections there are.
  if (!assembler.Ready() || !assembler.Send(fields, options, {}, Ecn::kNotEct, in.now)) {
    Drop(in, DropReason::kNoBuffers);
    return;
  }
  ++counters_.cookies_sent;
}

bool Endpoint::Impl::ReceiveCookie(const Inbound& in, const PacketView& packet,
                                   const FlowTuple& tuple) {
  if (config_.cookie_sealer == nullptr || !MayOpen(packet.type()) || !packet.extended() ||
      !listeners_.HasPort(tuple.local_port))
    return false;
  CookieBuffer area;
  const std::span<const std::byte> sealed = CollectCookies(packet, area);
  if (sealed.empty()) return false;
  CookieBuffer text;
  const std::optional<InitCookie> cookie = OpenCookie(sealed, tuple, in.now, text);
  if (!cookie) {
    Refuse(in, packet, ResetCode::kBadInitCookie, DropReason::kBadInitCookie);
    return true;
  }
  // A genuine cookie beside the number of another packet: one that a stranger may have drawn from
  // the client, which is not to suffer for it. What follows will acknowledge the Response.
  if (packet.ack() != cookie->iss) {
    TraceReceived(in, ConnId());
    Drop(in, DropReason::kSequenceInvalid);
    return true;
  }
  const ListenerTable::Match match =
      listeners_.Lookup(tuple.local_port, in.path.local, cookie->service_code);
  if (match.verdict != ListenerTable::Verdict::kAccept) return false;
  time_wait_.Expire(in.now);
  // "Too Busy" would answer a Request only. §5.6
  if (AtCapacity()) {
    ++counters_.connections_refused;
    Refuse(in, packet, ResetCode::kNoConnection, DropReason::kTooManyConnections);
    return true;
  }
  if (!AcceptCookie(in, packet, tuple, match, *cookie))
    Refuse(in, packet, ResetCode::kBadInitCookie, DropReason::kBadInitCookie);
  return true;
}

std::optional<InitCookie> Endpoint::Impl::OpenCookie(std::span<const std::byte> sealed,
                                                     const FlowTuple& tuple, TimePoint now,
                                                     std::span<std::byte> text) {
  CookieSealer& sealer = *config_.cookie_sealer;
  const std::size_t overhead = sealer.overhead_bytes();
  if (sealed.size() < overhead || sealed.size() > kMaxSealedBytes) return std::nullopt;
  const auto plain = text.first(sealed.size() - overhead);
  FlowBytes flow;
  if (!sealer.Open(WriteFlow(tuple, flow), sealed, now, plain)) return std::nullopt;
  std::optional<InitCookie> cookie = ReadInitCookie(plain);
  // What is older may be a copy of one whose connection is long over.
  if (cookie && now - TimeOf(cookie->answered, now) > config_.msl) return std::nullopt;
  return cookie;
}

// False: the listener would not answer the Request in the same way any more.
bool Endpoint::Impl::AcceptCookie(const Inbound& in, const PacketView& packet,
                                  const FlowTuple& tuple, const ListenerTable::Match& match,
                                  const InitCookie& cookie) {
  const RebuiltRequest request(cookie, tuple);
  if (!request.good()) return false;
  Listener& listener = *match.listener;
  const Result<ConnEntry*> made =
      NewConnection(ServerInit(listener, tuple, cookie.service_code, cookie.iss));
  if (!made.ok()) return false;
  ConnEntry& entry = **made;
  const TimePoint answered = TimeOf(cookie.answered, in.now);
  CookieBuffer area;
  OptionWriter options(area);
  if (entry.conn->DraftResponse(request.view(), cookie.ecn, DataFate(cookie), answered, options) ||
      Crc32c(options.bytes()) != cookie.response_crc) {
    Discard(entry);
    return false;
  }
  entry.listener = match.id;
  entry.cookie_until = answered + config_.msl;
  listener.half_open.Add(entry, in.now);
  ++counters_.cookies_accepted;
  TraceReceived(in, entry.id);
  entry.conn->OnPacket(packet, in.ecn, in.now);
  Refresh(entry, in.now);
  return true;
}

TimePoint Endpoint::Impl::TimeOf(TenMicros timestamp, TimePoint now) {
  const auto into_tick = now.time_since_epoch() % TenMicros::kUnit;
  return now - into_tick - TenMicros::TimestampAt(now).Since(timestamp).ToDuration();
}

}  // namespace dccp
