#include "stack/sim/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "stack/sim/seeded_random.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

class Recorder final : public SimActor {
 public:
  explicit Recorder(Simulator& simulator) : simulator_(simulator) {}
  void OnSimEvent(std::uint64_t cookie) override {
    cookies.push_back(cookie);
    times.push_back(simulator_.now());
  }
  std::vector<std::uint64_t> cookies;
  std::vector<TimePoint> times;

 private:
  Simulator& simulator_;
};

TEST(Simulator, RunsInOrderOfTimeThenOfScheduling) {
  Simulator simulator;
  Recorder recorder(simulator);
  const TimePoint t = simulator.now();
  simulator.Schedule(t + milliseconds(2), recorder, 1);
  simulator.Schedule(t + milliseconds(1), recorder, 2);
  simulator.Schedule(t + milliseconds(2), recorder, 3);
  simulator.Schedule(t + milliseconds(1), recorder, 4);
  simulator.RunFor(milliseconds(2));
  EXPECT_THAT(recorder.cookies, ElementsAre(2, 4, 1, 3));
  EXPECT_EQ(simulator.now(), t + milliseconds(2));
  EXPECT_EQ(simulator.events_run(), 4u);
}

TEST(Simulator, StopsAtTheEndAndSetsTheClock) {
  Simulator simulator;
  Recorder recorder(simulator);
  simulator.Schedule(simulator.now() + seconds(2), recorder, 1);
  simulator.RunFor(seconds(1));
  EXPECT_TRUE(recorder.cookies.empty());
  EXPECT_EQ(simulator.now(), Simulator::kStart + seconds(1));
  simulator.RunFor(seconds(1));
  EXPECT_EQ(recorder.cookies.size(), 1u);
}

TEST(Simulator, WhatIsPastRunsNow) {
  Simulator simulator;
  Recorder recorder(simulator);
  simulator.RunFor(seconds(1));
  simulator.Schedule(Simulator::kStart, recorder, 1);
  simulator.RunFor(seconds(1));
  EXPECT_THAT(recorder.times, ElementsAre(Simulator::kStart + seconds(1)));
}

TEST(Simulator, CallsMayScheduleCalls) {
  Simulator simulator;
  int depth = 0;
  std::function<void()> again = [&] {
    if (++depth < 100) simulator.After(milliseconds(1), again);
  };
  simulator.After(milliseconds(1), again);
  EXPECT_TRUE(simulator.RunUntilIdle(seconds(1)));
  EXPECT_EQ(depth, 100);
  EXPECT_EQ(simulator.now(), Simulator::kStart + milliseconds(100));
}

TEST(Simulator, RunUntilStopsAtOnce) {
  Simulator simulator;
  int calls = 0;
  for (int i = 1; i <= 10; ++i) simulator.After(milliseconds(i), [&] { ++calls; });
  EXPECT_TRUE(simulator.RunUntil([&] { return calls == 4; }, seconds(1)));
  EXPECT_EQ(simulator.now(), Simulator::kStart + milliseconds(4));
  EXPECT_FALSE(simulator.RunUntil([&] { return calls == 40; }, seconds(1)));
  EXPECT_EQ(calls, 10);
}

TEST(Simulator, ParticipantsSettleBeforeTimeMoves) {
  class Participant final : public SimParticipant {
   public:
    void Settle() override { ++settled; }
    int settled = 0;
  };
  Simulator simulator;
  Participant participant;
  simulator.Add(participant);
  simulator.RunFor(seconds(1));
  EXPECT_EQ(participant.settled, 1);
  simulator.After(milliseconds(1), [] {});
  simulator.RunFor(seconds(1));
  EXPECT_EQ(participant.settled, 3);  // before, and after the call
}

TEST(EventQueue, SortsLikeAStableSort) {
  EventQueue queue;
  SeededRandom random(3);
  struct Item {
    TimePoint at;
    std::uint64_t cookie;
  };
  std::vector<Item> model;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const TimePoint at = TimePoint(Duration(static_cast<std::int64_t>(random.Below(500))));
    queue.Push(at, nullptr, i);
    model.push_back({at, i});
  }
  std::stable_sort(model.begin(), model.end(),
                   [](const Item& a, const Item& b) { return a.at < b.at; });
  for (const Item& item : model) {
    ASSERT_FALSE(queue.empty());
    const EventQueue::Event event = queue.Pop();
    ASSERT_EQ(event.at, item.at);
    ASSERT_EQ(event.cookie, item.cookie);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(SeededRandom, RepeatsBySeedAndFillsOddLengths) {
  SeededRandom a(5);
  SeededRandom b(5);
  SeededRandom c(6);
  std::array<std::byte, 13> x = {};
  std::array<std::byte, 13> y = {};
  std::array<std::byte, 13> z = {};
  a.Fill(x);
  b.Fill(y);
  c.Fill(z);
  EXPECT_EQ(x, y);
  EXPECT_NE(x, z);
}

TEST(SeededRandom, BelowIsUniform) {
  SeededRandom random(11);
  constexpr int kDraws = 70'000;
  std::array<int, 7> counts = {};
  for (int i = 0; i < kDraws; ++i) ++counts[random.Below(7)];
  double chi_square = 0;
  for (const int n : counts) chi_square += (n - 1e4) * (n - 1e4) / 1e4;
  EXPECT_LT(chi_square, 22.46);  // 6 degrees of freedom, 99.9 %
}

TEST(SeededRandom, CertainChancesDrawNothing) {
  SeededRandom a(2);
  SeededRandom b(2);
  EXPECT_FALSE(a.Chance(0));
  EXPECT_TRUE(a.Chance(1));
  EXPECT_EQ(a.Next(), b.Next());
}

}  // namespace
}  // namespace dccp
