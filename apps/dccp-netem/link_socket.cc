#include "apps/dccp-netem/link_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "apps/common/text.h"
#include "stack/base/byte_order.h"
#include "stack/io/socket_options.h"

namespace dccp::apps::netem {

namespace {

constexpr int kBufferBytes16M = 16 << 20;

struct FrameNotes {
  std::optional<Duration> received;
  std::optional<tpacket_auxdata> auxiliary;
};

FrameNotes ReadNotes(msghdr& message) {
  FrameNotes notes;
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level == SOL_PACKET && h->cmsg_type == PACKET_AUXDATA &&
        h->cmsg_len >= CMSG_LEN(sizeof(tpacket_auxdata))) {
      notes.auxiliary.emplace();
      std::memcpy(&*notes.auxiliary, CMSG_DATA(h), sizeof(tpacket_auxdata));
    }
    if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TIMESTAMPNS &&
        h->cmsg_len >= CMSG_LEN(sizeof(timespec))) {
      timespec stamp = {};
      std::memcpy(&stamp, CMSG_DATA(h), sizeof stamp);
      notes.received = std::chrono::seconds(stamp.tv_sec) + Duration(stamp.tv_nsec);
    }
  }
  return notes;
}

}  // namespace

LinkSocket::LinkSocket(UniqueFd fd, std::string name)
    : fd_(std::move(fd)),
      name_(std::move(name)),
      memory_(std::make_unique_for_overwrite<std::byte[]>(kMessages * kBufferBytes)),
      read_slots_(kMessages),
      read_headers_(kMessages),
      send_slots_(kMessages),
      send_headers_(kMessages) {
  frames_.reserve(kMessages);
}

std::unique_ptr<LinkSocket> LinkSocket::Open(const std::string& name, Promiscuous promiscuous,
                                             std::string* error) {
  // Protocol 0: it hears nothing before it is bound to its interface.
  UniqueFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    *error = errno == EPERM || errno == EACCES
                 ? std::string(
                       "packet sockets need CAP_NET_RAW: run as root, give the program the "
                       "capability with 'setcap cap_net_raw,cap_net_admin+ep FILE', or "
                       "relay UDP without privileges: dccp-netem udp")
                 : fmt::format("packet socket: {}", ErrnoText());
    return nullptr;
  }
  std::unique_ptr<LinkSocket> link(new LinkSocket(std::move(fd), name));
  if (!link->Ask(error) || !link->SetUp(promiscuous, error)) return nullptr;
  return link;
}

bool LinkSocket::Ask(std::string* error) {
  index_ = ::if_nametoindex(name_.c_str());
  if (index_ == 0 || name_.size() >= IFNAMSIZ) {
    *error = fmt::format("there is no interface {}; 'ip link' lists them", name_);
    return false;
  }
  ifreq request = {};
  std::copy(name_.begin(), name_.end(), request.ifr_name);
  if (::ioctl(fd_.get(), SIOCGIFFLAGS, &request) != 0) {
    *error = fmt::format("{}: {}", name_, ErrnoText());
    return false;
  }
  if ((request.ifr_flags & IFF_UP) == 0) {
    *error = fmt::format("{} is down; 'ip link set {} up'", name_, name_);
    return false;
  }
  if (::ioctl(fd_.get(), SIOCGIFHWADDR, &request) != 0 ||
      request.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
    *error = fmt::format("{} is no Ethernet interface", name_);
    return false;
  }
  std::memcpy(mac_.data(), request.ifr_hwaddr.sa_data, mac_.size());
  if (::ioctl(fd_.get(), SIOCGIFMTU, &request) != 0) {
    *error = fmt::format("{}: {}", name_, ErrnoText());
    return false;
  }
  mtu_ = static_cast<std::uint32_t>(request.ifr_mtu);
  return true;
}

bool LinkSocket::SetUp(Promiscuous promiscuous, std::string* error) {
  for (std::size_t i = 0; i < kMessages; ++i) Prepare(i);
  bool ok = SetIntOption(fd_.get(), SOL_PACKET, PACKET_VNET_HDR, 1) &&
            SetIntOption(fd_.get(), SOL_PACKET, PACKET_AUXDATA, 1);
  SetIntOption(fd_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
  SetIntOption(fd_.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1);
  if (!SetIntOption(fd_.get(), SOL_SOCKET, SO_RCVBUFFORCE, kBufferBytes16M))
    SetIntOption(fd_.get(), SOL_SOCKET, SO_RCVBUF, kBufferBytes16M);
  if (!SetIntOption(fd_.get(), SOL_SOCKET, SO_SNDBUFFORCE, kBufferBytes16M))
    SetIntOption(fd_.get(), SOL_SOCKET, SO_SNDBUF, kBufferBytes16M);
  if (promiscuous == Promiscuous::kYes) {
    packet_mreq request = {};
    request.mr_ifindex = static_cast<int>(index_);
    request.mr_type = PACKET_MR_PROMISC;
    ok = ok &&
         ::setsockopt(fd_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) == 0;
  }
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index_);
  ok = ok && ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!ok) *error = fmt::format("{}: packet socket: {}", name_, ErrnoText());
  return ok;
}

bool LinkSocket::Exists() const { return ::if_nametoindex(name_.c_str()) == index_; }

void LinkSocket::Prepare(std::size_t i) {
  ReadSlot& slot = read_slots_[i];
  // In front is room for a VLAN tag.
  std::byte* const buffer = memory_.get() + i * kBufferBytes + kVlanTagBytes;
  slot.parts[0] = {&slot.header, sizeof slot.header};
  slot.parts[1] = {buffer, kBufferBytes - kVlanTagBytes};
  msghdr& header = read_headers_[i].msg_hdr;
  header.msg_name = &slot.from;
  header.msg_namelen = sizeof slot.from;
  header.msg_iov = slot.parts;
  header.msg_iovlen = 2;
  header.msg_control = slot.control;
  header.msg_controllen = sizeof slot.control;
  header.msg_flags = 0;
}

std::span<const ReceivedFrame> LinkSocket::Receive() {
  frames_.clear();
  int count = 0;
  do {
    count = ::recvmmsg(fd_.get(), read_headers_.data(), kMessages, MSG_DONTWAIT, nullptr);
  } while (count < 0 && errno == EINTR);
  // A frame whose virtio header the kernel cannot write is gone; there may be others behind it.
  more_ = count == static_cast<int>(kMessages) || (count < 0 && errno == EINVAL);
  if (count <= 0) return {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::optional<ReceivedFrame> frame = Understand(i);
    if (frame) frames_.push_back(*frame);
    Prepare(i);
  }
  return frames_;
}

std::optional<ReceivedFrame> LinkSocket::Understand(std::size_t i) {
  const ReadSlot& slot = read_slots_[i];
  sockaddr_ll from = {};
  std::memcpy(&from, &slot.from, sizeof from);
  if (from.sll_pkttype == PACKET_OUTGOING) return std::nullopt;
  const std::size_t length = read_headers_[i].msg_len;
  const bool cut = (read_headers_[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
  if (cut || length < sizeof slot.header + kEthernetBytes) {
    drops_ += cut ? 1 : 0;
    return std::nullopt;
  }
  const FrameNotes notes = ReadNotes(read_headers_[i].msg_hdr);
  std::byte* begin = memory_.get() + i * kBufferBytes + kVlanTagBytes;
  ReceivedFrame out;
  out.bytes = {begin, length - sizeof slot.header};
  out.to_us = from.sll_pkttype == PACKET_HOST;
  out.received = notes.received;
  if (slot.header.gso_type != 0) out.segment_bytes = slot.header.gso_size;
  if ((slot.header.flags & VnetHeader::kNeedsChecksum) != 0) {
    out.checksum_start = slot.header.checksum_start;
    out.checksum_offset = slot.header.checksum_offset;
  }
  if (notes.auxiliary && (notes.auxiliary->tp_status & TP_STATUS_VLAN_VALID) != 0) {
    const bool has_type = (notes.auxiliary->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    std::memmove(begin - kVlanTagBytes, begin, 2 * kMacBytes);
    StoreBe16(begin + 2 * kMacBytes - kVlanTagBytes,
              has_type ? notes.auxiliary->tp_vlan_tpid : std::uint16_t{ETH_P_8021Q});
    StoreBe16(begin + 2 * kMacBytes - 2, notes.auxiliary->tp_vlan_tci);
    out.bytes = {begin - kVlanTagBytes, out.bytes.size() + kVlanTagBytes};
    if (out.checksum_start != 0) out.checksum_start += kVlanTagBytes;
  }
  return out;
}

void LinkSocket::Send(std::span<Packet* const> packets) {
  std::size_t done = 0;
  while (done < packets.size()) {
    std::size_t count = 0;
    std::array<Packet*, kMessages> batch = {};
    for (; done < packets.size() && count < kMessages; ++done) {
      Packet* const packet = packets[done];
      if (packet->outcome != Outcome::kSent) continue;
      SendSlot& slot = send_slots_[count];
      slot.header = {};
      if (packet->checksum_start != 0) {
        slot.header.flags = VnetHeader::kNeedsChecksum;
        slot.header.checksum_start = packet->checksum_start;
        slot.header.checksum_offset = packet->checksum_offset;
      }
      slot.parts[0] = {&slot.header, sizeof slot.header};
      slot.parts[1] = {packet->data(), packet->length};
      send_headers_[count].msg_hdr = {};
      send_headers_[count].msg_hdr.msg_iov = slot.parts;
      send_headers_[count].msg_hdr.msg_iovlen = 2;
      batch[count++] = packet;
    }
    std::size_t at = 0;
    while (at < count) {
      const int sent = ::sendmmsg(fd_.get(), send_headers_.data() + at,
                                  static_cast<unsigned>(count - at), MSG_DONTWAIT);
      if (sent > 0) {
        at += static_cast<std::size_t>(sent);
      } else if (errno != EINTR) {
        batch[at++]->outcome = Outcome::kRefused;
      }
    }
  }
}

bool LinkSocket::SendFrame(std::span<const std::byte> frame) {
  VnetHeader header = {};
  iovec parts[] = {{&header, sizeof header}, {const_cast<std::byte*>(frame.data()), frame.size()}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  return ::sendmsg(fd_.get(), &message, MSG_DONTWAIT) >= 0;
}

std::uint64_t LinkSocket::Drops() {
  tpacket_stats stats = {};
  socklen_t bytes = sizeof stats;
  // Reading sets it back to 0.
  if (::getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) == 0)
    drops_ += stats.tp_drops;
  return drops_;
}

}  // namespace dccp::apps::netem
