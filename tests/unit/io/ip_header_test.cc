#include "stack/io/ip_header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "dccp/uv_driver.h"
#include "stack/base/byte_order.h"
#include "stack/io/icmp_message.h"

namespace dccp {
namespace {

IpAddress Address(const char* text) {
  IpAddress address;
  EXPECT_TRUE(ParseAddress(text, &address));
  return address;
}

std::size_t HeaderBytes(bool v4) { return v4 ? kIpv4HeaderBytes : kIpv6HeaderBytes; }

// A whole IP packet around `bytes`.
std::vector<std::byte> Packet(const OutboundDatagram& datagram, std::uint16_t id = 0) {
  std::array<std::byte, kIpv6HeaderBytes> header;
  const std::size_t length = WriteIpHeader(datagram, id, header);
  std::vector<std::byte> out(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(length));
  out.insert(out.end(), datagram.bytes.begin(), datagram.bytes.end());
  return out;
}

class IpHeaderTest : public testing::TestWithParam<const char*> {
 protected:
  bool v4() const { return path_.local.family == IpFamily::kV4; }

  Path path_ = {Address(GetParam()),
                Address(std::string(GetParam()) == "::1" ? "fd00::2" : "10.1.2.3"), 0, 0};
  std::vector<std::byte> payload_ = std::vector<std::byte>(24, std::byte{7});
};
INSTANTIATE_TEST_SUITE_P(Families, IpHeaderTest, testing::Values("192.0.2.1", "::1"));

TEST_P(IpHeaderTest, WhatIsWrittenIsRead) {
  for (const Ecn ecn : {Ecn::kNotEct, Ecn::kEct0, Ecn::kEct1, Ecn::kCe}) {
    const auto packet = Packet({payload_, path_, ecn, false});
    const auto header = ReadIpHeader(packet, Extent::kWhole);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->source, path_.local);
    EXPECT_EQ(header->destination, path_.remote);
    EXPECT_EQ(header->protocol, kProtocolNumber);
    EXPECT_EQ(header->ecn, ecn);
    EXPECT_FALSE(header->fragment);
    EXPECT_TRUE(std::ranges::equal(header->payload, payload_));
  }
}

TEST_P(IpHeaderTest, NothingShorterThanItsLengthIsRead) {
  const auto packet = Packet({payload_, path_, Ecn::kNotEct, false});
  for (std::size_t length = 0; length < packet.size(); ++length) {
    // An allocation of exactly this size lets a sanitizer see any read beyond it.
    const std::vector<std::byte> cut(packet.begin(),
                                     packet.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(ReadIpHeader(cut, Extent::kWhole)) << length;
    const std::size_t header = v4() ? kIpv4HeaderBytes : kIpv6HeaderBytes;
    EXPECT_EQ(ReadIpHeader(cut, Extent::kQuoted).has_value(), length >= header) << length;
  }
}

TEST_P(IpHeaderTest, WhatFollowsThePacketIsNotItsPayload) {
  auto packet = Packet({payload_, path_, Ecn::kNotEct, false});
  packet.resize(packet.size() + 6);
  const auto header = ReadIpHeader(packet, Extent::kWhole);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->payload.size(), payload_.size());
}

TEST(IpHeaderV4, ADamagedHeaderIsDropped) {
  const std::vector<std::byte> payload(24);
  const Path path = {Address("192.0.2.1"), Address("192.0.2.2"), 0, 0};
  const auto packet = Packet({payload, path, Ecn::kEct0, false});
  for (std::size_t bit = 0; bit < kIpv4HeaderBytes * 8; ++bit) {
    if (bit / 4 == 1) continue;  // the version: another protocol
    auto damaged = packet;
    damaged[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_FALSE(ReadIpHeader(damaged, Extent::kWhole)) << bit;
  }
}

TEST(IpHeaderV4, OnlyWhatMayBeFragmentedGetsAnIdentification) {
  const std::vector<std::byte> payload(24);
  const Path path = {Address("192.0.2.1"), Address("192.0.2.2"), 0, 0};
  const auto whole = Packet({payload, path, Ecn::kNotEct, false}, 77);
  EXPECT_EQ(LoadBe16(&whole[4]), 0);
  EXPECT_EQ(LoadBe16(&whole[6]), 0x4000);
  const auto pieces = Packet({payload, path, Ecn::kNotEct, true}, 77);
  EXPECT_EQ(LoadBe16(&pieces[4]), 77);
  EXPECT_EQ(LoadBe16(&pieces[6]), 0);
}

TEST(IpHeaderV6, ExtensionHeadersArePassed) {
  const Path path = {Address("fd00::1"), Address("fd00::2"), 0, 0};
  std::vector<std::byte> payload(8 + 16 + 24);
  payload[0] = std::byte{60};  // hop-by-hop, then destination options
  payload[8] = std::byte{33};
  payload[9] = std::byte{1};
  auto packet = Packet({payload, path, Ecn::kNotEct, false});
  packet[6] = std::byte{0};
  const auto header = ReadIpHeader(packet, Extent::kWhole);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->protocol, kProtocolNumber);
  EXPECT_EQ(header->payload.size(), 24u);

  packet[kIpv6HeaderBytes + 9] = std::byte{200};  // longer than the packet
  EXPECT_FALSE(ReadIpHeader(packet, Extent::kWhole));
}

// An ICMP error that quotes the first `quoted_bytes` of `about`.
std::vector<std::byte> IcmpPacket(const OutboundDatagram& about, std::uint8_t type,
                                  std::uint8_t code, std::uint32_t mtu, std::size_t quoted_bytes) {
  const bool v4 = about.path.local.family == IpFamily::kV4;
  std::vector<std::byte> message(8);
  message[0] = std::byte{type};
  message[1] = std::byte{code};
  StoreBe32(&message[4], mtu);
  const auto quoted = Packet(about);
  message.insert(message.end(), quoted.begin(),
                 quoted.begin() + static_cast<std::ptrdiff_t>(
                                      std::min(quoted.size(), HeaderBytes(v4) + quoted_bytes)));
  const Path path = {Address(v4 ? "192.0.2.9" : "fd00::9"), about.path.local, 0, 0};
  auto packet = Packet({message, path, Ecn::kNotEct, false});
  packet[v4 ? 9 : 6] = std::byte{v4 ? std::uint8_t{1} : std::uint8_t{58}};
  return packet;
}

TEST_P(IpHeaderTest, R4340_MPS_07_AnIcmpErrorTellsThePathAndQuotesThePacket) {
  const OutboundDatagram about = {payload_, path_, Ecn::kNotEct, false};
  auto packet = IcmpPacket(about, v4() ? 3 : 2, v4() ? 4 : 0, 1280, 16);
  const auto header = ReadIpHeader(packet, v4() ? Extent::kQuoted : Extent::kWhole);
  ASSERT_TRUE(header);
  const auto error = ReadIcmpError(*header);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, IcmpKind::kTooBig);
  EXPECT_EQ(error->mtu_bytes, 1280u);
  EXPECT_EQ(error->path, path_);
  EXPECT_EQ(error->quoted.size(), 16u);
}

TEST_P(IpHeaderTest, R4340_MPS_07_OtherMessagesAreNoNews) {
  const OutboundDatagram about = {payload_, path_, Ecn::kNotEct, false};
  const auto read = [&](std::vector<std::byte> packet) {
    const auto header = ReadIpHeader(packet, Extent::kQuoted);
    return header && ReadIcmpError(*header);
  };
  EXPECT_TRUE(read(IcmpPacket(about, v4() ? 3 : 1, 3, 0, 16)));
  EXPECT_FALSE(read(IcmpPacket(about, v4() ? 8 : 128, 0, 0, 16)));  // echo request
  auto other = IcmpPacket(about, v4() ? 3 : 1, 3, 0, 16);           // about a UDP packet
  other[HeaderBytes(v4()) + 8 + (v4() ? 9u : 6u)] = std::byte{17};
  EXPECT_FALSE(read(other));
  other = IcmpPacket(about, v4() ? 3 : 1, 3, 0, 16);
  other.resize(HeaderBytes(v4()) + 8 + 10);  // the quoted header is cut
  EXPECT_FALSE(read(other));
}

}  // namespace
}  // namespace dccp
