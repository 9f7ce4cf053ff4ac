// What bridge and router have in common: packet sockets on two interfaces.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "apps/dccp-netem/arrival_clock.h"
#include "apps/dccp-netem/emulation.h"
#include "apps/dccp-netem/event_loop.h"
#include "apps/dccp-netem/frame.h"
#include "apps/dccp-netem/link_socket.h"

namespace dccp::apps::netem {

struct LinkNames {
  std::string first;
  std::string second;
};

// Reads frames on either interface, cuts what stands for several packets, and passes each through
// the direction that leads to the other interface.
class LinkEmulation : public Emulation {
 public:
  void Housekeeping(TimePoint now) override;
  std::uint64_t missed() override { return ends_[0].link->Drops() + ends_[1].link->Drops(); }
  std::string failure() const override { return failure_; }

 protected:
  // One interface, what is read from it, and what is sent on it.
  class End final : public Readable, public PacketOutput {
   public:
    End(LinkEmulation& owner, std::size_t side) : owner_(owner), side_(side) {}
    void OnReadable(bool errors) override;
    void Send(std::span<Packet* const> packets) override;
    void OnTooBig(const Packet& packet, std::uint32_t mtu_bytes) override;

    std::unique_ptr<LinkSocket> link;

   private:
    LinkEmulation& owner_;
    std::size_t side_;
  };

  explicit LinkEmulation(const EmulationConfig& config);

  bool OpenLinks(const LinkNames& names, LinkSocket::Promiscuous promiscuous, EventLoop& loop,
                 std::string* error);

  // A frame came in at `side`. False: it is not to be passed. It may be changed.
  virtual bool Admit(std::size_t side, const ReceivedFrame& frame, Packet* packet,
                     const FrameInfo& info) = 0;
  // A packet is about to leave at `side`, with all but its link addresses as they are to be.
  virtual void Address(std::size_t side, Packet* packet) = 0;
  // A packet that came in at the other side does not fit the path.
  virtual void TooBig(std::size_t came_in_at, const Packet& packet, std::uint32_t mtu_bytes) = 0;

  LinkSocket& link(std::size_t side) { return *ends_[side].link; }
  const LinkSocket& link(std::size_t side) const { return *ends_[side].link; }

 private:
  void Read(std::size_t side);
  void Take(std::size_t side, const ReceivedFrame& frame);
  void Enter(std::size_t side, const ReceivedFrame& frame, Packet* packet, TimePoint arrival);

  End ends_[2];
  ArrivalClock clock_;
  std::string failure_;
};

}  // namespace dccp::apps::netem
