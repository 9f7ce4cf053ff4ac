// RFC 4340 §8.1.4, §8.5 step 3: a listener that keeps its half-open connections in Init Cookies.

#include <gtest/gtest.h>

#include "tests/support/test_sealer.h"
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
using ::testing::SizeIs;

// Enough for a Response to a Request of this size: features that are wished for anyway.
const Octets kWishes = {32, 4, 1, 2, 34, 4, 1, 2, 41, 6, 0, 0, 0, 9, 0, 0};

class InitCookieServer : public ::testing::Test {
 protected:
  // Always cookies, unless `adjust_listen` says otherwise.
  WirePeerConfig Config(WirePeerConfig config = {}) {
    config.adjust = [this](EndpointConfig& endpoint) { endpoint.cookie_sealer = &sealer_; };
    if (!config.adjust_listen) {
      config.adjust_listen = [](ListenParams& params) { params.cookies_above = 0; };
    }
    return config;
  }

  // The Init Cookies of a packet, as options to be sent back.
  static Octets CookiesOf(const SentPacket& packet) {
    Octets out;
    for (const WireOption& option : packet.options) {
      if (option.type != OptionType::kInitCookie) continue;
      out.push_back(36);
      out.push_back(static_cast<std::uint8_t>(option.data.size() + 2));
      out.insert(out.end(), option.data.begin(), option.data.end());
    }
    return out;
  }

  static SentPacket Ask(WirePeer& peer, const Octets& options = kWishes) {
    peer.Inject(Request(peer.Next()).With(options));
    return peer.TakeOne();
  }
  // The Ack that completes the handshake.
  static PacketSpec Answer(WirePeer& peer, const SentPacket& response) {
    return Ack(peer.Next(), response.seq).With(ConfirmsFor(response)).With(CookiesOf(response));
  }

  TestSealer sealer_;
};

TEST_F(InitCookieServer, R4340_COOK_04_NothingIsKeptOfARequest) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  EXPECT_THAT(response, IsResponse(kIss, kPeerIss, HasOption(OptionType::kInitCookie),
                                   HasOption(OptionType::kTimestampEcho)));
  EXPECT_TRUE(response.may_fragment);
  EXPECT_EQ(response.source_port, WirePeer::kEndpointPort);
  EXPECT_EQ(response.destination_port, WirePeer::kPeerPort);
  for (const WireOption& option : response.options) {
    EXPECT_LE(option.data.size(), 253u);
  }
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  EXPECT_EQ(peer.endpoint().NextTimeout(), kNever);
  EXPECT_EQ(peer.endpoint().counters().cookies_sent, 1u);
  EXPECT_EQ(peer.TakeEvents(), 0u);
  EXPECT_EQ(peer.state(), State::kClosed) << "no connection ever changed its state";
}

TEST_F(InitCookieServer, R4340_COOK_05_EVT_03_AnAckWithACookieOpens) {
  for (const auto encapsulation : {Encapsulation::kUdp, Encapsulation::kNative}) {
    for (const auto family : {IpFamily::kV4, IpFamily::kV6}) {
      WirePeer peer(Config({.encapsulation = encapsulation,
                            .family = family,
                            .service_codes = {ServiceCode(1), ServiceCode(42)}}));
      peer.Listen();
      peer.Inject(Request(5000).With(kWishes).Service(42));
      const SentPacket response = peer.TakeOne();
      EXPECT_EQ(response.service_code, 42u);
      EXPECT_TRUE(response.checksum_good);
      peer.Advance(milliseconds(80));
      peer.Inject(Ack(5001, response.seq).With(ConfirmsFor(response)).With(CookiesOf(response)));
      EXPECT_EQ(peer.state(), State::kOpen);
      EXPECT_NE(peer.TakeEvents() & kEventAccepted, 0u);
      EXPECT_THAT(peer.Take(), ElementsAre(IsAck(response.seq + 1, 5001u)));
      const ConnectionInfo info = peer.Info();
      EXPECT_EQ(info.service_code, ServiceCode(42));
      EXPECT_EQ(info.rtt, milliseconds(80)) << "the cookie tells when the Response left";
      EXPECT_EQ(info.tuple.path, peer.path());
      EXPECT_EQ(peer.endpoint().counters().cookies_accepted, 1u);
      EXPECT_EQ(peer.endpoint().counters().connections_accepted, 1u);
      peer.Inject(DataAck(5002, peer.gss(), "hello"));
      EXPECT_THAT(peer.Read(), ElementsAre("hello"));
    }
  }
}

TEST_F(InitCookieServer, R4340_COOK_05_DataMayComeWithTheCookie) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  // The first of them is lost.
  peer.Inject(DataAck(5002, response.seq, "hello").With(CookiesOf(response)));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_THAT(peer.Read(), ElementsAre("hello"));
  peer.Inject(DataAck(5001, response.seq, "late").With(CookiesOf(response)));
  EXPECT_THAT(peer.Read(), ElementsAre("late"));
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 1u);
}

TEST_F(InitCookieServer, R4340_COOK_05_ACloseWithTheCookieOpensAndCloses) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  peer.Inject(Close(5001, response.seq).With(CookiesOf(response)));
  const std::uint32_t events = peer.TakeEvents();
  EXPECT_NE(events & kEventAccepted, 0u);
  EXPECT_NE(events & kEventClosed, 0u);
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 1)));
  EXPECT_TRUE(peer.Info().close.clean);
}

// Every feature that the handshake settles, asked for by either side.
TEST_F(InitCookieServer, R4340_COOK_04_FeaturesSurviveTheCookie) {
  WirePeerConfig config;
  config.options.sequence_window = 500;
  config.options.ack_ratio = 3;
  config.options.send_ndp_count = true;
  config.options.checksum_coverage = 4;
  config.options.min_checksum_coverage = 2;
  config.options.data_checksum = true;
  config.options.short_seqnos = true;
  const Octets request = {32, 9, 3, 0, 0, 0, 0, 0x10, 0,  // Change L(Sequence Window, 4096)
                          32, 5, 5, 0, 7,                 // Change L(Ack Ratio, 7)
                          32, 4, 6, 1,                    // Change L(Send Ack Vector, 1)
                          34, 4, 2, 1,                    // Change R(Allow Short Seqnos, 1)
                          34, 4, 8, 3,                    // Change R(Minimum Checksum Coverage, 3)
                          32, 4, 1, 2,                    // Change L(CCID, 2)
                          41, 6, 0, 0, 0, 1};
  std::array<std::vector<std::uint64_t>, 2> agreed;
  std::array<SentPacket, 2> responses;
  for (const bool cookies : {false, true}) {
    const auto which = static_cast<std::size_t>(cookies);
    config.adjust_listen = [cookies](ListenParams& params) {
      params.cookies_above = cookies ? 0u : 100u;
    };
    WirePeer peer(Config(config));
    peer.Listen();
    responses[which] = Ask(peer, request);
    EXPECT_EQ(CookiesOf(responses[which]).empty(), !cookies);
    peer.Advance(milliseconds(50));
    peer.Inject(Answer(peer, responses[which]));
    ASSERT_EQ(peer.state(), State::kOpen);
    for (std::uint8_t n = 1; n <= 9; ++n) {
      for (bool here : {true, false}) agreed[which].push_back(peer.Feature(FeatureNumber{n}, here));
    }
    // What the server says of its features on the next packet is the same too: nothing.
    peer.Take();
    peer.Inject(DataAck(peer.Next(), peer.gss(), "x"));
    for (const SentPacket& packet : peer.Take()) {
      for (const WireOption& option : packet.options)
        EXPECT_FALSE(option.type >= OptionType::kChangeL && option.type <= OptionType::kConfirmR);
    }
  }
  EXPECT_EQ(agreed[0], agreed[1]);
  EXPECT_EQ(agreed[1][2 * 2 + 1], 4096u) << "Sequence Window of the client";
  EXPECT_EQ(agreed[1][2 * 2], 500u) << "Sequence Window of the server";
  std::vector<WireOption> without;
  for (const WireOption& option : responses[1].options)
    if (option.type != OptionType::kInitCookie) without.push_back(option);
  EXPECT_EQ(without, responses[0].options) << "the Response is the same but for the cookie";
}

// ------------------------------------------------------------------------------- forgeries ------

TEST_F(InitCookieServer, R4340_COOK_03_AFlippedBitDrawsBadInitCookie) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  const Octets good = CookiesOf(response);
  // All but type and length.
  for (std::size_t i = 2; i < good.size(); ++i) {
    Octets bad = good;
    bad[i] ^= static_cast<std::uint8_t>(1u << i % 8);
    peer.Inject(Ack(5001, response.seq).With(bad));
    ASSERT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 10)));
    peer.Advance(milliseconds(10));
  }
  EXPECT_EQ(peer.Dropped(DropReason::kBadInitCookie), good.size() - 2);
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  peer.Inject(Ack(5001, response.seq).With(good));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST_F(InitCookieServer, R4340_COOK_03_ACookieOfOddSizeIsBad) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  const Octets good = CookiesOf(response);
  Octets longer = good;
  longer.insert(longer.end(), good.begin(), good.end());
  for (const Octets& bad : {Octets{36, 3, 1}, Octets{36, 10, 1, 2, 3, 4, 5, 6, 7, 8}, longer}) {
    peer.Inject(Ack(5001, response.seq).With(bad));
    EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 10)));
  }
  // One without content is none at all.
  peer.Inject(Ack(5001, response.seq).With({36, 2}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 3)));
}

TEST_F(InitCookieServer, R4340_COOK_03_AnotherFlowsCookieIsBad) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  const Bytes ack = peer.BuildPacket(Ack(5001, response.seq).With(CookiesOf(response)));
  Path path = peer.path();
  path.remote.bytes[3] ^= 1;
  peer.InjectRawFrom(ack, path);
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 10)));
  path = peer.path();
  ++path.remote_udp_port;
  peer.InjectRawFrom(ack, path);
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 10)));
  peer.InjectRaw(Build(Ack(5001, response.seq).With(CookiesOf(response)), WirePeer::kPeerPort + 1,
                       WirePeer::kEndpointPort, nullptr));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 10)));
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
}

TEST_F(InitCookieServer, R4340_COOK_03_AnOldCookieIsBad) {
  for (const Duration age : {minutes(2) - milliseconds(1), minutes(2) + milliseconds(1)}) {
    WirePeer peer(Config());
    peer.Listen();
    const SentPacket response = Ask(peer);
    peer.Advance(age);
    peer.Inject(Answer(peer, response));
    EXPECT_EQ(peer.state() == State::kOpen, age < minutes(2));
    EXPECT_EQ(peer.Dropped(DropReason::kBadInitCookie), age < minutes(2) ? 0u : 1u);
  }
}

TEST_F(InitCookieServer, R4340_COOK_03_RST_11_ForgeriesAreAnsweredAtALimitedRate) {
  WirePeer peer(Config());
  peer.Listen();
  for (int i = 0; i < 20'000; ++i) {
    peer.Inject(Ack(5001, 7000).With({36, 6, 1, 2, 3, static_cast<std::uint8_t>(i)}));
    peer.Advance(std::chrono::microseconds(50));
  }
  EXPECT_LE(peer.Take().size(), 1024u + 128 + 1);
  EXPECT_GT(peer.Dropped(DropReason::kRateLimited), 15'000u);
}

// A stranger can make a client send a Sync, cookie and all, that acknowledges what the stranger
// sent. Its connection must not suffer.
TEST_F(InitCookieServer, R4340_COOK_02_ACookieBesideAnotherNumberIsNoForgery) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  peer.Inject(Sync(5001, response.seq + 1'000'000).With(CookiesOf(response)));
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.Dropped(DropReason::kSequenceInvalid), 1u);
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  peer.Inject(Ack(5002, response.seq).With(CookiesOf(response)));
  EXPECT_EQ(peer.state(), State::kOpen);
}

// -------------------------------------------------------------------------- what is no cookie ---

TEST_F(InitCookieServer, R4340_COOK_05_WithoutACookieThereIsNoConnection) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  peer.Inject(Ack(5001, response.seq));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 3)));
  // Short sequence numbers are never valid in a handshake.
  peer.Inject(Ack(5001, response.seq).With(CookiesOf(response)).Short());
  EXPECT_THAT(peer.Take(), ElementsAre(AllOf(HasType(PacketType::kReset), HasReason(3, 0, 0, 0))));
  EXPECT_EQ(sealer_.opened, 0u);
}

TEST_F(InitCookieServer, R4340_COOK_01_OnRequestAndDataItMeansNothing) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  peer.Inject(Data(5001, "x").With(CookiesOf(response)));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(0u, 5001u, 3)));
  peer.Inject(Request(5002).With(CookiesOf(response)));
  EXPECT_THAT(peer.Take(), ElementsAre(HasType(PacketType::kResponse)));
  peer.Inject(Reset(5003, response.seq, 2).With(CookiesOf(response)));
  peer.Inject(Response(5004, response.seq).With(CookiesOf(response)));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5004u, 3)));
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  EXPECT_EQ(sealer_.opened, 0u);
}

TEST_F(InitCookieServer, R4340_COOK_01_InAConnectionThatExistsItIsIgnored) {
  WirePeerConfig config;
  config.adjust_listen = [](ListenParams& params) { params.cookies_above = 1; };
  WirePeer peer(Config(config));
  peer.Listen();
  const SentPacket response = Ask(peer);
  EXPECT_THAT(CookiesOf(response), IsEmpty());
  peer.Inject(Ack(5001, response.seq).With({36, 6, 1, 2, 3, 4}));
  EXPECT_EQ(peer.state(), State::kOpen);
  peer.Inject(DataAck(5002, peer.gss(), "x").With({36, 6, 1, 2, 3, 4}));
  EXPECT_THAT(peer.Read(), ElementsAre("x"));
  EXPECT_EQ(sealer_.opened, 0u);
}

TEST_F(InitCookieServer, R4340_COOK_05_ForAListenerThatIsGoneItIsWorthless) {
  WirePeer peer(Config({.service_codes = {ServiceCode(7)}}));
  ListenParams params;
  params.port = WirePeer::kEndpointPort;
  params.cookies_above = 0;
  const ListenerId listener = *peer.endpoint().Listen(params);
  const SentPacket response = Ask(peer);
  peer.Listen();  // of another service, on the same port
  ASSERT_TRUE(peer.endpoint().StopListening(listener).ok());
  peer.Inject(Ack(5001, response.seq).With(CookiesOf(response)));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 3)));
}

// Both ends would disagree about what was agreed.
TEST_F(InitCookieServer, R4340_COOK_03_AListenerWithOtherWishesRefusesIt) {
  WirePeer peer(Config());
  ListenParams params;
  params.port = WirePeer::kEndpointPort;
  params.cookies_above = 0;
  params.options.initial_sequence = SeqNo(kIss);
  const ListenerId listener = *peer.endpoint().Listen(params);
  const SentPacket response = Ask(peer);
  ASSERT_TRUE(peer.endpoint().StopListening(listener).ok());
  params.options.sequence_window = 777;
  ASSERT_TRUE(peer.endpoint().Listen(params).ok());
  peer.Inject(Ack(5001, response.seq).With(CookiesOf(response)));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(response.seq + 1, 5001u, 10)));
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
}

// -------------------------------------------------------------------------------- repetitions ---

// Deviation of the server: without state it cannot count its Responses.
TEST_F(InitCookieServer, R4340_COOK_04_CON_08_AnyOfSeveralResponsesWillDo) {
  for (const bool first : {true, false}) {
    WirePeerConfig config = Config();
    config.fixed_iss = false;
    WirePeer peer(config);
    peer.Listen();
    peer.Inject(Request(5000).With(kWishes));
    peer.Advance(seconds(1));
    peer.Inject(Request(5001).With(kWishes));
    const auto responses = peer.Take();
    ASSERT_THAT(responses, SizeIs(2));
    EXPECT_EQ(responses[0].seq, responses[1].seq);
    EXPECT_EQ(responses[0].ack, 5000u);
    EXPECT_EQ(responses[1].ack, 5001u);
    EXPECT_NE(CookiesOf(responses[0]), CookiesOf(responses[1]));
    const SentPacket& response = responses[first ? 0 : 1];
    peer.Inject(Ack(5002, response.seq).With(CookiesOf(response)));
    EXPECT_THAT(peer.Take(), ElementsAre(IsAck(response.seq + 1, 5002u)));
    // The other one, from a second packet that was under way.
    peer.Inject(Ack(5003, response.seq).With(CookiesOf(responses[first ? 1 : 0])));
    EXPECT_EQ(peer.state(), State::kOpen);
    EXPECT_EQ(peer.endpoint().ActiveConnections(), 1u);
  }
}

TEST_F(InitCookieServer, R4340_COOK_05_Bug_A24_TwoAcksMakeOneConnection) {
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer);
  const Bytes ack = peer.BuildPacket(Answer(peer, response));
  const Bytes next = peer.BuildPacket(Answer(peer, response));
  std::array<InboundDatagram, 3> batch;
  for (InboundDatagram& datagram : batch) {
    datagram.bytes = ack;
    datagram.path = peer.path();
  }
  batch[2].bytes = next;
  peer.endpoint().Receive(batch, peer.now());
  peer.Advance(milliseconds(1));
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 1u);
  EXPECT_EQ(peer.endpoint().counters().connections_accepted, 1u);
  EXPECT_EQ(peer.endpoint().counters().cookies_accepted, 1u);
  EXPECT_EQ(peer.Info().counters.duplicates, 1u);
}

TEST_F(InitCookieServer, R4340_COOK_05_ACopyOfAnOldAckDoesNotBeginItOnceMore) {
  for (const bool client_closes : {true, false}) {
    WirePeer peer(Config());
    peer.Listen();
    const SentPacket response = Ask(peer);
    const PacketSpec ack = Answer(peer, response);
    peer.Inject(ack);
    ASSERT_EQ(peer.state(), State::kOpen);
    peer.Take();
    if (client_closes) {
      peer.Inject(Close(peer.Next(), peer.gss()));
    } else {
      ASSERT_TRUE(peer.Abort().ok());
    }
    peer.Take();
    peer.TakeEvents();
    // As long as the cookie is good, and after that.
    for (const Duration later : {seconds(0), seconds(60), seconds(70), seconds(300)}) {
      peer.Advance(later);
      peer.Inject(ack);
      EXPECT_THAT(peer.Take(), ElementsAre(HasType(PacketType::kReset)));
    }
    EXPECT_EQ(peer.TakeEvents(), 0u);
    EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  }
}

TEST_F(InitCookieServer, R4340_COOK_04_Bug_A23_TenThousandRequestsLeaveNothing) {
  WirePeer peer(Config());
  peer.Listen();
  for (int i = 0; i < 10'000; ++i) {
    peer.Inject(Request(5000 + static_cast<std::uint64_t>(i)).With(kWishes));
    peer.Take();
  }
  EXPECT_EQ(peer.endpoint().counters().cookies_sent, 10'000u);
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
}

TEST_F(InitCookieServer, R4340_COOK_04_Bug_A25_EachClientGetsItsOwnTimestampBack) {
  WirePeer peer(Config());
  peer.Listen();
  std::vector<Bytes> requests;
  std::vector<InboundDatagram> batch(2);
  for (std::uint8_t i = 0; i < 2; ++i) {
    requests.push_back(Build(Request(5000).With(kWishes).With({41, 6, 0xAA, 0, 0, i}),
                             static_cast<std::uint16_t>(WirePeer::kPeerPort + i),
                             WirePeer::kEndpointPort, nullptr));
    batch[i].path = peer.path();
  }
  for (std::size_t i = 0; i < 2; ++i) batch[i].bytes = requests[i];
  peer.endpoint().Receive(batch, peer.now());
  peer.Advance(milliseconds(1));
  const auto responses = peer.Take();
  ASSERT_THAT(responses, SizeIs(2));
  for (std::uint8_t i = 0; i < 2; ++i) {
    EXPECT_EQ(responses[i].destination_port, WirePeer::kPeerPort + i);
    EXPECT_THAT(responses[i], HasOption(OptionType::kTimestampEcho, ElementsAre(0xAA, 0, 0, i)));
  }
}

// --------------------------------------------------------------------- when, and what does fit ---

TEST_F(InitCookieServer, R4340_COOK_03_CookiesBeginAtTheirThreshold) {
  WirePeerConfig config;
  config.adjust_listen = [](ListenParams& params) { params.backlog = 6; };
  WirePeer peer(Config(config));
  peer.Listen();
  int with_cookie = 0;
  for (std::uint16_t i = 0; i < 10; ++i) {
    peer.InjectRaw(Build(Request(5000).With(kWishes),
                         static_cast<std::uint16_t>(WirePeer::kPeerPort + i),
                         WirePeer::kEndpointPort, nullptr));
    const SentPacket response = peer.TakeOne();
    EXPECT_EQ(response.type, PacketType::kResponse);
    const bool cookie = !CookiesOf(response).empty();
    EXPECT_EQ(cookie, i >= 3) << "half the backlog by default";
    with_cookie += cookie ? 1 : 0;
  }
  EXPECT_EQ(with_cookie, 7);
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 3u);
  EXPECT_EQ(peer.endpoint().counters().half_open_evicted, 0u);
}

TEST_F(InitCookieServer, R4340_COOK_04_RequestDataTravelsInTheCookieWhereItFits) {
  WirePeer peer(Config());
  peer.Listen();
  peer.Inject(Request(5000).With(kWishes).Payload("early"));
  const SentPacket response = peer.TakeOne();
  EXPECT_THAT(response, Not(HasOption(OptionType::kDataDropped)));
  peer.Inject(DataAck(5001, response.seq, "later").With(CookiesOf(response)));
  EXPECT_THAT(peer.Read(), ElementsAre("early", "later"));
}

TEST_F(InitCookieServer, R4340_COOK_04_CON_09_LongerRequestDataIsRefused) {
  WirePeer peer(Config());
  peer.Listen();
  peer.Inject(Request(5000).With(kWishes).Payload(std::string(600, 'x')));
  const SentPacket response = peer.TakeOne();
  EXPECT_THAT(response, HasOption(OptionType::kDataDropped, ElementsAre(0x80)));
  peer.Inject(DataAck(5001, response.seq, "later").With(CookiesOf(response)));
  EXPECT_THAT(peer.Read(), ElementsAre("later"));
}

TEST_F(InitCookieServer, R4340_COOK_04_LongCookiesTakeSeveralOptions) {
  Octets options = kWishes;
  for (int i = 0; i < 10; ++i)
    options.insert(options.end(), {45, 32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4,
                                   5,  6,  7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer, options);
  std::size_t cookies = 0;
  for (const WireOption& option : response.options)
    cookies += option.type == OptionType::kInitCookie ? 1u : 0u;
  EXPECT_EQ(cookies, 2u);
  peer.Inject(Answer(peer, response));
  EXPECT_EQ(peer.state(), State::kOpen);
}

// Such a Request is answered as without cookies: within the backlog.
TEST_F(InitCookieServer, R4340_COOK_03_WhatACookieCannotHoldIsKept) {
  Octets options = kWishes;
  for (int i = 0; i < 28; ++i)
    options.insert(options.end(), {45, 32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4,
                                   5,  6,  7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
  WirePeer peer(Config());
  peer.Listen();
  const SentPacket response = Ask(peer, options);
  EXPECT_EQ(response.type, PacketType::kResponse);
  EXPECT_THAT(CookiesOf(response), IsEmpty());
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 1u);
}

TEST_F(InitCookieServer, R4340_COOK_03_NoMoreThanThreeTimesWhatCame) {
  for (const auto encapsulation : {Encapsulation::kUdp, Encapsulation::kNative}) {
    const std::size_t lower = encapsulation == Encapsulation::kUdp ? 28 : 20;
    for (std::size_t extra = 0; extra < 250; ++extra) {
      sealer_.extra_bytes = extra;
      WirePeer peer(Config({.encapsulation = encapsulation}));
      peer.Listen();
      const Bytes request = peer.BuildPacket(Request(5000));
      peer.InjectRaw(request);
      const SentPacket response = peer.TakeOne();
      EXPECT_EQ(response.type, PacketType::kResponse);
      EXPECT_LE(response.bytes.size() + lower, 3 * (request.size() + lower));
      // A cookie of the usual length has room.
      if (extra < 16) {
        EXPECT_FALSE(CookiesOf(response).empty()) << extra;
      }
      if (extra > 200) {
        EXPECT_THAT(CookiesOf(response), IsEmpty());
      }
      EXPECT_EQ(peer.endpoint().ActiveConnections(), CookiesOf(response).empty() ? 1u : 0u);
    }
  }
}

TEST_F(InitCookieServer, R4340_COOK_03_ASealerThatCannotLeavesTheBacklog) {
  sealer_.refuses = true;
  WirePeer peer(Config());
  peer.Listen();
  EXPECT_THAT(CookiesOf(Ask(peer)), IsEmpty());
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 1u);
}

TEST_F(InitCookieServer, R4340_COOK_03_AFaultyRequestIsResetAsEver) {
  WirePeer peer(Config());
  peer.Listen();
  peer.Inject(Request(5000).With({1, 45, 5, 7, 8, 9}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(kIss, 5000u, 6, 45, 7, 8)));
  EXPECT_EQ(peer.Dropped(DropReason::kOptionError), 1u);
  EXPECT_EQ(peer.endpoint().ActiveConnections(), 0u);
  EXPECT_EQ(sealer_.sealed, 0u);
}

TEST_F(InitCookieServer, R4340_COOK_05_RST_05_AnEndpointThatIsFullTakesNone) {
  WirePeerConfig config = Config();
  const auto adjust = config.adjust;
  config.adjust = [adjust](EndpointConfig& endpoint) {
    adjust(endpoint);
    endpoint.max_connections = 1;
  };
  WirePeer peer(config);
  peer.Listen();
  const SentPacket response = Ask(peer);
  const SentPacket other = [&] {
    peer.InjectRaw(Build(Request(5000).With(kWishes), 50'001, WirePeer::kEndpointPort, nullptr));
    return peer.TakeOne();
  }();
  peer.Inject(Answer(peer, response));
  ASSERT_EQ(peer.state(), State::kOpen);
  peer.Take();
  peer.InjectRaw(
      Build(Ack(5001, other.seq).With(CookiesOf(other)), 50'001, WirePeer::kEndpointPort, nullptr));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(other.seq + 1, 5001u, 3)));
  EXPECT_EQ(peer.Dropped(DropReason::kTooManyConnections), 1u);
}

}  // namespace
}  // namespace dccp::peer
