#include "stack/io/ancillary.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <cstring>

#include "stack/base/check.h"
#include "stack/io/socket_address.h"

namespace dccp {
namespace {

template <typename T>
bool Get(const cmsghdr& header, T* out) {
  if (header.cmsg_len < CMSG_LEN(sizeof(T))) return false;
  std::memcpy(out, CMSG_DATA(&header), sizeof(T));
  return true;
}

Ecn EcnOf(unsigned tos) { return static_cast<Ecn>(tos & 3u); }

void ParseIp(const cmsghdr& header, Ancillary* out) {
  std::uint8_t tos = 0;
  in_pktinfo info;
  sock_extended_err error;
  if (header.cmsg_type == IP_TOS && Get(header, &tos)) out->ecn = EcnOf(tos);
  if (header.cmsg_type == IP_PKTINFO && Get(header, &info)) out->local = FromInAddr(info.ipi_addr);
  if (header.cmsg_type == IP_RECVERR && Get(header, &error)) out->error = error;
}

void ParseIpv6(const cmsghdr& header, Ancillary* out) {
  int tclass = 0;
  in6_pktinfo info;
  sock_extended_err error;
  if (header.cmsg_type == IPV6_TCLASS && Get(header, &tclass)) {
    out->ecn = EcnOf(static_cast<unsigned>(tclass));
  }
  if (header.cmsg_type == IPV6_PKTINFO && Get(header, &info)) {
    out->local = FromIn6Addr(info.ipi6_addr, info.ipi6_ifindex);
  }
  if (header.cmsg_type == IPV6_RECVERR && Get(header, &error)) out->error = error;
}

}  // namespace

Ancillary ParseAncillary(const msghdr& message) {
  Ancillary out;
  msghdr copy = message;  // CMSG_NXTHDR takes no const
  for (cmsghdr* h = CMSG_FIRSTHDR(&copy); h != nullptr; h = CMSG_NXTHDR(&copy, h)) {
    if (h->cmsg_level == IPPROTO_IP) ParseIp(*h, &out);
    if (h->cmsg_level == IPPROTO_IPV6) ParseIpv6(*h, &out);
    if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TIMESTAMPNS) {
      timespec stamp;
      if (Get(*h, &stamp))
        out.received = std::chrono::seconds(stamp.tv_sec) + Duration(stamp.tv_nsec);
    }
    int segment = 0;
    if (h->cmsg_level == IPPROTO_UDP && h->cmsg_type == UDP_GRO && Get(*h, &segment)) {
      if (segment > 0) out.segment_bytes = static_cast<std::uint32_t>(segment);
    }
  }
  return out;
}

void AncillaryWriter::Put(int level, int type, const void* data, std::size_t bytes) {
  DCCP_CHECK(used_ + CMSG_SPACE(bytes) <= buffer_.size());
  cmsghdr header = {};
  header.cmsg_len = CMSG_LEN(bytes);
  header.cmsg_level = level;
  header.cmsg_type = type;
  std::byte* at = buffer_.data() + used_;
  std::memcpy(at, &header, sizeof(header));
  std::memcpy(at + CMSG_LEN(0), data, bytes);
  used_ += CMSG_SPACE(bytes);
}

void AncillaryWriter::PutEcn(IpFamily family, Ecn ecn) {
  const int value = static_cast<int>(ecn);
  if (family == IpFamily::kV4) {
    Put(IPPROTO_IP, IP_TOS, &value, sizeof(value));
  } else {
    Put(IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof(value));
  }
}

void AncillaryWriter::PutSource(const IpAddress& source) {
  if (source.family == IpFamily::kV4) {
    in_pktinfo info = {};
    std::memcpy(&info.ipi_spec_dst, source.bytes.data(), sizeof(info.ipi_spec_dst));
    Put(IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
  } else {
    in6_pktinfo info = {};
    std::memcpy(&info.ipi6_addr, source.bytes.data(), sizeof(info.ipi6_addr));
    info.ipi6_ifindex = source.scope_id;
    Put(IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
  }
}

void AncillaryWriter::PutSegmentBytes(std::uint16_t segment_bytes) {
  Put(IPPROTO_UDP, UDP_SEGMENT, &segment_bytes, sizeof(segment_bytes));
}

}  // namespace dccp
