// RFC 4340 §8.3: termination.

#include <gtest/gtest.h>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- the three diagrams of §8.3, at either end

TEST(Closing, R4340_CLS_01_CLS_07_CLS_10_Bug_C8_ServerAsksItsClientToClose) {
  WirePeer server;
  server.OpenAsServer();
  ASSERT_TRUE(server.Close().ok());
  EXPECT_THAT(server.Take(), ElementsAre(IsCloseReq(_, 5001u)));
  EXPECT_EQ(server.state(), State::kCloseReq);
  server.Inject(Close(5002, server.gss()));
  EXPECT_THAT(server.Take(), ElementsAre(IsReset(_, 5002u, 1)));
  EXPECT_EQ(server.state(), State::kClosed);
  EXPECT_TRUE(server.Info().close.clean);
}

TEST(Closing, R4340_CLS_01_ClientAnswersCloseReqWithCloseAndHoldsTimeWait) {
  WirePeer client;
  client.OpenAsClient();
  client.Inject(CloseReq(5002, client.gss()));
  EXPECT_THAT(client.Take(), ElementsAre(IsClose(_, 5002u)));
  EXPECT_EQ(client.state(), State::kClosing);
  client.Inject(Reset(5003, client.gss(), 1));
  EXPECT_THAT(client.Take(), IsEmpty());
  EXPECT_EQ(client.state(), State::kTimeWait);
  EXPECT_TRUE(client.Info().close.clean);
}

TEST(Closing, R4340_CLS_01_EitherEndMayClose) {
  for (const Role role : {Role::kServer, Role::kClient}) {
    WirePeerConfig config;
    config.options.server_timewait = true;
    WirePeer active(config);
    role == Role::kServer ? active.OpenAsServer() : active.OpenAsClient();
    ASSERT_TRUE(active.Close().ok());
    EXPECT_THAT(active.Take(), ElementsAre(IsClose(_, 5001u)));
    EXPECT_EQ(active.state(), State::kClosing);
    active.Inject(Reset(5002, active.gss(), 1));
    EXPECT_EQ(active.state(), State::kTimeWait);
    EXPECT_TRUE(active.Info().close.clean);

    WirePeer passive;
    role == Role::kServer ? passive.OpenAsServer() : passive.OpenAsClient();
    passive.Inject(Close(5002, passive.gss()));
    EXPECT_THAT(passive.Take(), ElementsAre(IsReset(_, 5002u, 1)));
    EXPECT_EQ(passive.state(), State::kClosed);
    EXPECT_NE(passive.TakeEvents() & kEventClosed, 0u);
  }
}

TEST(Closing, R4340_CLS_02_AServerDoesNotObeyCloseReq) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(CloseReq(5002, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5002u)));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Closing, R4340_CLS_03_LNX_21_Bug_C7_Bug_C33_CloseAndCloseReqAreRepeatedWithBackOff) {
  for (const bool close_req : {true, false}) {
    WirePeer peer;
    close_req ? peer.OpenAsServer() : peer.OpenAsClient();
    const Duration rtt = peer.Info().rtt > Duration::zero() ? peer.Info().rtt : kDefaultRtt;
    ASSERT_TRUE(peer.Close().ok());
    peer.Advance(minutes(7));
    const auto sent = peer.Take();
    ASSERT_GT(sent.size(), 8u);
    EXPECT_THAT(sent, Each(HasType(close_req ? PacketType::kCloseReq : PacketType::kClose)));
    EXPECT_GE(sent[1].time - sent[0].time, 2 * rtt);
    Duration last = Duration::zero();
    for (std::size_t i = 1; i < sent.size(); ++i) {
      EXPECT_EQ(sent[i].seq, sent[i - 1].seq + 1);
      EXPECT_GE(sent[i].time - sent[i - 1].time, last);
      last = sent[i].time - sent[i - 1].time;
    }
    EXPECT_GE(last, seconds(64));
    // The peer never answers.
    peer.Advance(minutes(10));
    EXPECT_THAT(peer.Take(), Contains(IsReset(_, 5001u, 2)));
    EXPECT_EQ(peer.state(), State::kClosed);
    EXPECT_EQ(peer.Info().close.by, ClosedBy::kTimeout);
  }
}

TEST(Closing, R4340_CLS_04_GEN_09_WhoeverReceivesAResetWaitsTwoMsl) {
  for (const unsigned code : {1u, 2u, 5u, 99u}) {
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(Reset(5002, peer.gss(), code));
    peer.Advance(seconds(240) - milliseconds(1));
    EXPECT_EQ(peer.Info().state, State::kTimeWait);
    peer.Inject(Request(9000));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(0u, 9000u, 3)));
    peer.Advance(milliseconds(1));
    EXPECT_EQ(peer.Info().state, State::kClosed);
    peer.Inject(Request(9001));
    EXPECT_THAT(peer.Take(), ElementsAre(IsResponse(_, 9001u)));
  }
}

TEST(Closing, R4340_CLS_05_DataInClosingDoesNoHarm) {
  for (const bool close_req : {true, false}) {
    WirePeer peer;
    close_req ? peer.OpenAsServer() : peer.OpenAsClient();
    ASSERT_TRUE(peer.Close().ok());
    peer.Take();
    peer.Inject(Data(5002, "late"));
    peer.Inject(DataAck(5003, peer.gss(), "late"));
    peer.Inject(Ack(5004, peer.gss()));
    EXPECT_EQ(peer.state(), close_req ? State::kCloseReq : State::kClosing);
    peer.Take();
    peer.Inject(close_req ? Close(5005, peer.gss()) : Reset(5005, peer.gss(), 1));
    EXPECT_TRUE(peer.Info().close.clean);
  }
}

TEST(Closing, R4340_CLS_06_EVT_17_LNX_22_SimultaneousClose) {
  WirePeer client;
  client.OpenAsClient();
  ASSERT_TRUE(client.Close().ok());
  EXPECT_THAT(client.Take(), ElementsAre(IsClose(_, _)));
  client.Inject(Close(5002, client.gss() - 1));
  EXPECT_THAT(client.Take(), ElementsAre(IsReset(_, 5002u, 1)));
  EXPECT_EQ(client.state(), State::kClosed);
  EXPECT_TRUE(client.Info().close.clean);
}

TEST(Closing, R4340_CLS_08_TimeWaitAnswersEverythingButResets) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Reset(5002, peer.gss(), 1));
  peer.Inject(Data(5003, "x"));
  peer.Inject(Sync(5004, 1234));
  peer.Inject(Close(5005, 1235));
  peer.Inject(Reset(5006, 1236, 1));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(0u, 5003u, 3), IsReset(1235u, 5004u, 3),
                                       IsReset(1236u, 5005u, 3)));
}

TEST(Closing, R4340_CLS_09_AResetMayComeFromAnyState) {
  const auto aborts = [](WirePeer& peer, std::uint64_t ack) {
    ASSERT_TRUE(peer.Abort().ok());
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, ack, 2)));
    EXPECT_EQ(peer.state(), State::kClosed);
  };
  WirePeer request;
  request.ClientInRequest();
  aborts(request, 0);
  WirePeer part_open;
  part_open.ClientInPartOpen();
  aborts(part_open, 5000);
  WirePeer open;
  open.OpenAsServer();
  aborts(open, 5001);
  WirePeer close_req;
  close_req.OpenAsServer();
  ASSERT_TRUE(close_req.Close().ok());
  close_req.Take();
  aborts(close_req, 5001);
  WirePeer closing;
  closing.OpenAsClient();
  ASSERT_TRUE(closing.Close().ok());
  closing.Take();
  aborts(closing, 5001);
}

TEST(Closing, R4340_CLS_01_QueuedDataGoesBeforeTheClose) {
  WirePeer peer;
  peer.OpenAsClient();
  ASSERT_TRUE(peer.Send("one").ok());
  ASSERT_TRUE(peer.Send("two").ok());
  ASSERT_TRUE(peer.Close().ok());
  EXPECT_THAT(peer.Take(), ElementsAre(HasPayload("one"), HasPayload("two"), IsClose(_, 5001u)));
}

TEST(Closing, Bug_C1_WhatCameBeforeTheCloseStaysReadable) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 5; ++i) peer.Inject(Data(peer.Next(), "data"));
  peer.Inject(Close(peer.Next(), peer.gss()));
  EXPECT_EQ(peer.state(), State::kClosed);
  EXPECT_EQ(peer.Read().size(), 5u);
}

TEST(Closing, Bug_C5_NothingIsSentWhileClosing) {
  WirePeer peer;
  peer.OpenAsClient();
  ASSERT_TRUE(peer.Close().ok());
  EXPECT_EQ(peer.Send("late").error(), Error::kBadState);
}

}  // namespace
}  // namespace dccp::peer
