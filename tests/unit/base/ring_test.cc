#include "stack/base/ring.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <random>

#include "gtest/gtest.h"

namespace dccp {
namespace {

TEST(Ring, RefusesWhenFull) {
  Ring<int, 4> ring;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push_back(i));
  EXPECT_TRUE(ring.full());
  EXPECT_FALSE(ring.push_back(4));
  EXPECT_EQ(ring.size(), 4u);
  ring.pop_front();
  EXPECT_TRUE(ring.push_back(4));
  EXPECT_EQ(ring.front(), 1);
  EXPECT_EQ(ring.back(), 4);
}

TEST(GrowingRing, KeepsOrderWhenItGrowsWhileWrapped) {
  GrowingRing<int> ring(8);
  for (int i = 0; i < 8; ++i) ring.push_back(i);
  ring.pop_front(5);
  for (int i = 8; i < 20; ++i) ring.push_back(i);
  ASSERT_EQ(ring.size(), 15u);
  for (std::size_t i = 0; i < ring.size(); ++i) EXPECT_EQ(ring[i], static_cast<int>(i) + 5);
}

TEST(GrowingRing, ReserveRoundsUpAndNeverShrinks) {
  GrowingRing<int> ring;
  ring.reserve(9);
  EXPECT_EQ(ring.capacity(), 16u);
  ring.reserve(3);
  EXPECT_EQ(ring.capacity(), 16u);
}

TEST(GrowingRing, HoldsMoveOnlyElements) {
  GrowingRing<std::unique_ptr<int>> ring;
  for (int i = 0; i < 100; ++i) ring.push_back(std::make_unique<int>(i));
  EXPECT_EQ(*ring[99], 99);
}

TEST(GrowingRing, AgreesWithADeque) {
  std::mt19937 rng(1);
  GrowingRing<unsigned> ring;
  std::deque<unsigned> model;
  for (unsigned step = 0; step < 20000; ++step) {
    const unsigned action = rng() % 8;
    if (action < 4) {
      ring.push_back(step);
      model.push_back(step);
    } else if (action < 7 && !model.empty()) {
      const std::size_t n = 1 + rng() % std::min<std::size_t>(model.size(), 3);
      ring.pop_front(n);
      model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(n));
    } else if (!model.empty()) {
      ring.pop_back();
      model.pop_back();
    }
    ASSERT_EQ(ring.size(), model.size());
    if (!model.empty()) {
      const std::size_t i = rng() % model.size();
      ASSERT_EQ(ring[i], model[i]);
    }
  }
}

TEST(RingDeathTest, IndexPastTheEndIsAProgrammingError) {
  Ring<int, 4> ring;
  EXPECT_DEATH(ring[0], "i < size_");
  EXPECT_DEATH(ring.pop_back(), "size_ > 0");
}

}  // namespace
}  // namespace dccp
