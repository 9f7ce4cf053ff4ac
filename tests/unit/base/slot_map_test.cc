#include "stack/base/slot_map.h"

#include <memory>
#include <random>
#include <vector>

#include "dccp/types.h"
#include "gtest/gtest.h"

namespace dccp {
namespace {

using Map = SlotMap<std::shared_ptr<int>, ConnId, 4>;

TEST(SlotMap, FindsWhatItHoldsAndNothingElse) {
  Map map;
  const ConnId a = map.Emplace(std::make_shared<int>(1));
  const ConnId b = map.Emplace(std::make_shared<int>(2));
  ASSERT_NE(map.Find(a), nullptr);
  EXPECT_EQ(**map.Find(a), 1);
  EXPECT_EQ(**map.Find(b), 2);
  EXPECT_EQ(map.Find(ConnId{}), nullptr);
  EXPECT_EQ(map.Find(ConnId{.index = 2, .generation = 1}), nullptr);
}

TEST(SlotMap, AStaleHandleFindsNothingAfterReuse) {
  Map map;
  const ConnId first = map.Emplace(std::make_shared<int>(1));
  EXPECT_TRUE(map.Erase(first));
  EXPECT_FALSE(map.Erase(first));
  const ConnId second = map.Emplace(std::make_shared<int>(2));
  EXPECT_EQ(second.index, first.index);
  EXPECT_EQ(map.Find(first), nullptr);
  EXPECT_EQ(**map.Find(second), 2);
  EXPECT_EQ(map.HandleAt(second.index), second);
}

TEST(SlotMap, ObjectsStayWhereTheyAre) {
  Map map;
  const ConnId id = map.Emplace(std::make_shared<int>(7));
  const auto* address = map.Find(id);
  for (int i = 0; i < 1000; ++i) map.Emplace(std::make_shared<int>(i));
  EXPECT_EQ(map.Find(id), address);
}

TEST(SlotMap, DestroysOnEraseAndAtTheEnd) {
  const auto token = std::make_shared<int>(0);
  {
    Map map;
    const ConnId id = map.Emplace(token);
    map.Emplace(token);
    EXPECT_EQ(token.use_count(), 3);
    map.Erase(id);
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(SlotMap, ForEachMayErase) {
  Map map;
  std::vector<ConnId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(map.Emplace(std::make_shared<int>(i)));
  map.ForEach([&map](ConnId id, std::shared_ptr<int>& value) {
    if (*value % 2 == 0) map.Erase(id);
  });
  EXPECT_EQ(map.size(), 5u);
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(map.AtIndex(i) != nullptr, i % 2 == 1);
}

TEST(SlotMap, NoHandleIsEverGivenTwice) {
  Map map;
  std::mt19937 rng(1);
  std::vector<ConnId> live;
  std::vector<ConnId> dead;
  for (int step = 0; step < 5000; ++step) {
    if (live.empty() || rng() % 2 == 0) {
      live.push_back(map.Emplace(std::make_shared<int>(step)));
    } else {
      const std::size_t i = rng() % live.size();
      EXPECT_TRUE(map.Erase(live[i]));
      dead.push_back(live[i]);
      live[i] = live.back();
      live.pop_back();
    }
  }
  EXPECT_EQ(map.size(), live.size());
  for (const ConnId id : live) EXPECT_NE(map.Find(id), nullptr);
  for (const ConnId id : dead) EXPECT_EQ(map.Find(id), nullptr);
}

}  // namespace
}  // namespace dccp
