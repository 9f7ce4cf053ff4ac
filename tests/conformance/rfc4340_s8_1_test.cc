// RFC 4340 §8.1, §8.2: set-up, Service Codes, data transfer.

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
using ::testing::Not;

std::vector<Duration> Gaps(const std::vector<SentPacket>& packets) {
  std::vector<Duration> out;
  for (std::size_t i = 1; i < packets.size(); ++i)
    out.push_back(packets[i].time - packets[i - 1].time);
  return out;
}

TEST(SetUp, R4340_CON_01_AClientBeginsWithARequest) {
  WirePeer peer({.service_codes = {ServiceCode(42)}});
  peer.Connect();
  EXPECT_EQ(peer.state(), State::kRequest);
  const SentPacket request = peer.TakeOne();
  EXPECT_THAT(request, IsRequest(kIss));
  EXPECT_EQ(request.service_code, 42u);
  EXPECT_EQ(request.source_port, WirePeer::kEndpointPort);
  EXPECT_EQ(request.destination_port, WirePeer::kPeerPort);
}

TEST(SetUp, R4340_CON_02_Bug_A41_RequestsAreRepeatedWithBackOff) {
  WirePeerConfig config;
  config.options.request_timeout = minutes(10);
  WirePeer peer(config);
  peer.Connect();
  peer.Advance(minutes(5));
  EXPECT_THAT(Gaps(peer.Take()),
              ElementsAre(seconds(1), seconds(2), seconds(4), seconds(8), seconds(16), seconds(32),
                          seconds(64), seconds(64), seconds(64)));
}

TEST(SetUp, R4340_CON_03_Bug_A8_RepeatedRequestsHaveNewNumbersAndTheSameContent) {
  WirePeer peer({.service_codes = {ServiceCode(42)}, .request_data = "hello"});
  peer.Connect();
  peer.Advance(minutes(2));
  const auto sent = peer.Take();
  ASSERT_GT(sent.size(), 5u);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_THAT(sent[i], IsRequest(kIss + i, HasPayload("hello")));
    EXPECT_EQ(sent[i].service_code, 42u);
    for (const WireOption& option : sent[0].options) {
      if (option.type != OptionType::kTimestamp) {
        EXPECT_THAT(sent[i].options, Contains(option));
      }
    }
  }
}

TEST(SetUp, R4340_CON_03_ALostRequestWithDataCountsAsSentAndAsLost) {
  WirePeerConfig config;
  config.request_data = "hello";
  WirePeer peer(config);
  peer.Connect();
  peer.Advance(milliseconds(1100));
  const std::vector<SentPacket> requests = peer.Take();
  ASSERT_THAT(requests, ElementsAre(IsRequest(kIss, HasPayload("hello")),
                                    IsRequest(kIss + 1, HasPayload("hello"))));
  EXPECT_EQ(peer.Info().counters.data_packets_sent, 2u);
  EXPECT_EQ(peer.Info().counters.data_bytes_sent, 10u);
  peer.Inject(Response(peer.Next(), kIss + 1).With(ConfirmsFor(requests[1])));
  peer.Inject(Ack(peer.Next(), peer.gss()));
  for (const char* text : {"a", "b", "c"}) {
    ASSERT_TRUE(peer.Send(text).ok());
    // Only the first Request is missing.
    const auto run = static_cast<std::uint8_t>(peer.gss() - (kIss + 1));
    peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 4, run, 0xC0}));
  }
  const ConnectionCounters counters = peer.Info().counters;
  EXPECT_EQ(counters.data_packets_sent, 5u);
  EXPECT_EQ(counters.data_bytes_sent, 13u);
  EXPECT_EQ(counters.data_packets_lost, 1u);
}

TEST(SetUp, R4340_CON_05_Bug_A29_AnUnknownServiceIsRefused) {
  WirePeer peer({.service_codes = {ServiceCode(1), ServiceCode(2)}});
  peer.Listen();
  peer.Inject(Request(5000).Service(3));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(0u, 5000u, 8)));
}

TEST(SetUp, R4340_CON_06_AClosedPortRefusesRequestsAndKnowsNothingElse) {
  WirePeer peer;
  peer.Inject(Request(5000));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(0u, 5000u, 7)));
  peer.Inject(Data(5001, "x"));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(0u, 5001u, 3)));
}

TEST(SetUp, R4340_CON_06_AClientTakesAnyRefusal) {
  for (const unsigned code : {3u, 7u, 8u, 9u}) {
    WirePeer peer;
    peer.ClientInRequest();
    peer.Inject(Reset(0, kIss, code));
    EXPECT_NE(peer.TakeEvents() & kEventClosed, 0u);
    EXPECT_EQ(peer.Info().close.by, ClosedBy::kRemote);
    EXPECT_EQ(static_cast<unsigned>(peer.Info().close.reset.code), code);
    EXPECT_FALSE(peer.Info().close.clean);
    EXPECT_THAT(peer.Take(), IsEmpty());
  }
}

TEST(SetUp, R4340_CON_07_ResponsesAreNotRepeatedByTimer) {
  WirePeer peer;
  peer.ServerInRespond();
  peer.Advance(minutes(7));
  EXPECT_THAT(peer.Take(), IsEmpty());
}

TEST(SetUp, R4340_CON_08_Bug_A9_EachRequestDrawsANewResponse) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000));
  peer.Advance(seconds(1));
  peer.Inject(Request(5001));
  peer.Inject(Request(5002));
  const auto sent = peer.Take();
  EXPECT_THAT(sent, ElementsAre(IsResponse(1000u, 5000u), IsResponse(1001u, 5001u),
                                IsResponse(1002u, 5002u)));
  for (const SentPacket& packet : sent) {
    for (const WireOption& option : sent[0].options) {
      if (option.type != OptionType::kTimestamp) {
        EXPECT_THAT(packet.options, Contains(option));
      }
    }
  }
}

TEST(SetUp, R4340_CON_09_CON_17_EVT_19_RequestDataIsDeliveredOnce) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).Payload("hello"));
  peer.Take();
  peer.Inject(Request(5001).Payload("hello"));
  const SentPacket response = peer.TakeOne();
  // 5001 was dropped for Protocol Constraints, 5000 was not.
  EXPECT_THAT(response,
              IsResponse(1001u, 5001u, HasOption(OptionType::kDataDropped, ElementsAre(0x80))));
  peer.Inject(Ack(5002, response.seq).With(ConfirmsFor(response)));
  EXPECT_THAT(peer.Read(), ElementsAre("hello"));
}

TEST(SetUp, R4340_CON_17_ResponseDataIsDeliveredOnce) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  const Octets confirms = ConfirmsFor(request);
  peer.Inject(Response(5000, kIss).With(confirms).Payload("welcome"));
  peer.Inject(Response(5001, kIss).With(confirms).Payload("welcome"));
  EXPECT_THAT(peer.Read(), ElementsAre("welcome"));
}

TEST(SetUp, R4340_CON_10_RespondEndsAfterFourMsl) {
  WirePeer peer;
  peer.ServerInRespond();
  peer.Advance(minutes(8) - milliseconds(1));
  EXPECT_THAT(peer.Take(), IsEmpty());
  peer.Advance(milliseconds(1));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(1001u, 5000u, 2)));
  EXPECT_EQ(peer.state(), State::kClosed);
}

TEST(SetUp, R4340_CON_11_CON_16_PartOpenSendsNoDataWithoutAcknowledgement) {
  WirePeer peer;
  peer.ClientInPartOpen();
  ASSERT_TRUE(peer.Send("one").ok());
  ASSERT_TRUE(peer.Send("two").ok());
  peer.Advance(seconds(10));
  const auto sent = peer.Take();
  EXPECT_THAT(sent, Contains(IsPacket(PacketType::kDataAck, _, 5000u, HasPayload("one"))));
  EXPECT_THAT(sent, Contains(IsPacket(PacketType::kDataAck, _, 5000u, HasPayload("two"))));
  EXPECT_THAT(sent, Each(HasAck(5000u)));
}

TEST(SetUp, R4340_CON_11_DataQueuedBeforeTheResponseGoesAsDataAck) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  ASSERT_TRUE(peer.Send("early").ok());
  EXPECT_THAT(peer.Take(), IsEmpty());
  peer.Inject(Response(5000, kIss).With(ConfirmsFor(request)));
  EXPECT_THAT(peer.Take(), Contains(IsPacket(PacketType::kDataAck, _, 5000u, HasPayload("early"))));
}

TEST(SetUp, R4340_CON_12_Bug_A21_PartOpenRepeatsItsAckAndGivesUpAfterFourMsl) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  // The Response asks for a feature: its Confirm goes on every packet.
  peer.Inject(Response(5000, kIss).With(ConfirmsFor(request)).With({32, 5, 5, 0, 4}));
  peer.Advance(minutes(8));
  auto sent = peer.Take();
  ASSERT_GT(sent.size(), 8u);
  EXPECT_THAT(sent.back(), IsReset(_, 5000u, 2));
  EXPECT_EQ(sent.back().time - sent.front().time, minutes(8));
  sent.pop_back();
  EXPECT_THAT(sent, Each(IsAck(_, 5000u, HasOption(OptionType::kConfirmR, ElementsAre(5, 0, 4)))));
  const auto gaps = Gaps(sent);
  EXPECT_EQ(gaps.front(), milliseconds(200));
  for (std::size_t i = 1; i + 1 < gaps.size(); ++i) EXPECT_GE(gaps[i], gaps[i - 1]);
  EXPECT_GE(gaps[gaps.size() - 2], seconds(64));
}

TEST(SetUp, R4340_CON_13_EVT_15_WhatMovesPartOpenToOpen) {
  const auto state_after = [](PacketType type) {
    WirePeer peer;
    peer.ClientInPartOpen();
    peer.Inject(Make(type, 5001, peer.gss()));
    return peer.state();
  };
  EXPECT_EQ(state_after(PacketType::kData), State::kOpen);
  EXPECT_EQ(state_after(PacketType::kAck), State::kOpen);
  EXPECT_EQ(state_after(PacketType::kDataAck), State::kOpen);
  EXPECT_EQ(state_after(PacketType::kSyncAck), State::kOpen);
  EXPECT_EQ(state_after(PacketType::kCloseReq), State::kClosing);
  EXPECT_EQ(state_after(PacketType::kClose), State::kClosed);
  EXPECT_EQ(state_after(PacketType::kReset), State::kTimeWait);
  EXPECT_EQ(state_after(PacketType::kSync), State::kPartOpen);
  EXPECT_EQ(state_after(PacketType::kResponse), State::kPartOpen);
}

TEST(SetUp, R4340_CON_14_ARepeatedResponseIsAcknowledgedAgain) {
  WirePeer peer;
  peer.ClientInPartOpen();
  peer.Inject(Response(5001, kIss));
  EXPECT_THAT(peer.Take(), ElementsAre(IsAck(_, 5001u)));
  EXPECT_EQ(peer.state(), State::kPartOpen);
}

TEST(SetUp, R4340_CON_15_EVT_14_WhatMovesRespondToOpen) {
  for (const PacketType type :
       {PacketType::kAck, PacketType::kDataAck, PacketType::kSync, PacketType::kSyncAck}) {
    WirePeer peer;
    peer.ServerInRespond();
    peer.Inject(Make(type, 5001, kIss));
    EXPECT_EQ(peer.state(), State::kOpen) << ToString(type);
    EXPECT_NE(peer.TakeEvents() & kEventAccepted, 0u);
  }
}

TEST(SetUp, R4340_CON_16_EvenAnEagerClientWaitsForANonResponse) {
  WirePeer peer;
  peer.ClientInPartOpen();
  ASSERT_TRUE(peer.Send("one").ok());
  EXPECT_THAT(peer.Take(), Each(Not(HasType(PacketType::kData))));
  peer.Inject(Ack(5001, peer.gss()));
  ASSERT_TRUE(peer.Send("two").ok());
  EXPECT_THAT(peer.Take(), Contains(AllOf(HasType(PacketType::kData), HasPayload("two"))));
}

TEST(ServiceCodes, R4340_SVC_01_IANA_02_OnePortServesSeveralCodes) {
  WirePeer peer({.service_codes = {ServiceCode(1), ServiceCode(2)}});
  peer.Listen();
  ListenParams params;
  params.port = WirePeer::kEndpointPort;
  params.service_codes = {ServiceCode(2)};
  EXPECT_EQ(peer.endpoint().Listen(params).error(), Error::kPortInUse);
  params.service_codes = {ServiceCode(3)};
  EXPECT_TRUE(peer.endpoint().Listen(params).ok());

  peer.Inject(Request(5000).Service(2));
  const SentPacket response = peer.TakeOne();
  EXPECT_EQ(response.service_code, 2u);
  peer.Inject(Ack(5001, response.seq).With(ConfirmsFor(response)));
  EXPECT_EQ(peer.Info().service_code, ServiceCode(2));
}

TEST(ServiceCodes, R4340_SVC_02_TheInvalidCodeIsRefusedAndZeroIsLegal) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).Service(0xFFFFFFFF));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(0u, 5000u, 8)));
  ListenParams params;
  params.port = 7;
  params.service_codes = {ServiceCode(0xFFFFFFFF)};
  EXPECT_FALSE(peer.endpoint().Listen(params).ok());
  peer.Inject(Request(5000).Service(0));
  EXPECT_THAT(peer.Take(), ElementsAre(IsResponse(kIss, 5000u)));
}

TEST(DataTransfer, R4340_XFER_01_DataGoesBothWays) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("out").ok());
  EXPECT_THAT(peer.Take(), ElementsAre(HasPayload("out")));
  peer.Inject(DataAck(peer.Next(), peer.gss(), "in"));
  EXPECT_THAT(peer.Read(), ElementsAre("in"));
}

TEST(Handshake, R4340_CON_08_ARequestOvertakenByItsRepetitionDrawsNothing) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5001));
  EXPECT_THAT(peer.TakeOne(), HasAck(5001u));
  peer.Inject(Request(5000));
  EXPECT_THAT(peer.Take(), ::testing::IsEmpty());
  EXPECT_EQ(peer.state(), State::kRespond);
  peer.Inject(Ack(5002, peer.gss()));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Handshake, R4340_CON_13_AServerOpensAClientThatOnlySawItsSync) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  // A stray packet draws a Sync; the client in PARTOPEN acknowledges it and repeats its Ack.
  peer.Inject(Data(4000, "stray"));
  const SentPacket sync = peer.TakeOne();
  ASSERT_EQ(sync.type, PacketType::kSync);
  for (int i = 0; i < 3; ++i) {
    peer.Inject(Ack(peer.Next(), sync.seq));
    EXPECT_THAT(peer.Take(), ::testing::Contains(HasType(PacketType::kAck))) << i;
  }
  // Once it acknowledges one of those it has left PARTOPEN.
  peer.Inject(Ack(peer.Next(), peer.gss()));
  EXPECT_THAT(peer.Take(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace dccp::peer
