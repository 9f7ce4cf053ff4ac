// CCID 2 on the wire: set-up, acknowledgements, what is told of data and of acknowledgements. RFC
// 4341

#include <gtest/gtest.h>

#include <algorithm>

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

constexpr OptionType kAckVector = OptionType::kAckVectorNonce0;

bool IsData(const SentPacket& packet) {
  return packet.type == PacketType::kData || packet.type == PacketType::kDataAck;
}

std::size_t CountData(const std::vector<SentPacket>& packets) {
  return static_cast<std::size_t>(std::count_if(packets.begin(), packets.end(), IsData));
}

// An Ack Vector that says all of `first` to `last` were received; `last` is the Acknowledgement
// Number.
Octets Vector(std::uint64_t first, std::uint64_t last) {
  Octets option = {38, 0};
  for (std::uint64_t left = last - first + 1; left > 0;) {
    const std::uint64_t run = std::min<std::uint64_t>(left, 64);
    option.push_back(static_cast<std::uint8_t>(run - 1));
    left -= run;
  }
  option[1] = static_cast<std::uint8_t>(option.size());
  return option;
}

// --------------------------------------------------------------------------------------- set-up
// ----

TEST(Ccid2SetUp, R4341_SET_01_TheSenderAsksForAckVectors) {
  WirePeer client;
  client.Connect();
  EXPECT_THAT(client.TakeOne(), HasMandatory(OptionType::kChangeR, {6, 1}));
  WirePeer server;
  server.Listen();
  server.Inject(Request(server.Next()));
  EXPECT_THAT(server.TakeOne(), HasMandatory(OptionType::kChangeR, {6, 1}));
}

TEST(Ccid2SetUp, R4341_SET_02_NoDataBeforeTheConfirm) {
  WirePeer peer;
  peer.Connect();
  const SentPacket request = peer.TakeOne();
  const std::uint64_t response = peer.Next();
  Octets confirms = ConfirmsFor(request);
  // All but that of Send Ack Vector: Confirm L, length 4 or more, feature 6.
  Octets without;
  for (std::size_t at = 0; at < confirms.size(); at += confirms[at + 1]) {
    const auto begin = confirms.begin() + static_cast<std::ptrdiff_t>(at);
    if (confirms[at] == 33 && confirms[at + 2] == 6) continue;
    without.insert(without.end(), begin, begin + confirms[at + 1]);
  }
  ASSERT_LT(without.size(), confirms.size());
  peer.Inject(Response(response, request.seq).With(without));
  ASSERT_TRUE(peer.Send("early").ok());
  peer.Advance(milliseconds(50));
  EXPECT_EQ(CountData(peer.Take()), 0u);
  peer.Inject(Ack(peer.Next(), peer.gss()).With({33, 4, 6, 1}));
  peer.Advance(milliseconds(1));
  EXPECT_EQ(CountData(peer.Take()), 1u);
}

TEST(Ccid2SetUp, R4341_SET_03_CcvalIsZero) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(peer.Send("x").ok());
  peer.Advance(milliseconds(1));
  const auto sent = peer.Take();
  ASSERT_GT(CountData(sent), 0u);
  for (const SentPacket& packet : sent) EXPECT_EQ(packet.ccval, 0);
}

TEST(Ccid2SetUp, R4341_SET_05_OptionsOfOtherCcidsAreIgnored) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  peer.Inject(Data(peer.Next(), "x").With({128, 4, 1, 1, 184, 3, 1}));
  peer.Inject(Ack(peer.Next(), peer.gss()).With({192, 6, 0, 0, 0, 1, 248, 3, 9}));
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_EQ(peer.Read().size(), 1u);
}

// ---------------------------------------------------------------------------- acknowledgements ---

TEST(Ccid2Acks, R4341_ACK_01_EachAckSaysWhatArrivedAndWhatWasMarked) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  const std::uint64_t first = peer.PeekNext();
  peer.Inject(Data(peer.Next(), "1").Marked(Ecn::kEct0));
  peer.Inject(Data(peer.Next(), "2").Marked(Ecn::kCe));
  peer.Next();  // lost
  peer.Inject(Data(peer.Next(), "4").Marked(Ecn::kEct0));
  const auto acks = peer.Take();
  ASSERT_FALSE(acks.empty());
  EXPECT_EQ(acks.back().ack, first + 3);
  const WireOption* vector = acks.back().Find(kAckVector);
  ASSERT_NE(vector, nullptr);
  ASSERT_GE(vector->data.size(), 4u);
  // Newest first: received, not received, marked, received.
  EXPECT_EQ((Octets(vector->data.begin(), vector->data.begin() + 3)), (Octets{0x00, 0xC0, 0x40}));
  EXPECT_EQ(vector->data[3] & 0xC0, 0);
}

TEST(Ccid2Acks, R4341_ACK_02_AckVectorsCoverWhatNoAcknowledgementWasSeenFor) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  const std::uint64_t first = peer.PeekNext();
  std::size_t acks = 0;
  for (int i = 0; i < 40; ++i) {
    peer.Inject(Data(peer.Next(), "x"));
    // All of these Acks are lost.
    acks += peer.Take().size();
  }
  EXPECT_GE(acks, 20u);
  peer.Inject(Data(peer.Next(), "x"));
  peer.Inject(Data(peer.Next(), "x"));
  const SentPacket last = peer.TakeOne();
  const WireOption* vector = last.Find(kAckVector);
  ASSERT_NE(vector, nullptr);
  std::uint64_t covered = 0;
  for (const std::uint8_t cell : vector->data) covered += (cell & 0x3Fu) + 1u;
  EXPECT_GE(covered, *last.ack - first + 1);
}

TEST(Ccid2Acks, R4341_ACK_05_AcksAreEcnCapableWithoutANonce) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  peer.Inject(Data(peer.Next(), "x"));
  peer.Inject(Data(peer.Next(), "x"));
  EXPECT_THAT(peer.Take(), Contains(HasEcn(Ecn::kEct0)));
}

TEST(Ccid2Acks, R4341_AOA_01_ADataAckForEachWindow) {
  WirePeer peer;
  peer.OpenAsServer();
  peer.Take();
  std::uint64_t acked = peer.gss();
  std::size_t data = 0;
  std::size_t data_acks = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 16; ++i) static_cast<void>(peer.Send("x"));
    peer.Advance(milliseconds(100));
    for (const SentPacket& packet : peer.Take()) {
      data += IsData(packet) ? 1u : 0u;
      data_acks += packet.type == PacketType::kDataAck ? 1u : 0u;
    }
    const std::uint64_t gss = peer.gss();
    if (gss > acked) peer.Inject(Ack(peer.Next(), gss).With(Vector(acked + 1, gss)));
    acked = gss;
  }
  EXPECT_GT(data, 80u);
  EXPECT_GE(data_acks, 10u);
  EXPECT_LT(data_acks, data / 2);
}

}  // namespace
}  // namespace dccp::peer
