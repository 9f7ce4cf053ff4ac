// A packet socket on one Ethernet interface.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/dccp-netem/frame.h"
#include "apps/dccp-netem/packet_store.h"
#include "stack/io/unique_fd.h"

namespace dccp::apps::netem {

// What stands before each frame on a socket with PACKET_VNET_HDR, in the host's byte order. The
// system's header for it, linux/virtio_net.h, is not C++.
struct VnetHeader {
  static constexpr std::uint8_t kNeedsChecksum = 1;  // of flags

  std::uint8_t flags = 0;
  std::uint8_t gso_type = 0;  // 0: one packet
  std::uint16_t header_bytes = 0;
  std::uint16_t gso_size = 0;
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
static_assert(sizeof(VnetHeader) == 10);

// A frame as it was read; valid until the next Receive().
struct ReceivedFrame {
  std::span<std::byte> bytes;
  bool to_us = false;             // its destination is the interface's own MAC address
  std::size_t segment_bytes = 0;  // it stands for several packets; 0: for one
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
  std::optional<Duration> received;  // since the epoch
};

// Reads all frames that come in on the interface, not those that go out, and sends frames. VLAN
// tags that the hardware took off are put back. Frames larger than the wire and checksums that are
// left to the hardware are passed with what is needed to cut and complete them.
class LinkSocket {
 public:
  enum class Promiscuous : std::uint8_t { kNo, kYes };

  // Null with `*error` filled.
  static std::unique_ptr<LinkSocket> Open(const std::string& name, Promiscuous promiscuous,
                                          std::string* error);

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }
  unsigned index() const { return index_; }
  std::uint32_t mtu() const { return mtu_; }
  const std::array<std::byte, kMacBytes>& mac() const { return mac_; }
  // The interface still exists.
  bool Exists() const;

  // What waits, up to a batch.
  std::span<const ReceivedFrame> Receive();
  // The last Receive() was filled: more may wait.
  bool more() const { return more_; }
  // Sets the outcome of each; those that have another than kSent already are left out.
  void Send(std::span<Packet* const> packets);
  bool SendFrame(std::span<const std::byte> frame);
  // Frames that were not read in time, since the start.
  std::uint64_t Drops();

 private:
  static constexpr std::size_t kMessages = 64;
  // VLAN tag that is put back, and what GRO joins.
  static constexpr std::size_t kBufferBytes = PacketStore::kMaxBytes;

  LinkSocket(UniqueFd fd, std::string name);
  bool Ask(std::string* error);
  bool SetUp(Promiscuous promiscuous, std::string* error);
  void Prepare(std::size_t i);
  std::optional<ReceivedFrame> Understand(std::size_t i);

  struct ReadSlot {
    VnetHeader header;
    iovec parts[2];
    sockaddr_storage from;
    alignas(cmsghdr) std::byte control[128];
  };
  struct SendSlot {
    VnetHeader header;
    iovec parts[2];
  };

  UniqueFd fd_;
  std::string name_;
  unsigned index_ = 0;
  std::uint32_t mtu_ = 0;
  std::array<std::byte, kMacBytes> mac_ = {};
  std::unique_ptr<std::byte[]> memory_;
  std::vector<ReadSlot> read_slots_;
  std::vector<mmsghdr> read_headers_;
  std::vector<SendSlot> send_slots_;
  std::vector<mmsghdr> send_headers_;
  std::vector<ReceivedFrame> frames_;
  bool more_ = false;
  std::uint64_t drops_ = 0;
};

}  // namespace dccp::apps::netem
