// Emulates a path between UDP clients and a server, without privileges.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/dccp-netem/arrival_clock.h"
#include "apps/dccp-netem/emulation.h"
#include "apps/dccp-netem/event_loop.h"
#include "stack/base/flat_map.h"
#include "stack/base/siphash.h"
#include "stack/base/slot_map.h"
#include "stack/io/error_batch.h"
#include "stack/io/recv_batch.h"
#include "stack/io/send_batch.h"
#include "stack/io/udp_socket.h"

namespace dccp::apps::netem {

struct RelayConfig {
  IpAddress listen;
  std::uint16_t listen_port = 0;  // 0: the system chooses
  IpAddress to;
  std::uint16_t to_port = 0;
  std::size_t max_clients = 1024;
  Duration idle = std::chrono::minutes(5);
};

// Each client, an address and port that sends to the listening socket, gets a socket of its own
// towards the server, whose answers go back to it, from the address that the client had sent to.
// Nothing but the ECN bits and the payload passes. A client that was silent both ways for the idle
// time is forgotten. ICMP errors end here, since handing them on would take privileges.
class UdpRelay final : public Emulation {
 public:
  // Null with `*error` filled. `loop` must outlive it.
  static std::unique_ptr<UdpRelay> Open(const RelayConfig& config, const EmulationConfig& emulation,
                                        EventLoop& loop, std::string* error);
  ~UdpRelay() override;

  void Housekeeping(TimePoint now) override;
  std::string Describe() const override;
  std::uint64_t missed() override;
  ExtraFigures Extras() override;
  std::uint16_t listen_port() const { return listen_->path().local_udp_port; }

 private:
  class Client;

  class Listener final : public Readable {
   public:
    explicit Listener(UdpRelay& relay) : relay_(relay) {}
    void OnReadable(bool errors) override { relay_.ReadClients(errors); }

   private:
    UdpRelay& relay_;
  };
  // Towards the server, by each client's socket.
  class ToServer final : public PacketOutput {
   public:
    explicit ToServer(UdpRelay& relay) : relay_(relay) {}
    void Send(std::span<Packet* const> packets) override;

   private:
    UdpRelay& relay_;
  };
  class ToClients final : public PacketOutput {
   public:
    explicit ToClients(UdpRelay& relay) : relay_(relay) {}
    void Send(std::span<Packet* const> packets) override;

   private:
    UdpRelay& relay_;
  };

  UdpRelay(const RelayConfig& config, const EmulationConfig& emulation, EventLoop& loop);

  void ReadClients(bool errors);
  void ReadServer(Client& client, bool errors);
  // What one message of a batch holds, as packets of `flow`.
  void Take(Direction& direction, std::span<const std::byte> bytes, const Ancillary& ancillary,
            FlowId flow);
  // Null where there can be no more clients.
  Client* FindOrAdd(const Path& path);
  void Remove(FlowId id);
  void ReadErrors(UdpSocket& socket);
  void SendRun(UdpSocket& socket, std::span<Packet* const> packets);

  RelayConfig config_;
  EventLoop& loop_;
  ToServer to_server_{*this};
  ToClients to_clients_{*this};
  Listener listener_{*this};
  std::unique_ptr<UdpSocket> listen_;
  SlotMap<Client, FlowId> clients_;
  FlatMap by_address_;
  SipKey key_;
  RecvBatch recv_batch_;
  SendBatch send_batch_;
  ErrorBatch error_batch_;
  ArrivalClock clock_;
  std::vector<OutboundDatagram> out_;
  TimePoint next_sweep_ = TimePoint::min();
  std::uint64_t clients_seen_ = 0;
  std::uint64_t clients_turned_away_ = 0;  // datagrams of
  std::uint64_t icmp_errors_ = 0;
  std::uint64_t missed_by_gone_ = 0;  // by sockets that are closed
  std::uint32_t header_bytes_ = 0;
  std::string last_error_;
};

}  // namespace dccp::apps::netem
