#include "stack/base/flat_map.h"

#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace dccp {
namespace {

// Keys are the positions of `keys`; the hash is coarse so that clusters form.
class FlatMapModel {
 public:
  explicit FlatMapModel(std::uint64_t hash_values) : hash_values_(hash_values) {}

  std::uint64_t Hash(std::uint64_t key) const { return key % hash_values_ * 0x9E3779B97F4A7C15u; }
  std::uint32_t Find(std::uint64_t key) const {
    return map_.Find(Hash(key), [&](std::uint32_t index) { return keys_[index] == key; });
  }
  void Insert(std::uint64_t key) {
    keys_.push_back(key);
    map_.Insert(Hash(key), static_cast<std::uint32_t>(keys_.size() - 1));
  }
  bool Erase(std::uint64_t key) { return map_.Erase(Hash(key), Find(key)); }
  std::size_t size() const { return map_.size(); }

 private:
  std::uint64_t hash_values_;
  std::vector<std::uint64_t> keys_;
  FlatMap map_;
};

TEST(FlatMap, FindsByHashAndEquality) {
  FlatMapModel map(1);  // every key collides
  map.Insert(10);
  map.Insert(20);
  EXPECT_EQ(map.Find(10), 0u);
  EXPECT_EQ(map.Find(20), 1u);
  EXPECT_EQ(map.Find(30), FlatMap::kNone);
  EXPECT_TRUE(map.Erase(10));
  EXPECT_EQ(map.Find(10), FlatMap::kNone);
  EXPECT_EQ(map.Find(20), 1u);
}

TEST(FlatMap, EmptyTableFindsAndErasesNothing) {
  FlatMap map;
  EXPECT_EQ(map.Find(1, [](std::uint32_t) { return true; }), FlatMap::kNone);
  EXPECT_FALSE(map.Erase(1, 2));
}

TEST(FlatMap, EraseNeedsTheVeryEntry) {
  FlatMap map;
  map.Insert(5, 1);
  EXPECT_FALSE(map.Erase(5, 2));
  EXPECT_FALSE(map.Erase(6, 1));
  EXPECT_TRUE(map.Erase(5, 1));
  EXPECT_TRUE(map.empty());
}

TEST(FlatMap, AgreesWithAMapUnderCollisionsAndWrapAround) {
  for (const std::uint64_t hash_values : {1u, 7u, 40u, 100000u}) {
    std::mt19937 rng(1);
    FlatMapModel map(hash_values);
    std::map<std::uint64_t, bool> model;
    for (int step = 0; step < 20000; ++step) {
      const std::uint64_t key = rng() % 150;
      const bool held = model[key];
      ASSERT_EQ(map.Find(key) != FlatMap::kNone, held) << key;
      if (held) {
        ASSERT_TRUE(map.Erase(key));
      } else {
        map.Insert(key);
      }
      model[key] = !held;
    }
    std::size_t held = 0;
    for (const auto& entry : model) held += entry.second ? 1 : 0;
    EXPECT_EQ(map.size(), held);
  }
}

}  // namespace
}  // namespace dccp
