#include "stack/conn/steps.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

constexpr Seq64 kOsr = Seq64(1000);

TEST(Steps, R4340_EVT_04_OnlyAnAnswerToOurRequestLeavesRequest) {
  for (int t = 0; t <= 9; ++t) {
    const auto type = static_cast<PacketType>(t);
    const bool answer = type == PacketType::kResponse || type == PacketType::kReset;
    EXPECT_EQ(CheckInRequest(type, true),
              answer ? RequestVerdict::kAccept : RequestVerdict::kReset);
    EXPECT_EQ(CheckInRequest(type, false),
              type == PacketType::kReset ? RequestVerdict::kDrop : RequestVerdict::kReset);
  }
}

TEST(Steps, R4340_EVT_09_UnexpectedTypes) {
  const auto unexpected = [](Role r, State s, PacketType t, std::int64_t seq) {
    return IsUnexpectedType(r, s, t, Seq64(seq), kOsr);
  };
  EXPECT_TRUE(unexpected(Role::kServer, State::kOpen, PacketType::kCloseReq, 1001));
  EXPECT_TRUE(unexpected(Role::kServer, State::kOpen, PacketType::kResponse, 900));
  EXPECT_TRUE(unexpected(Role::kClient, State::kOpen, PacketType::kRequest, 900));
  EXPECT_TRUE(unexpected(Role::kClient, State::kPartOpen, PacketType::kRequest, 900));
  EXPECT_TRUE(unexpected(Role::kServer, State::kRespond, PacketType::kData, 1001));
  EXPECT_FALSE(unexpected(Role::kServer, State::kRespond, PacketType::kDataAck, 1001));
  EXPECT_FALSE(unexpected(Role::kServer, State::kRespond, PacketType::kRequest, 1001));
  EXPECT_FALSE(unexpected(Role::kClient, State::kOpen, PacketType::kCloseReq, 1001));
}

TEST(Steps, R4340_EVT_10_OldRequestOrResponseInOpenIsHarmless) {
  EXPECT_TRUE(IsUnexpectedType(Role::kServer, State::kOpen, PacketType::kRequest, kOsr, kOsr));
  EXPECT_FALSE(IsUnexpectedType(Role::kServer, State::kOpen, PacketType::kRequest, kOsr - 1, kOsr));
  EXPECT_TRUE(IsUnexpectedType(Role::kClient, State::kClosing, PacketType::kResponse, kOsr, kOsr));
  EXPECT_FALSE(
      IsUnexpectedType(Role::kClient, State::kClosing, PacketType::kResponse, kOsr - 1, kOsr));
}

TEST(Steps, R4340_CON_13_WhatOpensAPartOpenConnection) {
  for (int t = 0; t <= 9; ++t) {
    const auto type = static_cast<PacketType>(t);
    const bool no =
        type == PacketType::kResponse || type == PacketType::kReset || type == PacketType::kSync;
    EXPECT_EQ(OpensConnection(State::kPartOpen, type), !no) << ToString(type);
    EXPECT_EQ(OpensConnection(State::kRespond, type), type != PacketType::kRequest);
    EXPECT_FALSE(OpensConnection(State::kOpen, type));
  }
}

}  // namespace
}  // namespace dccp
