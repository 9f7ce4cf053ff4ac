// RFC 4340 §8.1.4: what a client does with Init Cookies.

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

Octets Cookie(const Octets& value) {
  Octets out = {36, static_cast<std::uint8_t>(value.size() + 2)};
  out.insert(out.end(), value.begin(), value.end());
  return out;
}

Octets Join(std::initializer_list<Octets> parts) {
  Octets out;
  for (const Octets& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

// The cookies that a packet carries, in order.
std::vector<Octets> CookiesOf(const SentPacket& packet) {
  std::vector<Octets> out;
  for (const WireOption& option : packet.options)
    if (option.type == OptionType::kInitCookie) out.push_back(option.data);
  return out;
}

const Octets kOne = {1, 2, 3, 4, 5};
const Octets kTwo = {};
const Octets kThree = {9, 9};
const Octets kFull(253, 0xCC);

// A client in PARTOPEN whose Response, number 5000, carried the cookies; it has sent its Ack, which
// is still to be taken.
void PartOpenWith(WirePeer& peer, const Octets& cookies) {
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  EXPECT_THAT(CookiesOf(request), IsEmpty());
  peer.Inject(Response(5000, request.seq).With(ConfirmsFor(request)).With(cookies));
  ASSERT_EQ(peer.state(), State::kPartOpen);
}

TEST(InitCookieClient, R4340_COOK_02_CON_11_EveryPacketOfPartOpenCarriesThem) {
  WirePeer peer;
  PartOpenWith(peer, Join({Cookie(kOne), Cookie(kTwo), Cookie(kThree)}));
  const std::vector<Octets> expected = {kOne, kTwo, kThree};
  EXPECT_THAT(peer.Take(), ElementsAre(AllOf(HasType(PacketType::kAck), HasAck(5000u),
                                             ::testing::ResultOf(CookiesOf, expected))));
  ASSERT_TRUE(peer.Send("data").ok());
  const SentPacket data = peer.TakeOne();
  EXPECT_EQ(data.type, PacketType::kDataAck);
  EXPECT_EQ(data.ack, 5000u);
  EXPECT_EQ(CookiesOf(data), expected);

  peer.Advance(seconds(2));
  const auto repeats = peer.Take();
  EXPECT_FALSE(repeats.empty());
  for (const SentPacket& packet : repeats) EXPECT_EQ(CookiesOf(packet), expected);

  peer.Inject(Ack(9'000'000, peer.gss()));
  const SentPacket sync = peer.TakeOne();
  EXPECT_EQ(sync.type, PacketType::kSync);
  EXPECT_EQ(CookiesOf(sync), expected);

  peer.Inject(Sync(5001, peer.gss()));
  const SentPacket sync_ack = peer.TakeOne();
  EXPECT_EQ(sync_ack.type, PacketType::kSyncAck);
  EXPECT_EQ(CookiesOf(sync_ack), expected);

  ASSERT_TRUE(peer.Abort().ok());
  const SentPacket reset = peer.TakeOne();
  EXPECT_EQ(reset.type, PacketType::kReset);
  EXPECT_EQ(CookiesOf(reset), expected);
}

TEST(InitCookieClient, R4340_COOK_02_AClientThatClosesAtOnceCarriesThemToo) {
  WirePeer peer;
  PartOpenWith(peer, Cookie(kOne));
  peer.Take();
  ASSERT_TRUE(peer.Close().ok());
  peer.Advance(seconds(3));
  const auto closes = peer.Take();
  ASSERT_GT(closes.size(), 2u);
  for (const SentPacket& packet : closes) {
    EXPECT_EQ(packet.type, PacketType::kClose);
    EXPECT_EQ(CookiesOf(packet), std::vector<Octets>{kOne});
  }
}

TEST(InitCookieClient, R4340_COOK_02_OneThatIsOpenDoesNot) {
  WirePeer peer;
  PartOpenWith(peer, Cookie(kOne));
  peer.Take();
  peer.Inject(Ack(5001, peer.gss()));
  ASSERT_EQ(peer.state(), State::kOpen);
  EXPECT_THAT(peer.Take(), IsEmpty());
  ASSERT_TRUE(peer.Send("data").ok());
  peer.Inject(DataAck(5002, peer.gss(), "x"));
  peer.Inject(DataAck(5003, peer.gss(), "x"));
  peer.Inject(Sync(5004, peer.gss()));
  ASSERT_TRUE(peer.Close().ok());
  const auto sent = peer.Take();
  EXPECT_GE(sent.size(), 4u);
  for (const SentPacket& packet : sent) EXPECT_THAT(CookiesOf(packet), IsEmpty());
}

TEST(InitCookieClient, R4340_COOK_02_NeitherSyncNorResponseShowsThatTheServerHasOne) {
  WirePeer peer;
  PartOpenWith(peer, Cookie(kOne));
  peer.Take();
  peer.Inject(Sync(5001, peer.gss()));
  EXPECT_EQ(CookiesOf(peer.TakeOne()), std::vector<Octets>{kOne});
  peer.Advance(milliseconds(500));
  const auto repeats = peer.Take();
  ASSERT_FALSE(repeats.empty());
  for (const SentPacket& packet : repeats) EXPECT_EQ(CookiesOf(packet), std::vector<Octets>{kOne});
}

TEST(InitCookieClient, R4340_COOK_02_TheCookieIsThatOfTheResponseAcknowledged) {
  WirePeer peer;
  peer.Connect();
  peer.Advance(seconds(1));
  const auto requests = peer.Take();
  ASSERT_EQ(requests.size(), 2u);
  const Octets confirms = ConfirmsFor(requests[0]);
  peer.Inject(Response(5000, requests[0].seq).With(confirms).With(Cookie(kOne)));
  const SentPacket first = peer.TakeOne();
  EXPECT_EQ(first.ack, 5000u);
  EXPECT_EQ(CookiesOf(first), std::vector<Octets>{kOne});

  peer.Inject(Response(5003, requests[1].seq).With(confirms).With(Cookie(kThree)));
  const SentPacket second = peer.TakeOne();
  EXPECT_EQ(second.ack, 5003u);
  EXPECT_EQ(CookiesOf(second), std::vector<Octets>{kThree});
  // One that was overtaken alters nothing: the newest is acknowledged still.
  peer.Inject(Response(5001, requests[0].seq).With(confirms).With(Cookie(kFull)));
  for (const SentPacket& packet : peer.Take()) {
    EXPECT_EQ(packet.ack, 5003u);
    EXPECT_EQ(CookiesOf(packet), std::vector<Octets>{kThree});
  }
  // A server that keeps state by now sends none.
  peer.Inject(Response(5004, requests[1].seq).With(confirms));
  const SentPacket last = peer.TakeOne();
  EXPECT_EQ(last.ack, 5004u);
  EXPECT_THAT(CookiesOf(last), IsEmpty());
}

TEST(InitCookieClient, R4340_COOK_04_LongCookiesLeaveRoomForWhatMustGoToo) {
  WirePeer peer;
  PartOpenWith(peer, Join({Cookie(kFull), Cookie(kFull), Cookie(kFull)}));
  const SentPacket ack = peer.TakeOne();
  EXPECT_EQ(CookiesOf(ack), (std::vector<Octets>{kFull, kFull, kFull}));
  EXPECT_LE(ack.bytes.size(), 1500u - 28);
}

// In PARTOPEN a datagram travels beside the cookies; one that is too long for that waits until the
// connection is open, and no packet ever exceeds the path MTU.
TEST(InitCookieClient, R4340_COOK_02_DataThatDoesNotFitBesideThemWaits) {
  for (const Octets& cookies :
       {Cookie(kOne), Cookie(kFull), Join({Cookie(kFull), Cookie(kFull)})}) {
    WirePeer peer;
    PartOpenWith(peer, cookies);
    const SentPacket ack = peer.TakeOne();
    ASSERT_FALSE(CookiesOf(ack).empty());
    const std::string big(peer.Info().mps_bytes, 'x');
    ASSERT_TRUE(peer.Send(big).ok());
    peer.Advance(milliseconds(300));
    for (const SentPacket& packet : peer.Take()) {
      EXPECT_EQ(CookiesOf(packet), CookiesOf(ack));
      EXPECT_LE(packet.bytes.size(), 1500u - 28);
      EXPECT_NE(packet.type, PacketType::kData);
    }
    peer.Inject(Ack(5001, peer.gss()));
    peer.Advance(milliseconds(300));
    ASSERT_TRUE(peer.Send(big).ok());
    bool data = false;
    for (const SentPacket& packet : peer.Take()) {
      EXPECT_THAT(CookiesOf(packet), IsEmpty());
      EXPECT_LE(packet.bytes.size(), 1500u - 28);
      data = data || packet.payload == big;
    }
    EXPECT_TRUE(data);
  }
}

TEST(InitCookieClient, R4340_COOK_04_MoreThanCanBeCarriedEndsTheConnection) {
  const Octets four = Join({Cookie(kFull), Cookie(kFull), Cookie(kFull), Cookie({1, 2, 3})});
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  peer.Inject(Response(5000, request.seq).With(four));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(request.seq + 1, 5000u, 5, 36, 0xCC, 0xCC)));
  EXPECT_EQ(peer.Info().close.by, ClosedBy::kProtocol);

  Octets many;
  for (int i = 0; i < 100; ++i) many.insert(many.end(), {36, 2});
  WirePeer other;
  other.Connect();
  other.Inject(Response(5000, other.TakeOne().seq).With(many));
  EXPECT_THAT(other.Take(),
              ElementsAre(AllOf(HasType(PacketType::kReset), HasReason(5, 36, 0, 0))));
}

TEST(InitCookieClient, R4340_COOK_01_CookiesOnOtherPacketsMeanNothing) {
  WirePeer peer;
  peer.ClientInPartOpen();
  peer.Inject(Sync(peer.Next(), peer.gss()).With(Cookie(kOne)));
  EXPECT_THAT(CookiesOf(peer.TakeOne()), IsEmpty());
  peer.Inject(DataAck(peer.Next(), peer.gss(), "x").With(Cookie(kOne)));
  ASSERT_EQ(peer.state(), State::kOpen);
  peer.Inject(Data(peer.Next(), "y").With(Cookie(kOne)));
  peer.Inject(DataAck(peer.Next(), peer.gss(), "z").With(Cookie(kOne)));
  EXPECT_THAT(peer.Read(), ElementsAre("x", "y", "z"));
  for (const SentPacket& packet : peer.Take()) EXPECT_THAT(CookiesOf(packet), IsEmpty());
  EXPECT_EQ(peer.state(), State::kOpen);
}

}  // namespace
}  // namespace dccp::peer
