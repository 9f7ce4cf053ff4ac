// CCID 4 on the wire: what a connection negotiates, reports and reads. RFC 5622 §8

#include <gtest/gtest.h>

#include <algorithm>

#include "dccp/ccid4.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr OptionType kLossIntervals{193};
constexpr OptionType kReceiveRate{194};
constexpr OptionType kDroppedPackets{195};

class SmallPackets {
 public:
  SmallPackets() {
    registry_.Add(ccid2_);
    registry_.Add(ccid4_);
    config_.options.tx_ccids = {CcidId::k4};
    config_.adjust = [this](EndpointConfig& endpoint) { endpoint.registry = &registry_; };
  }
  WirePeerConfig config() const { return config_; }

 private:
  Ccid2Factory ccid2_;
  Ccid4Factory ccid4_;
  CcidRegistry registry_;
  WirePeerConfig config_;
};

TEST(Ccid4Wire, R5622_IANA_01_OPT_02_WhatIsNegotiated) {
  SmallPackets ccids;
  WirePeer peer(ccids.config());
  peer.OpenAsServer();
  EXPECT_EQ(static_cast<int>(peer.Info().tx_ccid), 4);
  EXPECT_EQ(static_cast<int>(peer.Info().rx_ccid), 4);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendLossEventRate, true), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendLossEventRate, false), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendRttEstimate, true), 1u);
}

TEST(Ccid4Wire, R5622_DROP_02_ALL_01_R4828_FB_01_WhatAFeedbackCarries) {
  SmallPackets ccids;
  WirePeer peer(ccids.config());
  peer.OpenAsServer();
  peer.Take();
  peer.Inject(Data(peer.Next(), "0123456789").With({128, 4, 0x27, 0x10}));
  const SentPacket first = peer.TakeOne();
  EXPECT_EQ(first.type, PacketType::kAck);
  EXPECT_THAT(first, HasOption(OptionType::kElapsedTime));
  EXPECT_THAT(first, HasOption(kReceiveRate, ElementsAre(0, 0, 0, 0)));
  EXPECT_THAT(first, HasOption(kDroppedPackets, ElementsAre(0, 0, 0)));
  // Two of three packets are lost.
  peer.Next();
  peer.Inject(Data(peer.Next(), "0123456789").With({128, 3, 0}));
  peer.Next();
  for (int i = 0; i < 3; ++i) peer.Inject(Data(peer.Next(), "0123456789").With({128, 3, 0}));
  // The feedback that is due a round trip later knows of both.
  peer.Advance(milliseconds(20));
  const std::vector<SentPacket> sent = peer.Take();
  ASSERT_FALSE(sent.empty());
  // One count for each interval that is reported: two lost in the lossy part of three.
  EXPECT_THAT(sent.back(), HasOption(kDroppedPackets, ElementsAre(0, 0, 2, 0, 0, 0)));
  const WireOption* intervals = sent.back().Find(kLossIntervals);
  ASSERT_NE(intervals, nullptr);
  ASSERT_EQ(intervals->data.size(), 1u + 2 * 9);
  EXPECT_EQ((Octets(intervals->data.begin() + 1, intervals->data.begin() + 10)),
            (Octets{0, 0, 3, 0, 0, 3, 0, 0, 6}));
}

// Fifty packets in a millisecond each, and a feedback of a lossy part of 40 packets, 4 of them
// lost.
double RateAfter(bool on_data) {
  SmallPackets ccids;
  WirePeer peer(ccids.config());
  peer.OpenAsServer();
  peer.Take();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(peer.Send("0123456789").ok());
    peer.Advance(milliseconds(20));
  }
  const Octets feedback = {194, 6, 0,  1, 0, 0, 193, 21, 0,  0,   0, 5, 0, 0, 5, 0, 0, 10,
                           0,   0, 10, 0, 0, 0, 0,   0,  20, 195, 8, 0, 0, 1, 0, 0, 0};
  if (on_data) {
    peer.Inject(Data(peer.Next(), "y").With(feedback).With({128, 3, 0}));
  } else {
    peer.Inject(Ack(peer.Next(), peer.gss()).With(feedback));
  }
  EXPECT_EQ(peer.state(), State::kOpen);
  return peer.Info().sender.loss_event_rate;
}

TEST(Ccid4Wire, R5622_OPT_01_FeedbackOptionsCountOnAcknowledgementsOnly) {
  EXPECT_GT(RateAfter(false), 0);
  EXPECT_EQ(RateAfter(true), 0);
}

TEST(Ccid4Wire, R5622_OPT_01_DataCarriesNone) {
  SmallPackets ccids;
  WirePeer peer(ccids.config());
  peer.OpenAsServer();
  peer.Inject(Data(peer.Next(), "y").With({128, 3, 0}));
  peer.Take();
  peer.Inject(Ack(peer.Next(), peer.gss()));
  ASSERT_TRUE(peer.Send("x").ok());
  peer.Advance(milliseconds(20));
  for (const SentPacket& packet : peer.Take()) {
    if (packet.type != PacketType::kData) continue;
    EXPECT_THAT(packet, Not(HasOption(kDroppedPackets)));
    EXPECT_THAT(packet, Not(HasOption(kLossIntervals)));
  }
}

}  // namespace
}  // namespace dccp::peer
