// The life of connections within an endpoint: accept, handles, TIMEWAIT, budgets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/endpoint/endpoint_fixture.h"

namespace dccp {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(EndpointLife, CreateRefusesIncompleteConfigurations) {
  EndpointConfig config;
  EXPECT_EQ(Endpoint::Create(config).error(), Error::kInvalidArgument);
  CcidRegistry empty;
  TestRandom random(1);
  config.registry = &empty;
  config.random = &random;
  EXPECT_EQ(Endpoint::Create(config).error(), Error::kInvalidArgument);
}

TEST(EndpointLife, ConnectRefusesBadParameters) {
  HostPair pair;
  Endpoint& endpoint = *pair.a.endpoint;
  std::vector<ConnectParams> bad(6, pair.Params());
  bad[0].remote_port = 0;
  bad[1].service_code = ServiceCode(0xFFFFFFFFu);
  bad[2].path.remote = V4(0, 0, 0, 0);
  bad[3].path.remote = V4(224, 0, 0, 1);
  bad[4].path.remote.family = IpFamily::kV6;
  bad[5].path.remote_udp_port = 0;
  for (const ConnectParams& params : bad)
    EXPECT_EQ(endpoint.Connect(params, pair.now).error(), Error::kInvalidArgument);
  ConnectParams no_ccid = pair.Params();
  no_ccid.options.tx_ccids = {CcidId::k4};
  EXPECT_EQ(endpoint.Connect(no_ccid, pair.now).error(), Error::kUnsupportedCcid);
  ConnectParams large = pair.Params();
  const Bytes data(1500);
  large.request_data = data;
  EXPECT_EQ(endpoint.Connect(large, pair.now).error(), Error::kMessageTooLarge);
  EXPECT_EQ(endpoint.ActiveConnections(), 0u);
  EXPECT_THAT(pair.a.Sent(pair.now), IsEmpty());
}

TEST(EndpointLife, ListenRefusesOptionsThatCannotBeMet) {
  TestHost host;
  ListenParams params;
  params.port = 1;
  params.options.rx_ccids = {CcidId::k3};
  EXPECT_EQ(host.endpoint->Listen(params).error(), Error::kUnsupportedCcid);
  params.options = {};
  params.options.sequence_window = 31;
  EXPECT_EQ(host.endpoint->Listen(params).error(), Error::kInvalidArgument);
}

TEST(EndpointLife, AcceptedEventNamesTheListenerOnceOpen) {
  HostPair pair;
  const ListenerId listener = *pair.Listen();
  pair.conn_a = pair.Connect();
  // Up to the Response nobody on the server's side hears of the connection.
  for (const SentDatagram& sent : pair.a.Sent(pair.now))
    pair.b.Receive(sent.bytes, Reverse(sent.path), pair.now);
  EXPECT_THAT(pair.b.Events(), IsEmpty());
  EXPECT_EQ(pair.b.endpoint->counters().connections_accepted, 0u);
  pair.Exchange();
  const std::vector<Event> events = pair.b.Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].listener, listener);
  EXPECT_EQ(events[0].bits & (kEventAccepted | kEventConnected), std::uint32_t{kEventAccepted});
  EXPECT_EQ(pair.b.endpoint->counters().connections_accepted, 1u);
  const std::vector<Event> client = pair.a.Events();
  ASSERT_THAT(client, SizeIs(1));
  EXPECT_EQ(client[0].bits & (kEventAccepted | kEventConnected), std::uint32_t{kEventConnected});
}

TEST(EndpointLife, RequestWithDataReachesTheApplicationWithTheAcceptedEvent) {
  HostPair pair;
  ASSERT_TRUE(pair.Listen().ok());
  ConnectParams params = pair.Params();
  const Bytes data(100, std::byte{7});
  params.request_data = data;
  ASSERT_TRUE(pair.a.endpoint->Connect(params, pair.now).ok());
  pair.Exchange();
  const std::vector<Event> events = pair.b.Events();
  ASSERT_THAT(events, SizeIs(1));
  constexpr std::uint32_t kBoth = kEventAccepted | kEventReadable;
  EXPECT_EQ(events[0].bits & kBoth, kBoth);
  std::array<ReceivedDatagram, 4> out;
  ASSERT_EQ(pair.b.endpoint->Read(events[0].conn, out), 1u);
  EXPECT_EQ(out[0].bytes.size(), 100u);
}

TEST(EndpointLife, AHalfOpenConnectionThatDiesLeavesNoTrace) {
  HostPair pair;
  ASSERT_TRUE(pair.Listen().ok());
  pair.Connect();
  pair.Exchange([](bool from_a, const SentDatagram&) { return from_a; });
  EXPECT_EQ(pair.b.endpoint->ActiveConnections(), 1u);
  for (int i = 0; i < 100; ++i) {
    pair.Advance(seconds(10));
    pair.b.Sent(pair.now);
  }
  EXPECT_EQ(pair.b.endpoint->ActiveConnections(), 0u);
  EXPECT_THAT(pair.b.Events(), IsEmpty());
}

TEST(EndpointLife, BacklogBoundsHalfOpenConnectionsOnly) {
  HostPair pair;
  ASSERT_TRUE(pair.Listen(2).ok());
  const auto no_acks = [](bool from_a, const SentDatagram& sent) {
    return !from_a || sent.view().type() == PacketType::kRequest;
  };
  const ConnId first = pair.Connect();
  pair.Connect();
  pair.Exchange(no_acks);
  EXPECT_EQ(pair.b.endpoint->ActiveConnections(), 2u);
  // A third one takes the place of the oldest, which had its time to answer.
  pair.Advance(seconds(4));
  pair.Exchange(no_acks);
  pair.Connect();
  pair.Exchange(no_acks);
  EXPECT_EQ(pair.b.endpoint->ActiveConnections(), 2u);
  EXPECT_EQ(pair.b.endpoint->counters().half_open_evicted, 1u);
  for (int i = 0; i < 10; ++i) {
    pair.Advance(seconds(1));
    pair.Exchange();
  }
  EXPECT_EQ(pair.b.endpoint->counters().connections_accepted, 2u);
  EXPECT_EQ(pair.a.endpoint->Info(first)->close.reset.code, ResetCode::kNoConnection);
  // Open ones do not count.
  pair.Connect();
  pair.Connect();
  pair.Exchange();
  EXPECT_EQ(pair.b.endpoint->counters().connections_accepted, 4u);
  EXPECT_EQ(pair.b.endpoint->counters().half_open_evicted, 1u);
}

TEST(EndpointLife, WithoutABacklogAndASealerAListenerIsBusy) {
  HostPair pair;
  ASSERT_TRUE(pair.Listen(0).ok());
  const ConnId conn = pair.Connect();
  pair.Exchange();
  EXPECT_EQ(pair.b.dropped(DropReason::kTooManyConnections), 1u);
  EXPECT_EQ(pair.a.endpoint->Info(conn)->close.reset.code, ResetCode::kTooBusy);
}

TEST(EndpointLife, StopListeningForgetsHalfOpenConnectionsAndKeepsOpenOnes) {
  HostPair pair;
  const ListenerId listener = *pair.Listen();
  const ConnId open = pair.Connect();
  pair.Exchange();
  ASSERT_THAT(pair.b.Events(), SizeIs(1));
  const ConnId half_open = pair.Connect();
  pair.Exchange([](bool from_a, const SentDatagram& sent) {
    return !from_a || sent.view().type() == PacketType::kRequest;
  });
  ASSERT_TRUE(pair.b.endpoint->StopListening(listener).ok());
  EXPECT_EQ(pair.b.endpoint->StopListening(listener).error(), Error::kNoSuchListener);
  EXPECT_EQ(pair.b.endpoint->ActiveConnections(), 1u);
  for (int i = 0; i < 5; ++i) {
    pair.Advance(seconds(1));
    pair.Exchange();
  }
  EXPECT_EQ(pair.a.endpoint->Info(open)->state, State::kOpen);
  EXPECT_EQ(pair.a.endpoint->Info(half_open)->close.reset.code, ResetCode::kNoConnection);
  EXPECT_THAT(pair.b.Events(), IsEmpty());
}

TEST(EndpointLife, StaleHandlesAreErrors) {
  HostPair pair;
  pair.Establish();
  Endpoint& a = *pair.a.endpoint;
  a.SetUserData(pair.conn_a, 77);
  EXPECT_EQ(a.UserData(pair.conn_a), 77u);
  a.Release(pair.conn_a, pair.now);
  a.Release(pair.conn_a, pair.now);
  EXPECT_EQ(a.Send(pair.conn_a, {}).error(), Error::kNoSuchConnection);
  EXPECT_EQ(a.ReserveSend(pair.conn_a, 10).error(), Error::kNoSuchConnection);
  EXPECT_EQ(a.Close(pair.conn_a, pair.now).error(), Error::kNoSuchConnection);
  EXPECT_EQ(a.Abort(pair.conn_a, pair.now).error(), Error::kNoSuchConnection);
  EXPECT_EQ(a.Info(pair.conn_a).error(), Error::kNoSuchConnection);
  EXPECT_EQ(a.Feature(pair.conn_a, FeatureNumber::kCcid, true).error(), Error::kNoSuchConnection);
  EXPECT_EQ(a.UserData(pair.conn_a), 0u);
  EXPECT_EQ(a.SendRoom(pair.conn_a, 1), 0u);
  std::array<ReceivedDatagram, 1> out;
  EXPECT_EQ(a.Read(pair.conn_a, out), 0u);
  EXPECT_EQ(a.Info(ConnId()).error(), Error::kNoSuchConnection);
}

TEST(EndpointLife, ReleasingAnOpenConnectionAbortsIt) {
  HostPair pair;
  pair.Establish();
  pair.a.endpoint->Release(pair.conn_a, pair.now);
  pair.Exchange();
  EXPECT_EQ(pair.a.endpoint->ActiveConnections(), 0u);
  EXPECT_THAT(pair.a.Events(), IsEmpty());
  const Result<ConnectionInfo> info = pair.b.endpoint->Info(pair.conn_b);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->close.by, ClosedBy::kRemote);
  EXPECT_EQ(info->close.reset.code, ResetCode::kAborted);
}

TEST(EndpointLife, AClosingConnectionThatIsReleasedEndsProperly) {
  HostPair pair;
  pair.Establish();
  const Bytes data(500);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pair.a.endpoint->Send(pair.conn_a, data).ok());
  ASSERT_TRUE(pair.a.endpoint->Close(pair.conn_a, pair.now).ok());
  pair.a.endpoint->Release(pair.conn_a, pair.now);
  for (int i = 0; i < 10; ++i) {
    pair.Exchange();
    pair.Advance(seconds(1));
  }
  EXPECT_EQ(pair.a.endpoint->ActiveConnections(), 0u);
  EXPECT_EQ(pair.b.endpoint->Info(pair.conn_b)->counters.data_packets_received, 3u);
  EXPECT_TRUE(pair.b.endpoint->Info(pair.conn_b)->close.clean);
}

class TimeWaitTest : public ::testing::Test {
 protected:
  // The client asks to close, so it holds TIMEWAIT.
  void SetUp() override {
    pair_.Establish();
    tuple_ = pair_.a.endpoint->Info(pair_.conn_a)->tuple;
    ASSERT_TRUE(pair_.a.endpoint->Close(pair_.conn_a, pair_.now).ok());
    pair_.Exchange();
    ASSERT_EQ(pair_.a.endpoint->Info(pair_.conn_a)->state, State::kTimeWait);
    ASSERT_EQ(pair_.b.endpoint->Info(pair_.conn_b)->state, State::kClosed);
  }
  Bytes FromServer(PacketType type) {
    HeaderFields fields = Fields(type);
    fields.source_port = tuple_.remote_port;
    fields.destination_port = tuple_.local_port;
    return MakePacket(fields, pair_.path);
  }
  HostPair pair_;
  FlowTuple tuple_;
};

TEST_F(TimeWaitTest, R4340_CLS_08_AnswersAllButResetWithNoConnection) {
  for (const bool released : {false, true}) {
    if (released) pair_.a.endpoint->Release(pair_.conn_a, pair_.now);
    for (unsigned type = 0; type < 10; ++type) {
      pair_.a.Receive(FromServer(static_cast<PacketType>(type)), pair_.path, pair_.now);
      const std::vector<SentDatagram> sent = pair_.a.Sent(pair_.now);
      if (static_cast<PacketType>(type) == PacketType::kReset) {
        EXPECT_THAT(sent, IsEmpty());
        continue;
      }
      ASSERT_THAT(sent, SizeIs(1));
      EXPECT_EQ(sent[0].view().reset_reason().code, ResetCode::kNoConnection);
    }
  }
}

TEST_F(TimeWaitTest, R4340_GEN_09_TheTupleIsOccupiedFor2Msl) {
  pair_.a.endpoint->Release(pair_.conn_a, pair_.now);
  ConnectParams params = pair_.Params();
  params.local_port = tuple_.local_port;
  EXPECT_EQ(pair_.a.endpoint->Connect(params, pair_.now).error(), Error::kPortInUse);
  pair_.now += 2 * kMsl - seconds(1);
  EXPECT_EQ(pair_.a.endpoint->Connect(params, pair_.now).error(), Error::kPortInUse);
  pair_.now += seconds(1);
  EXPECT_TRUE(pair_.a.endpoint->Connect(params, pair_.now).ok());
}

TEST_F(TimeWaitTest, InfoFollowsTheTable) {
  pair_.Advance(2 * kMsl - seconds(1));
  EXPECT_EQ(pair_.a.endpoint->Info(pair_.conn_a)->state, State::kTimeWait);
  pair_.Advance(seconds(1));
  EXPECT_EQ(pair_.a.endpoint->Info(pair_.conn_a)->state, State::kClosed);
}

// The server closes with SERVER_TIMEWAIT; a new Request of the same tuple has to wait.
TEST(EndpointLife, R4340_CLS_08_RequestOnATimeWaitTupleOfAServer) {
  HostPair pair;
  ListenParams listen;
  listen.port = 5001;
  listen.options.server_timewait = true;
  ASSERT_TRUE(pair.b.endpoint->Listen(listen).ok());
  pair.conn_a = pair.Connect();
  pair.Exchange();
  const std::vector<Event> events = pair.b.Events();
  ASSERT_THAT(events, SizeIs(1));
  ASSERT_TRUE(pair.b.endpoint->Close(events[0].conn, pair.now).ok());
  const FlowTuple tuple = pair.a.endpoint->Info(pair.conn_a)->tuple;
  pair.Exchange();
  ASSERT_EQ(pair.b.endpoint->Info(events[0].conn)->state, State::kTimeWait);
  HeaderFields fields = Fields(PacketType::kRequest);
  fields.source_port = tuple.local_port;
  const Path path = Reverse(pair.path);
  pair.b.Receive(MakePacket(fields, path), path, pair.now);
  std::vector<SentDatagram> sent = pair.b.Sent(pair.now);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].view().reset_reason().code, ResetCode::kNoConnection);
  pair.Advance(2 * kMsl);
  pair.b.Receive(MakePacket(fields, path), path, pair.now);
  sent = pair.b.Sent(pair.now);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].view().type(), PacketType::kResponse);
}

TEST(EndpointLife, MaxConnectionsBoundsBothSides) {
  HostPair pair(Encapsulation::kUdp, [](EndpointConfig& c) { c.max_connections = 3; });
  ASSERT_TRUE(pair.Listen().ok());
  std::vector<ConnId> conns;
  for (int i = 0; i < 3; ++i) conns.push_back(pair.Connect());
  EXPECT_EQ(pair.a.endpoint->Connect(pair.Params(), pair.now).error(), Error::kTooManyConnections);
  pair.Exchange();
  EXPECT_EQ(pair.b.endpoint->ActiveConnections(), 3u);
  // What is in TIMEWAIT counts until the application has let go, and no longer: otherwise a peer
  // that opens and resets connections could keep everybody out.
  ASSERT_TRUE(pair.a.endpoint->Close(conns[0], pair.now).ok());
  pair.Exchange();
  EXPECT_EQ(pair.a.endpoint->ActiveConnections(), 2u);
  EXPECT_EQ(pair.a.endpoint->Connect(pair.Params(), pair.now).error(), Error::kTooManyConnections);
  pair.a.endpoint->Release(conns[0], pair.now);
  EXPECT_TRUE(pair.a.endpoint->Connect(pair.Params(), pair.now).ok());
}

TEST(EndpointLife, LocalPortInUse) {
  HostPair pair;
  ConnectParams params = pair.Params();
  params.local_port = 1234;
  ASSERT_TRUE(pair.a.endpoint->Connect(params, pair.now).ok());
  EXPECT_EQ(pair.a.endpoint->Connect(params, pair.now).error(), Error::kPortInUse);
  params.remote_port = 5002;
  EXPECT_TRUE(pair.a.endpoint->Connect(params, pair.now).ok());
}

TEST(EndpointLife, R4340_SEQ_03_AReconnectionContinuesAboveTheFirst) {
  HostPair pair;
  ConnectParams params = pair.Params();
  params.local_port = 1234;
  const auto first_seq = [&] {
    const ConnId conn = *pair.a.endpoint->Connect(params, pair.now);
    const SeqNo seq = pair.a.Sent(pair.now).at(0).view().seq();
    pair.a.endpoint->Release(conn, pair.now);
    pair.a.Sent(pair.now);
    return seq;
  };
  const SeqNo first = first_seq();
  pair.now += seconds(1);
  EXPECT_EQ(first_seq().Minus(first), 1'000'000'000 / 256);
}

}  // namespace
}  // namespace dccp
