#include "stack/conn/opening.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

TEST(Opening, R4340_CON_13_AnAckOfWhatOpensConfirms) {
  Opening opening;
  EXPECT_TRUE(opening.OnReceived(PacketType::kAck, Seq64(100)));
  opening.OnSent(PacketType::kAck, Seq64(101));
  EXPECT_TRUE(opening.OnReceived(PacketType::kAck, Seq64(100)));
  EXPECT_FALSE(opening.OnReceived(PacketType::kAck, Seq64(101)));
  EXPECT_TRUE(opening.confirmed());
  EXPECT_FALSE(opening.OnReceived(PacketType::kAck, Seq64(100)));
}

TEST(Opening, R4340_CON_13_AnAckOfASyncDoesNot) {
  Opening opening;
  opening.OnSent(PacketType::kAck, Seq64(101));
  opening.OnSent(PacketType::kSync, Seq64(102));
  opening.OnSent(PacketType::kSync, Seq64(103));
  EXPECT_TRUE(opening.OnReceived(PacketType::kAck, Seq64(103)));
  EXPECT_TRUE(opening.OnReceived(PacketType::kAck, Seq64(102)));
  opening.OnSent(PacketType::kAck, Seq64(104));
  EXPECT_FALSE(opening.OnReceived(PacketType::kAck, Seq64(104)));
}

TEST(Opening, R4340_CON_16_DataComesFromAnOpenClient) {
  Opening opening;
  EXPECT_FALSE(opening.OnReceived(PacketType::kDataAck, Seq64(100)));
  EXPECT_FALSE(opening.confirmed());
  EXPECT_FALSE(opening.OnReceived(PacketType::kData, std::nullopt));
  EXPECT_TRUE(opening.confirmed());
}

}  // namespace
}  // namespace dccp
