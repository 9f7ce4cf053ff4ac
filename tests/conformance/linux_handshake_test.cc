// Handshakes with packets that Linux 6.1.192 sent (tests/data): every Mandatory Change of its
// Request and Response must be confirmed at once, or it gives up. RFC 4340 §6, §8.1

#include <gtest/gtest.h>

#include <algorithm>

#include "dccp/ccid2.h"
#include "dccp/ccid3.h"
#include "stack/base/byte_order.h"
#include "stack/wire/packet_view.h"
#include "tests/support/wire_peer.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp::peer {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// The first captured packet of `type` that comes at or after line `from` of the file.
Bytes Captured(const std::string& type, std::size_t from = 0) {
  const auto all = wire_testing::ReadCapture("linux61_wire_vectors.txt");
  for (std::size_t i = from; i < all.size(); ++i) {
    if (all[i].type == type) return all[i].bytes;
  }
  ADD_FAILURE() << "no such packet";
  return {};
}

// The last of `type` of the second file, where the answers to hand-made Requests stand.
Bytes CapturedElsewhere(const std::string& type) {
  const auto all = wire_testing::ReadCapture("linux61_more_vectors.txt");
  for (auto packet = all.rbegin(); packet != all.rend(); ++packet) {
    if (packet->type == type) return packet->bytes;
  }
  ADD_FAILURE() << "no such packet";
  return {};
}

std::vector<Bytes> AllCaptured(const std::string& type) {
  std::vector<Bytes> out;
  for (const auto& packet : wire_testing::ReadCapture("linux61_wire_vectors.txt")) {
    if (packet.type == type) out.push_back(packet.bytes);
  }
  return out;
}

// The same packet between the test's ports; in DCCP-UDP nothing else depends on them.
Bytes Readdressed(Bytes bytes) {
  StoreBe16(bytes.data(), WirePeer::kPeerPort);
  StoreBe16(bytes.data() + 2, WirePeer::kEndpointPort);
  return bytes;
}

PacketView View(const Bytes& bytes) {
  PacketView view;
  EXPECT_EQ(PacketView::Parse(bytes, &view), ParseError::kNone);
  return view;
}

std::size_t Count(const SentPacket& packet, OptionType type) {
  return static_cast<std::size_t>(
      std::count_if(packet.options.begin(), packet.options.end(),
                    [type](const WireOption& option) { return option.type == type; }));
}

// 20 05 01 02 03  22 05 01 02 03  01 20 04 02 00  01 20 04 04 01: Change L and R (CCID, 2 3),
// Mandatory Change L (Allow Short Seqnos, 0), Mandatory Change L (ECN Incapable, 1).
TEST(LinuxClient, R4340_LNX_02_LNX_03_LNX_04_ItsRequestIsAnsweredWithAllConfirms) {
  WirePeerConfig config;
  const Bytes request = Readdressed(Captured("Request", 2));
  config.service_codes = {View(request).service_code()};
  WirePeer peer(config);
  peer.Listen();
  peer.InjectRaw(request);
  const SentPacket response = peer.TakeOne();
  EXPECT_THAT(response, IsResponse(kIss, View(request).seq().value(),
                                   HasOption(OptionType::kConfirmR, ElementsAre(1, 2, 2)),
                                   HasOption(OptionType::kConfirmL, ElementsAre(1, 2, 2))));
  const auto value = [&response](std::uint8_t feature) {
    for (const WireOption& option : response.options) {
      if (option.type == OptionType::kConfirmR && option.data.at(0) == feature)
        return option.data.size() > 1 ? int{option.data[1]} : -1;
    }
    return -2;
  };
  EXPECT_EQ(value(2), 0);
  EXPECT_EQ(value(4), 1);
  EXPECT_THAT(response, HasOption(OptionType::kTimestampEcho));
  EXPECT_EQ(Count(response, OptionType::kConfirmR), 3u);
  EXPECT_EQ(Count(response, OptionType::kConfirmL), 1u);
  EXPECT_EQ(peer.endpoint().counters().resets_without_connection, 0u);
}

TEST(LinuxClient, R4340_LNX_04_ARepeatedRequestGetsThemAllAgain) {
  WirePeerConfig config;
  Bytes request = Readdressed(Captured("Request", 2));
  config.service_codes = {View(request).service_code()};
  WirePeer peer(config);
  peer.Listen();
  peer.InjectRaw(request);
  const SentPacket first = peer.TakeOne();
  StoreBe48(request.data() + 10, View(request).seq().value() + 1);
  peer.InjectRaw(request);
  const SentPacket second = peer.TakeOne();
  EXPECT_EQ(second.seq, first.seq + 1);
  for (const WireOption& option : first.options) {
    if (option.type == OptionType::kConfirmL || option.type == OptionType::kConfirmR) {
      EXPECT_THAT(second.options, Contains(option));
    }
  }
}

// Every Request of the capture that can be met with CCID 2; the others ask for CCID 3 alone.
TEST(LinuxClient, R4340_LNX_02_Bug_B29_Bug_B31_EveryCapturedRequestIsMet) {
  std::size_t met = 0;
  std::size_t refused = 0;
  for (const Bytes& captured : AllCaptured("Request")) {
    const Bytes request = Readdressed(captured);
    WirePeerConfig config;
    config.service_codes = {View(request).service_code()};
    if (!config.service_codes.front().valid()) continue;
    WirePeer peer(config);
    peer.Listen();
    peer.InjectRaw(request);
    const SentPacket answer = peer.TakeOne();
    if (answer.type == PacketType::kResponse) {
      ++met;
      OutboundDatagram as_sent;
      as_sent.bytes = request;
      const SentPacket asked = Decode(as_sent, Encapsulation::kNative, peer.now());
      const std::size_t changes =
          Count(asked, OptionType::kChangeL) + Count(asked, OptionType::kChangeR);
      EXPECT_EQ(Count(answer, OptionType::kConfirmL) + Count(answer, OptionType::kConfirmR),
                changes);
    } else {
      ++refused;
      EXPECT_EQ(answer.type, PacketType::kReset);
      EXPECT_EQ(answer.reset.code, ResetCode::kMandatoryError);
    }
  }
  EXPECT_GE(met, 20u);
  EXPECT_LE(refused, 8u);
}

TEST(LinuxClient, R4340_ECN_03_NothingIsMarkedTowardsIt) {
  WirePeerConfig config;
  const Bytes request = Readdressed(Captured("Request", 2));
  config.service_codes = {View(request).service_code()};
  WirePeer peer(config);
  peer.Listen();
  peer.InjectRaw(request);
  const SentPacket response = peer.TakeOne();
  const std::uint64_t isr = View(request).seq().value();
  peer.Inject(Ack(isr + 1, response.seq).With(ConfirmsFor(response)));
  ASSERT_EQ(peer.state(), State::kOpen);
  ASSERT_TRUE(peer.Send("data").ok());
  peer.Inject(DataAck(isr + 2, peer.gss(), "data"));
  peer.Inject(DataAck(isr + 3, peer.gss(), "data"));
  const auto sent = peer.Take();
  EXPECT_GE(sent.size(), 3u);
  EXPECT_THAT(sent, Each(HasEcn(Ecn::kNotEct)));
  EXPECT_THAT(peer.Read(), ElementsAre("data", "data"));
}

// 21 06 01 02 02 03  23 06 01 02 02 03  01 20 04 02 00  23 05 02 00 00  01 20 04 04 01
// 23 05 04 01 01  01 20 04 06 01  01 22 04 06 01: Confirms of what a Linux client asked for, and
// Mandatory Changes of its own.
TEST(LinuxServer, R4340_LNX_05_FN_29_ItsResponseIsAcceptedAndAllIsConfirmed) {
  const Bytes response = Readdressed(Captured("Response"));
  WirePeerConfig config;
  config.service_codes = {View(response).service_code()};
  config.options.initial_sequence = View(response).ack();
  WirePeer peer(config);
  peer.Connect();
  peer.Take();
  peer.InjectRaw(response);
  EXPECT_EQ(peer.state(), State::kPartOpen);
  const std::uint64_t isr = View(response).seq().value();
  const auto all_confirms = AllOf(HasOption(OptionType::kConfirmR, ElementsAre(4, 1, 1, 0)),
                                  HasOption(OptionType::kConfirmR, ElementsAre(6, 1, 1)),
                                  HasOption(OptionType::kConfirmL, ElementsAre(6, 1, 1)));
  const SentPacket ack = peer.TakeOne();
  EXPECT_THAT(ack, IsAck(_, isr, all_confirms, HasOption(OptionType::kTimestampEcho)));
  EXPECT_EQ(Count(ack, OptionType::kConfirmR) + Count(ack, OptionType::kConfirmL), 4u);
  // Until the connection is open every packet repeats them.
  ASSERT_TRUE(peer.Send("data").ok());
  EXPECT_THAT(peer.Take(), ElementsAre(IsPacket(PacketType::kDataAck, _, isr, all_confirms,
                                                HasEcn(Ecn::kNotEct))));
}

TEST(LinuxServer, R4340_LNX_07_CON_14_ItsRepeatedResponsesAreAcknowledged) {
  Bytes response = Readdressed(Captured("Response"));
  WirePeerConfig config;
  config.service_codes = {View(response).service_code()};
  config.options.initial_sequence = View(response).ack();
  WirePeer peer(config);
  peer.Connect();
  peer.InjectRaw(response);
  peer.Take();
  const std::uint64_t next = View(response).seq().value() + 1;
  StoreBe48(response.data() + 10, next);
  peer.InjectRaw(response);
  EXPECT_THAT(peer.Take(), ElementsAre(IsAck(_, next, HasOption(OptionType::kConfirmL))));
}

// 23 03 01: an empty Confirm for our Change L(CCID), where it knows none of our list and its own
// has CCID 2. It is not refused at once: CCID 2, in force from the start, is in our list too.
TEST(LinuxServer, R4340_LNX_11_FN_32_ItsEmptyConfirmForTheCcidLeavesCcid2InForce) {
  const Bytes response = Readdressed(CapturedElsewhere("Response"));
  const Ccid2Factory ccid2;
  const Ccid3Factory ccid3;
  CcidRegistry registry;
  registry.Add(ccid3);
  registry.Add(ccid2);
  WirePeerConfig config;
  config.service_codes = {View(response).service_code()};
  config.options.initial_sequence = View(response).ack();
  config.adjust = [&](EndpointConfig& endpoint) { endpoint.registry = &registry; };
  WirePeer peer(config);
  peer.Connect();
  EXPECT_THAT(peer.TakeOne(), HasOption(OptionType::kChangeL, ElementsAre(1, 3, 2)));
  peer.InjectRaw(response);
  EXPECT_EQ(peer.state(), State::kPartOpen);
  EXPECT_EQ(peer.Info().tx_ccid, CcidId::k2);
  EXPECT_THAT(peer.TakeOne(), IsAck(_, View(response).seq().value()));
}

// The same to a Mandatory Change: Reset 6 with the option, its length and the feature as its data.
TEST(LinuxServer, R4340_LNX_11_LNX_12_RST_01_ItsRefusalOfTheCcidIsUnderstood) {
  const Bytes reset = Readdressed(CapturedElsewhere("Reset"));
  WirePeerConfig config;
  config.options.initial_sequence = View(reset).ack();
  WirePeer peer(config);
  peer.Connect();
  peer.Take();
  peer.InjectRaw(reset);
  EXPECT_EQ(peer.Info().close.by, ClosedBy::kRemote);
  EXPECT_EQ(peer.Info().close.reset.code, ResetCode::kMandatoryError);
  EXPECT_THAT(peer.Info().close.reset.data, ElementsAre(32, 1, 9));
  EXPECT_THAT(peer.Take(), IsEmpty());
}

TEST(LinuxServer, R4340_LNX_24_CON_06_ItsRefusalOfAClosedPortIsUnderstood) {
  const Bytes reset = Readdressed(Captured("Reset"));
  WirePeerConfig config;
  config.options.initial_sequence = View(reset).ack();
  WirePeer peer(config);
  peer.Connect();
  peer.Take();
  peer.InjectRaw(reset);
  EXPECT_EQ(peer.state(), State::kTimeWait);
  EXPECT_EQ(peer.Info().close.reset.code, ResetCode::kNoConnection);
  EXPECT_THAT(peer.Take(), IsEmpty());
}

}  // namespace
}  // namespace dccp::peer
