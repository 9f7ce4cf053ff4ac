// The packets of Linux 6.1.192 as bytes, and what ours must be for it to read them: option order
// and lengths, values, coverage, sizes. RFC 4340 §5.8, §6, §9.2, §11.4, §13, §14

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "stack/wire/feature_codec.h"
#include "stack/wire/option_reader.h"
#include "tests/conformance/linux_capture.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp::peer {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

using Packets = std::vector<LinuxPacket>;

std::vector<Bytes> OptionsOf(std::span<const std::byte> area) {
  std::vector<Bytes> out;
  OptionReader reader(area);
  for (OptionView option; reader.Next(&option);) {
    Bytes bytes = {static_cast<std::byte>(option.type)};
    bytes.insert(bytes.end(), option.data.begin(), option.data.end());
    out.push_back(bytes);
  }
  EXPECT_FALSE(reader.malformed());
  return out;
}

WirePeerConfig EverythingOn(WirePeerConfig config) {
  config.options.checksum_coverage = 1;
  config.options.min_checksum_coverage = 1;
  config.options.data_checksum = true;
  config.options.send_ndp_count = true;
  config.options.sequence_window = 1000;
  config.options.ack_ratio = 3;
  return config;
}

// An exchange of our client with the Linux server of "server-wants-confirms", which answers a
// Request without options; returns all that the client sent.
std::vector<SentPacket> ExchangeWithLinuxServer(WirePeer& peer) {
  const Packets packets = LinuxConversation("server-wants-confirms");
  std::vector<SentPacket> sent;
  const auto take = [&] {
    for (const SentPacket& packet : peer.Take()) sent.push_back(packet);
  };
  const LinuxPacket& response = FirstOf(packets, PacketType::kResponse, false);
  peer.Connect();
  peer.InjectRaw(ToWirePeer(response, peer.gss()));
  EXPECT_EQ(peer.state(), State::kPartOpen);
  take();
  std::uint64_t seq = response.seq;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(peer.Send("some data").ok());
    take();
    // As Linux acknowledges: an Ack Vector of what is new, Padding first.
    peer.Inject(DataAck(++seq, peer.gss(), "answer").With({0, 38, 3, 0}));
    take();
    peer.Advance(milliseconds(300));
    take();
  }
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_EQ(peer.Read().size(), 20u);
  EXPECT_TRUE(peer.Close().ok());
  take();
  return sent;
}

TEST(LinuxWire, R4340_LNX_01_LongNumbersAndPaddingInFront) {
  std::size_t padded = 0;
  for (const auto& packet : wire_testing::AllCaptured()) {
    PacketView view;
    ASSERT_EQ(PacketView::Parse(packet.bytes, &view), ParseError::kNone);
    EXPECT_TRUE(view.extended());
    std::span<const std::byte> area = view.options();
    std::span<const std::byte> bare = area;
    while (!bare.empty() && bare.front() == std::byte{0}) bare = bare.subspan(1);
    if (bare.size() == area.size()) continue;
    ++padded;
    EXPECT_FALSE(bare.empty()) << "nothing but Padding";
    EXPECT_EQ(OptionsOf(area), OptionsOf(bare));
    EXPECT_FALSE(OptionsOf(area).empty());
  }
  EXPECT_GE(padded, 50u);
}

// Change L(Sequence Window, 50) and Change L(Ack Ratio, 1), then Change L(Sequence Window, 100): it
// ignores a Confirm of any other value than its newest.
TEST(LinuxWire, R4340_LNX_09_R4341_LNX_03_ItsChangesAreConfirmedWithTheNewestValue) {
  const Packets packets = LinuxConversation("netem-ccid2");
  WirePeer peer(AsServerOf(packets));
  peer.Listen();
  std::map<std::uint8_t, Octets> newest;
  std::map<std::uint8_t, std::size_t> confirmed;
  for (const LinuxPacket& packet : packets) {
    if (!packet.from_client || packet.at > milliseconds(200)) continue;
    for (const WireOption& option : Decoded(packet).options) {
      if (option.type == OptionType::kChangeL) newest[option.data.at(0)] = option.data;
    }
    peer.InjectRaw(packet.ack ? ToWirePeer(packet, peer.gss()) : ToWirePeer(packet));
    for (const SentPacket& answer : peer.Take()) {
      for (const WireOption& option : answer.options) {
        if (option.type != OptionType::kConfirmR) continue;
        const std::uint8_t feature = option.data.at(0);
        if (NnValueBytes(static_cast<FeatureNumber>(feature)) == 0) continue;
        EXPECT_EQ(option.data, newest[feature]);
        ++confirmed[feature];
      }
    }
  }
  EXPECT_GE(confirmed[3], 3u);
  EXPECT_GE(confirmed[5], 2u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, false), newest[3].back());
  EXPECT_EQ(peer.Feature(FeatureNumber::kAckRatio, false), newest[5].back());
}

// Confirm R(Sequence Window, 50), Confirm R(Ack Ratio, 1), from Linux, of what is not on offer.
TEST(LinuxWire, R4340_LNX_09_ItsConfirmOfAnOlderValueChangesNothing) {
  const Packets packets = LinuxConversation("netem-ccid2");
  const LinuxPacket* confirm = nullptr;
  for (const LinuxPacket& packet : packets) {
    if (confirm == nullptr && !packet.from_client && packet.type == PacketType::kAck &&
        Decoded(packet).Find(OptionType::kConfirmR) != nullptr)
      confirm = &packet;
  }
  ASSERT_NE(confirm, nullptr);
  WirePeerConfig config = AsClientOf(packets);
  config.options.sequence_window = 1000;
  WirePeer peer(config);
  peer.Connect();
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kResponse, false)));
  peer.InjectRaw(ToWirePeer(*confirm, peer.gss()));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSequenceWindow, true), 100u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kAckRatio, true), 2u);
  peer.Take();
  // Ours is still under negotiation.
  peer.Advance(seconds(5));
  EXPECT_THAT(peer.Take(),
              Contains(HasOption(OptionType::kChangeL, ElementsAre(3, 0, 0, 0, 0, 0x03, 0xE8))));
}

// It ignores Mandatory before options that it does not know, so that nothing may depend on it.
TEST(LinuxWire, R4340_LNX_12_MandatoryStandsBeforeFeatureOptionsOnly) {
  WirePeer peer(EverythingOn({}));
  std::size_t options = 0;
  for (const SentPacket& packet : ExchangeWithLinuxServer(peer)) {
    for (const WireOption& option : packet.options) {
      ++options;
      if (option.mandatory) {
        EXPECT_TRUE(IsChange(option.type)) << ::testing::PrintToString(packet);
      }
    }
  }
  EXPECT_GE(options, 60u);
}

// A wrong length of an option that Linux knows ends the connection.
TEST(LinuxWire, R4340_LNX_13_OurOptionsHaveExactLengths) {
  WirePeer peer(EverythingOn({}));
  const auto sent = ExchangeWithLinuxServer(peer);
  EXPECT_GE(sent.size(), 40u);
  for (const SentPacket& packet : sent) {
    for (const WireOption& option : packet.options) {
      const std::size_t n = option.data.size();
      switch (option.type) {
        case OptionType::kNdpCount:
          EXPECT_TRUE(n >= 1 && n <= 6) << n;
          break;
        case OptionType::kTimestamp:
        case OptionType::kDataChecksum:
          EXPECT_EQ(n, 4u);
          break;
        case OptionType::kTimestampEcho:
          EXPECT_TRUE(n == 4 || n == 6 || n == 8) << n;
          break;
        case OptionType::kElapsedTime:
          EXPECT_TRUE(n == 2 || n == 4) << n;
          break;
        case OptionType::kChangeL:
        case OptionType::kChangeR:
        case OptionType::kConfirmL:
        case OptionType::kConfirmR: {
          ASSERT_GE(n, 1u);
          const std::size_t nn = NnValueBytes(static_cast<FeatureNumber>(option.data[0]));
          if (nn != 0) {
            EXPECT_EQ(n, nn + 1);
          } else {
            EXPECT_GE(n, 2u);
          }
          break;
        }
        default:
          break;
      }
    }
  }
}

// Linux takes Timestamp 0 for "none". Its value is 0 every 42949.67296 s.
TEST(LinuxWire, R4340_LNX_13_ATimestampIsNeverZero) {
  WirePeer peer;
  constexpr Duration kRange = microseconds(10) * (std::int64_t{1} << 32);
  peer.Advance(kRange - peer.now().time_since_epoch() % kRange);
  peer.Connect();
  EXPECT_THAT(peer.TakeOne(), HasOption(OptionType::kTimestamp, ElementsAre(0, 0, 0, 1)));
}

// Linux knows neither of Slow Receiver, Init Cookie, Data Dropped, Data Checksum, ECN, short
// numbers and data on a Request: with all of that wanted, a connection with it works without.
TEST(LinuxWire, R4340_LNX_03_LNX_10_LNX_14_NothingThatLinuxLacksIsNeeded) {
  WirePeerConfig config = EverythingOn({});
  config.options.short_seqnos = true;
  config.request_data = "ignored by Linux";
  WirePeer peer(config);
  const auto sent = ExchangeWithLinuxServer(peer);
  for (const SentPacket& packet : sent) {
    EXPECT_TRUE(packet.extended);
    EXPECT_EQ(packet.ecn, Ecn::kNotEct);
    if (packet.type == PacketType::kDataAck || packet.type == PacketType::kData) {
      EXPECT_EQ(packet.cscov, 0u) << "partial coverage was not agreed";
    }
  }
  EXPECT_EQ(peer.Info().counters.data_packets_sent, 21u) << "the Request's included";
  EXPECT_EQ(peer.Info().counters.data_packets_received, 20u);
}

// A connection with Checksum Coverage 1 both ways, in native mode: every byte as captured, so that
// the checksums, which leave the data out, must hold as well.
class LinuxCoverage : public ::testing::Test {
 protected:
  LinuxCoverage() : packets_(LinuxConversation("cscov")) {
    path_.local.bytes = path_.remote.bytes = {127, 0, 0, 1};
  }

  static WirePeerConfig Config(const Packets& packets, std::uint8_t least) {
    WirePeerConfig config = AsServerOf(packets);
    config.encapsulation = Encapsulation::kNative;
    config.options.min_checksum_coverage = least;
    config.options.checksum_coverage = least;
    return config;
  }
  void Listen(WirePeer& peer) {
    PacketView view;
    ASSERT_EQ(PacketView::Parse(packets_.front().bytes, &view), ParseError::kNone);
    ListenParams params;
    params.port = view.destination_port();
    params.service_codes = {view.service_code()};
    params.options = Config(packets_, peer_least_).options;
    ASSERT_TRUE(peer.endpoint().Listen(params).ok());
  }
  // Everything up to the Close.
  void PlayClient(WirePeer& peer) {
    for (const LinuxPacket& packet : packets_) {
      if (!packet.from_client || packet.type == PacketType::kClose) continue;
      if (packet.has_data) {
        EXPECT_EQ(packet.cscov, 1u);
        ++data_;
      }
      peer.InjectRawFrom(packet.bytes, path_);
    }
  }

  const Packets packets_;
  Path path_;
  std::uint8_t peer_least_ = 0;
  std::size_t data_ = 0;
};

TEST_F(LinuxCoverage, R4340_LNX_15_PartialCoverageBothWaysOnceAgreed) {
  peer_least_ = 1;
  WirePeer peer(Config(packets_, peer_least_));
  Listen(peer);
  PlayClient(peer);
  EXPECT_EQ(data_, 3u);
  EXPECT_EQ(peer.DroppedInAll(), 0u);
  EXPECT_EQ(peer.Read().size(), data_);
  EXPECT_EQ(peer.Feature(FeatureNumber::kMinChecksumCoverage, true), 1u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kMinChecksumCoverage, false), 1u);
  peer.Take();
  ASSERT_TRUE(peer.Send("answer").ok());
  const SentPacket answer = peer.Take().back();
  EXPECT_EQ(answer.payload, "answer");
  EXPECT_EQ(answer.cscov, 1u);
  EXPECT_TRUE(answer.checksum_good);
}

TEST_F(LinuxCoverage, R4340_LNX_15_WithoutOurConsentItsPartialCoverageIsRefused) {
  WirePeer peer(Config(packets_, 0));
  Listen(peer);
  PlayClient(peer);
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_THAT(peer.Read(), IsEmpty());
  EXPECT_EQ(peer.Dropped(DropReason::kTooLittleCoverage), data_);
  EXPECT_EQ(peer.Dropped(DropReason::kBadChecksum), 0u);
}

// Ack Vectors whose older cells contradict what Linux said before (it miscounts long gaps).
TEST(LinuxWire, R4340_LNX_23_AContradictingAckVectorIsNoFault) {
  const Packets packets = LinuxConversation("server-open");
  WirePeerConfig config = AsClientOf(packets);
  WirePeer peer(config);
  peer.Connect();
  const LinuxPacket& response = FirstOf(packets, PacketType::kResponse, false);
  peer.InjectRaw(ToWirePeer(response));
  std::uint64_t seq = response.seq;
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 4; ++k) static_cast<void>(peer.Send("x"));
    peer.Take();
    const std::uint8_t shift = i % 2 == 0 ? 0xC1 : 0x01;
    peer.Inject(Ack(++seq, peer.gss()).With({0, 0, 0, 38, 7, 0, 0xC0, shift, 0xC0, 0x05}));
    EXPECT_EQ(peer.state(), State::kOpen);
    EXPECT_THAT(peer.Take(), Each(Not(HasType(PacketType::kReset))));
    peer.Advance(milliseconds(50));
  }
  EXPECT_TRUE(peer.Send("still here").ok());
}

// 1500 - 20 - 16 - 24: its client takes 1440 bytes, more than its packets hold beside an Ack
// Vector.
TEST(LinuxWire, R4340_LNX_25_ItsLargestDatagramArrivesWhole) {
  const Packets packets = LinuxConversation("api-1440");
  WirePeer peer(AsServerOf(packets));
  peer.Listen();
  for (const LinuxPacket& packet : packets) {
    if (packet.from_client && packet.at < seconds(1)) peer.InjectRaw(ToWirePeer(packet));
  }
  const auto read = peer.Read();
  ASSERT_GE(read.size(), 4u);
  EXPECT_EQ(read[0].size(), 1440u);
  EXPECT_EQ(read[1], "");
  EXPECT_EQ(read[2], "hello world!");
  EXPECT_EQ(read[3], "second");
}

// A Linux server insists on all Confirms in the first packet that reaches it, however large the
// datagram in it is.
TEST(LinuxWire, R4340_LNX_05_LNX_25_TheLargestDatagramOfPartOpenLeavesRoomForTheConfirms) {
  for (const char* name : {"loopback-ccid2", "server-wants-confirms", "seqwin-5000", "closereq"}) {
    const Packets packets = LinuxConversation(name);
    WirePeer peer(AsClientOf(packets));
    peer.Connect();
    const LinuxPacket& response = FirstOf(packets, PacketType::kResponse, false);
    peer.InjectRaw(ToWirePeer(response, peer.gss()));
    const auto first = peer.Take();
    const SentPacket asked = Decoded(response);
    std::vector<WireOption> wanted;
    for (const WireOption& option : first.back().options) {
      if (IsConfirm(option.type)) wanted.push_back(option);
    }
    const auto changes =
        std::count_if(asked.options.begin(), asked.options.end(),
                      [](const WireOption& option) { return IsChange(option.type); });
    EXPECT_EQ(wanted.size(), static_cast<std::size_t>(changes)) << name;
    const std::uint32_t mps = peer.Info().mps_bytes;
    ASSERT_TRUE(peer.Send(std::string(mps, 'x')).ok());
    ASSERT_TRUE(peer.Send(std::string(mps, 'x')).ok());
    bool confirmed = false;
    std::size_t data = 0;
    for (const SentPacket& packet : peer.Take()) {
      EXPECT_LE(packet.bytes.size() + 28, 1500u);
      confirmed = std::all_of(wanted.begin(), wanted.end(), [&](const WireOption& option) {
        return std::find(packet.options.begin(), packet.options.end(), option) !=
               packet.options.end();
      });
      data += packet.payload.empty() ? 0u : 1u;
      EXPECT_TRUE(confirmed) << name << ::testing::PrintToString(packet);
    }
    EXPECT_EQ(data, 2u) << name;
  }
}

// Time set so that our Timestamps are those of the Linux end that we replace: its echoes are then
// ours, and tell the round trip to 10 microseconds.
constexpr Duration kTick = microseconds(10);

void AdvanceToTimestamp(WirePeer& peer, std::uint32_t ticks) {
  constexpr Duration kRange = kTick * (std::int64_t{1} << 32);
  const Duration now = peer.now().time_since_epoch() % kRange;
  peer.Advance(kRange - now + ticks * kTick);
}

// The echo's sample, then that of the Acknowledgement Number.
Duration Smoothed(Duration echo, Duration whole) { return (7 * echo + whole) / 8; }

std::uint32_t TimestampOf(const LinuxPacket& packet) {
  std::uint32_t ticks = 0;
  for (const std::uint8_t b : OptionData(packet, OptionType::kTimestamp)) ticks = ticks << 8 | b;
  return ticks;
}

TEST(LinuxWire, R4340_LNX_30_TheRoundTripOfAHandshakeWithALinuxServer) {
  const Packets packets = LinuxConversation("api-1440");
  const LinuxPacket& request = FirstOf(packets, PacketType::kRequest, true);
  const LinuxPacket& response = FirstOf(packets, PacketType::kResponse, false);
  WirePeer peer(AsClientOf(packets));
  AdvanceToTimestamp(peer, TimestampOf(request));
  peer.Connect();
  EXPECT_THAT(peer.TakeOne(),
              HasOption(OptionType::kTimestamp, OptionData(request, OptionType::kTimestamp)));
  peer.Advance(milliseconds(1));
  peer.InjectRaw(ToWirePeer(response));
  // It says that it held our Timestamp for one tick.
  EXPECT_EQ(peer.Info().rtt, Smoothed(milliseconds(1) - kTick, milliseconds(1)));
  EXPECT_THAT(peer.Take(), Contains(HasOption(OptionType::kTimestampEcho,
                                              OptionData(response, OptionType::kTimestamp))));
}

TEST(LinuxWire, R4340_LNX_30_TheRoundTripOfAHandshakeWithALinuxClient) {
  const Packets packets = LinuxConversation("api-1440");
  const LinuxPacket& response = FirstOf(packets, PacketType::kResponse, false);
  WirePeer peer(AsServerOf(packets));
  AdvanceToTimestamp(peer, TimestampOf(response));
  peer.Listen();
  const LinuxPacket& request = FirstOf(packets, PacketType::kRequest, true);
  peer.InjectRaw(ToWirePeer(request));
  EXPECT_THAT(
      peer.TakeOne(),
      AllOf(HasOption(OptionType::kTimestamp, OptionData(response, OptionType::kTimestamp)),
            HasOption(OptionType::kTimestampEcho, OptionData(request, OptionType::kTimestamp))));
  peer.Advance(milliseconds(2));
  // Its echo in the Ack says that it held ours for eleven ticks.
  peer.InjectRaw(ToWirePeer(FirstOf(packets, PacketType::kAck, true)));
  EXPECT_EQ(peer.Info().rtt, Smoothed(milliseconds(2) - 11 * kTick, milliseconds(2)));
}

}  // namespace
}  // namespace dccp::peer
