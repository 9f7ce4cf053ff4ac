#include "tests/scenario/model_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "stack/wire/packet_view.h"

namespace dccp {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint16_t kClientPort = 50000;
constexpr std::uint16_t kServerPort = 5001;
// The server's differ from connection to connection, else old packets could pass for new ones. §7.2
constexpr SeqNo kClientIss(1000);
constexpr FeatureNumber kFirstFeature = FeatureNumber::kCcid;
constexpr FeatureNumber kLastFeature = FeatureNumber::kCheckDataChecksum;

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t z = (hash ^ value) + 0x9E3779B97F4A7C15u + (hash << 6);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::uint64_t HashOf(std::span<const std::byte> bytes) {
  std::uint64_t hash = bytes.size();
  for (std::byte b : bytes) hash = Mix(hash, std::to_integer<std::uint64_t>(b));
  return hash;
}

PacketView ViewOf(std::span<const std::byte> bytes) {
  PacketView view;
  EXPECT_EQ(PacketView::Parse(bytes, &view), ParseError::kNone);
  return view;
}

bool IsOver(State state) { return state == State::kClosed || state == State::kTimeWait; }

bool AccusesPeer(ResetCode code) {
  return code == ResetCode::kPacketError || code == ResetCode::kOptionError ||
         code == ResetCode::kMandatoryError;
}

}  // namespace

ModelWorld::ModelWorld(const ModelScenario& scenario) : scenario_(scenario) {
  EXPECT_TRUE(registry_.Add(ccid2_));
  EXPECT_TRUE(registry_.Add(second_));
  CreateEndpoint(kClient);
  CreateEndpoint(kServer);

  ListenParams listen;
  listen.port = kServerPort;
  listen.options = scenario.server;
  if (scenario.cookies) listen.cookies_above = 0;
  EXPECT_TRUE(sides_[kServer].endpoint->Listen(listen).ok());

  ConnectParams connect;
  connect.path = PathOf(kClient);
  connect.local_port = kClientPort;
  connect.remote_port = kServerPort;
  connect.options = scenario.client;
  connect.options.initial_sequence = kClientIss;
  const Result<ConnId> conn = sides_[kClient].endpoint->Connect(connect, now_);
  EXPECT_TRUE(conn.ok());
  sides_[kClient].conns.push_back(*conn);
  Pump(kClient);
  if (scenario.begin_open) {
    EXPECT_TRUE(Settle(seconds(1)));
  }
}

void ModelWorld::CreateEndpoint(SideIndex side) {
  EndpointConfig config;
  config.registry = &registry_;
  config.random = &random_[side];
  config.cookie_sealer = &sealer_;
  sides_[side].endpoint = std::move(Endpoint::Create(config).value());
}

Path ModelWorld::PathOf(SideIndex side) const {
  Path path;
  path.local.bytes = {192, 0, 2, 1};
  path.remote.bytes = {192, 0, 2, 2};
  path.local_udp_port = 40000;
  path.remote_udp_port = kDefaultUdpPort;
  if (side == kServer) {
    std::swap(path.local, path.remote);
    std::swap(path.local_udp_port, path.remote_udp_port);
  }
  return path;
}

bool ModelWorld::ActionPossible(SideIndex side) const {
  const Side& s = sides_[side];
  return s.actions_done < ActionsOf(side).size() && !s.conns.empty();
}

std::vector<ModelChoice> ModelWorld::Choices() const {
  using Kind = ModelChoice::Kind;
  std::vector<ModelChoice> out;
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    const auto packet = static_cast<std::uint8_t>(i);
    out.push_back({Kind::kDeliver, packet});
    if (losses_ < scenario_.losses) out.push_back({Kind::kLose, packet});
    if (duplicates_ < scenario_.duplicates) out.push_back({Kind::kDuplicate, packet});
  }
  const bool deadline = sides_[kClient].endpoint->NextTimeout() != kNever ||
                        sides_[kServer].endpoint->NextTimeout() != kNever;
  if (deadline && timers_ < scenario_.timers) out.push_back({Kind::kTimer});
  if (ActionPossible(kClient)) out.push_back({Kind::kClientAction});
  if (ActionPossible(kServer)) out.push_back({Kind::kServerAction});
  return out;
}

void ModelWorld::Apply(const ModelChoice& choice) {
  using Kind = ModelChoice::Kind;
  switch (choice.kind) {
    case Kind::kDeliver:
    case Kind::kLose: {
      const Flight flight = std::move(flights_.at(choice.packet));
      flights_.erase(flights_.begin() + choice.packet);
      if (choice.kind == Kind::kLose) {
        ++losses_;
      } else {
        Deliver(flight);
      }
      break;
    }
    case Kind::kDuplicate: {
      ++flights_.at(choice.packet).copies;
      ++duplicates_;
      const Flight flight = flights_[choice.packet];
      Deliver(flight);
      break;
    }
    case Kind::kTimer:
      ++timers_;
      PassTime();
      break;
    case Kind::kClientAction:
      Act(kClient);
      break;
    case Kind::kServerAction:
      Act(kServer);
      break;
  }
}

void ModelWorld::Act(SideIndex side) {
  Side& s = sides_[side];
  switch (ActionsOf(side).at(s.actions_done++)) {
    case ModelAction::kSend: {
      const std::array data = {std::byte{'x'}};
      // Refused where the connection is over or closing.
      if (s.endpoint->Send(s.conns.back(), data).ok()) ++s.datagrams_sent;
      break;
    }
    case ModelAction::kClose:
      CloseAll(side);
      return;
    case ModelAction::kAbort:
      static_cast<void>(s.endpoint->Abort(s.conns.back(), now_));
      s.closing = true;
      break;
  }
  Pump(side);
}

void ModelWorld::CloseAll(SideIndex side) {
  Side& s = sides_[side];
  s.closing = true;
  for (const ConnId conn : s.conns) static_cast<void>(s.endpoint->Close(conn, now_));
  Pump(side);
}

void ModelWorld::Deliver(const Flight& flight) {
  Side& side = sides_[flight.to];
  // A sum: the set of numbers counts, not their order.
  const PacketView packet = ViewOf(flight.bytes);
  side.received_hash += Mix(packet.seq().value(), 1);
  // No two connections begin at one moment, for initial sequence numbers follow the clock. §7.2
  if (packet.type() == PacketType::kRequest) now_ += std::chrono::microseconds(1);
  InboundDatagram datagram;
  datagram.bytes = flight.bytes;
  datagram.path = PathOf(flight.to);
  datagram.ecn = flight.ecn;
  side.endpoint->Receive(std::span(&datagram, 1), now_);
  Pump(flight.to);
}

void ModelWorld::PassTime() {
  const TimePoint client = sides_[kClient].endpoint->NextTimeout();
  const TimePoint server = sides_[kServer].endpoint->NextTimeout();
  const SideIndex first = client <= server ? kClient : kServer;
  now_ = Later(now_, Earlier(client, server));
  ++sides_[first].timers_fired;
  sides_[first].endpoint->HandleTimeout(now_);
  Pump(first);
}

void ModelWorld::Pump(SideIndex side) {
  Side& s = sides_[side];
  std::array<OutboundDatagram, 16> out;
  std::array<ReceivedDatagram, 4> read;
  for (bool more = true; more;) {
    more = false;
    while (const std::optional<Event> event = s.endpoint->PollEvent()) {
      if ((event->bits & kEventAccepted) != 0) s.conns.push_back(event->conn);
      while (const std::size_t n = s.endpoint->Read(event->conn, read))
        s.datagrams_read += static_cast<std::uint32_t>(n);
      more = true;
    }
    while (const std::size_t n = s.endpoint->Transmit(out, now_)) {
      for (const OutboundDatagram& datagram : std::span(out).first(n)) {
        Flight flight{side == kClient ? kServer : kClient, {}, datagram.ecn};
        flight.bytes.assign(datagram.bytes.begin(), datagram.bytes.end());
        s.gss = std::max(s.gss, ViewOf(flight.bytes).seq().value());
        flights_.push_back(std::move(flight));
      }
      more = true;
    }
  }
}

std::string ModelWorld::Describe(const ModelChoice& choice) const {
  using Kind = ModelChoice::Kind;
  const auto action = [this](SideIndex side) {
    static const char* const kNames[] = {" sends", " closes", " aborts"};
    return kNames[static_cast<int>(ActionsOf(side).at(sides_[side].actions_done))];
  };
  if (choice.kind == Kind::kTimer) {
    const TimePoint client = sides_[kClient].endpoint->NextTimeout();
    const TimePoint server = sides_[kServer].endpoint->NextTimeout();
    const Duration wait = Later(now_, Earlier(client, server)) - now_;
    return std::string(client <= server ? "client" : "server") + "'s timer after " +
           std::to_string(wait / std::chrono::milliseconds(1)) + " ms";
  }
  if (choice.kind == Kind::kClientAction) return std::string("client") + action(kClient);
  if (choice.kind == Kind::kServerAction) return std::string("server") + action(kServer);
  static const char* const kNames[] = {"deliver ", "lose ", "duplicate "};
  const Flight& flight = flights_.at(choice.packet);
  const PacketView packet = ViewOf(flight.bytes);
  return kNames[static_cast<int>(choice.kind)] + std::string(ToString(packet.type())) + ' ' +
         std::to_string(packet.seq().value()) + " to " +
         (flight.to == kClient ? "client" : "server");
}

std::uint64_t ModelWorld::SideFingerprint(const Side& side) const {
  const TimePoint timeout = side.endpoint->NextTimeout();
  std::uint64_t hash =
      timeout == kNever ? 0 : static_cast<std::uint64_t>((timeout - now_).count()) + 1;
  for (const std::uint64_t value :
       {std::uint64_t{side.actions_done}, side.received_hash, side.gss,
        std::uint64_t{side.timers_fired}, std::uint64_t{side.datagrams_sent},
        std::uint64_t{side.datagrams_read}, std::uint64_t{side.endpoint->ActiveConnections()}})
    hash = Mix(hash, value);
  for (const ConnId conn : side.conns) {
    const ConnectionInfo info = *side.endpoint->Info(conn);
    hash = Mix(hash, static_cast<std::uint64_t>(info.state));
    hash = Mix(hash, info.send_queue_datagrams);
    hash = Mix(hash, static_cast<std::uint64_t>(info.close.by));
    hash = Mix(hash, static_cast<std::uint64_t>(info.close.reset.code));
    hash = Mix(hash, info.counters.packets_received);
    hash = Mix(hash, static_cast<std::uint64_t>(info.sender.cwnd_packets));
    if (IsOver(info.state)) continue;
    for (int f = static_cast<int>(kFirstFeature); f <= static_cast<int>(kLastFeature); ++f) {
      const auto feature = static_cast<FeatureNumber>(f);
      hash = Mix(hash, *side.endpoint->Feature(conn, feature, true));
      hash = Mix(hash, *side.endpoint->Feature(conn, feature, false));
    }
  }
  return hash;
}

std::uint64_t ModelWorld::Fingerprint() const {
  std::uint64_t hash = Mix(losses_, duplicates_);
  hash = Mix(hash, timers_);
  for (const Side& side : sides_) hash = Mix(hash, SideFingerprint(side));
  std::uint64_t in_flight = 0;
  for (const Flight& flight : flights_)
    in_flight += Mix(HashOf(flight.bytes), std::uint64_t{flight.to} * 8 + flight.copies);
  return Mix(hash, in_flight);
}

std::string ModelWorld::StateText() const {
  std::string out;
  for (const SideIndex side : {kClient, kServer}) {
    out += side == kClient ? "client:" : "; server:";
    for (const ConnId conn : sides_[side].conns) {
      const ConnectionInfo info = *sides_[side].endpoint->Info(conn);
      out += std::string(" ") + ToString(info.state);
      if (IsOver(info.state)) {
        out += std::string("(") + (info.close.clean ? "clean" : ToString(info.close.reset.code)) +
               (info.close.reset_received ? ", received)" : ")");
      }
    }
    out += " active " + std::to_string(sides_[side].endpoint->ActiveConnections());
  }
  return out + "; in flight " + std::to_string(flights_.size());
}

const ConnId* ModelWorld::OpenConnection(SideIndex side) const {
  for (const ConnId& conn : sides_[side].conns)
    if (sides_[side].endpoint->Info(conn)->state == State::kOpen) return &conn;
  return nullptr;
}

bool ModelWorld::Settle(Duration span) {
  const TimePoint end = now_ + span;
  for (int steps = 0; steps < 20'000; ++steps) {
    if (!flights_.empty()) {
      const Flight flight = std::move(flights_.front());
      flights_.erase(flights_.begin());
      Deliver(flight);
      continue;
    }
    const TimePoint next =
        Earlier(sides_[kClient].endpoint->NextTimeout(), sides_[kServer].endpoint->NextTimeout());
    if (next > end) {
      now_ = end;
      return true;
    }
    PassTime();
  }
  return false;
}

// Once nothing is in flight and no timer of a negotiation is left, both ends are stable, so this
// covers what the RFC promises of stable states, and that they are reached.
std::string ModelWorld::CheckAgreement() const {
  const ConnId* client = OpenConnection(kClient);
  const ConnId* server = OpenConnection(kServer);
  if ((client == nullptr) != (server == nullptr)) return "only one end is open";
  if (client == nullptr) return {};
  for (int f = static_cast<int>(kFirstFeature); f <= static_cast<int>(kLastFeature); ++f) {
    const auto feature = static_cast<FeatureNumber>(f);
    for (const bool at_client : {true, false}) {
      const std::uint64_t c = *sides_[kClient].endpoint->Feature(*client, feature, at_client);
      const std::uint64_t s = *sides_[kServer].endpoint->Feature(*server, feature, !at_client);
      if (c == s) continue;
      return std::string(ToString(feature)) + (at_client ? "/client" : "/server") + " is " +
             std::to_string(c) + " to the client and " + std::to_string(s) + " to the server";
    }
  }
  return {};
}

std::string ModelWorld::CheckEnds() const {
  for (const SideIndex side : {kClient, kServer}) {
    const Side& s = sides_[side];
    if (s.endpoint->ActiveConnections() != 0) return "a connection never ends";
    if (s.datagrams_read > sides_[1 - side].datagrams_sent) return "a datagram was read twice";
    for (const ConnId conn : s.conns) {
      const CloseReason close = s.endpoint->Info(conn)->close;
      if (close.by == ClosedBy::kProtocol || AccusesPeer(close.reset.code))
        return std::string("one end accuses the other of a ") + ToString(close.reset.code);
    }
  }
  return {};
}

std::string ModelWorld::CheckFairFuture() {
  const ConnectionInfo before = *sides_[kClient].endpoint->Info(sides_[kClient].conns.front());
  const bool to_be_open =
      !IsOver(before.state) && !sides_[kClient].closing && !sides_[kServer].closing;
  // Longer than the longest interval between repetitions and than the user timeout.
  if (!Settle(seconds(130))) return "packets without end";
  std::string fault = CheckAgreement();
  if (!fault.empty()) return fault;
  if (to_be_open && OpenConnection(kClient) == nullptr) return "the connection does not open";
  for (const SideIndex side : {kClient, kServer}) {
    while (ActionPossible(side)) {
      Act(side);
      if (!Settle(seconds(1))) return "packets without end";
    }
  }
  // Whoever has a connection left ends it, now and, for those accepted meanwhile, once more.
  for (int i = 0; i < 2; ++i) {
    for (const SideIndex side : {kClient, kServer}) CloseAll(side);
    if (!Settle(minutes(10))) return "packets without end";
  }
  return CheckEnds();
}

}  // namespace dccp
