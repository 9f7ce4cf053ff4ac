#include "stack/conn/send_queue.h"

#include <gtest/gtest.h>

#include <optional>

namespace dccp {
namespace {

using std::chrono::seconds;

class SendQueueTest : public ::testing::Test {
 protected:
  void Make(std::uint32_t datagrams, std::uint64_t bytes, QueuePolicy policy) {
    queue_.emplace(slab_, QueueLimits{datagrams, bytes}, policy);
  }
  // The first byte of the payload names the datagram.
  bool Push(int name, std::uint8_t priority = 0, TimePoint deadline = kNever,
            std::uint32_t bytes = 10) {
    Cell* cell = slab_.Allocate(bytes);
    cell->length = bytes;
    cell->data[0] = static_cast<std::byte>(name);
    if (queue_->Push({cell, deadline, priority}, now_)) return true;
    slab_.Free(cell);
    return false;
  }
  int Pop() {
    if (queue_->Front(now_) == nullptr) return -1;
    const SendItem item = queue_->Pop();
    const int name = static_cast<int>(item.cell->data[0]);
    slab_.Free(item.cell);
    return name;
  }
  void TearDown() override {
    queue_.reset();
    EXPECT_EQ(slab_.bytes_in_use(), 0u);
  }

  Slab slab_{1u << 20};
  std::optional<SendQueue> queue_;
  TimePoint now_ = TimePoint(seconds(1));
};

TEST_F(SendQueueTest, FirstInFirstOutWhateverThePriority) {
  Make(10, 1000, QueuePolicy::kDropLowestPriority);
  Push(1, 0);
  Push(2, 9);
  Push(3, 5);
  EXPECT_EQ(queue_->datagrams(), 3u);
  EXPECT_EQ(queue_->bytes(), 30u);
  EXPECT_EQ(Pop(), 1);
  EXPECT_EQ(Pop(), 2);
  EXPECT_EQ(Pop(), 3);
  EXPECT_EQ(Pop(), -1);
  EXPECT_EQ(queue_->bytes(), 0u);
}

TEST_F(SendQueueTest, FullOfDatagramsRejectsTheNewest) {
  Make(2, 1000, QueuePolicy::kRejectNewest);
  EXPECT_TRUE(Push(1));
  EXPECT_TRUE(queue_->HasRoom(10));
  EXPECT_TRUE(Push(2));
  EXPECT_FALSE(queue_->HasRoom(0));
  EXPECT_FALSE(Push(3));
  EXPECT_EQ(Pop(), 1);
  EXPECT_TRUE(Push(4));
  EXPECT_EQ(Pop(), 2);
  EXPECT_EQ(Pop(), 4);
}

TEST_F(SendQueueTest, FullOfBytesRejectsTheNewest) {
  Make(100, 25, QueuePolicy::kRejectNewest);
  EXPECT_TRUE(Push(1));
  EXPECT_TRUE(Push(2));
  EXPECT_FALSE(Push(3));
  EXPECT_TRUE(Push(4, 0, kNever, 5));
}

TEST_F(SendQueueTest, DropOldestMakesRoomAtTheFront) {
  Make(10, 30, QueuePolicy::kDropOldest);
  for (int name = 1; name <= 5; ++name) EXPECT_TRUE(Push(name));
  EXPECT_EQ(queue_->dropped(), 2u);
  EXPECT_EQ(Pop(), 3);
  EXPECT_FALSE(Push(6, 0, kNever, 31));
  EXPECT_EQ(queue_->datagrams(), 2u);
}

TEST_F(SendQueueTest, DropsTheOldestOfTheLowestPriority) {
  Make(4, 1000, QueuePolicy::kDropLowestPriority);
  Push(1, 5);
  Push(2, 3);
  Push(3, 3);
  Push(4, 7);
  EXPECT_TRUE(Push(5, 4));
  EXPECT_FALSE(Push(6, 3));
  EXPECT_FALSE(Push(7, 2));
  EXPECT_EQ(Pop(), 1);
  EXPECT_EQ(Pop(), 3);
  EXPECT_EQ(Pop(), 4);
  EXPECT_EQ(Pop(), 5);
  EXPECT_EQ(queue_->dropped(), 1u);
}

TEST_F(SendQueueTest, DropsNothingWhereTheLowerOnesWouldNotSuffice) {
  Make(10, 30, QueuePolicy::kDropLowestPriority);
  Push(1, 1);
  Push(2, 9);
  Push(3, 9);
  EXPECT_FALSE(Push(4, 5, kNever, 20));
  EXPECT_EQ(queue_->datagrams(), 3u);
  EXPECT_TRUE(Push(5, 5));
  EXPECT_EQ(Pop(), 2);
}

TEST_F(SendQueueTest, ExpiredDatagramsAreNeverSent) {
  Make(10, 1000, QueuePolicy::kRejectNewest);
  Push(1, 0, now_ + seconds(1));
  Push(2, 0, now_ + seconds(5));
  Push(3, 0, now_ + seconds(2));
  Push(4);
  now_ += seconds(2);
  EXPECT_EQ(Pop(), 2);
  EXPECT_EQ(Pop(), 4);
  EXPECT_EQ(queue_->expired(), 2u);
  EXPECT_TRUE(queue_->empty());
}

TEST_F(SendQueueTest, ExpiredOnesMakeRoomInAFullQueue) {
  Make(1, 1000, QueuePolicy::kRejectNewest);
  Push(1, 0, now_ + seconds(1));
  EXPECT_FALSE(Push(2));
  now_ += seconds(1);
  EXPECT_TRUE(Push(3));
  EXPECT_EQ(Pop(), 3);
}

TEST_F(SendQueueTest, DropFrontAndClearFreeTheirCells) {
  Make(10, 1000, QueuePolicy::kRejectNewest);
  for (int name = 1; name <= 4; ++name) Push(name);
  queue_->DropFront();
  EXPECT_EQ(queue_->dropped(), 1u);
  EXPECT_EQ(Pop(), 2);
  queue_->Clear();
  EXPECT_TRUE(queue_->empty());
  EXPECT_EQ(slab_.bytes_in_use(), 0u);
  EXPECT_TRUE(Push(5));
  EXPECT_EQ(Pop(), 5);
}

}  // namespace
}  // namespace dccp
