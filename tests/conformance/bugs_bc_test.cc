// Failures that other DCCP stacks have shown: options, features, ICMP. Cases that a requirement's
// own test covers carry their number there.

#include <gtest/gtest.h>

#include <span>

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

TEST(Bugs, Bug_B1_Bug_B3_MandatoryErrorsInEveryState) {
  const Octets last = {60, 3, 0, 1};
  const Octets twice = {1, 1, 0, 0};
  const Octets padding = {0, 0, 1, 0};
  for (const Octets& options : {last, twice, padding}) {
    const bool bad = options != padding;
    const auto check = [&](WirePeer& peer) {
      if (bad) {
        EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, _, 5, 1)));
        EXPECT_EQ(peer.state(), State::kClosed);
      } else {
        EXPECT_THAT(peer.Take(), Each(Not(HasType(PacketType::kReset))));
      }
    };
    WirePeer listen;
    listen.Listen();
    listen.Inject(Request(5000).With(options));
    check(listen);
    WirePeer request;
    request.ClientInRequest();
    request.Inject(Response(5000, kIss).With(options));
    check(request);
    WirePeer respond;
    respond.ServerInRespond();
    respond.Inject(Ack(5001, kIss).With(options));
    check(respond);
    WirePeer part_open;
    part_open.ClientInPartOpen();
    part_open.Inject(Ack(5001, part_open.gss()).With(options));
    check(part_open);
    WirePeer open;
    open.OpenAsServer();
    open.Inject(Ack(5002, open.gss()).With(options));
    check(open);
  }
}

TEST(Bugs, Bug_B4_Bug_B9_Cve_2008_2358_Cve_2011_1770_ImpossibleLengthsAreNeverReadBeyond) {
  for (std::uint8_t type = 32; type < 48; ++type) {
    for (const Octets& options :
         {Octets{type, 0, 0, 0}, Octets{type, 1, 0, 0}, Octets{type, 2, 0, 0},
          Octets{type, 200, 1, 1}, Octets{0, 0, 0, type}, Octets{0, 0, type, 3}}) {
      WirePeer peer;
      peer.OpenAsServer();
      peer.Inject(DataAck(5002, peer.gss(), "x").With(options));
      EXPECT_EQ(peer.state(), State::kOpen) << unsigned{type};
      EXPECT_THAT(peer.Read(), ElementsAre("x"));
    }
  }
}

TEST(Bugs, Bug_B5_OptionErrorsSayWhichOption) {
  WirePeer peer;
  peer.Connect();
  peer.Take();
  peer.Inject(Response(5000, kIss).With({35, 5, 6, 9, 9}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5000u, 5, 35, 6, 9)));
}

TEST(Bugs, Bug_B7_FeatureOptionsOnDataAreIgnored) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x").With({32, 5, 5, 0, 9, 34, 4, 7, 1}));
  peer.Inject(Data(5003, "x"));
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(), Each(AllOf(Not(HasOption(OptionType::kConfirmR)),
                                      Not(HasOption(OptionType::kConfirmL)))));
  EXPECT_EQ(peer.Feature(FeatureNumber::kAckRatio, false), 2u);
  EXPECT_EQ(peer.Feature(FeatureNumber::kSendNdpCount, true), 0u);
}

// The value in force does not change (RFC 4340 §6.3.1); only Mandatory makes it an error.
TEST(Bugs, Bug_B13_FN_09_NoCommonCcidLeavesCcid2) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).With({32, 4, 1, 3, 34, 4, 1, 3}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsResponse(
                               kIss, 5000u, HasOption(OptionType::kConfirmR, ElementsAre(1, 2, 2)),
                               HasOption(OptionType::kConfirmL, ElementsAre(1, 2, 2)))));
  WirePeer mandatory;
  mandatory.Listen();
  mandatory.Inject(Request(5000).With({1, 32, 4, 1, 3}));
  EXPECT_THAT(mandatory.Take(), ElementsAre(IsReset(kIss, 5000u, 6, 32, 1, 3)));
}

TEST(Bugs, Bug_B16_AConfirmIsTheValueAndThenTheList) {
  WirePeerConfig config;
  config.options.min_checksum_coverage = 3;
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Inject(Ack(5002, peer.gss()).With({34, 5, 8, 3, 1}));
  peer.Advance(seconds(1));
  EXPECT_EQ(peer.Feature(FeatureNumber::kMinChecksumCoverage, true), 3u);
  const auto sent = peer.Take();
  ASSERT_THAT(sent, Contains(HasOption(OptionType::kConfirmL)));
  for (const SentPacket& packet : sent) {
    if (const WireOption* confirm = packet.Find(OptionType::kConfirmL)) {
      ASSERT_GE(confirm->data.size(), 3u);
      EXPECT_EQ(confirm->data[0], 8);
      EXPECT_EQ(confirm->data[1], 3);
      EXPECT_EQ(confirm->data[2], 3);
    }
  }
}

// Data Checksum and Data Dropped have tests of their own; a cookie from nowhere is ignored.
TEST(Bugs, Bug_B20_COOK_01_AnInitCookieInOpenIsIgnored) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(DataAck(5002, peer.gss(), "x").With({36, 6, 1, 2, 3, 4}));
  EXPECT_THAT(peer.Read(), ElementsAre("x"));
  EXPECT_EQ(peer.state(), State::kOpen);
}

TEST(Bugs, Bug_B21_MultipathOptionsTowardsAPlainEndpoint) {
  WirePeer peer;
  peer.Listen();
  peer.Inject(Request(5000).With({34, 4, 10, 1, 46, 5, 0, 1, 2}));
  EXPECT_THAT(peer.Take(),
              ElementsAre(IsResponse(kIss, 5000u, HasOption(OptionType::kConfirmL, ElementsAre(10)),
                                     Not(HasOption(static_cast<OptionType>(46))))));
}

TEST(Bugs, Bug_B23_MandatoryUnknownOptionInTheHandshake) {
  const Octets options = {1, 45, 5, 7, 8, 9};
  WirePeer listen;
  listen.Listen();
  listen.Inject(Request(5000).With(options));
  EXPECT_THAT(listen.Take(), ElementsAre(IsReset(_, 5000u, 6, 45, 7, 8)));
  WirePeer request;
  request.ClientInRequest();
  request.Inject(Response(5000, kIss).With(options));
  EXPECT_THAT(request.Take(), ElementsAre(IsReset(_, 5000u, 6, 45, 7, 8)));
  WirePeer respond;
  respond.ServerInRespond();
  respond.Inject(Ack(5001, kIss).With(options));
  EXPECT_THAT(respond.Take(), ElementsAre(IsReset(_, 5001u, 6, 45, 7, 8)));
}

TEST(Bugs, Bug_B24_MandatoryChangesOfUnknownFeatureAndCcid) {
  WirePeer feature;
  feature.Listen();
  feature.Inject(Request(5000).With({1, 32, 4, 50, 1}));
  EXPECT_THAT(feature.Take(), ElementsAre(IsReset(_, 5000u, 6, 0x20, 0x32, 1)));
  WirePeer ccid;
  ccid.Listen();
  ccid.Inject(Request(5000).With({1, 32, 4, 1, 9}));
  EXPECT_THAT(ccid.Take(), ElementsAre(IsReset(_, 5000u, 6, 0x20, 1, 9)));
}

TEST(Bugs, Bug_B25_InvalidChangesOfARequestGetEmptyConfirms) {
  for (const Octets& change :
       {Octets{32, 4, 50, 1}, Octets{32, 9, 3, 0, 0, 0, 0, 0, 20},
        Octets{32, 9, 3, 0x40, 0, 0, 0, 0, 1}, Octets{34, 3, 5}, Octets{32, 3, 1}}) {
    WirePeer peer;
    peer.Listen();
    peer.Inject(Request(5000).With(change));
    const OptionType answer = change[0] == 32 ? OptionType::kConfirmR : OptionType::kConfirmL;
    EXPECT_THAT(peer.Take(),
                ElementsAre(IsResponse(kIss, 5000u, HasOption(answer, ElementsAre(change[2])))));
  }
}

TEST(Bugs, Bug_B27_FN_36_AConfirmOfAValueNeverOfferedFailsTheConnect) {
  WirePeerConfig config;
  config.options.tx_ccids = {CcidId::k2};
  WirePeer peer(config);
  peer.Connect();
  peer.Take();
  peer.Inject(Response(5000, kIss).With({33, 5, 6, 7, 7}));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5000u, 5, 33, 6, 7)));
  EXPECT_EQ(peer.TakeEvents() & kEventConnected, 0u);
  EXPECT_EQ(peer.Info().close.by, ClosedBy::kProtocol);
}

TEST(Bugs, Bug_B28_ANonNegotiableChangeInOpenIsConfirmed) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Ack(5002, peer.gss()).With({32, 9, 3, 0, 0, 0, 0, 1, 0, 32, 4, 1, 2}));
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(),
              Contains(AllOf(HasOption(OptionType::kConfirmR, ElementsAre(3, 0, 0, 0, 0, 1, 0)),
                             HasOption(OptionType::kConfirmR, ElementsAre(1, 2, 2)))));
}

TEST(Bugs, Bug_C3_C4_AbortIsAResetAtOnceWithoutTimeWait) {
  WirePeer peer;
  peer.OpenAsClient();
  peer.Inject(Data(5002, "unread"));
  ASSERT_TRUE(peer.Abort().ok());
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, 5002u, 2)));
  EXPECT_EQ(peer.state(), State::kClosed);
}

TEST(Bugs, Bug_C13_Cve_2017_6074_ARequestIsKeptOnceWhateverItsAddress) {
  WirePeerConfig config;
  config.family = IpFamily::kV6;
  WirePeer peer(config);
  peer.Listen();
  peer.Inject(Request(5000).Payload("once"));
  const SentPacket response = peer.TakeOne();
  peer.Inject(Ack(5001, response.seq).With(ConfirmsFor(response)));
  EXPECT_THAT(peer.Read(), ElementsAre("once"));
  EXPECT_THAT(peer.Read(), IsEmpty());
}

TEST(Bugs, Bug_C16_Bug_C28_UnreachableIsBelievedForOurOwnRequestsOnly) {
  const auto after = [](std::uint64_t offset, IcmpKind kind) {
    WirePeer peer;
    peer.Connect();
    Bytes quote = peer.TakeOne().bytes;
    const std::uint64_t seq = kIss + offset;
    for (int i = 0; i < 6; ++i)
      quote[static_cast<std::size_t>(15 - i)] = static_cast<std::byte>(seq >> (8 * i));
    peer.Icmp(kind, quote);
    EXPECT_THAT(peer.Take(), IsEmpty());
    if (peer.state() == State::kClosed) {
      EXPECT_EQ(peer.Info().close.by, ClosedBy::kUnreachable);
      EXPECT_EQ(peer.Info().close.icmp, kind);
    }
    return peer.state();
  };
  EXPECT_EQ(after(0, IcmpKind::kProtocolUnreachable), State::kClosed);
  EXPECT_EQ(after(0, IcmpKind::kPortUnreachable), State::kClosed);
  EXPECT_EQ(after(5000, IcmpKind::kProtocolUnreachable), State::kRequest);
  EXPECT_EQ(after(1, IcmpKind::kPortUnreachable), State::kRequest);
}

TEST(Bugs, Bug_C27_ADuplicateIsDeliveredOnce) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Inject(Data(5002, "x"));
  peer.Inject(Data(5002, "x"));
  peer.Inject(Data(5003, "y"));
  peer.Inject(Data(5002, "x"));
  EXPECT_THAT(peer.Read(), ElementsAre("x", "y"));
  EXPECT_EQ(peer.Info().counters.duplicates, 2u);
}

TEST(Bugs, Bug_C31_UnreachableInOpenIsASoftError) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("x").ok());
  const SentPacket packet = peer.TakeOne();
  peer.Icmp(IcmpKind::kPortUnreachable, packet.bytes);
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_TRUE(peer.Send("y").ok());
}

}  // namespace
}  // namespace dccp::peer
