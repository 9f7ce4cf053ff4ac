// RFC 4340 §7: sequence numbers, their validity, Syncs and NDP Count.

#include <gtest/gtest.h>

#include <set>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

Octets ChangeWindow(std::uint64_t w) {
  Octets out = {32, 9, 3};
  for (int shift = 40; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(w >> shift));
  return out;
}

TEST(SequenceNumbers, R4340_SEQ_03_SEQ_04_InitialNumbersOfTuplesAreUnrelated) {
  WirePeer peer;
  std::set<std::uint64_t> differences;
  std::uint64_t last = 0;
  for (std::uint16_t i = 0; i < 32; ++i) {
    ConnectParams params;
    params.path = peer.path();
    params.local_port = 6000;
    params.remote_port = static_cast<std::uint16_t>(2000 + i);
    ASSERT_TRUE(peer.endpoint().Connect(params, peer.now()).ok());
    peer.Advance(Duration::zero());
    const std::uint64_t iss = peer.TakeOne().seq;
    differences.insert((iss - last) & SeqNo::kMask);
    last = iss;
  }
  EXPECT_EQ(differences.size(), 32u);
}

// An endpoint that has seen 5060 as the greatest number, with Sequence Window/peer at `window`.
void ReachGsr5060(WirePeer& peer, std::uint64_t window) {
  peer.OpenAsServer();
  peer.Inject(Ack(5020, kIss).With(ChangeWindow(window)));
  peer.Inject(Ack(5040, kIss));
  peer.Inject(Ack(5060, kIss));
  ASSERT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, false), window);
  peer.Advance(seconds(1));
  peer.Take();
}

TEST(SequenceNumbers, R4340_SEQ_07_EVT_07_WindowBounds) {
  for (const std::uint64_t w : {32u, 33u, 34u, 35u, 100u, 101u, 200u}) {
    const std::uint64_t swl = std::max<std::uint64_t>(5060 + 1 - w / 4, 5000);
    const std::uint64_t swh = 5060 + (3 * w + 3) / 4;
    const auto valid = [w](std::uint64_t seq) {
      WirePeer peer;
      ReachGsr5060(peer, w);
      peer.Inject(Data(seq, "x"));
      const bool delivered = !peer.Read().empty();
      if (!delivered) {
        EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, seq)));
      }
      return delivered;
    };
    EXPECT_FALSE(valid(swl - 1)) << w;
    EXPECT_TRUE(valid(swl)) << w;
    EXPECT_TRUE(valid(swh)) << w;
    EXPECT_FALSE(valid(swh + 1)) << w;
  }
}

TEST(SequenceNumbers, R4340_SEQ_07_Bug_A11_AcknowledgementWindowFollowsWhatIsSent) {
  // 150 packets sent: AWL = GSS + 1 - 100.
  const auto valid = [](std::int64_t below_gss) {
    WirePeer peer;
    peer.OpenAsServer();
    for (int i = 0; i < 1000 && peer.gss() < kIss + 150; ++i) {
      peer.Inject(Sync(peer.Next(), peer.gss()));
      peer.Take();
    }
    EXPECT_EQ(peer.gss(), kIss + 150);
    peer.Advance(seconds(2));
    peer.Take();
    const std::uint64_t seq = peer.Next();
    peer.Inject(DataAck(seq, peer.gss() - static_cast<std::uint64_t>(below_gss), "x"));
    const bool delivered = !peer.Read().empty();
    if (!delivered) {
      EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, seq)));
    }
    return delivered;
  };
  EXPECT_FALSE(valid(-1));
  EXPECT_TRUE(valid(0));
  EXPECT_TRUE(valid(99));
  EXPECT_FALSE(valid(100));
}

TEST(SequenceNumbers, R4340_SEQ_08_NothingBeforeTheInitialNumbersIsValid) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(kPeerIss - 1, "x"));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, kPeerIss - 1)));
  peer.Inject(DataAck(5002, kIss - 1, "x"));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSync(_, 5002u)));
  EXPECT_THAT(peer.Read(), IsEmpty());
}

struct Validity {
  PacketType type;
  std::uint64_t lowest_seq, lowest_ack;
};

// The window of numbers is [5036, 5135], GSR 5060; that of acknowledgements [AWL, GSS] = [1000,
// 1004], GAR 1003.
TEST(SequenceNumbers, R4340_SEQ_09_ValidityTable) {
  const auto valid = [](PacketType type, std::uint64_t seq, std::uint64_t ack) {
    WirePeer peer;
    const bool client = type == PacketType::kCloseReq;
    client ? peer.OpenAsClient() : peer.OpenAsServer();
    for (int i = 0; i < 10 && peer.gss() < 1004; ++i) {
      peer.Inject(Sync(peer.Next(), kIss + 1));
      peer.Take();
    }
    peer.Inject(Ack(5030, 1002));
    peer.Inject(Ack(5060, 1003));
    peer.Advance(seconds(1));
    EXPECT_EQ(peer.gss(), 1004u);
    peer.Take();
    const std::uint64_t before = peer.Info().counters.sequence_invalid;
    peer.Inject(Make(type, seq, ack));
    return peer.Info().counters.sequence_invalid == before;
  };
  for (const Validity& v :
       {Validity{PacketType::kData, 5036, 0}, Validity{PacketType::kAck, 5036, 1000},
        Validity{PacketType::kDataAck, 5036, 1000}, Validity{PacketType::kRequest, 5036, 0},
        Validity{PacketType::kResponse, 5036, 1000}, Validity{PacketType::kCloseReq, 5061, 1003},
        Validity{PacketType::kClose, 5061, 1003}, Validity{PacketType::kReset, 5061, 1003},
        Validity{PacketType::kSync, 5036, 1000}, Validity{PacketType::kSyncAck, 5036, 1000}}) {
    const bool sync = v.type == PacketType::kSync || v.type == PacketType::kSyncAck;
    EXPECT_FALSE(valid(v.type, v.lowest_seq - 1, 1003)) << ToString(v.type);
    EXPECT_TRUE(valid(v.type, v.lowest_seq, 1003)) << ToString(v.type);
    EXPECT_TRUE(valid(v.type, 5135, 1003)) << ToString(v.type);
    // A second of silence makes the connection inactive: Syncs have no upper bound then.
    EXPECT_EQ(valid(v.type, 5136, 1003), sync) << ToString(v.type);
    if (!HasAckNumber(v.type)) continue;
    EXPECT_FALSE(valid(v.type, 5062, v.lowest_ack - 1)) << ToString(v.type);
    EXPECT_TRUE(valid(v.type, 5062, v.lowest_ack)) << ToString(v.type);
    EXPECT_TRUE(valid(v.type, 5062, 1004)) << ToString(v.type);
    EXPECT_FALSE(valid(v.type, 5062, 1005)) << ToString(v.type);
  }
}

TEST(SequenceNumbers, R4340_SEQ_10_SyncsBeyondTheWindowWaitForSilence) {
  WirePeer peer;
  peer.OpenAsServer();
  const Duration rtt = peer.Info().rtt > Duration::zero() ? peer.Info().rtt : kDefaultRtt;
  peer.Inject(Ack(5002, peer.gss()));
  peer.Advance(2 * rtt);
  peer.Take();
  peer.Inject(Sync(6000, peer.gss()));
  EXPECT_THAT(peer.Take(), IsEmpty());
  peer.Advance(2 * rtt);
  peer.Inject(Sync(6000, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, 6000u)));
  peer.Inject(Data(6001, "x"));
  EXPECT_THAT(peer.Read(), ElementsAre("x"));
}

TEST(SequenceNumbers, R4340_SEQ_11_AClosingPacketNeedNotBeTheVeryNext) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Close(5010, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5010u, 1)));
}

TEST(SequenceNumbers, R4340_SEQ_12_InvalidSyncsAreIgnored) {
  WirePeer peer;
  peer.OpenAsServer();
  for (const PacketType type : {PacketType::kSync, PacketType::kSyncAck}) {
    peer.Inject(Make(type, 5002, peer.gss() + 1));
    peer.Inject(Make(type, 5002, kIss - 1));
    peer.Inject(Make(type, 4999, peer.gss()));
  }
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.Dropped(DropReason::kSequenceInvalid), 6u);
}

TEST(SequenceNumbers, R4340_SEQ_13_InvalidResetDrawsASyncThatNamesGsr) {
  WirePeer peer;
  peer.OpenAsServer();
  for (const PacketSpec& reset : {Reset(0, 0, 3), Reset(5002, kIss - 1, 1), Reset(6000, 1001, 2)}) {
    const std::uint64_t gss = peer.gss();
    peer.Inject(reset);
    EXPECT_THAT(peer.Take(), ElementsAre(IsSync(gss + 1, 5001u)));
  }
  EXPECT_EQ(peer.state(), State::kOpen);
  peer.Inject(Data(5002, "a"));
  EXPECT_THAT(peer.Read(), ElementsAre("a"));
}

TEST(SequenceNumbers, R4340_SEQ_14_AnyOtherInvalidPacketDrawsASyncThatNamesIt) {
  for (const PacketType type :
       {PacketType::kData, PacketType::kAck, PacketType::kDataAck, PacketType::kClose,
        PacketType::kRequest, PacketType::kResponse, PacketType::kCloseReq}) {
    WirePeer peer;
    peer.OpenAsServer();
    const std::uint64_t gss = peer.gss();
    peer.Inject(Make(type, 7777, peer.gss()));
    EXPECT_THAT(peer.Take(), ElementsAre(IsSync(gss + 1, 7777u)));
  }
}

TEST(SequenceNumbers, R4340_SEQ_15_EVT_06_AValidSyncRaisesGsr) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Sync(5040, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, 5040u)));
  // 5115 is the new end of the window.
  peer.Inject(Data(5115, "x"));
  EXPECT_THAT(peer.Read(), ElementsAre("x"));
}

TEST(SequenceNumbers, R4340_EVT_06_AnOlderSyncIsValidAndLeavesGsr) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5010, "x"));
  peer.Take();
  peer.Inject(Sync(5005, peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsSyncAck(_, 5005u)));
  peer.Inject(Data(5009, "y"));
  peer.Advance(milliseconds(200));
  EXPECT_THAT(peer.Take(), Contains(IsAck(_, 5010u)));
}

TEST(SequenceNumbers, R4340_SEQ_16_Bug_A16_SyncsAreRateLimited) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int ms = 0; ms < 1000; ++ms) {
    peer.Inject(ms % 2 == 0 ? Data(9000, "x") : Reset(1, 1, 3));
    peer.Advance(milliseconds(1));
  }
  const std::size_t syncs = peer.Take().size();
  EXPECT_GE(syncs, 1u);
  EXPECT_LE(syncs, 9u);
}

TEST(SequenceNumbers, R4340_SEQ_17_InvalidPacketsAreNotProcessed) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(DataAck(5002, kIss - 1, "x").With({1, 60, 2, 32, 5, 5, 0, 9, 41, 6, 0, 0, 0, 7}));
  EXPECT_THAT(peer.Take(),
              ElementsAre(AllOf(IsSync(_, 5002u), Not(HasOption(OptionType::kTimestampEcho)))));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_EQ(peer.Feature(FeatureNumber::kAckRatio, false), 2u);
  EXPECT_THAT(peer.Read(), IsEmpty());
  // 5002 is still not received.
  peer.Inject(Data(5003, "y"));
  EXPECT_THAT(peer.Take(),
              ElementsAre(IsAck(_, 5003u,
                                HasOption(OptionType::kAckVectorNonce0, ElementsAre(0, 192, 0)))));
}

// The first example of §7.5.6, with this endpoint as B (GSS = 10, GSR = 1) and then as A.
TEST(SequenceNumbers, R4340_SEQ_19_RecoveryFromABurstOfLosses) {
  WirePeerConfig config;
  config.options.initial_sequence = SeqNo(9);
  WirePeer b(config);
  b.Listen();
  b.Inject(Request(0));
  const SentPacket response = b.TakeOne();
  b.Inject(Ack(1, 9).With(ConfirmsFor(response)));
  ASSERT_EQ(b.gss(), 10u);
  b.Advance(seconds(1));
  b.Take();
  b.Inject(Data(101, "burst"));
  EXPECT_THAT(b.Take(), ElementsAre(IsSync(11u, 101u)));
  b.Inject(SyncAck(102, 11));
  b.Inject(Data(103, "next"));
  EXPECT_THAT(b.Read(), ElementsAre("next"));

  WirePeer a;
  a.OpenAsServer();
  for (int i = 0; i < 3; ++i) a.Inject(Sync(a.Next(), a.gss()));
  a.Take();
  const std::uint64_t seq = a.Next();
  a.Inject(Sync(seq, a.gss() - 1));
  EXPECT_THAT(a.Take(), ElementsAre(IsSyncAck(_, seq)));
}

// The second example: a blind attacker's Data draws a Sync, which its peer ignores.
TEST(SequenceNumbers, R4340_SEQ_19_BlindAttack) {
  WirePeer b;
  b.OpenAsServer();
  b.Inject(Data(1'000'000, "attack"));
  EXPECT_THAT(b.Take(), ElementsAre(IsSync(_, 1'000'000u)));
  EXPECT_THAT(b.Read(), IsEmpty());
  WirePeer a;
  a.OpenAsClient();
  a.Inject(Sync(5002, 1'000'000));
  EXPECT_THAT(a.Take(), IsEmpty());
  EXPECT_EQ(a.state(), State::kOpen);
}

TEST(ShortSequenceNumbers, R4340_FT_08_SN_02_SN_04_AreIgnoredWithoutAWord) {
  for (const PacketType type : {PacketType::kData, PacketType::kAck, PacketType::kDataAck}) {
    WirePeer server;
    server.OpenAsServer();
    server.Inject(Make(type, 5002, server.gss()).Short().Payload("x"));
    EXPECT_THAT(server.Take(), IsEmpty());
    EXPECT_THAT(server.Read(), IsEmpty());
    EXPECT_EQ(server.Dropped(DropReason::kShortSeqnosNotNegotiated), 1u);
    server.Inject(Data(5002, "y"));
    EXPECT_THAT(server.Read(), ElementsAre("y"));

    WirePeer client;
    client.ClientInRequest();
    client.Inject(Make(type, 5002, client.gss()).Short());
    EXPECT_THAT(client.Take(), IsEmpty());
  }
}

// Covers everything sent so far.
Octets AcksEverything(const WirePeer& peer) {
  const std::uint64_t packets = std::min<std::uint64_t>(peer.gss() - kIss + 1, 64);
  return {38, 3, static_cast<std::uint8_t>(packets - 1)};
}

// N0 N1 D2 N3 D4 D5 N6 D7 D8 D9 D10 N11 N12 D13 after a data packet.
TEST(NdpCount, R4340_NDP_02_NDP_03_NDP_04_FT_14_CountsNonDataPackets) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(peer.Next(), peer.gss()).With({34, 4, 7, 1}));
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(), Contains(HasOption(OptionType::kConfirmL)));
  ASSERT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, true), 1u);
  const auto step = [&](char kind) {
    if (kind == 'N') {
      peer.Inject(Sync(peer.Next(), peer.gss()));
    } else {
      EXPECT_TRUE(peer.Send("d").ok());
    }
    const SentPacket sent = peer.TakeOne();
    peer.Inject(Ack(peer.Next(), peer.gss()).With(AcksEverything(peer)));
    EXPECT_THAT(peer.Take(), IsEmpty());
    const WireOption* option = sent.Find(OptionType::kNdpCount);
    if (option == nullptr) return 0;
    EXPECT_EQ(option->data.size(), 1u);
    return int{option->data.at(0)};
  };
  step('D');
  const std::string kinds = "NNDNDDNDDDDNND";
  const std::vector<int> expected = {0, 1, 2, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 2};
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(step(kinds[i]), expected[i]) << i;
}

TEST(NdpCount, R4340_NDP_02_NDP_04_LargeCountsTakeMoreBytes) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(peer.Next(), peer.gss()).With({34, 4, 7, 1}));
  peer.Advance(seconds(1));
  ASSERT_TRUE(peer.Send("d").ok());
  for (int i = 0; i < 256; ++i) {
    peer.Inject(Sync(peer.Next(), peer.gss()));
    peer.Advance(milliseconds(1));
  }
  peer.Take();
  peer.Inject(Sync(peer.Next(), peer.gss()));
  EXPECT_THAT(peer.Take(), ElementsAre(HasOption(OptionType::kNdpCount, ElementsAre(1, 0))));
}

}  // namespace
}  // namespace dccp::peer
