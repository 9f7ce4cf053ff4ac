#include "apps/dccp-netem/udp_relay.h"

#include <fmt/format.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "apps/common/text.h"
#include "stack/endpoint/flow_hash.h"
#include "stack/io/os_random.h"
#include "stack/io/socket_options.h"

namespace dccp::apps::netem {

namespace {

constexpr std::uint32_t kUdpHeaderBytes = 8;
// Batches that are read from one socket before others have their turn.
constexpr int kBatchesARound = 4;
constexpr std::uint32_t kBufferBytes = 8u << 20;

std::uint32_t HeaderBytes(IpFamily family) {
  return kUdpHeaderBytes + (family == IpFamily::kV4 ? 20u : 40u);
}

// Datagrams that the kernel threw away because the socket's buffer was full.
std::uint64_t KernelDrops(int fd) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info = {};
  socklen_t bytes = sizeof info;
  if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info.data(), &bytes) != 0) return 0;
  return bytes > SK_MEMINFO_DROPS * sizeof(std::uint32_t) ? info[SK_MEMINFO_DROPS] : 0;
}

std::unique_ptr<UdpSocket> OpenSocket(const UdpSocketOptions& options, std::string* error) {
  IoError fault;
  std::unique_ptr<UdpSocket> socket = UdpSocket::Open(options, &fault);
  if (socket == nullptr) {
    *error =
        fault.errno_value == EADDRINUSE
            ? fmt::format("UDP port {} is in use; choose another with --listen", options.local_port)
            : fmt::format("{}: {}", fault.what, ErrnoText(fault.errno_value));
    return nullptr;
  }
  // Without the stamps, packets count as arriving when they are read.
  SetIntOption(socket->fd(), SOL_SOCKET, SO_TIMESTAMPNS, 1);
  return socket;
}

SipKey RandomKey() {
  OsRandom random;
  return SipKey::Random(random);
}

}  // namespace

class UdpRelay::Client final : public Readable {
 public:
  Client(UdpRelay& relay, const Path& path, std::uint64_t hash, std::unique_ptr<UdpSocket> socket)
      : relay_(relay), path_(path), hash_(hash), socket_(std::move(socket)) {}

  void OnReadable(bool errors) override { relay_.ReadServer(*this, errors); }

  UdpSocket& socket() { return *socket_; }
  // As the listening socket sees it.
  const Path& path() const { return path_; }
  std::uint64_t hash() const { return hash_; }
  FlowId id() const { return id_; }
  void SetId(FlowId id) { id_ = id; }
  void Touch(TimePoint now) { last_ = now; }
  TimePoint last() const { return last_; }

 private:
  UdpRelay& relay_;
  Path path_;
  std::uint64_t hash_;
  std::unique_ptr<UdpSocket> socket_;
  FlowId id_;
  TimePoint last_;
};

UdpRelay::UdpRelay(const RelayConfig& config, const EmulationConfig& emulation, EventLoop& loop)
    : Emulation(emulation, to_server_, to_clients_),
      config_(config),
      loop_(loop),
      key_(RandomKey()),
      header_bytes_(HeaderBytes(config.listen.family)) {
  out_.reserve(SendBatch::kMaxMessages);
  by_address_.Reserve(config.max_clients);
}

UdpRelay::~UdpRelay() = default;

std::unique_ptr<UdpRelay> UdpRelay::Open(const RelayConfig& config,
                                         const EmulationConfig& emulation, EventLoop& loop,
                                         std::string* error) {
  std::unique_ptr<UdpRelay> relay(new UdpRelay(config, emulation, loop));
  UdpSocketOptions options;
  options.local = config.listen;
  options.local_port = config.listen_port;
  options.buffer_bytes = kBufferBytes;
  relay->listen_ = OpenSocket(options, error);
  if (relay->listen_ == nullptr) return nullptr;
  if (config.to == config.listen && config.to_port == relay->listen_port()) {
    *error = "--listen and --to are the same";
    return nullptr;
  }
  if (!loop.Watch(relay->listen_->fd(), relay->listener_, error)) return nullptr;
  return relay;
}

std::string UdpRelay::Describe() const {
  return fmt::format("Relaying UDP {} -> {}",
                     AddressAndPort(listen_->path().local, listen_->path().local_udp_port),
                     AddressAndPort(config_.to, config_.to_port));
}

void UdpRelay::ReadClients(bool errors) {
  for (int i = 0; i < kBatchesARound; ++i) {
    const int count = recv_batch_.Fill(listen_->fd());
    if (count <= 0) break;
    clock_.Read();
    for (std::size_t m = 0; m < static_cast<std::size_t>(count); ++m) {
      const Ancillary ancillary = recv_batch_.ancillary(m);
      Path path = listen_->path();
      if (ancillary.local) path.local = *ancillary.local;
      path.remote = recv_batch_.source(m).address();
      path.remote_udp_port = recv_batch_.source(m).port();
      Client* const client = FindOrAdd(path);
      if (client == nullptr) continue;
      client->Touch(clock_.now());
      Take(forward_direction(), recv_batch_.bytes(m), ancillary, client->id());
    }
    if (!recv_batch_.full()) break;
  }
  if (errors) ReadErrors(*listen_);
}

void UdpRelay::ReadServer(Client& client, bool errors) {
  for (int i = 0; i < kBatchesARound; ++i) {
    const int count = recv_batch_.Fill(client.socket().fd());
    if (count <= 0) break;
    clock_.Read();
    client.Touch(clock_.now());
    for (std::size_t m = 0; m < static_cast<std::size_t>(count); ++m)
      Take(reverse_direction(), recv_batch_.bytes(m), recv_batch_.ancillary(m), client.id());
    if (!recv_batch_.full()) break;
  }
  if (errors) ReadErrors(client.socket());
}

void UdpRelay::Take(Direction& direction, std::span<const std::byte> bytes,
                    const Ancillary& ancillary, FlowId flow) {
  const TimePoint arrival = clock_.Of(ancillary.received);
  const std::size_t stride = ancillary.segment_bytes != 0 ? ancillary.segment_bytes
                                                          : std::max<std::size_t>(1, bytes.size());
  do {
    const std::span<const std::byte> datagram = bytes.first(std::min(stride, bytes.size()));
    bytes = bytes.subspan(datagram.size());
    Packet* const packet = direction.NewPacket(datagram.size(), datagram.size() + header_bytes_);
    if (packet == nullptr) continue;
    std::memcpy(packet->data(), datagram.data(), datagram.size());
    packet->ecn = ancillary.ecn;
    packet->flow = flow;
    direction.Arrive(packet, arrival);
  } while (!bytes.empty());
}

UdpRelay::Client* UdpRelay::FindOrAdd(const Path& path) {
  const std::uint64_t hash = HashFlow(key_, FlowTuple{.path = path});
  const std::uint32_t found = by_address_.Find(
      hash, [&](std::uint32_t index) { return clients_.AtIndex(index)->path() == path; });
  if (found != FlatMap::kNone) return clients_.AtIndex(found);
  if (clients_.size() >= config_.max_clients) {
    ++clients_turned_away_;
    return nullptr;
  }
  UdpSocketOptions options;
  options.local.family = config_.to.family;
  options.remote = config_.to;
  options.remote_port = config_.to_port;
  options.buffer_bytes = kBufferBytes;
  std::unique_ptr<UdpSocket> socket = OpenSocket(options, &last_error_);
  if (socket == nullptr) {
    ++clients_turned_away_;
    return nullptr;
  }
  const int fd = socket->fd();
  const FlowId id = clients_.Emplace(*this, path, hash, std::move(socket));
  Client* const client = clients_.Find(id);
  client->SetId(id);
  if (!loop_.Watch(fd, *client, &last_error_)) {
    clients_.Erase(id);
    ++clients_turned_away_;
    return nullptr;
  }
  by_address_.Insert(hash, id.index);
  ++clients_seen_;
  return client;
}

void UdpRelay::Remove(FlowId id) {
  Client* const client = clients_.Find(id);
  missed_by_gone_ += KernelDrops(client->socket().fd());
  loop_.Forget(client->socket().fd());
  by_address_.Erase(client->hash(), id.index);
  clients_.Erase(id);
}

void UdpRelay::Housekeeping(TimePoint now) {
  if (now < next_sweep_) return;
  next_sweep_ = now + std::min<Duration>(config_.idle / 4, std::chrono::seconds(10));
  clients_.ForEach([&](FlowId id, Client& client) {
    if (now - client.last() > config_.idle) Remove(id);
  });
}

void UdpRelay::ReadErrors(UdpSocket& socket) {
  bool more = true;
  while (more) {
    more = socket.ReadErrors(error_batch_);
    icmp_errors_ += error_batch_.errors().size();
  }
}

std::uint64_t UdpRelay::missed() {
  std::uint64_t sum = missed_by_gone_ + KernelDrops(listen_->fd());
  clients_.ForEach([&](FlowId, Client& client) { sum += KernelDrops(client.socket().fd()); });
  return sum;
}

ExtraFigures UdpRelay::Extras() {
  return {{"clients", clients_seen_},
          {"clients_now", clients_.size()},
          {"turned_away", clients_turned_away_},
          {"icmp_errors", icmp_errors_}};
}

// `out_` holds what SendRun is to send; all through one socket.
void UdpRelay::SendRun(UdpSocket& socket, std::span<Packet* const> packets) {
  const SendResult result = socket.Send(out_, send_batch_);
  for (std::size_t i = 0; i < packets.size(); ++i)
    packets[i]->outcome = i < result.taken ? Outcome::kSent : Outcome::kRefused;
  if (result.failed) {
    socket.ReadErrors(error_batch_);
    const std::size_t failures = std::min(error_batch_.errors().size(), packets.size());
    // Which ones it was is not told; the count is what matters.
    for (std::size_t i = 0; i < failures; ++i) packets[i]->outcome = Outcome::kRefused;
  }
}

void UdpRelay::ToServer::Send(std::span<Packet* const> packets) {
  std::size_t begin = 0;
  while (begin < packets.size()) {
    std::size_t end = begin + 1;
    while (end < packets.size() && packets[end]->flow == packets[begin]->flow) ++end;
    const std::span<Packet* const> run = packets.subspan(begin, end - begin);
    begin = end;
    Client* const client = relay_.clients_.Find(run.front()->flow);
    if (client == nullptr) {
      for (Packet* packet : run) packet->outcome = Outcome::kRefused;
      continue;
    }
    relay_.out_.clear();
    for (const Packet* packet : run)
      relay_.out_.push_back({packet->bytes(), client->socket().path(), packet->ecn, false});
    relay_.SendRun(client->socket(), run);
  }
}

void UdpRelay::ToClients::Send(std::span<Packet* const> packets) {
  std::size_t begin = 0;  // of those in out_
  relay_.out_.clear();
  const auto send = [&](std::size_t end) {
    if (!relay_.out_.empty()) relay_.SendRun(*relay_.listen_, packets.subspan(begin, end - begin));
    relay_.out_.clear();
  };
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const Client* const client = relay_.clients_.Find(packets[i]->flow);
    if (client != nullptr) {
      relay_.out_.push_back({packets[i]->bytes(), client->path(), packets[i]->ecn, false});
      continue;
    }
    packets[i]->outcome = Outcome::kRefused;
    send(i);
    begin = i + 1;
  }
  send(packets.size());
}

}  // namespace dccp::apps::netem
