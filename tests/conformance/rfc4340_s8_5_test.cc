// RFC 4340 §8.4, §8.5: event processing, step by step.

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
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::array kAllButReset = {
    PacketType::kRequest, PacketType::kResponse, PacketType::kData,
    PacketType::kAck,     PacketType::kDataAck,  PacketType::kCloseReq,
    PacketType::kClose,   PacketType::kSync,     PacketType::kSyncAck,
};

// Brings a new endpoint into one of the states in which it has a connection.
void Reach(WirePeer& peer, State state) {
  switch (state) {
    case State::kRequest:
      return peer.ClientInRequest();
    case State::kRespond:
      return peer.ServerInRespond();
    case State::kPartOpen:
      return peer.ClientInPartOpen();
    case State::kCloseReq:
      peer.OpenAsServer();
      break;
    default:
      peer.OpenAsClient();
      break;
  }
  if (state == State::kCloseReq || state == State::kClosing) {
    ASSERT_TRUE(peer.Close().ok());
  }
  ASSERT_EQ(peer.state(), state);
  peer.Take();
}

constexpr std::array kLiveStates = {State::kRequest, State::kRespond,  State::kPartOpen,
                                    State::kOpen,    State::kCloseReq, State::kClosing};

TEST(EventProcessing, R4340_EVT_01_Step1DropsInSilence) {
  WirePeerConfig config;
  config.encapsulation = Encapsulation::kNative;
  WirePeer peer(config);
  peer.OpenAsServer();
  const Bytes good = peer.BuildPacket(DataAck(5002, peer.gss(), "payload"));
  const auto inject = [&](DropReason reason, auto&& spoil) {
    Bytes bytes = good;
    spoil(bytes);
    const std::uint64_t before = peer.Dropped(reason);
    peer.InjectRaw(bytes);
    EXPECT_THAT(peer.Take(), IsEmpty());
    EXPECT_EQ(peer.Dropped(reason), before + 1) << ToString(reason);
  };
  inject(DropReason::kTooShort, [](Bytes& b) { b.resize(11); });
  inject(DropReason::kTooShort, [](Bytes& b) { b.clear(); });
  inject(DropReason::kUnknownType, [](Bytes& b) { b[8] = std::byte{13 << 1 | 1}; });
  inject(DropReason::kBadDataOffset, [](Bytes& b) { b[4] = std::byte{5}; });
  inject(DropReason::kBadDataOffset, [](Bytes& b) { b[4] = std::byte{200}; });
  inject(DropReason::kShortSeqnoNotAllowedForType, [](Bytes& b) { b[8] = std::byte{8 << 1}; });
  inject(DropReason::kBadChecksum, [](Bytes& b) { b[6] ^= std::byte{1}; });
  inject(DropReason::kBadChecksumCoverage, [](Bytes& b) { b[5] = std::byte{3}; });
  EXPECT_THAT(peer.Read(), IsEmpty());
  peer.InjectRaw(good);
  EXPECT_THAT(peer.Read(), ElementsAre("payload"));
}

TEST(EventProcessing, R4340_EVT_02_EachTypeToAClosedPort) {
  for (const PacketType type : kAllButReset) {
    WirePeer peer;
    peer.Inject(Make(type, 5000, 77));
    // RFC 5595 §3.3.1 has Connection Refused for Requests.
    const int code = type == PacketType::kRequest ? 7 : 3;
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(HasAckNumber(type) ? 78u : 0u, 5000u, code)));
  }
}

TEST(EventProcessing, R4340_EVT_03_ListenTakesRequestsOnly) {
  for (const PacketType type : kAllButReset) {
    WirePeer peer;
    peer.Listen();
    peer.Inject(Make(type, 5000, 77));
    if (type == PacketType::kRequest) {
      EXPECT_THAT(peer.Take(), ElementsAre(IsResponse(kIss, 5000u)));
      EXPECT_EQ(peer.state(), State::kRespond);
    } else {
      EXPECT_THAT(peer.Take(), ElementsAre(IsReset(HasAckNumber(type) ? 78u : 0u, 5000u, 3)));
      EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
    }
  }
}

TEST(EventProcessing, R4340_EVT_04_RequestRefusesWhatItDidNotAskFor) {
  WirePeer peer;
  peer.ClientInRequest();
  peer.Inject(Response(5000, kIss - 1));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5000u, 4, 1)));
  peer.Inject(Response(5000, kIss + 5));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5000u, 4, 1)));
  // A Reset is never answered with a Reset, and one that answers nothing of ours ends nothing.
  peer.Inject(Reset(5000, kIss - 1, 3));
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.state(), State::kRequest);
}

TEST(EventProcessing, R4340_EVT_05_AResponseToAnyOfOurRequestsIsGood) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  peer.Advance(seconds(3));
  ASSERT_EQ(peer.gss(), kIss + 2);
  peer.Take();
  peer.Inject(Response(5000, kIss).With(ConfirmsFor(request)));
  EXPECT_EQ(peer.state(), State::kPartOpen);
  EXPECT_THAT(peer.Take(), ElementsAre(IsAck(kIss + 3, 5000u)));
}

TEST(EventProcessing, R4340_EVT_09_UnexpectedTypesDrawASync) {
  const auto draws_sync = [](WirePeer& peer, PacketType type) {
    peer.Inject(Make(type, 5003, peer.gss()).Payload("x"));
    EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5003u))) << ToString(type);
    EXPECT_THAT(peer.Read(), IsEmpty());
  };
  for (const PacketType type :
       {PacketType::kCloseReq, PacketType::kResponse, PacketType::kRequest}) {
    WirePeer server;
    server.OpenAsServer();
    draws_sync(server, type);
    EXPECT_EQ(server.state(), State::kOpen);
  }
  for (const PacketType type : {PacketType::kRequest, PacketType::kResponse}) {
    WirePeer client;
    client.OpenAsClient();
    draws_sync(client, type);
    EXPECT_EQ(client.state(), State::kOpen);
  }
  WirePeer respond;
  respond.ServerInRespond();
  respond.Inject(Data(5003, "x"));
  EXPECT_THAT(respond.Take(), ElementsAre(IsSync(_, 5003u)));
  EXPECT_EQ(respond.state(), State::kRespond);
}

TEST(EventProcessing, R4340_EVT_09_SyncsForUnexpectedTypesAreLimitedToo) {
  WirePeer peer;
  peer.OpenAsServer();
  for (std::uint64_t i = 0; i < 50; ++i) peer.Inject(Request(5003 + i));
  EXPECT_LE(peer.Take().size(), 8u);
}

TEST(EventProcessing, R4340_EVT_10_AnOldResponseIsHarmless) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  peer.Inject(Response(5000, kIss).With(ConfirmsFor(request)));
  peer.Inject(Ack(5002, peer.gss()));
  ASSERT_EQ(peer.state(), State::kOpen);
  peer.Take();
  peer.Inject(Response(5001, kIss));
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(EventProcessing, R4340_EVT_11_APacketThatResetsGoesNoFurther) {
  WirePeerConfig config;
  config.options.sequence_window = 200;
  WirePeer peer(config);
  peer.Listen();
  peer.Inject(Request(5000));
  const SentPacket response = peer.TakeOne();
  // A Confirm with a value of the wrong length.
  peer.Inject(DataAck(5001, response.seq, "x").With({35, 4, 3, 9}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5001u, 5, 35, 3, 9)));
  EXPECT_EQ(peer.state(), State::kClosed);
  EXPECT_EQ(peer.TakeEvents(), 0u);
}

TEST(EventProcessing, R4340_EVT_11_AV_05_ItsResetDoesNotReportItAsReceived) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x"));
  peer.Inject(Ack(5005, peer.gss()).With({1, 60, 2}));
  const SentPacket reset = peer.TakeOne();
  ASSERT_THAT(reset, IsReset(_, 5005u, 6, 60));
  // An Ack Vector would have to begin with 5005, whose options were not processed.
  EXPECT_THAT(reset, Not(HasOption(OptionType::kAckVectorNonce0)));
}

TEST(EventProcessing, R4340_EVT_12_EVT_20_AValidResetEndsEveryState) {
  for (const State state : kLiveStates) {
    WirePeer peer;
    Reach(peer, state);
    peer.Inject(Reset(peer.Next() + 1, peer.gss(), 2));
    EXPECT_EQ(peer.state(), State::kTimeWait) << ToString(state);
    EXPECT_THAT(peer.Take(), IsEmpty()) << ToString(state);
    EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
    peer.Advance(minutes(3));
    EXPECT_THAT(peer.Take(), IsEmpty()) << ToString(state);
    peer.Inject(Request(9000));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(0u, 9000u, 3))) << ToString(state);
  }
}

TEST(EventProcessing, R4340_EVT_13_AResponseOpensHalfWay) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  peer.Inject(Response(5000, kIss).With(ConfirmsFor(request)));
  EXPECT_EQ(peer.state(), State::kPartOpen);
  EXPECT_NE(peer.TakeEvents() & kEventConnected, 0u);
  EXPECT_THAT(peer.Take(), ElementsAre(IsAck(kIss + 1, 5000u)));
}

TEST(EventProcessing, R4340_EVT_15_OsrDecidesWhatIsAnOldRequest) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000));
  const SentPacket response = peer.TakeOne();
  peer.Inject(Ack(5004, response.seq).With(ConfirmsFor(response)));
  ASSERT_EQ(peer.state(), State::kOpen);
  peer.Take();
  peer.Inject(Request(5003));
  EXPECT_THAT(peer.Take(), Not(Contains(HasType(PacketType::kSync))));
  peer.Inject(Request(5005));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5005u)));
}

TEST(EventProcessing, R4340_EVT_16_CloseReqInEachStateOfAClient) {
  for (const State state : {State::kPartOpen, State::kOpen}) {
    WirePeer peer;
    Reach(peer, state);
    peer.Inject(CloseReq(5002, peer.gss()));
    EXPECT_EQ(peer.state(), State::kClosing) << ToString(state);
    EXPECT_THAT(peer.Take(), ElementsAre(IsClose(_, 5002u)));
  }
}

TEST(EventProcessing, R4340_EVT_17_CloseInEachState) {
  for (const State state :
       {State::kRespond, State::kPartOpen, State::kOpen, State::kCloseReq, State::kClosing}) {
    WirePeer peer;
    Reach(peer, state);
    peer.Inject(Close(5003, peer.gss()));
    EXPECT_EQ(peer.state(), State::kClosed) << ToString(state);
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5003u, 1))) << ToString(state);
    EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  }
}

TEST(EventProcessing, R4340_EVT_18_Bug_A1_Bug_A3_SyncInEachState) {
  for (const State state :
       {State::kRespond, State::kPartOpen, State::kOpen, State::kCloseReq, State::kClosing}) {
    WirePeer peer;
    Reach(peer, state);
    peer.Inject(Sync(5003, peer.gss()));
    EXPECT_THAT(peer.Take(), Contains(IsSyncAck(_, 5003u))) << ToString(state);
    const State after = state == State::kRespond ? State::kOpen : state;
    EXPECT_EQ(peer.state(), after);
  }
}

TEST(EventProcessing, R4340_EVT_19_DataIsDeliveredInEachStateThatMayHaveIt) {
  WirePeer respond;
  respond.ServerInRespond();
  respond.Inject(DataAck(5001, kIss, "first"));
  EXPECT_THAT(respond.Read(), ElementsAre("first"));
  WirePeer part_open;
  part_open.ClientInPartOpen();
  part_open.Inject(Data(5001, "first"));
  EXPECT_THAT(part_open.Read(), ElementsAre("first"));
}

TEST(EventProcessing, R4340_EVT_21_NegotiationDoesNotHoldUpTheStates) {
  WirePeer server;
  server.ServerInRespond();
  server.Inject(Ack(5001, kIss));
  EXPECT_EQ(server.state(), State::kOpen);
  WirePeer client;
  client.ClientInRequest();
  client.Inject(Response(5000, kIss));
  EXPECT_EQ(client.state(), State::kPartOpen);
  client.Inject(Ack(5001, client.gss()));
  EXPECT_EQ(client.state(), State::kOpen);
}

}  // namespace
}  // namespace dccp::peer
