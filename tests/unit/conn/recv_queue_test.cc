#include "stack/conn/recv_queue.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

class RecvQueueTest : public ::testing::Test {
 protected:
  RecvItem Item(std::int64_t seq, std::uint32_t bytes = 10) {
    RecvItem item;
    item.cell = slab_.Allocate(bytes);
    item.cell->length = bytes;
    item.seq = Seq64(seq);
    return item;
  }
  bool Push(RecvQueue& queue, std::int64_t seq, std::uint32_t bytes = 10) {
    const RecvItem item = Item(seq, bytes);
    if (queue.Push(item)) return true;
    slab_.Free(item.cell);
    return false;
  }
  void TearDown() override { EXPECT_EQ(slab_.bytes_in_use(), 0u); }

  Slab slab_{1u << 20};
};

TEST_F(RecvQueueTest, KeepsTheOrderOfArrival) {
  RecvQueue queue(slab_, {1000, 100'000});
  EXPECT_EQ(queue.Front(), nullptr);
  for (std::int64_t seq = 0; seq < 300; ++seq) ASSERT_TRUE(Push(queue, seq));
  for (std::int64_t seq = 0; seq < 300; ++seq) {
    ASSERT_EQ(queue.Front()->seq, Seq64(seq));
    slab_.Free(queue.Pop().cell);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST_F(RecvQueueTest, R4340_DD_05_OverflowIsToldToTheCaller) {
  RecvQueue queue(slab_, {2, 25});
  EXPECT_TRUE(Push(queue, 1));
  EXPECT_FALSE(queue.HasRoom(16));
  EXPECT_FALSE(Push(queue, 2, 16));
  EXPECT_TRUE(Push(queue, 3, 15));
  EXPECT_FALSE(queue.HasRoom(0));
  EXPECT_FALSE(Push(queue, 4, 0));
  EXPECT_EQ(queue.refused(), 2u);
  EXPECT_EQ(queue.datagrams(), 2u);
}

TEST_F(RecvQueueTest, CarriesWhatTheApplicationIsTold) {
  RecvQueue queue(slab_, {10, 1000});
  RecvItem item = Item(7);
  item.corrupt = true;
  item.arrival = TimePoint(std::chrono::seconds(3));
  ASSERT_TRUE(queue.Push(item));
  const RecvItem out = queue.Pop();
  EXPECT_TRUE(out.corrupt);
  EXPECT_EQ(out.arrival, TimePoint(std::chrono::seconds(3)));
  EXPECT_EQ(out.cell, item.cell);
  slab_.Free(out.cell);
}

TEST_F(RecvQueueTest, ClearFreesTheCells) {
  RecvQueue queue(slab_, {10, 1000});
  Push(queue, 1);
  Push(queue, 2);
  queue.Clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(slab_.bytes_in_use(), 0u);
}

}  // namespace
}  // namespace dccp
