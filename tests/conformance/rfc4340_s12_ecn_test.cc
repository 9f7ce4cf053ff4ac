// RFC 4340 §12: ECN nonces on both sides, and what follows from acknowledgements that cannot be
// true.

#include <gtest/gtest.h>

#include <map>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- receiving side: the Nonce Echo

// The type of the only Ack Vector option on the last packet sent.
OptionType EchoOf(const std::vector<SentPacket>& sent) {
  EXPECT_FALSE(sent.empty());
  const bool one = sent.back().Find(OptionType::kAckVectorNonce1) != nullptr;
  EXPECT_NE(one, sent.back().Find(OptionType::kAckVectorNonce0) != nullptr);
  return one ? OptionType::kAckVectorNonce1 : OptionType::kAckVectorNonce0;
}
constexpr OptionType kEcho0 = OptionType::kAckVectorNonce0;
constexpr OptionType kEcho1 = OptionType::kAckVectorNonce1;

class NonceEcho : public ::testing::Test {
 protected:
  NonceEcho() { peer_.OpenAsServer(); }
  // Data with number 5002 + `offset`, and the echo of the acknowledgement that follows.
  OptionType Echo(std::uint64_t offset, Ecn ecn) {
    peer_.Inject(Data(5002 + offset, "x").Marked(ecn));
    peer_.Advance(milliseconds(200));
    return EchoOf(peer_.Take());
  }
  WirePeer peer_;
};

TEST_F(NonceEcho, R4340_ECN_05_AV_15_IsTheParityOfUnmarkedNonces) {
  EXPECT_EQ(Echo(0, Ecn::kEct1), kEcho1);
  EXPECT_EQ(Echo(1, Ecn::kEct0), kEcho1);
  EXPECT_EQ(Echo(2, Ecn::kEct1), kEcho0);
  EXPECT_EQ(Echo(3, Ecn::kNotEct), kEcho0);
  EXPECT_EQ(Echo(4, Ecn::kEct1), kEcho1);
  EXPECT_EQ(Echo(5, Ecn::kCe), kEcho1);
}

TEST_F(NonceEcho, R4340_ECN_05_AV_15_OfALatePacketIsAddedWhenItArrives) {
  EXPECT_EQ(Echo(2, Ecn::kEct0), kEcho0);
  EXPECT_EQ(Echo(1, Ecn::kEct1), kEcho1);
  EXPECT_EQ(Echo(0, Ecn::kEct1), kEcho0);
}

TEST_F(NonceEcho, R4340_ECN_05_AV_11_OfADuplicateIsNotAddedAgain) {
  EXPECT_EQ(Echo(0, Ecn::kEct1), kEcho1);
  for (const Ecn ecn : {Ecn::kEct1, Ecn::kEct0, Ecn::kCe})
    peer_.Inject(Data(5002, "copy").Marked(ecn));
  EXPECT_EQ(Echo(1, Ecn::kEct0), kEcho1);
}

TEST_F(NonceEcho, R4340_ECN_05_AV_14_EndsWithWhatThePeerIsKnownToHaveSeen) {
  peer_.Inject(Data(5002, "x").Marked(Ecn::kEct1));
  peer_.Advance(milliseconds(200));
  const SentPacket ack = peer_.TakeOne();
  EXPECT_EQ(EchoOf({ack}), kEcho1);
  peer_.Inject(Ack(5003, ack.seq));
  EXPECT_EQ(Echo(2, Ecn::kEct0), kEcho0);
}

TEST(NonceEchoes, R4340_AV_06_ECN_05_OfDataThatFindsNoRoomCounts) {
  WirePeerConfig config;
  config.options.receive_queue_datagrams = 1;
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Inject(Data(5002, "kept").Marked(Ecn::kEct0));
  peer.Inject(Data(5003, "lost").Marked(Ecn::kEct1));
  EXPECT_THAT(peer.Read(), ElementsAre("kept"));
  EXPECT_EQ(EchoOf(peer.Take()), kEcho1);
}

TEST(NonceEchoes, R4340_ECN_05_AnEcnIncapableReceiverEchoesZero) {
  WirePeerConfig config;
  config.adjust = [](EndpointConfig& endpoint) { endpoint.reads_ecn = false; };
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x").Marked(Ecn::kEct1));
  peer.Inject(Data(5003, "x").Marked(Ecn::kCe));
  EXPECT_THAT(peer.Take(), Contains(HasOption(kEcho0, ElementsAre(2))));
}

// ---- sending side

WirePeerConfig WithNonces() {
  WirePeerConfig config;
  config.options.ecn_nonce = true;
  return config;
}

// Plays the receiver of what an endpoint sends with nonces.
class NonceReceiver {
 public:
  enum class Echo { kRight, kWrong, kZero };

  explicit NonceReceiver(const WirePeerConfig& config = WithNonces()) : peer(config) {
    peer.OpenAsServer();
    acked_ = peer.gss();
  }

  // Up to four datagrams leave, 100 ms pass, and they are acknowledged: the missing numbers among
  // them as received too, where `lie`.
  void Round(Echo how, bool lie = false, const Octets& options = {}) {
    for (int i = 0; i < 4; ++i) {
      if (peer.Info().send_queue_datagrams >= 4) break;
      ASSERT_TRUE(peer.Send("data").ok());
    }
    std::map<std::uint64_t, Ecn> sent;
    for (const SentPacket& packet : peer.Take()) {
      if (packet.seq > acked_) sent[packet.seq] = packet.ecn;
    }
    ASSERT_FALSE(sent.empty());
    last = sent;
    bool echo = false;
    Octets cells;
    withheld = 0;
    for (std::uint64_t seq = peer.gss(); seq > acked_; --seq) {
      const auto packet = sent.find(seq);
      if (packet == sent.end()) ++withheld;
      if (packet != sent.end() && packet->second == Ecn::kEct1) echo = !echo;
      cells.push_back(packet == sent.end() && !lie ? 0xC0 : 0x00);
    }
    if (how == Echo::kWrong) echo = !echo;
    if (how == Echo::kZero) echo = false;
    Octets vector = {static_cast<std::uint8_t>(echo ? 39 : 38),
                     static_cast<std::uint8_t>(cells.size() + 2)};
    vector.insert(vector.end(), cells.begin(), cells.end());
    acked_ = peer.gss();
    peer.Advance(milliseconds(100));
    peer.Inject(Ack(peer.Next(), acked_).With(vector).With(options));
  }
  void Rounds(int n, Echo how) {
    for (int i = 0; i < n; ++i) Round(how);
  }

  WirePeer peer;
  std::map<std::uint64_t, Ecn> last;  // of the last round, by number
  int withheld = 0;

 private:
  std::uint64_t acked_ = 0;
};
using Echo = NonceReceiver::Echo;

TEST(EcnNonce, R4340_ECN_05_PacketsCarryBothCodepointsAtRandom) {
  NonceReceiver receiver;
  std::map<Ecn, int> count;
  for (int i = 0; i < 100; ++i) {
    receiver.Round(Echo::kRight);
    for (const auto& [seq, ecn] : receiver.last) ++count[ecn];
  }
  EXPECT_GT(count[Ecn::kEct0], 80);
  EXPECT_GT(count[Ecn::kEct1], 80);
  EXPECT_EQ(count.size(), 2u);
  const ConnectionInfo info = receiver.peer.Info();
  EXPECT_EQ(info.counters.nonce_mismatches, 0u);
  EXPECT_EQ(info.sender.loss_events, 0u);
}

TEST(EcnNonce, R4340_ECN_05_TheHandshakeAndResetsCarryNone) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    WirePeerConfig config = WithNonces();
    config.seed = seed;
    WirePeer peer(config);
    peer.Listen();
    peer.Inject(Request(peer.Next()));
    peer.Inject(Ack(peer.Next(), peer.gss()));
    ASSERT_TRUE(peer.Abort().ok());
    const auto sent = peer.Take();
    EXPECT_THAT(sent.front(), HasEcn(Ecn::kNotEct));
    EXPECT_THAT(sent.back(), HasEcn(Ecn::kNotEct));
  }
}

TEST(EcnNonce, R4340_ECN_03_NoneForAPeerThatCannotReadThem) {
  WirePeer peer(WithNonces());
  peer.OpenAsServer({1, 32, 4, 4, 1});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(peer.Send("x").ok());
    peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 0}));
  }
  const auto sent = peer.Take();
  EXPECT_GE(sent.size(), 50u);
  EXPECT_THAT(sent, Each(HasEcn(Ecn::kNotEct)));
  EXPECT_EQ(peer.Info().counters.nonce_mismatches, 0u);
}

TEST(EcnNonce, R4340_AGG_01_AMismatchIsAMark) {
  NonceReceiver receiver;
  receiver.Rounds(40, Echo::kRight);
  const double before = receiver.peer.Info().sender.cwnd_packets;
  receiver.Round(Echo::kWrong);
  const ConnectionInfo info = receiver.peer.Info();
  EXPECT_EQ(info.counters.nonce_mismatches, 1u);
  EXPECT_EQ(info.sender.mark_events, 1u);
  EXPECT_LT(info.sender.cwnd_packets, before);
  EXPECT_EQ(info.state, State::kOpen);
}

TEST(EcnNonce, R4340_AGG_01_OffByDefaultAnyEchoWillDo) {
  NonceReceiver receiver{WirePeerConfig()};
  receiver.Rounds(40, Echo::kRight);
  receiver.Rounds(40, Echo::kWrong);
  for (const auto& [seq, ecn] : receiver.last) EXPECT_EQ(ecn, Ecn::kEct0);
  const ConnectionInfo info = receiver.peer.Info();
  EXPECT_EQ(info.counters.nonce_mismatches, 0u);
  EXPECT_EQ(info.sender.mark_events, 0u);
}

TEST(EcnNonce, R4340_AGG_01_APathThatClearsTheFieldCostsNoThroughput) {
  NonceReceiver receiver;
  receiver.Rounds(100, Echo::kZero);
  for (const auto& [seq, ecn] : receiver.last) EXPECT_EQ(ecn, Ecn::kNotEct);
  const ConnectionInfo info = receiver.peer.Info();
  EXPECT_GT(info.counters.nonce_mismatches, 0u);
  EXPECT_EQ(info.sender.loss_events, 0u);
  EXPECT_EQ(info.state, State::kOpen);
}

TEST(EcnNonce, R4340_AGG_01_APathThatBeginsToClearTheFieldKillsNothing) {
  NonceReceiver receiver;
  receiver.Rounds(100, Echo::kRight);
  receiver.Rounds(400, Echo::kZero);
  for (const auto& [seq, ecn] : receiver.last) EXPECT_EQ(ecn, Ecn::kNotEct);
  EXPECT_EQ(receiver.peer.Info().state, State::kOpen);
}

TEST(EcnNonce, R4340_AGG_01_ASuspectIsVerifiedByANumberThatIsNeverSent) {
  NonceReceiver receiver;
  int withheld = 0;
  for (int i = 0; i < 40; ++i) {
    receiver.Round(Echo::kRight);
    withheld += receiver.withheld;
  }
  EXPECT_EQ(withheld, 0);
  receiver.Round(Echo::kWrong);
  for (int i = 0; i < 40; ++i) {
    receiver.Round(Echo::kRight);
    withheld += receiver.withheld;
  }
  EXPECT_GE(withheld, 5);
  EXPECT_LE(withheld, 11);
  // To an honest peer that is no loss of data.
  const ConnectionInfo info = receiver.peer.Info();
  EXPECT_EQ(info.counters.data_packets_lost, 0u);
  EXPECT_EQ(info.counters.false_acks, 0u);
  EXPECT_EQ(info.sender.loss_events, 1u);
}

TEST(EcnNonce, R4340_AGG_01_AcknowledgingWhatWasNeverSentEndsWithReset11) {
  NonceReceiver receiver;
  receiver.Rounds(40, Echo::kRight);
  receiver.Round(Echo::kWrong);
  int rounds = 0;
  while (receiver.peer.state() == State::kOpen) {
    ASSERT_LT(++rounds, 100);
    receiver.Round(Echo::kRight, true);
  }
  // Several round trips of verified aggression.
  EXPECT_GE(rounds, 8);
  EXPECT_THAT(receiver.peer.Take(), Contains(IsReset(_, _, 11)));
  const ConnectionInfo info = receiver.peer.Info();
  EXPECT_EQ(info.counters.false_acks, 3u);
  EXPECT_EQ(info.close.by, ClosedBy::kProtocol);
  EXPECT_EQ(info.close.reset.code, ResetCode::kAggressionPenalty);
  EXPECT_FALSE(info.close.clean);
}

TEST(AggressionPenalty, R4340_AGG_01_TheApplicationHearsThatThePeerImposedIt) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Reset(peer.Next(), peer.gss(), 11));
  EXPECT_NE(peer.TakeEvents() & kEventClosed, 0u);
  const CloseReason close = peer.Info().close;
  EXPECT_EQ(close.by, ClosedBy::kRemote);
  EXPECT_TRUE(close.reset_received);
  EXPECT_EQ(close.reset.code, ResetCode::kAggressionPenalty);
  EXPECT_FALSE(close.clean);
}

// ---- Elapsed Time

// Five seconds, where a round takes 100 ms.
const Octets kFiveSeconds = {43, 6, 0, 7, 0xA1, 0x20};

TEST(ElapsedTime, R4340_AGG_02_LongerThanTheRoundTripGivesNoSample) {
  NonceReceiver receiver{WirePeerConfig()};
  receiver.Rounds(5, Echo::kRight);
  const Duration before = receiver.peer.Info().rtt;
  EXPECT_NEAR(static_cast<double>(before / milliseconds(1)), 100, 1);
  for (int i = 0; i < 10; ++i) receiver.Round(Echo::kRight, false, kFiveSeconds);
  EXPECT_EQ(receiver.peer.Info().rtt, before);
  EXPECT_EQ(receiver.peer.Info().counters.elapsed_too_large, 10u);
  receiver.Rounds(40, Echo::kRight);
  EXPECT_EQ(receiver.peer.state(), State::kOpen);
}

TEST(ElapsedTime, R4340_AGG_02_NothingElseForManyRoundTripsEndsWithReset11) {
  NonceReceiver receiver{WirePeerConfig()};
  int rounds = 0;
  while (receiver.peer.state() == State::kOpen) {
    ASSERT_LT(++rounds, 100);
    receiver.Round(Echo::kRight, false, kFiveSeconds);
  }
  EXPECT_EQ(rounds, 16);
  EXPECT_THAT(receiver.peer.Take(), Contains(IsReset(_, _, 11)));
  EXPECT_EQ(receiver.peer.Info().close.reset.code, ResetCode::kAggressionPenalty);
}

}  // namespace
}  // namespace dccp::peer
