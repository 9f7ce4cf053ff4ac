#include "stack/endpoint/half_open_set.h"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "tests/unit/endpoint/endpoint_fixture.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart = TimePoint(seconds(100));

class HalfOpenSetTest : public ::testing::Test {
 protected:
  ConnEntry& Add(TimePoint now) {
    set_.Add(entries_.emplace_back(), now);
    return entries_.back();
  }

  TestRandom random_{1};
  std::deque<ConnEntry> entries_;  // they must not move
  HalfOpenSet set_;
};

TEST_F(HalfOpenSetTest, AnEmptySetHasNoVictim) {
  EXPECT_EQ(set_.Victim(kStart, random_), nullptr);
  EXPECT_EQ(set_.oldest(), nullptr);
}

TEST_F(HalfOpenSetTest, TheOldestGoesOnceItHadTimeToAnswer) {
  ConnEntry& first = Add(kStart);
  ConnEntry& second = Add(kStart + milliseconds(1));
  for (int i = 0; i < 20; ++i) Add(kStart + seconds(3));
  const TimePoint now = kStart + HalfOpenSet::kPatience + milliseconds(2);
  EXPECT_EQ(set_.Victim(now, random_), &first);
  set_.Remove(first);
  EXPECT_EQ(set_.Victim(now, random_), &second);
  EXPECT_FALSE(first.half_open);
  EXPECT_TRUE(second.half_open);
}

TEST_F(HalfOpenSetTest, AmongYoungOnesChanceDecides) {
  for (int i = 0; i < 10; ++i) Add(kStart);
  std::map<const ConnEntry*, int> chosen;
  for (int i = 0; i < 10'000; ++i) ++chosen[set_.Victim(kStart + HalfOpenSet::kPatience, random_)];
  ASSERT_EQ(chosen.size(), 10u);
  for (const auto& [entry, times] : chosen) EXPECT_NEAR(times, 1000, 150);
}

TEST_F(HalfOpenSetTest, ManyComeAndGo) {
  std::vector<ConnEntry*> present;
  for (int i = 0; i < 5000; ++i) {
    const TimePoint now = kStart + milliseconds(i);
    if (random_.NextUint64() % 3 != 0 || present.empty()) {
      present.push_back(&Add(now));
    } else {
      const auto gone =
          present.begin() + static_cast<std::ptrdiff_t>(random_.NextUint64() % present.size());
      set_.Remove(**gone);
      set_.Remove(**gone);
      present.erase(gone);
    }
    ASSERT_EQ(set_.size(), present.size());
    ASSERT_EQ(set_.oldest(), present.empty() ? nullptr : present.front());
    const ConnEntry* victim = set_.Victim(now, random_);
    ASSERT_TRUE(present.empty() || std::ranges::find(present, victim) != present.end());
  }
}

}  // namespace
}  // namespace dccp
