// What Linux 6.1 does by itself, and how this endpoint behaves so that the two get along.

#include <gtest/gtest.h>

#include "stack/wire/option_reader.h"
#include "stack/wire/packet_view.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::_;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// A Linux server that has not opened answers a Sync with a Reset and forgets the connection.
TEST(LinuxFacts, R4340_LNX_06_NoTimerSendsASyncBeforeTheServerHasOpened) {
  WirePeerConfig config;
  config.options.user_timeout = seconds(30);
  config.options.keep_alive = seconds(1);
  WirePeer peer(config);
  peer.ClientInPartOpen();
  ASSERT_TRUE(peer.Send("data").ok());
  peer.Advance(minutes(10));
  EXPECT_EQ(peer.state(), State::kClosed);
  const auto sent = peer.Take();
  EXPECT_GT(sent.size(), 5u);
  EXPECT_THAT(sent, Each(Not(HasType(PacketType::kSync))));
}

// Its client leaves PARTOPEN only when something arrives.
TEST(LinuxFacts, R4340_LNX_17_AServerWithNothingToSendAcknowledgesAllTheSame) {
  WirePeer peer;
  peer.ServerInRespond();
  peer.Inject(Ack(peer.Next(), peer.gss()));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_THAT(peer.Take(), ElementsAre(IsAck(_, 5001u)));
}

// Of a Sync that answers an invalid packet its vector begins elsewhere than at the Acknowledgement
// Number.
TEST(LinuxFacts, R4340_LNX_23_AckVectorsOnSyncsAreNotBelieved) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(peer.Send("x").ok());
  peer.Take();
  const double window = peer.Info().sender.cwnd_packets;
  for (int i = 0; i < 4; ++i) {
    // "The last one arrived, everything before it did not."
    peer.Inject(Sync(peer.Next(), peer.gss()).With({38, 4, 0, 0xC0 | 3}));
  }
  EXPECT_EQ(peer.Info().counters.data_packets_lost, 0u);
  EXPECT_EQ(peer.Info().sender.cwnd_packets, window);
  EXPECT_THAT(peer.Take(), Each(Not(HasType(PacketType::kReset))));
}

// After a gap of more than 62 packets its cells are one off for each: reports that contradict each
// other must not end the connection.
TEST(LinuxFacts, R4340_LNX_23_ContradictoryVectorsDoNoHarm) {
  WirePeer peer;
  peer.OpenAsServer();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(peer.Send("x").ok());
  peer.Take();
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 2}));           // all three arrived
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 5, 0, 0xC1, 0}));  // two of them did not
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_EQ(peer.Info().counters.data_packets_lost, 0u);
  EXPECT_THAT(peer.Take(), Each(Not(HasType(PacketType::kReset))));
  ASSERT_TRUE(peer.Send("on").ok());
  EXPECT_THAT(peer.Take(), Contains(HasPayload("on")));
}

// It resets a connection for an option of another length than it knows.
TEST(LinuxFacts, R4340_LNX_13_OptionsHaveTheLengthsThatItDemands) {
  WirePeerConfig config;
  config.options.send_ndp_count = true;
  WirePeer peer(config);
  peer.OpenAsClient();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(peer.Send("x").ok());
    peer.Inject(Data(peer.Next(), "y").With({41, 6, 0, 0, 1, static_cast<std::uint8_t>(i)}));
    peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 0}));
    peer.Advance(milliseconds(250));
  }
  for (const SentPacket& sent : peer.Take()) {
    for (const WireOption& option : sent.options) {
      const std::size_t length = option.data.size() + 2;
      switch (option.type) {
        case OptionType::kNdpCount:
          EXPECT_LE(length, 8u);
          break;
        case OptionType::kTimestamp:
          EXPECT_EQ(length, 6u);
          break;
        case OptionType::kTimestampEcho:
          EXPECT_TRUE(length == 6 || length == 8 || length == 10) << length;
          break;
        case OptionType::kElapsedTime:
          EXPECT_TRUE(length == 4 || length == 6) << length;
          break;
        case OptionType::kChangeL:
        case OptionType::kChangeR:
        case OptionType::kConfirmL:
        case OptionType::kConfirmR:
          EXPECT_GE(length, 3u);
          break;
        default:
          break;
      }
    }
  }
}

}  // namespace
}  // namespace dccp::peer
