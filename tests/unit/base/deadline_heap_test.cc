#include "stack/base/deadline_heap.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace dccp {
namespace {

TimePoint At(std::int64_t ns) { return TimePoint(Duration(ns)); }

TEST(DeadlineHeap, PopsInOrderOfDeadline) {
  DeadlineHeap heap;
  heap.Set(3, At(30));
  heap.Set(1, At(10));
  heap.Set(2, At(20));
  EXPECT_EQ(heap.Next(), At(10));
  EXPECT_EQ(heap.PopExpired(At(9)), std::nullopt);
  EXPECT_EQ(heap.PopExpired(At(20)), 1u);
  EXPECT_EQ(heap.PopExpired(At(20)), 2u);
  EXPECT_EQ(heap.PopExpired(At(20)), std::nullopt);
  EXPECT_EQ(heap.Next(), At(30));
}

TEST(DeadlineHeap, LaterReArmIsExact) {
  DeadlineHeap heap;
  heap.Set(0, At(10));
  heap.Set(1, At(15));
  heap.Set(0, At(20));
  EXPECT_EQ(heap.Get(0), At(20));
  EXPECT_EQ(heap.Next(), At(15));
  EXPECT_EQ(heap.PopExpired(At(19)), 1u);
  EXPECT_EQ(heap.PopExpired(At(19)), std::nullopt);
  EXPECT_EQ(heap.PopExpired(At(20)), 0u);
}

TEST(DeadlineHeap, EarlierReArmTakesEffectAtOnce) {
  DeadlineHeap heap;
  heap.Set(0, At(10));
  heap.Set(1, At(20));
  heap.Set(1, At(5));
  EXPECT_EQ(heap.PopExpired(At(5)), 1u);
}

TEST(DeadlineHeap, LaterThenEarlierAgain) {
  DeadlineHeap heap;
  heap.Set(0, At(10));
  heap.Set(0, At(50));
  heap.Set(0, At(20));
  EXPECT_EQ(heap.PopExpired(At(19)), std::nullopt);
  EXPECT_EQ(heap.PopExpired(At(20)), 0u);
}

TEST(DeadlineHeap, RemovedDeadlinesNeverPop) {
  DeadlineHeap heap;
  heap.Set(0, At(10));
  heap.Remove(0);
  heap.Remove(77);
  EXPECT_EQ(heap.Next(), kNever);
  EXPECT_EQ(heap.PopExpired(At(100)), std::nullopt);
  heap.Set(0, At(30));
  EXPECT_EQ(heap.Next(), At(30));
  heap.Remove(0);
  heap.Set(0, At(20));
  EXPECT_EQ(heap.PopExpired(At(100)), 0u);
}

TEST(DeadlineHeap, AgreesWithASortedMap) {
  std::mt19937 rng(1);
  DeadlineHeap heap;
  std::map<std::uint32_t, TimePoint> model;
  std::int64_t now = 0;
  for (int step = 0; step < 50000; ++step) {
    const auto index = static_cast<std::uint32_t>(rng() % 200);
    if (rng() % 4 == 0) {
      heap.Remove(index);
      model.erase(index);
    } else {
      const TimePoint at = At(now + 1 + static_cast<std::int64_t>(rng() % 1000));
      heap.Set(index, at);
      model[index] = at;
    }
    if (step % 3 == 0) {
      TimePoint next = kNever;
      for (const auto& entry : model) next = Earlier(next, entry.second);
      ASSERT_EQ(heap.Next(), next);
    }
    if (step % 10 == 0) {
      now += static_cast<std::int64_t>(rng() % 100);
      TimePoint last = TimePoint::min();
      while (const auto popped = heap.PopExpired(At(now))) {
        ASSERT_EQ(model.count(*popped), 1u);
        ASSERT_GE(model[*popped], last);
        last = model[*popped];
        model.erase(*popped);
      }
      for (const auto& entry : model) ASSERT_GT(entry.second, At(now));
    }
  }
}

}  // namespace
}  // namespace dccp
