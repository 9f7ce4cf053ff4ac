// CCID 3 on the wire: what a connection sends and what it makes of a peer's packets, Linux's among
// them. RFC 4342 §6, §8, RFC 6323

#include <gtest/gtest.h>

#include <algorithm>

#include "dccp/ccid3.h"
#include "stack/base/byte_order.h"
#include "stack/wire/packet_view.h"
#include "tests/support/wire_peer.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr OptionType kRttEstimate{128};
constexpr OptionType kLossEventRate{192};
constexpr OptionType kLossIntervals{193};
constexpr OptionType kReceiveRate{194};

// A WirePeer whose endpoint has both CCIDs; `wishes` are its own for each half-connection.
class Tfrc {
 public:
  explicit Tfrc(std::vector<CcidId> wishes = {CcidId::k3}, const Ccid3Options& options = {})
      : ccid3_(options) {
    registry_.Add(ccid2_);
    registry_.Add(ccid3_);
    config_.options.tx_ccids = std::move(wishes);
    config_.adjust = [this](EndpointConfig& endpoint) { endpoint.registry = &registry_; };
  }
  WirePeerConfig config() const { return config_; }

 private:
  Ccid2Factory ccid2_;
  Ccid3Factory ccid3_;
  CcidRegistry registry_;
  WirePeerConfig config_;
};

std::size_t Count(const SentPacket& packet, OptionType type) {
  return static_cast<std::size_t>(
      std::count_if(packet.options.begin(), packet.options.end(),
                    [type](const WireOption& option) { return option.type == type; }));
}

// Every Request that Linux 6.1.192 makes for CCID 3: all its Mandatory Changes must be confirmed
// in the Response, CCID-specific ones too.
TEST(LinuxClient, R4342_LNX_02_LNX_03_ItsRequestsForCcid3AreMet) {
  std::size_t met = 0;
  for (const auto& captured : wire_testing::AllCaptured()) {
    if (captured.type != "Request") continue;
    Bytes request = captured.bytes;
    StoreBe16(request.data(), WirePeer::kPeerPort);
    StoreBe16(request.data() + 2, WirePeer::kEndpointPort);
    PacketView view;
    ASSERT_EQ(PacketView::Parse(request, &view), ParseError::kNone);
    if (!view.service_code().valid()) continue;
    OutboundDatagram as_sent;
    as_sent.bytes = request;
    const SentPacket asked = Decode(as_sent, Encapsulation::kNative, TimePoint());
    const bool ccid3 =
        std::any_of(asked.options.begin(), asked.options.end(), [](const WireOption& option) {
          return option.type == OptionType::kChangeR && option.data == Octets{192, 1};
        });
    if (!ccid3) continue;
    Tfrc tfrc(std::vector<CcidId>{});
    WirePeerConfig config = tfrc.config();
    config.service_codes = {view.service_code()};
    WirePeer peer(config);
    peer.Listen();
    peer.InjectRaw(request);
    const SentPacket answer = peer.TakeOne();
    ASSERT_EQ(answer.type, PacketType::kResponse);
    for (const WireOption& option : asked.options) {
      const bool change_l = option.type == OptionType::kChangeL;
      if (!change_l && option.type != OptionType::kChangeR) continue;
      const OptionType confirm = change_l ? OptionType::kConfirmR : OptionType::kConfirmL;
      const bool confirmed =
          std::any_of(answer.options.begin(), answer.options.end(), [&](const WireOption& o) {
            return o.type == confirm && o.data.size() > 1 && o.data[0] == option.data[0];
          });
      EXPECT_TRUE(confirmed) << int{option.data[0]};
    }
    ++met;
  }
  EXPECT_GE(met, 1u);
}

TEST(Ccid3Wire, R4342_GEN_02_FT_01_R6323_FT_01_WhatIsNegotiated) {
  Tfrc tfrc;
  WirePeer peer(tfrc.config());
  peer.OpenAsServer();
  EXPECT_EQ(peer.Info().tx_ccid, CcidId::k3);
  EXPECT_EQ(peer.Info().rx_ccid, CcidId::k3);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendLossEventRate, true), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendLossEventRate, false), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendRttEstimate, true), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendRttEstimate, false), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, true), 1u);
}

TEST(Ccid3Wire, R4342_FB_03_FB_04_OPT_03_OPT_04_WhatAFeedbackCarries) {
  Tfrc tfrc;
  WirePeer peer(tfrc.config());
  peer.OpenAsServer();
  peer.Take();
  peer.Inject(Data(peer.Next(), "0123456789").With({128, 4, 0x27, 0x10}));
  const SentPacket first = peer.TakeOne();
  EXPECT_EQ(first.type, PacketType::kAck);
  EXPECT_EQ(first.ccval, 0);
  EXPECT_THAT(first, HasOption(OptionType::kElapsedTime, ElementsAre(0, 0)));
  EXPECT_THAT(first, HasOption(kReceiveRate, ElementsAre(0, 0, 0, 0)));
  EXPECT_THAT(first, HasOption(kLossEventRate, ElementsAre(255, 255, 255, 255)));
  EXPECT_EQ(Count(first, kLossIntervals), 1u);
  // A lost packet, and the feedback that tells of it.
  peer.Next();
  for (int i = 0; i < 3; ++i) peer.Inject(Data(peer.Next(), "0123456789").With({128, 3, 0}));
  const SentPacket loss = peer.TakeOne();
  EXPECT_THAT(loss, Not(HasOption(kLossEventRate, ElementsAre(255, 255, 255, 255))));
  for (const WireOption& option : loss.options) {
    if (option.type != kLossIntervals) continue;
    ASSERT_EQ(option.data.size(), 1u + 2 * 9);
    EXPECT_EQ(option.data[0], 0);
    EXPECT_EQ((Octets(option.data.begin() + 1, option.data.begin() + 10)),
              (Octets{0, 0, 3, 0, 0, 1, 0, 0, 4}));
  }
}

TEST(Ccid3Wire, R4342_OPT_01_R6323_USE_01_WhatDataCarries) {
  Tfrc tfrc;
  WirePeer peer(tfrc.config());
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("x").ok());
  peer.Advance(Duration::zero());
  bool seen = false;
  for (const SentPacket& packet : peer.Take()) {
    if (packet.type != PacketType::kData && packet.type != PacketType::kDataAck) continue;
    seen = true;
    EXPECT_EQ(Count(packet, kRttEstimate), 1u);
    if (packet.type == PacketType::kDataAck) continue;
    EXPECT_EQ(Count(packet, kReceiveRate) + Count(packet, kLossIntervals), 0u);
  }
  EXPECT_TRUE(seen);
  // A packet far outside the window draws a Sync, which carries it too.
  peer.Inject(Data(peer.PeekNext() + 1'000'000, "y"));
  EXPECT_THAT(peer.TakeOne(), HasOption(kRttEstimate));
  peer.Inject(Sync(peer.Next(), peer.gss()));
  const SentPacket answer = peer.TakeOne();
  EXPECT_EQ(answer.type, PacketType::kSyncAck);
  EXPECT_THAT(answer, HasOption(kRttEstimate));
}

TEST(Ccid3Wire, R4342_OPT_01_FeedbackOptionsOnDataAreIgnored) {
  Tfrc tfrc;
  WirePeer peer(tfrc.config());
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("x").ok());
  peer.Advance(milliseconds(1));
  const double x = peer.Info().sender.x_bytes_per_second;
  ASSERT_GT(x, 0);
  for (int i = 0; i < 5; ++i) {
    peer.Advance(milliseconds(100));
    peer.Inject(Data(peer.Next(), "y").With({192, 6, 0, 0, 0, 1, 194, 6, 0, 0, 0, 1, 128, 3, 0}));
  }
  EXPECT_EQ(peer.Info().sender.loss_event_rate, 0);
  EXPECT_DOUBLE_EQ(peer.Info().sender.x_bytes_per_second, x);
}

// 194 6 rate and 192 6 inverse of p is all that Linux says.
TEST(Ccid3Wire, R4342_LNX_01_Bug_E32_FeedbackAsLinuxSendsIt) {
  Tfrc tfrc;
  WirePeer peer(tfrc.config());
  peer.OpenAsServer();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(peer.Send(std::string(1000, 'x')).ok());
    peer.Advance(milliseconds(100));
    peer.Inject(
        Ack(peer.Next(), peer.gss()).With({194, 6, 0, 1, 0x86, 0xA0, 192, 6, 0, 0, 0, 100}));
  }
  EXPECT_NEAR(peer.Info().sender.loss_event_rate, 0.01, 1e-9);
  EXPECT_GE(peer.Info().counters.data_packets_sent, 15u);
}

TEST(Ccid3Wire, R6323_USE_02_AnEstimateOfWrongLengthResetsTheConnection) {
  Tfrc tfrc;
  WirePeer peer(tfrc.config());
  peer.OpenAsServer();
  peer.Take();
  peer.Inject(Data(peer.Next(), "y").With({128, 6, 1, 2, 3, 4}));
  const SentPacket reset = peer.TakeOne();
  EXPECT_EQ(reset.type, PacketType::kReset);
  EXPECT_EQ(reset.reset.code, ResetCode::kOptionError);
  EXPECT_EQ(reset.reset.data, (std::array<std::uint8_t, 3>{128, 6, 1}));
}

TEST(Ccid3Wire, R4342_IANA_01_UnknownCcidOptionsAreIgnored) {
  Tfrc tfrc;
  WirePeer peer(tfrc.config());
  peer.OpenAsServer();
  peer.Take();
  peer.Inject(Data(peer.Next(), "y").With({190, 3, 1, 129, 3, 1, 128, 3, 0}));
  peer.Inject(Ack(peer.Next(), peer.gss()).With({195, 5, 0, 0, 0, 254, 3, 0}));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_EQ(peer.Read().size(), 1u);
}

}  // namespace
}  // namespace dccp::peer
