#include "stack/wire/checksum.h"

#include <gtest/gtest.h>

#include <random>

#include "stack/base/byte_order.h"
#include "stack/wire/packet_writer.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

// The definition, byte pair by byte pair. RFC 4340 §9.1
std::uint16_t NaiveChecksum(const IpAddress& src, const IpAddress& dst,
                            std::span<const std::byte> dccp, std::size_t covered) {
  Bytes all;
  for (const IpAddress* a : {&src, &dst})
    for (std::size_t i = 0; i < a->size(); ++i) all.push_back(static_cast<std::byte>(a->bytes[i]));
  const auto length = static_cast<std::uint32_t>(dccp.size());
  Bytes tail(src.family == IpFamily::kV4 ? 4 : 8);
  if (src.family == IpFamily::kV4) {
    tail[1] = std::byte{33};
    StoreBe16(tail.data() + 2, static_cast<std::uint16_t>(length));
  } else {
    StoreBe32(tail.data(), length);
    tail[7] = std::byte{33};
  }
  all.insert(all.end(), tail.begin(), tail.end());
  all.insert(all.end(), dccp.begin(), dccp.begin() + static_cast<std::ptrdiff_t>(covered));
  if (all.size() % 2 != 0) all.push_back(std::byte{0});
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    sum += LoadBe16(&all[i]);
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~sum);
}

// Reset over the IPv4 loopback, captured from Linux 6.1.192; checksum 4a47.
TEST(Checksum, R4340_CSM_01_CapturedReset) {
  const Bytes b = FromHex("00018e9c07004a470f00000000000000000094d8eda78d5a03000000");
  const IpAddress lo = V4(127, 0, 0, 1);
  EXPECT_EQ(DccpChecksum(lo, lo, b, b.size()), 0);
  EXPECT_EQ(ComputeChecksum(lo, lo, b, b.size()), 0x4A47);
  EXPECT_EQ(NaiveChecksum(lo, lo, b, b.size()), 0);
  EXPECT_NE(DccpChecksum(lo, V4(127, 0, 0, 2), b, b.size()), 0);
}

TEST(Checksum, R4340_CSM_01_AgreesWithTheDefinitionForEveryLengthAndAlignment) {
  std::mt19937 rng(4340);
  const IpAddress families[][2] = {
      {V4(192, 0, 2, 1), V4(198, 51, 100, 255)},
      {V6("20010db8000000000000000000000001"), V6("fe80000000000000ffffffffffffffff")}};
  Bytes storage(2048 + 16);
  for (std::byte& b : storage) b = static_cast<std::byte>(rng());
  for (const auto& [src, dst] : families) {
    for (std::size_t n = 12; n < 300; ++n) {
      const std::span<const std::byte> bytes = std::span(storage).subspan(n % 11, n);
      ASSERT_EQ(DccpChecksum(src, dst, bytes, n), NaiveChecksum(src, dst, bytes, n)) << n;
      const std::size_t covered = 12 + rng() % (n - 11);
      ASSERT_EQ(DccpChecksum(src, dst, bytes, covered), NaiveChecksum(src, dst, bytes, covered));
    }
  }
}

TEST(Checksum, R4340_CSM_02_LengthHas32BitsInIpv6) {
  const IpAddress a = V6("20010db8000000000000000000000001");
  const Bytes b(70000, std::byte{0x11});
  EXPECT_EQ(DccpChecksum(a, a, b, b.size()), NaiveChecksum(a, a, b, b.size()));
}

TEST(Checksum, CarriesAreNotLost) {
  const IpAddress a = V4(255, 255, 255, 255);
  for (const std::size_t n : {12u, 31u, 32u, 33u, 1500u, 65535u}) {
    const Bytes b(n, std::byte{0xFF});
    EXPECT_EQ(DccpChecksum(a, a, b, n), NaiveChecksum(a, a, b, n)) << n;
  }
}

TEST(Checksum, R4340_CSM_01_OddLengthIsPaddedWithAVirtualZero) {
  const IpAddress a = V4(10, 0, 0, 1);
  Bytes odd(33, std::byte{0x5A});
  const std::uint16_t checksum = DccpChecksum(a, a, odd, 33);
  odd.push_back(std::byte{0x77});  // lies behind the packet and must not count
  EXPECT_EQ(DccpChecksum(a, a, std::span(odd).first(33), 33), checksum);
}

TEST(Checksum, R4340_CSM_02_Bug_F1_LengthIsTheWholePacketsWhateverIsCovered) {
  const IpAddress a = V4(10, 0, 0, 1);
  Bytes b(36);
  const std::uint16_t of_36 = DccpChecksum(a, a, b, 16);
  b.resize(40);
  EXPECT_EQ(static_cast<std::uint16_t>(of_36 - 4), DccpChecksum(a, a, b, 16));
  EXPECT_EQ(of_36, NaiveChecksum(a, a, std::span(b).first(36), 16));
}

// DataAck with CsCov 1, captured from Linux 6.1.192: only the header is covered.
TEST(Checksum, R4340_CSM_04_OnlyCoveredBytesCount) {
  int tried = 0;
  for (const CapturedPacket& p : ReadCapture("linux61_more_vectors.txt")) {
    PacketView v;
    ASSERT_EQ(PacketView::Parse(p.bytes, &v), ParseError::kNone);
    if (v.cscov() != 1 || v.payload().empty()) continue;
    ++tried;
    Bytes b = p.bytes;
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] ^= std::byte{0x40};
      const bool good = DccpChecksum(p.source, p.destination, b, v.covered_bytes()) == 0;
      EXPECT_EQ(good, i >= p.header.size()) << i;
      b[i] ^= std::byte{0x40};
    }
  }
  EXPECT_GT(tried, 0);
}

TEST(Checksum, R4340_CSM_04_FirstDataWordsAreCovered) {
  const IpAddress a = V6("20010db8000000000000000000000001");
  for (unsigned cscov = 1; cscov < 16; ++cscov) {
    Bytes b(16 + 80, std::byte{7});
    HeaderFields f;
    f.cscov = static_cast<std::uint8_t>(cscov);
    WriteHeader(f, {}, std::span(b).first(16));
    const std::size_t covered = CoverageBytes(f.cscov, 16, 80);
    StoreChecksum(b, ComputeChecksum(a, a, b, covered));
    PacketView v;
    ASSERT_EQ(PacketView::Parse(b, &v), ParseError::kNone);
    ASSERT_EQ(v.covered_bytes(), covered);
    EXPECT_TRUE(VerifyChecksum(a, a, v));
    if (cscov > 1) {
      b[covered - 1] ^= std::byte{1};
      EXPECT_FALSE(VerifyChecksum(a, a, v));
      b[covered - 1] ^= std::byte{1};
    }
    b[covered] ^= std::byte{1};
    EXPECT_TRUE(VerifyChecksum(a, a, v));
  }
}

// There is no rule like UDP's that turns 0 into ffff.
TEST(Checksum, R4340_CSM_03_ZeroIsAChecksumLikeAnyOther) {
  const IpAddress a = V4(10, 0, 0, 1);
  Bytes b(20);
  HeaderFields f;
  WriteHeader(f, {}, std::span(b).first(16));
  StoreBe16(b.data() + 16, ComputeChecksum(a, a, b, b.size()));
  EXPECT_EQ(ComputeChecksum(a, a, b, b.size()), 0);
  PacketView v;
  ASSERT_EQ(PacketView::Parse(b, &v), ParseError::kNone);
  EXPECT_EQ(v.checksum(), 0);
  EXPECT_TRUE(VerifyChecksum(a, a, v));
  b[19] = std::byte{1};
  EXPECT_FALSE(VerifyChecksum(a, a, v));
}

TEST(Checksum, ComputeIgnoresTheField) {
  std::mt19937 rng(1);
  const IpAddress a = V4(10, 0, 0, 1);
  Bytes b(60);
  for (std::byte& x : b) x = static_cast<std::byte>(rng());
  StoreChecksum(b, 0);
  const std::uint16_t expected = DccpChecksum(a, a, b, b.size());
  for (unsigned field = 0; field < 0x10000; field += 0x101) {
    StoreChecksum(b, static_cast<std::uint16_t>(field));
    ASSERT_EQ(ComputeChecksum(a, a, b, b.size()), expected);
  }
}

TEST(Checksum, R4340_CSM_06_CoverageIsLoweredToFitThePayload) {
  EXPECT_EQ(FittingCoverage(0, 0), 0);
  EXPECT_EQ(FittingCoverage(1, 0), 1);
  EXPECT_EQ(FittingCoverage(2, 3), 0);
  EXPECT_EQ(FittingCoverage(2, 4), 2);
  EXPECT_EQ(FittingCoverage(15, 55), 0);
  EXPECT_EQ(FittingCoverage(15, 56), 15);
  EXPECT_EQ(CoverageBytes(0, 24, 100), 124u);
  EXPECT_EQ(CoverageBytes(1, 24, 100), 24u);
  EXPECT_EQ(CoverageBytes(15, 24, 100), 80u);
}

}  // namespace
}  // namespace dccp
