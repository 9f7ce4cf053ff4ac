// Failures that other DCCP stacks have shown with bytes: lengths, lists, coverage, halves of a
// byte.

#include <gtest/gtest.h>

#include <array>

#include "stack/base/byte_order.h"
#include "stack/wire/feature_codec.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_view.h"
#include "tests/support/wire_peer.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp::peer {
namespace {

using std::chrono::seconds;
using ::testing::_;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// One to six bytes; anything else is no NDP Count, which Mandatory makes a fault.
TEST(Bugs, Bug_B17_NdpCountsOfOneToSixBytes) {
  for (std::uint8_t n = 0; n <= 8; ++n) {
    Octets option = {1, 37, static_cast<std::uint8_t>(n + 2)};
    Bytes data;
    std::uint64_t value = 0;
    for (std::uint8_t i = 1; i <= n; ++i) {
      option.push_back(i);
      data.push_back(std::byte{i});
      value = value << 8 | i;
    }
    const bool good = n >= 1 && n <= 6;
    EXPECT_EQ(DecodeNdpCount(data), good ? std::optional(value) : std::nullopt);
    WirePeer peer;
    peer.OpenAsServer();
    peer.Inject(DataAck(5002, peer.gss(), "x").With(option));
    EXPECT_EQ(peer.state(), good ? State::kOpen : State::kClosed) << unsigned{n};
    if (!good) {
      EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 6, 37, n > 0 ? 1 : 0, n > 1 ? 2 : 0)));
    }
  }
}

// State in the two high bits, run length in the six low ones.
TEST(Bugs, Bug_D3_TheStateOfACellIsItsTwoHighBits) {
  const auto after = [](const Octets& cells) {
    WirePeer peer;
    peer.OpenAsServer();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(peer.Send("data").ok());
    peer.Inject(Ack(5002, peer.gss()).With({38, 3, 2}));
    peer.Take();
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(peer.Send("data").ok());
    EXPECT_EQ(peer.Take().size(), 4u);
    Octets option = {38, static_cast<std::uint8_t>(cells.size() + 2)};
    option.insert(option.end(), cells.begin(), cells.end());
    peer.Inject(Ack(5003, peer.gss()).With(option));
    const ConnectionCounters counters = peer.Info().counters;
    return std::pair(counters.data_packets_lost, counters.data_packets_marked);
  };
  EXPECT_EQ(after({0x03}), std::pair(std::uint64_t{0}, std::uint64_t{0}));
  EXPECT_EQ(after({0x02, 0xC0}), std::pair(std::uint64_t{1}, std::uint64_t{0}));
  EXPECT_EQ(after({0x41, 0x01}), std::pair(std::uint64_t{0}, std::uint64_t{2}));
  EXPECT_EQ(after({0x00, 0x41, 0xC0}), std::pair(std::uint64_t{1}, std::uint64_t{2}));
}

// The sum of RFC 4340 §9.1, written once more from its text.
std::uint16_t ReferenceChecksum(const Path& path, Bytes bytes, std::size_t covered,
                                std::size_t length) {
  StoreBe16(bytes.data() + 6, 0);
  std::uint32_t sum = 33 + static_cast<std::uint32_t>(length);
  const auto add = [&sum](unsigned value, std::size_t at) {
    sum += at % 2 == 0 ? value << 8 : value;
  };
  for (std::size_t i = 0; i < 4; ++i) {
    add(path.local.bytes[i], i);
    add(path.remote.bytes[i], i);
  }
  for (std::size_t i = 0; i < covered; ++i) add(std::to_integer<unsigned>(bytes[i]), i);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

WirePeerConfig WithCoverage() {
  WirePeerConfig config;
  config.encapsulation = Encapsulation::kNative;
  config.options.min_checksum_coverage = 1;
  config.options.checksum_coverage = 1;
  return config;
}

TEST(Bugs, Bug_F1_ThePseudoHeaderHasTheWholeLength) {
  const std::string payload(60, 'p');
  for (std::uint8_t cscov = 1; cscov <= 15; ++cscov) {
    WirePeer peer(WithCoverage());
    peer.OpenAsServer();
    ASSERT_EQ(peer.Feature(FeatureNumber::kMinChecksumCoverage, true), 1u);
    Bytes bytes = peer.BuildPacket(Data(5002, payload).Coverage(cscov));
    const std::size_t covered = 16 + (cscov - 1u) * 4;
    const auto inject = [&](std::size_t length, std::size_t damage) {
      Bytes copy = bytes;
      StoreBe16(copy.data() + 6, ReferenceChecksum(peer.path(), copy, covered, length));
      if (damage != 0) copy[damage] ^= std::byte{0x10};
      peer.InjectRaw(copy);
      return peer.Read().size();
    };
    EXPECT_EQ(inject(covered, 0), 0u) << "the covered length in the pseudo-header";
    EXPECT_EQ(inject(bytes.size(), covered - 1), 0u) << "damage in what is covered";
    EXPECT_EQ(peer.Dropped(DropReason::kBadChecksum), 2u);
    EXPECT_EQ(inject(bytes.size(), covered), 1u) << "damage in what is not";
  }
}

TEST(Bugs, Bug_F1_OurPartialChecksumsToo) {
  WirePeer peer(WithCoverage());
  peer.OpenAsServer();
  for (const std::size_t size : {0u, 1u, 2u, 61u, 1000u}) {
    ASSERT_TRUE(peer.Send(std::string(size, 'p')).ok());
    const SentPacket packet = peer.TakeOne();
    EXPECT_EQ(packet.cscov, 1u);
    const std::size_t header = packet.bytes.size() - size;
    EXPECT_EQ(LoadBe16(packet.bytes.data() + 6),
              ReferenceChecksum(peer.path(), packet.bytes, header, packet.bytes.size()));
    peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 0}));
  }
}

// In what Linux sent, too: CCID 3 uses CCVal, one connection partial coverage.
TEST(Bugs, Bug_F3_CcvalIsTheHighHalfAndCoverageTheLow) {
  PacketView view;
  const Bytes literal = wire_testing::FromHex("c3501389 04310000 05000000 00001388");
  ASSERT_EQ(PacketView::Parse(literal, &view), ParseError::kNone);
  EXPECT_EQ(view.ccval(), 3u);
  EXPECT_EQ(view.cscov(), 1u);
  std::size_t ccvals = 0;
  std::size_t coverages = 0;
  for (const auto& packet : wire_testing::AllCaptured()) {
    ASSERT_EQ(PacketView::Parse(packet.bytes, &view), ParseError::kNone);
    const auto byte = std::to_integer<unsigned>(packet.bytes[5]);
    EXPECT_EQ(view.ccval(), byte >> 4);
    EXPECT_EQ(view.cscov(), byte & 15);
    ccvals += view.ccval() != 0 ? 1u : 0u;
    coverages += view.cscov() != 0 ? 1u : 0u;
  }
  EXPECT_GE(ccvals, 20u);
  EXPECT_GE(coverages, 3u);
}

// Header bytes without options. RFC 4340 §5.1 to §5.7; 0: no such packet.
std::size_t LeastHeader(unsigned type, bool extended) {
  constexpr std::array<std::size_t, 10> kLong = {20, 28, 16, 24, 24, 24, 24, 28, 24, 24};
  if (type >= kLong.size()) return 0;
  if (extended) return kLong[type];
  if (type == 2) return 12;
  return type == 3 || type == 4 ? 16 : 0;
}

// Every type, either length of numbers, every Data Offset near the limits, cut at every byte.
void InjectImpossiblePackets(WirePeer& peer, std::uint64_t* injected) {
  for (unsigned bits = 0; bits < 32; ++bits) {
    const std::size_t least = LeastHeader(bits >> 1, (bits & 1) != 0);
    for (std::size_t offset = 0; offset < 64; ++offset) {
      if (offset == 12) offset = 60;
      for (std::size_t length = 0; length <= 48; ++length) {
        if (least != 0 && offset * 4 >= least && offset * 4 <= length) continue;
        std::array<std::byte, 48> bytes;
        bytes.fill(std::byte{1});
        StoreBe16(bytes.data(), WirePeer::kPeerPort);
        StoreBe16(bytes.data() + 2, WirePeer::kEndpointPort);
        bytes[4] = static_cast<std::byte>(offset);
        bytes[5] = std::byte{0};
        bytes[8] = static_cast<std::byte>(bits);
        peer.InjectRaw(std::span(bytes).first(length));
        ++*injected;
      }
    }
  }
}

TEST(Bugs, Bug_F4_AnImpossibleDataOffsetIsDroppedInSilence) {
  WirePeer peer;
  peer.OpenAsServer();
  std::uint64_t injected = 0;
  InjectImpossiblePackets(peer, &injected);
  EXPECT_GT(injected, 10'000u);
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.DroppedInAll(), injected);
  EXPECT_GT(peer.Dropped(DropReason::kBadDataOffset), 1000u);
  EXPECT_EQ(peer.Info().counters.sequence_invalid, 0u);
  EXPECT_EQ(peer.state(), State::kOpen);
}

// The allocation that an injected packet lives in has exactly its size.
TEST(Bugs, Cve_2014_2523_NoFieldIsReadPastAShortPacket) {
  WirePeerConfig config;
  config.encapsulation = Encapsulation::kNative;
  WirePeer peer(config);
  peer.Listen();
  std::uint64_t injected = 0;
  InjectImpossiblePackets(peer, &injected);
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.DroppedInAll(), injected);
  // A router quotes as little.
  const Bytes whole = peer.BuildPacket(Request(5000));
  for (std::size_t n = 0; n <= whole.size(); ++n)
    peer.Icmp(IcmpKind::kPortUnreachable, std::span(whole).first(n));
  EXPECT_THAT(peer.Take(), IsEmpty());
}

TEST(Bugs, Bug_F5_ATypeThatMustBeLongIsDroppedWhenShort) {
  WirePeer peer;
  peer.OpenAsServer();
  std::uint64_t dropped = 0;
  for (unsigned type = 0; type < 10; ++type) {
    if (type >= 2 && type <= 4) continue;
    for (const std::size_t length : {12u, 16u, 20u, 28u}) {
      Bytes bytes(length);
      StoreBe16(bytes.data(), WirePeer::kPeerPort);
      StoreBe16(bytes.data() + 2, WirePeer::kEndpointPort);
      bytes[4] = static_cast<std::byte>(length / 4);
      bytes[8] = static_cast<std::byte>(type << 1);
      peer.InjectRaw(bytes);
      ++dropped;
    }
  }
  EXPECT_THAT(peer.Take(), IsEmpty());
  EXPECT_EQ(peer.DroppedInAll(), dropped);
  // Of each type at least the packet that is long enough to be read as a long one.
  EXPECT_GE(peer.Dropped(DropReason::kShortSeqnoNotAllowedForType), 7u);
  EXPECT_EQ(peer.state(), State::kOpen);
}

// Values 3, 2 and 248, not one value and something reserved.
TEST(Bugs, Bug_F7_ACcidListIsAList) {
  const Bytes area = wire_testing::FromHex("20060103 02f80000");
  OptionReader reader(area);
  OptionView option;
  ASSERT_TRUE(reader.Next(&option));
  const auto feature = DecodeFeatureOption(option);
  ASSERT_TRUE(feature.has_value());
  EXPECT_EQ(wire_testing::ToHex(feature->value), "0302f8");
  for (const Octets& list :
       {Octets{3, 2, 248}, Octets{248, 3, 2}, Octets{2, 248}, Octets{248, 2, 3, 2}}) {
    WirePeer peer;
    peer.Listen();
    Octets change = {32, static_cast<std::uint8_t>(list.size() + 3), 1};
    change.insert(change.end(), list.begin(), list.end());
    peer.Inject(Request(5000).With(change));
    EXPECT_THAT(peer.Take(),
                ElementsAre(IsResponse(kIss, 5000u,
                                       HasOption(OptionType::kConfirmR, ElementsAre(1, 2, 2)))));
  }
}

TEST(Bugs, Cve_2008_3276_AChangeWithoutAValueIsAnsweredAndHarmsNothing) {
  for (unsigned feature = 0; feature < 256; ++feature) {
    for (const std::uint8_t type : Octets{32, 34}) {
      const auto number = static_cast<std::uint8_t>(feature);
      const Octets change = {type, 3, number};
      const auto empty_confirm = HasOption(
          type == 32 ? OptionType::kConfirmR : OptionType::kConfirmL, ElementsAre(number));
      WirePeer listen;
      listen.Listen();
      listen.Inject(Request(5000).With(change));
      EXPECT_THAT(listen.Take(), ElementsAre(IsResponse(kIss, 5000u, empty_confirm)));
      WirePeer request;
      request.ClientInRequest();
      request.Inject(Response(5000, kIss).With(change));
      EXPECT_THAT(request.Take(), ElementsAre(IsAck(_, 5000u, empty_confirm)));
      WirePeer open;
      open.OpenAsServer();
      open.Inject(Ack(5002, open.gss()).With(change));
      open.Advance(seconds(1));
      EXPECT_THAT(open.Take(), Contains(empty_confirm));
      WirePeer mandatory;
      mandatory.OpenAsServer();
      mandatory.Inject(Ack(5002, mandatory.gss()).With({1, type, 3, number}));
      EXPECT_THAT(mandatory.Take(), ElementsAre(IsReset(_, 5002u, 6, type, number)));
    }
  }
}

// Lists as long as an option can be, and as many options as a header can hold.
TEST(Bugs, Cve_2008_2358_LongListsAndManyOptionsAreBounded) {
  for (unsigned feature = 0; feature < 256; ++feature) {
    for (const std::uint8_t type : Octets{32, 33, 34, 35}) {
      Octets options;
      while (options.size() + 255 <= 988) {
        options.insert(options.end(), {type, 255, static_cast<std::uint8_t>(feature)});
        for (unsigned i = 0; i < 252; ++i) options.push_back(static_cast<std::uint8_t>(i + 1));
      }
      WirePeer peer;
      peer.Listen();
      peer.Inject(Request(5000).With(options));
      const SentPacket answer = peer.TakeOne();
      EXPECT_TRUE(answer.type == PacketType::kResponse || answer.type == PacketType::kReset);
      EXPECT_LE(answer.bytes.size(), 200u) << feature;
    }
  }
  Octets many;
  for (unsigned i = 0; many.size() + 4 <= 988; ++i)
    many.insert(many.end(), {32, 4, static_cast<std::uint8_t>(i), 1});
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).With(many));
  const SentPacket answer = peer.TakeOne();
  EXPECT_EQ(answer.type, PacketType::kResponse);
  EXPECT_LE(answer.bytes.size() + 28, 1500u);
}

// Length 2 is a whole option that names nothing; 0, 1 and more than is left are nonsense, and so is
// what follows. RFC 4340 §5.8
TEST(Bugs, Cve_2011_1770_AFeatureOptionShorterThanItsHeader) {
  for (const std::uint8_t type : Octets{32, 33, 34, 35}) {
    for (const std::uint8_t length : Octets{0, 1, 2, 200, 255}) {
      WirePeer peer;
      peer.Listen();
      peer.Inject(Request(5000).With({type, length, 32, 4, 50, 1, 0, 0}));
      const auto confirm = HasOption(OptionType::kConfirmR, ElementsAre(50));
      const SentPacket response = peer.TakeOne();
      EXPECT_EQ(response.type, PacketType::kResponse);
      if (length == 2) {
        EXPECT_THAT(response, confirm);
      } else {
        EXPECT_THAT(response, Not(confirm));
      }
    }
  }
}

// What is sent from memory that held other bytes: every reserved bit and every Padding is 0.
TEST(Bugs, Cve_2012_6541_NoByteIsSentThatWasNotWritten) {
  WirePeerConfig config;
  config.options.send_ndp_count = true;
  config.options.data_checksum = true;
  WirePeer peer(config);
  peer.OpenAsClient();
  std::vector<SentPacket> sent;
  const auto take = [&] {
    for (const SentPacket& packet : peer.Take()) sent.push_back(packet);
  };
  for (const std::size_t size : {1u, 200u, 1300u, 1u, 200u, 1300u}) {
    const std::string noise(size, '\xFF');
    for (int i = 0; i < 21; ++i) peer.Inject(DataAck(peer.Next(), peer.gss(), noise));
    EXPECT_EQ(peer.Read().size(), 21u);
    EXPECT_TRUE(peer.Read().empty());
    ASSERT_TRUE(peer.Send(std::string(size % 7, 'x')).ok());
    peer.Inject(Ack(peer.Next(), peer.gss()).With({41, 6, 0, 0, 0, 9, 32, 5, 5, 0, 4}));
    peer.Inject(Sync(peer.Next(), peer.gss()));
    peer.Inject(Data(peer.PeekNext() + 9000, "far"));
    peer.Advance(seconds(1));
    take();
  }
  ASSERT_TRUE(peer.Close().ok());
  take();
  EXPECT_TRUE(peer.Abort().ok());
  take();
  peer.Inject(Ack(peer.Next(), peer.gss()));
  take();
  std::array<std::size_t, 10> types = {};
  for (const SentPacket& packet : sent) {
    ++types[static_cast<std::size_t>(packet.type)];
    EXPECT_EQ(packet.bytes[8] & std::byte{0xE0}, std::byte{0});
    EXPECT_EQ(packet.bytes[9], std::byte{0});
    if (packet.ack) {
      EXPECT_EQ(LoadBe16(packet.bytes.data() + 16), 0u);
    }
    if (packet.type == PacketType::kReset) {
      EXPECT_THAT(packet.reset.data, Each(0));
    }
    for (const WireOption& option : packet.options) {
      EXPECT_STRNE(ToString(option.type), "?") << ::testing::PrintToString(packet);
    }
  }
  for (const PacketType type : {PacketType::kAck, PacketType::kDataAck, PacketType::kSync,
                                PacketType::kSyncAck, PacketType::kClose, PacketType::kReset})
    EXPECT_GE(types[static_cast<std::size_t>(type)], 1u) << ToString(type);
}

}  // namespace
}  // namespace dccp::peer
