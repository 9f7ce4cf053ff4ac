#include "apps/dccp-netem/next_hops.h"

#include <fmt/format.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "apps/common/text.h"

namespace dccp::apps::netem {

namespace {

constexpr std::size_t kMaxEntries = 4096;
constexpr Duration kKnownFor = std::chrono::seconds(1);
constexpr Duration kAskAgain = std::chrono::milliseconds(1);
constexpr Duration kNoneFor = std::chrono::milliseconds(200);
constexpr std::uint16_t kUsable =
    NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP;

// One netlink message: header, a fixed part, attributes.
template <typename Fixed>
class Request {
 public:
  Request(std::uint16_t type, std::uint16_t flags, const Fixed& fixed) {
    header_.nlmsg_type = type;
    header_.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    size_ = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof fixed);
    std::memcpy(bytes_.data() + NLMSG_HDRLEN, &fixed, sizeof fixed);
  }

  void Add(std::uint16_t type, const void* data, std::size_t bytes) {
    rtattr attribute = {};
    attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(bytes));
    attribute.rta_type = type;
    std::memcpy(bytes_.data() + size_, &attribute, sizeof attribute);
    std::memcpy(bytes_.data() + size_ + RTA_LENGTH(0), data, bytes);
    size_ += RTA_SPACE(bytes);
  }
  void Add(std::uint16_t type, const IpAddress& address) {
    Add(type, address.bytes.data(), address.size());
  }

  std::span<const std::byte> Finish() {
    header_.nlmsg_len = static_cast<std::uint32_t>(size_);
    std::memcpy(bytes_.data(), &header_, sizeof header_);
    return {bytes_.data(), size_};
  }

 private:
  nlmsghdr header_ = {};
  std::array<std::byte, 256> bytes_ = {};
  std::size_t size_ = 0;
};

// The value of an attribute behind a fixed part of `skip` bytes; empty where it is missing.
std::span<const std::byte> FindAttribute(std::span<const std::byte> payload, std::size_t skip,
                                         std::uint16_t type) {
  std::size_t at = NLMSG_ALIGN(skip);
  while (at + sizeof(rtattr) <= payload.size()) {
    rtattr attribute = {};
    std::memcpy(&attribute, payload.data() + at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute || at + attribute.rta_len > payload.size()) break;
    if ((attribute.rta_type & NLA_TYPE_MASK) == type)
      return payload.subspan(at + RTA_LENGTH(0), attribute.rta_len - RTA_LENGTH(0));
    at += RTA_ALIGN(attribute.rta_len);
  }
  return {};
}

std::uint8_t FamilyOf(const IpAddress& address) {
  return address.family == IpFamily::kV4 ? AF_INET : AF_INET6;
}

}  // namespace

std::size_t NextHops::KeyHash::operator()(const Key& key) const {
  const std::string_view bytes(reinterpret_cast<const char*>(key.destination.bytes.data()),
                               key.destination.bytes.size());
  return std::hash<std::string_view>()(bytes) ^ key.index;
}

bool NextHops::Open(std::string* error) {
  fd_ = UniqueFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  // Answers come at once; a limit, so that a lost one stops nothing.
  const timeval limit = {.tv_sec = 0, .tv_usec = 100'000};
  if (fd_.valid() && ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0) {
    entries_.reserve(kMaxEntries);
    // No interface has this number: the answer tells only whether it may be asked.
    Resolve(0, IpAddress());
    if (error_ != EPERM) return true;
    *error =
        "routing needs CAP_NET_ADMIN, to have the kernel resolve addresses: run as root, or give "
        "the program the capability with 'setcap cap_net_raw,cap_net_admin+ep FILE'";
    return false;
  }
  *error = fmt::format("netlink socket: {}", ErrnoText());
  return false;
}

NextHops::Answer NextHops::Find(unsigned index, const IpAddress& destination, TimePoint now) {
  const Key key = {index, destination};
  auto found = entries_.find(key);
  if (found != entries_.end() && now < found->second.until) return found->second.answer;
  if (found == entries_.end()) {
    if (entries_.size() >= kMaxEntries) entries_.clear();
    found = entries_.emplace(key, Entry()).first;
  }
  Entry& entry = found->second;
  if (!FindGateway(index, destination, &entry.gateway)) {
    entry.answer = {};
    entry.until = now + kNoneFor;
    return entry.answer;
  }
  entry.answer = FindNeighbour(index, entry.gateway);
  switch (entry.answer.state) {
    case State::kKnown:
      // Keeps what is in use confirmed.
      Resolve(index, entry.gateway);
      entry.until = now + kKnownFor;
      break;
    case State::kAsking:
      Resolve(index, entry.gateway);
      entry.until = now + kAskAgain;
      break;
    case State::kNone:
      Resolve(index, entry.gateway);
      entry.until = now + kNoneFor;
      break;
  }
  return entry.answer;
}

std::span<const std::byte> NextHops::Ask(std::span<const std::byte> request) {
  nlmsghdr header = {};
  std::memcpy(&header, request.data(), sizeof header);
  header.nlmsg_seq = ++sequence_;
  std::memcpy(buffer_.data(), request.data(), request.size());
  std::memcpy(buffer_.data(), &header, sizeof header);
  if (::send(fd_.get(), buffer_.data(), request.size(), 0) < 0) return {};
  while (true) {
    const ssize_t got = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < static_cast<ssize_t>(sizeof header)) return {};
    std::memcpy(&header, buffer_.data(), sizeof header);
    // An answer to an earlier request that was given up.
    if (header.nlmsg_seq != sequence_) continue;
    error_ = 0;
    if (header.nlmsg_len > static_cast<std::size_t>(got)) return {};
    if (header.nlmsg_type == NLMSG_ERROR) {
      nlmsgerr report = {};
      if (header.nlmsg_len >= NLMSG_LENGTH(sizeof report))
        std::memcpy(&report, buffer_.data() + NLMSG_HDRLEN, sizeof report);
      error_ = -report.error;
      return {};
    }
    return std::span<const std::byte>(buffer_).subspan(NLMSG_HDRLEN,
                                                       header.nlmsg_len - NLMSG_HDRLEN);
  }
}

bool NextHops::FindGateway(unsigned index, const IpAddress& destination, IpAddress* gateway) {
  rtmsg fixed = {};
  fixed.rtm_family = FamilyOf(destination);
  fixed.rtm_dst_len = static_cast<unsigned char>(destination.size() * 8);
  Request<rtmsg> request(RTM_GETROUTE, 0, fixed);
  request.Add(RTA_DST, destination);
  request.Add(RTA_OIF, &index, sizeof index);
  const std::span<const std::byte> answer = Ask(request.Finish());
  if (answer.size() < sizeof fixed) return false;
  std::memcpy(&fixed, answer.data(), sizeof fixed);
  const std::span<const std::byte> out = FindAttribute(answer, sizeof fixed, RTA_OIF);
  unsigned out_index = 0;
  if (out.size() == sizeof out_index) std::memcpy(&out_index, out.data(), sizeof out_index);
  if (fixed.rtm_type != RTN_UNICAST || out_index != index) return false;
  *gateway = destination;
  const std::span<const std::byte> via = FindAttribute(answer, sizeof fixed, RTA_GATEWAY);
  if (via.size() == destination.size()) std::memcpy(gateway->bytes.data(), via.data(), via.size());
  return true;
}

NextHops::Answer NextHops::FindNeighbour(unsigned index, const IpAddress& gateway) {
  ndmsg fixed = {};
  fixed.ndm_family = FamilyOf(gateway);
  fixed.ndm_ifindex = static_cast<int>(index);
  Request<ndmsg> request(RTM_GETNEIGH, 0, fixed);
  request.Add(NDA_DST, gateway);
  const std::span<const std::byte> answer = Ask(request.Finish());
  // Not asked for yet.
  if (answer.size() < sizeof fixed) return {State::kAsking, {}};
  std::memcpy(&fixed, answer.data(), sizeof fixed);
  if ((fixed.ndm_state & NUD_FAILED) != 0) return {State::kNone, {}};
  const std::span<const std::byte> mac = FindAttribute(answer, sizeof fixed, NDA_LLADDR);
  if ((fixed.ndm_state & kUsable) == 0 || mac.size() != kMacBytes) return {State::kAsking, {}};
  Answer out = {State::kKnown, {}};
  std::memcpy(out.mac.data(), mac.data(), kMacBytes);
  return out;
}

void NextHops::Resolve(unsigned index, const IpAddress& gateway) {
  ndmsg fixed = {};
  fixed.ndm_family = FamilyOf(gateway);
  fixed.ndm_ifindex = static_cast<int>(index);
  fixed.ndm_state = NUD_NONE;
  fixed.ndm_flags = NTF_USE;
  Request<ndmsg> request(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_ACK, fixed);
  request.Add(NDA_DST, gateway);
  Ask(request.Finish());
}

}  // namespace dccp::apps::netem
