#include "stack/conn/nonce_source.h"

#include <gtest/gtest.h>

#include <random>

namespace dccp {
namespace {

class CountingRandom final : public RandomSource {
 public:
  void Fill(std::span<std::byte> out) override {
    ++calls;
    for (std::byte& b : out) b = static_cast<std::byte>(random_() & 0xFF);
  }
  int calls = 0;

 private:
  std::mt19937 random_{7};
};

struct Figures {
  int ones = 0;
  int changes = 0;
};

Figures Count(NonceSource& source, CountingRandom& random, int packets) {
  Figures figures;
  for (int i = 0; i < packets; ++i) {
    const bool before = source.current();
    source.Advance(random);
    figures.ones += source.current() ? 1 : 0;
    figures.changes += source.current() != before ? 1 : 0;
  }
  return figures;
}

TEST(NonceSource, R4340_ECN_05_HalfOfThePacketsCarryTheNonceInRunsOfEight) {
  NonceSource source;
  CountingRandom random;
  const Figures figures = Count(source, random, 80'000);
  EXPECT_NEAR(figures.ones, 40'000, 1'500);
  EXPECT_NEAR(figures.changes, 10'000, 400);
}

TEST(NonceSource, R4340_ECN_05_HardenedNoPacketTellsOfTheNext) {
  NonceSource source;
  CountingRandom random;
  source.Harden();
  const Figures figures = Count(source, random, 80'000);
  EXPECT_NEAR(figures.ones, 40'000, 600);
  EXPECT_NEAR(figures.changes, 40'000, 600);
}

TEST(NonceSource, R4340_ECN_05_DrawsInBlocks) {
  NonceSource source;
  CountingRandom random;
  Count(source, random, 8 * 21);
  EXPECT_EQ(random.calls, 1);
  Count(source, random, 1);
  EXPECT_EQ(random.calls, 2);
  source.Harden();
  Count(source, random, 7 * 64);
  EXPECT_EQ(random.calls, 2);
}

}  // namespace
}  // namespace dccp
