// Bytes that no one meant to be a packet: every one ends as an error or as a view that stays within
// its bytes. Each is read from an allocation of exactly its size, so that the address sanitizer
// sees every step outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "stack/wire/packet_view.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

void FillRandomly(std::mt19937_64& rng, Bytes* b) {
  for (std::size_t i = 0; i < b->size(); i += 8) {
    const std::uint64_t v = rng();
    std::memcpy(b->data() + i, &v, std::min<std::size_t>(8, b->size() - i));
  }
}

// Which errors and views came out, so that a test can tell that it reached them all.
using Outcomes = std::array<std::uint64_t, 6>;

TEST(RandomBytes, R4340_GEN_10_AMillionRandomPackets) {
  std::mt19937_64 rng(20060301);
  Outcomes outcomes = {};
  Bytes b;
  std::uint64_t options = 0;
  std::uint64_t malformed = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    b.resize(rng() % 96);
    FillRandomly(rng, &b);
    // Most random headers fail early; let half of them have a known type and all of the packet as
    // their header.
    if (b.size() > 12 && i % 2 == 0) {
      b[4] = static_cast<std::byte>(b.size() / 4);
      b[5] &= std::byte{0xF0};
      b[8] = static_cast<std::byte>(rng() % 10 << 1 | 1);
    }
    Decoded d;
    ++outcomes[static_cast<std::size_t>(ParseExactly(b, &d))];
    options += d.taken.size() + d.refused.size();
    malformed += d.malformed ? 1 : 0;
  }
  for (const std::uint64_t n : outcomes) EXPECT_GT(n, 1000u);
  EXPECT_GT(options, 100'000u);
  EXPECT_GT(malformed, 10'000u);
}

// Real packets with a few bytes changed get further than pure noise.
TEST(RandomBytes, R4340_GEN_10_MutatedCapturedPackets) {
  std::mt19937_64 rng(33);
  Outcomes outcomes = {};
  const std::vector<CapturedPacket> captured = AllCaptured();
  for (int i = 0; i < 200'000; ++i) {
    Bytes b = captured[rng() % captured.size()].bytes;
    const std::size_t header = std::to_integer<std::size_t>(b[4]) * 4;
    for (std::uint64_t changes = 1 + rng() % 4; changes > 0; --changes)
      b[rng() % header] = static_cast<std::byte>(rng());
    if (rng() % 4 == 0) b.resize(rng() % b.size());
    ++outcomes[static_cast<std::size_t>(ParseExactly(b))];
  }
  EXPECT_GT(outcomes[static_cast<std::size_t>(ParseError::kNone)], 50'000u);
}

}  // namespace
}  // namespace dccp
