#include "stack/base/intrusive_list.h"

#include <array>
#include <vector>

#include "gtest/gtest.h"

namespace dccp {
namespace {

struct Item {
  int id = 0;
  ListLink<Item> ready;
  ListLink<Item> other;
};
using ReadyList = IntrusiveList<Item, &Item::ready>;

std::vector<int> Ids(const ReadyList& list) {
  std::vector<int> ids;
  for (const Item* item = list.front(); item != nullptr; item = ReadyList::Next(*item)) {
    ids.push_back(item->id);
  }
  return ids;
}

class IntrusiveListTest : public testing::Test {
 protected:
  IntrusiveListTest() {
    for (int i = 0; i < 4; ++i) {
      items_[static_cast<std::size_t>(i)].id = i;
      list_.PushBack(items_[static_cast<std::size_t>(i)]);
    }
  }
  std::array<Item, 4> items_;
  ReadyList list_;
};

TEST_F(IntrusiveListTest, KeepsOrder) {
  EXPECT_EQ(Ids(list_), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(list_.back(), &items_[3]);
  EXPECT_EQ(list_.PopFront(), items_.data());
  list_.PushFront(items_[0]);
  EXPECT_EQ(Ids(list_), (std::vector{0, 1, 2, 3}));
}

TEST_F(IntrusiveListTest, RemovesAtEitherEndAndBetween) {
  list_.Remove(items_[1]);
  EXPECT_EQ(Ids(list_), (std::vector{0, 2, 3}));
  list_.Remove(items_[3]);
  list_.Remove(items_[0]);
  EXPECT_EQ(Ids(list_), (std::vector{2}));
  list_.Remove(items_[0]);  // not linked: nothing happens
  list_.Remove(items_[2]);
  EXPECT_TRUE(list_.empty());
  EXPECT_EQ(list_.PopFront(), nullptr);
  EXPECT_FALSE(ReadyList::Contains(items_[2]));
}

TEST_F(IntrusiveListTest, AnElementMayBeOnTwoLists) {
  IntrusiveList<Item, &Item::other> other;
  other.PushBack(items_[2]);
  list_.Remove(items_[2]);
  EXPECT_EQ(other.front(), &items_[2]);
  EXPECT_EQ(Ids(list_), (std::vector{0, 1, 3}));
}

TEST_F(IntrusiveListTest, LinkingTwiceIsAProgrammingError) {
  EXPECT_DEATH(list_.PushBack(items_[0]), "linked");
}

}  // namespace
}  // namespace dccp
