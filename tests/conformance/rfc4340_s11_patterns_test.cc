// RFC 4340 §11.1-11.3: acknowledgements of acknowledgements, piggybacking, delayed ones.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// The newest 20 packets of the endpoint have arrived.
Octets Vector(const WirePeer& peer) {
  const std::uint64_t packets = std::min<std::uint64_t>(peer.gss() - kIss + 1, 20);
  return {38, 3, static_cast<std::uint8_t>(packets - 1)};
}

void AckAll(WirePeer& peer) { peer.Inject(Ack(peer.Next(), peer.gss()).With(Vector(peer))); }

std::size_t CountType(const std::vector<SentPacket>& sent, PacketType type) {
  std::size_t n = 0;
  for (const SentPacket& packet : sent) n += packet.type == type ? 1u : 0u;
  return n;
}

// Packets with an Acknowledgement Number, of any type.
std::size_t CountAcks(const std::vector<SentPacket>& sent) {
  std::size_t n = 0;
  for (const SentPacket& packet : sent) n += packet.ack ? 1u : 0u;
  return n;
}

// Rounds of a few datagrams each way or one way; what the endpoint sent. What it asks for is
// confirmed.
std::vector<SentPacket> Exchange(WirePeer& peer, int rounds, bool peer_sends) {
  std::vector<SentPacket> all;
  for (int i = 0; i < rounds; ++i) {
    for (int k = 0; k < 4; ++k) EXPECT_TRUE(peer.Send("x").ok());
    Octets confirms;
    for (SentPacket& packet : peer.Take()) {
      const Octets more = ConfirmsFor(packet);
      confirms.insert(confirms.end(), more.begin(), more.end());
      all.push_back(std::move(packet));
    }
    peer.Advance(milliseconds(100));
    for (int k = 0; peer_sends && k < 3; ++k) peer.Inject(Data(peer.Next(), "y"));
    const PacketSpec answer =
        peer_sends ? DataAck(peer.Next(), peer.gss(), "y") : Ack(peer.Next(), peer.gss());
    peer.Inject(answer.With(Vector(peer)).With(confirms));
  }
  for (SentPacket& packet : peer.Take()) all.push_back(std::move(packet));
  return all;
}

TEST(AckPattern, R4340_ACK_02_ACK_03_OneWayTheSenderAcknowledgesAcksNowAndThen) {
  WirePeer peer;
  peer.OpenAsServer();
  Exchange(peer, 10, false);
  const auto sent = Exchange(peer, 100, false);
  const std::size_t data_acks = CountType(sent, PacketType::kDataAck);
  EXPECT_GE(CountType(sent, PacketType::kData), 300u);
  EXPECT_LE(CountType(sent, PacketType::kAck), 2u);
  EXPECT_GE(data_acks, 4u);
  EXPECT_LE(data_acks, 100u);
}

TEST(AckPattern, R4340_ACK_02_ItSwitchesBackForASingleDataPacketAndForthAgain) {
  WirePeer peer;
  peer.OpenAsServer();
  const auto both = Exchange(peer, 50, true);
  const auto one_way = Exchange(peer, 50, false);
  const std::size_t both_acks = CountAcks(both);
  const std::size_t one_way_acks = CountAcks(one_way);
  EXPECT_GE(both_acks, 100u);
  EXPECT_LT(one_way_acks * 2, both_acks);
  // One packet of data, and the next of ours acknowledges it.
  const std::uint64_t seq = peer.Next();
  peer.Inject(DataAck(seq, peer.gss(), "again").With(Vector(peer)));
  ASSERT_TRUE(peer.Send("x").ok());
  EXPECT_THAT(peer.Take(), Contains(AllOf(HasType(PacketType::kDataAck), HasAck(seq))));
  const auto after = Exchange(peer, 50, false);
  EXPECT_LT(CountAcks(after) * 2, both_acks);
}

TEST(AckPattern, R4340_ACK_03_WithoutDataOfItsOwnItAcknowledgesNoAcks) {
  WirePeer peer;
  peer.OpenAsServer();
  Exchange(peer, 10, false);
  AckAll(peer);
  peer.Take();
  for (int i = 0; i < 20; ++i) {
    AckAll(peer);
    peer.Advance(seconds(1));
  }
  EXPECT_THAT(peer.Take(), IsEmpty());
}

TEST(Piggyback, R4340_ACK_04_AckOptionsThatDoNotFitBesideTheDataGoAlone) {
  WirePeer peer;
  peer.OpenAsServer();
  // Every other packet is missing: a cell each.
  for (int i = 0; i < 40; ++i) peer.Inject(Data(5002 + 2 * static_cast<std::uint64_t>(i), "x"));
  peer.Take();
  const std::string full(peer.Info().mps_bytes, 'f');
  peer.Inject(Data(5200, "x"));
  ASSERT_TRUE(peer.Send(full).ok());
  EXPECT_THAT(peer.Take(), Contains(AllOf(HasType(PacketType::kData), HasPayload(full))));
  // Small data takes them along.
  peer.Inject(DataAck(5202, peer.gss(), "x"));
  peer.Take();
  WirePeer other;
  other.OpenAsServer();
  other.Inject(Data(5002, "x"));
  ASSERT_TRUE(other.Send("small").ok());
  EXPECT_THAT(other.Take(), ElementsAre(AllOf(HasType(PacketType::kDataAck), HasAck(5002u))));
}

TEST(DelayedAck, R4340_AR_03_ItTellsHowLongItWaited) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x"));
  peer.Advance(seconds(1));
  const SentPacket ack = peer.TakeOne();
  EXPECT_THAT(ack, HasOption(OptionType::kElapsedTime, ElementsAre(0x4E, 0x20)));  // 200 ms
}

// ---- a vector that nobody acknowledges

// Data with every other number missing: two cells a packet.
class LongVector : public ::testing::Test {
 protected:
  LongVector() {
    peer_.OpenAsServer();
    // Wide enough for what follows.
    peer_.Inject(Ack(peer_.Next(), peer_.gss()).With({32, 9, 3, 0, 0, 0, 1, 0, 0}));
    peer_.Take();
    next_ = peer_.Next() + 1;
  }
  void Gaps(int packets) {
    for (int i = 0; i < packets; ++i, next_ += 2) {
      peer_.Inject(Data(next_, "x"));
      peer_.Advance(milliseconds(1));
      if (i % 64 == 0) peer_.Read();
    }
  }
  static std::size_t VectorBytes(const SentPacket& packet) {
    std::size_t bytes = 0;
    for (const WireOption& option : packet.options) {
      if (option.type == OptionType::kAckVectorNonce0) bytes += option.data.size() + 2;
    }
    return bytes;
  }
  WirePeer peer_;
  std::uint64_t next_ = 0;
};

TEST_F(LongVector, R4340_ACK_05_ASyncAsksForAnAcknowledgement) {
  Gaps(200);
  EXPECT_EQ(CountType(peer_.Take(), PacketType::kSync), 0u);
  Gaps(80);
  const auto sent = peer_.Take();
  ASSERT_EQ(CountType(sent, PacketType::kSync), 1u);
  EXPECT_GE(VectorBytes(sent.back()), 500u);
  std::uint64_t sync = 0;
  for (const SentPacket& packet : sent) {
    if (packet.type == PacketType::kSync) sync = packet.seq;
  }
  // The peer's SyncAck has an Ack Vector, which acknowledges our Acks before the Sync.
  peer_.Inject(SyncAck(next_, sync).With({38, 3, 63}));
  next_ += 2;
  Gaps(2);
  EXPECT_LT(VectorBytes(peer_.Take().back()), 64u);
}

TEST_F(LongVector, R4340_ACK_05_InVainItAsksEverLessOften) {
  Gaps(300);
  peer_.Take();
  std::size_t syncs = 0;
  for (int i = 0; i < 60; ++i) {
    Gaps(2);
    peer_.Advance(seconds(1));
    syncs += CountType(peer_.Take(), PacketType::kSync);
  }
  EXPECT_GE(syncs, 3u);
  EXPECT_LE(syncs, 10u);
}

TEST_F(LongVector, R4340_AV_13_OverflowCostsTheOldEndAndNothingElse) {
  Gaps(3000);
  const auto sent = peer_.Take();
  EXPECT_EQ(peer_.state(), State::kOpen);
  EXPECT_LE(CountType(sent, PacketType::kSync), 20u);
  for (const SentPacket& packet : sent) EXPECT_LE(packet.bytes.size(), 1100u);
  EXPECT_GE(VectorBytes(sent.back()), 900u);
  EXPECT_EQ(sent.back().ack, next_ - 2);
}

TEST(AckPattern, R4340_ACK_05_AV_05_ASyncAckOfTheGreatestPacketReportsTheWindow) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x"));
  peer.Inject(Data(5004, "x"));
  peer.Take();
  // 5003 is missing.
  peer.Inject(Sync(5005, peer.gss()));
  EXPECT_THAT(peer.Take(),
              ElementsAre(IsSyncAck(
                  _, 5005u, HasOption(OptionType::kAckVectorNonce0, ElementsAre(1, 0xC0, _)))));
  // A late Sync is not the greatest packet: a vector would have to begin in the middle.
  peer.Inject(Sync(5003, peer.gss()));
  EXPECT_THAT(peer.Take(), Contains(AllOf(HasType(PacketType::kSyncAck),
                                          Not(HasOption(OptionType::kAckVectorNonce0)))));
}

}  // namespace
}  // namespace dccp::peer
