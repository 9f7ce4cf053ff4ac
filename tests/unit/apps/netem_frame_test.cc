#include "apps/dccp-netem/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "apps/dccp-netem/icmp_error.h"
#include "apps/dccp-netem/segments.h"
#include "stack/base/byte_order.h"
#include "stack/base/internet_checksum.h"

namespace dccp::apps::netem {
namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;

// A frame from 02:..:01 to 02:..:02, with a VLAN tag where asked, IPv4 or IPv6, and a payload that
// counts up.
struct FrameMaker {
  IpFamily family = IpFamily::kV4;
  std::uint8_t protocol = kUdp;
  std::uint8_t hop_limit = 64;
  Ecn ecn = Ecn::kEct0;
  bool vlan = false;
  bool dont_fragment = true;
  std::size_t transport_header = 8;
  std::size_t payload = 100;

  std::vector<std::byte> Make() const {
    const bool v4 = family == IpFamily::kV4;
    const std::size_t l3 = kEthernetBytes + (vlan ? kVlanTagBytes : 0);
    const std::size_t header = v4 ? 20 : 40;
    std::vector<std::byte> f(l3 + header + transport_header + payload);
    const std::byte macs[12] = {std::byte{2}, {}, {}, {}, {}, std::byte{2},
                                std::byte{2}, {}, {}, {}, {}, std::byte{1}};
    std::memcpy(f.data(), macs, sizeof macs);
    if (vlan) StoreBe32(f.data() + 12, 0x81000007u);
    StoreBe16(f.data() + l3 - 2, v4 ? 0x0800 : 0x86DD);
    std::byte* const ip = f.data() + l3;
    const auto bits = static_cast<std::uint8_t>(ecn);
    if (v4) {
      Store8(ip, 0x45);
      Store8(ip + 1, bits);
      StoreBe16(ip + 2, static_cast<std::uint16_t>(f.size() - l3));
      StoreBe16(ip + 4, 0xFFFE);
      StoreBe16(ip + 6, dont_fragment ? 0x4000 : 0);
      Store8(ip + 8, hop_limit);
      Store8(ip + 9, protocol);
      StoreBe32(ip + 12, 0x0A000001u);
      StoreBe32(ip + 16, 0x0A000002u);
      StoreBe16(ip + 10, InvertedSum(OnesSum({ip, 20})));
    } else {
      StoreBe32(ip, 0x60000000u | static_cast<std::uint32_t>(bits) << 20);
      StoreBe16(ip + 4, static_cast<std::uint16_t>(f.size() - l3 - 40));
      Store8(ip + 6, protocol);
      Store8(ip + 7, hop_limit);
      for (std::size_t i = 0; i < 32; ++i) Store8(ip + 8 + i, static_cast<std::uint8_t>(0x20 + i));
    }
    std::byte* const transport = ip + header;
    StoreBe16(transport, 4000);
    StoreBe16(transport + 2, 5001);
    if (protocol == kUdp)
      StoreBe16(transport + 4, static_cast<std::uint16_t>(transport_header + payload));
    if (protocol == kTcp) {
      StoreBe32(transport + 4, 0xFFFFFFF0u);
      Store8(transport + 12, static_cast<std::uint8_t>(transport_header / 4 << 4));
      Store8(transport + 13, 0x80 | 0x10 | 0x08 | 0x01);  // CWR ACK PSH FIN
    }
    for (std::size_t i = 0; i < payload; ++i)
      Store8(transport + transport_header + i, static_cast<std::uint8_t>(i));
    return f;
  }
};

// The Internet checksums of a packet: 0 says that they are right.
std::uint16_t HeaderFault(std::span<const std::byte> frame) {
  const FrameInfo info = *ReadFrame(frame);
  return InvertedSum(OnesSum(frame.subspan(info.l3, info.ip_header_bytes)));
}
std::uint16_t TransportFault(std::span<const std::byte> frame) {
  const FrameInfo info = *ReadFrame(frame);
  const std::size_t bytes = info.ip_bytes - info.ip_header_bytes;
  return InvertedSum(OnesSum(frame.subspan(info.l3 + info.ip_header_bytes, bytes),
                             PseudoHeaderSum(frame, info, info.protocol, bytes)));
}

TEST(Frame, FindsTheIpHeaderBehindTags) {
  const std::vector<std::byte> plain = FrameMaker().Make();
  EXPECT_EQ(ReadFrame(plain)->l3, 14u);
  EXPECT_EQ(ReadFrame(plain)->family, IpFamily::kV4);
  EXPECT_EQ(ReadFrame(plain)->ip_bytes, 128u);
  const std::vector<std::byte> tagged = FrameMaker{.family = IpFamily::kV6, .vlan = true}.Make();
  EXPECT_EQ(ReadFrame(tagged)->l3, 18u);
  EXPECT_EQ(ReadFrame(tagged)->family, IpFamily::kV6);
  EXPECT_EQ(ReadFrame(tagged)->ip_bytes, 148u);
}

TEST(Frame, TakesNothingForGrantedOfWhatIsCutShort) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    const std::vector<std::byte> frame = FrameMaker{.family = family, .vlan = true}.Make();
    for (std::size_t n = 0; n < frame.size(); ++n) {
      const std::optional<FrameInfo> info = ReadFrame(std::span(frame).first(n));
      if (n < 14) {
        EXPECT_FALSE(info) << n;
      } else {
        ASSERT_TRUE(info) << n;
        EXPECT_FALSE(info->family) << n;
        EXPECT_LE(info->l3, n);
      }
    }
  }
}

TEST(Frame, MarksAndCountsDownWithARightChecksum) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    for (const Ecn ecn : {Ecn::kNotEct, Ecn::kEct0, Ecn::kEct1, Ecn::kCe}) {
      for (int limit = 2; limit <= 255; ++limit) {
        std::vector<std::byte> frame =
            FrameMaker{.family = family, .hop_limit = static_cast<std::uint8_t>(limit), .ecn = ecn}
                .Make();
        const FrameInfo info = *ReadFrame(frame);
        EXPECT_EQ(FrameEcn(frame, info), ecn);
        SetFrameEcn(frame, info, Ecn::kCe);
        EXPECT_EQ(FrameEcn(frame, info), Ecn::kCe);
        ASSERT_TRUE(DecrementHopLimit(frame, info));
        const std::size_t at = info.l3 + (family == IpFamily::kV4 ? 8u : 7u);
        EXPECT_EQ(Load8(frame.data() + at), limit - 1);
        if (family == IpFamily::kV4) {
          EXPECT_EQ(HeaderFault(frame), 0);
        }
      }
    }
  }
}

TEST(Frame, LetsNoPacketLeaveWithHopLimit0) {
  for (const std::uint8_t limit : {std::uint8_t{0}, std::uint8_t{1}}) {
    std::vector<std::byte> frame = FrameMaker{.hop_limit = limit}.Make();
    const std::vector<std::byte> before = frame;
    EXPECT_FALSE(DecrementHopLimit(frame, *ReadFrame(frame)));
    EXPECT_EQ(frame, before);
  }
}

TEST(Frame, CompletesAChecksum) {
  std::vector<std::byte> frame = FrameMaker{.payload = 33}.Make();
  // Padding, which is none of the packet.
  frame.resize(frame.size() + 7, std::byte{0xEE});
  const FrameInfo info = *ReadFrame(frame);
  // The kernel leaves the sum of the pseudo-header in the field.
  StoreBe16(frame.data() + 34 + 6,
            static_cast<std::uint16_t>(~InvertedSum(PseudoHeaderSum(frame, info, kUdp, 41))));
  CompleteChecksum(frame, info, 34, 6);
  EXPECT_EQ(TransportFault(frame), 0);
}

TEST(Segments, CutsUdpAndTcpIntoWholePackets) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    for (const std::uint8_t protocol : {kUdp, kTcp}) {
      const FrameMaker maker = {.family = family,
                                .protocol = protocol,
                                .vlan = true,
                                .transport_header = protocol == kTcp ? 32u : 8u,
                                .payload = 2500};
      const std::vector<std::byte> frame = maker.Make();
      const Segments segments(frame, 1000);
      ASSERT_EQ(segments.count(), 3u);
      std::vector<std::byte> payload;
      for (std::size_t i = 0; i < 3; ++i) {
        std::vector<std::byte> out(segments.bytes(i));
        segments.Write(i, out);
        const FrameInfo info = *ReadFrame(out);
        ASSERT_EQ(info.family, family);
        EXPECT_EQ(info.l3 + info.ip_bytes, out.size());
        if (family == IpFamily::kV4) {
          EXPECT_EQ(HeaderFault(out), 0);
          EXPECT_EQ(LoadBe16(out.data() + info.l3 + 4), static_cast<std::uint16_t>(0xFFFE + i));
        }
        EXPECT_EQ(TransportFault(out), 0);
        const std::size_t transport = info.l3 + info.ip_header_bytes;
        if (protocol == kTcp) {
          EXPECT_EQ(LoadBe32(out.data() + transport + 4),
                    static_cast<std::uint32_t>(0xFFFFFFF0u + 1000 * i));
          const std::uint8_t flags[] = {0x90, 0x10, 0x19};
          EXPECT_EQ(Load8(out.data() + transport + 13), flags[i]);
        } else {
          EXPECT_EQ(LoadBe16(out.data() + transport + 4), i == 2 ? 508 : 1008);
        }
        const std::span<const std::byte> part =
            std::span(out).subspan(transport + maker.transport_header);
        payload.insert(payload.end(), part.begin(), part.end());
      }
      EXPECT_TRUE(std::equal(payload.begin(), payload.end(), frame.end() - 2500, frame.end()));
    }
  }
}

TEST(Segments, LeavesAloneWhatItCannotCut) {
  const std::vector<std::byte> dccp = FrameMaker{.protocol = 33}.Make();
  EXPECT_FALSE(Segments(dccp, 50).valid());
  const std::vector<std::byte> udp = FrameMaker().Make();
  EXPECT_FALSE(Segments(udp, 0).valid());
  EXPECT_FALSE(Segments(std::span(udp).first(40), 50).valid());
  // A data offset within the header's fixed part.
  const std::vector<std::byte> tcp = FrameMaker{.protocol = kTcp, .payload = 20}.Make();
  EXPECT_FALSE(Segments(tcp, 50).valid());
}

TEST(IcmpError, QuotesThePacketToItsSender) {
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    for (const IcmpReason reason : {IcmpReason::kTooBig, IcmpReason::kTimeExceeded}) {
      const std::vector<std::byte> frame = FrameMaker{.family = family, .payload = 1400}.Make();
      const FrameInfo about = *ReadFrame(frame);
      ASSERT_TRUE(MayReport(frame, about));
      IpAddress router;
      router.family = family;
      router.bytes.fill(9);
      std::array<std::byte, kMaxIcmpFrameBytes> buffer;
      const std::size_t bytes = WriteIcmpError(frame, about, reason, router, 1280, buffer);
      const std::span<const std::byte> out = std::span(buffer).first(bytes);
      const FrameInfo info = *ReadFrame(out);
      ASSERT_EQ(info.family, family);
      EXPECT_EQ(info.l3 + info.ip_bytes, bytes);
      EXPECT_LE(info.ip_bytes, family == IpFamily::kV4 ? 576u : 1280u);
      EXPECT_EQ(FrameDestination(out, info), FrameSource(frame, about));
      EXPECT_EQ(std::memcmp(out.data(), frame.data() + 6, 6), 0);
      EXPECT_EQ(std::memcmp(out.data() + 6, frame.data(), 6), 0);
      const std::size_t icmp = info.l3 + info.ip_header_bytes;
      const std::size_t icmp_bytes = info.ip_bytes - info.ip_header_bytes;
      if (family == IpFamily::kV4) {
        EXPECT_EQ(HeaderFault(out), 0);
        EXPECT_EQ(InvertedSum(OnesSum(out.subspan(icmp, icmp_bytes))), 0);
        EXPECT_EQ(Load8(out.data() + icmp), reason == IcmpReason::kTooBig ? 3 : 11);
      } else {
        EXPECT_EQ(TransportFault(out), 0);
        EXPECT_EQ(Load8(out.data() + icmp), reason == IcmpReason::kTooBig ? 2 : 3);
      }
      const std::size_t mtu_at = icmp + 6;
      EXPECT_EQ(LoadBe16(out.data() + mtu_at), reason == IcmpReason::kTooBig ? 1280 : 0);
      EXPECT_EQ(std::memcmp(out.data() + icmp + 8, frame.data() + about.l3, icmp_bytes - 8), 0);
      // Nobody is told about an error that could not be delivered.
      EXPECT_FALSE(MayReport(out, info));
    }
  }
}

TEST(IcmpError, ToldToNobodyInParticularIsNotTold) {
  std::vector<std::byte> frame = FrameMaker().Make();
  frame[0] = std::byte{0xFF};
  EXPECT_FALSE(MayReport(frame, *ReadFrame(frame)));
  frame = FrameMaker().Make();
  StoreBe32(frame.data() + 14 + 16, 0xE0000001u);
  EXPECT_FALSE(MayReport(frame, *ReadFrame(frame)));
  frame = FrameMaker().Make();
  StoreBe32(frame.data() + 14 + 12, 0);
  EXPECT_FALSE(MayReport(frame, *ReadFrame(frame)));
  frame = FrameMaker().Make();
  StoreBe16(frame.data() + 14 + 6, 100);
  EXPECT_FALSE(MayReport(frame, *ReadFrame(frame)));
}

}  // namespace
}  // namespace dccp::apps::netem
