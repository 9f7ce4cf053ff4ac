#include "stack/sim/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "stack/sim/packet_log.h"
#include "stack/sim/router.h"
#include "stack/wire/packet_writer.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

IpAddress Address(std::uint8_t last) {
  IpAddress address;
  address.bytes = {10, 0, 0, last};
  return address;
}

// Takes packets and remembers their first byte, when they came, and how.
class Sink final : public PacketSink {
 public:
  explicit Sink(Simulator& simulator) : simulator_(simulator) {}
  void Accept(PacketPtr packet) override {
    first_bytes.push_back(std::to_integer<int>(packet->bytes.front()));
    times_ms.push_back(
        std::chrono::duration_cast<milliseconds>(simulator_.now() - Simulator::kStart).count());
    corrupted.push_back(packet->corrupted);
    ecn.push_back(packet->ecn);
  }
  std::vector<int> first_bytes;
  std::vector<std::int64_t> times_ms;
  std::vector<bool> corrupted;
  std::vector<Ecn> ecn;

 private:
  Simulator& simulator_;
};

class LinkTest : public ::testing::Test {
 protected:
  PacketPtr Packet(int first_byte, std::size_t bytes = 100) {
    PacketPtr packet = pool_.New();
    packet->bytes.assign(bytes, std::byte{0});
    packet->bytes[0] = static_cast<std::byte>(first_byte);
    packet->overhead_bytes = 28;
    packet->path.local = Address(1);
    packet->path.remote = Address(2);
    packet->ecn = Ecn::kEct0;
    return packet;
  }
  static Link::Hook On(std::uint64_t which, LinkAction action) {
    return [=](const SimPacket&, std::uint64_t index) {
      return index == which ? action : LinkAction();
    };
  }
  void SendThree(Link& link) {
    for (int i = 1; i <= 3; ++i) link.Accept(Packet(i));
    simulator_.RunFor(seconds(1));
  }

  Simulator simulator_;
  PacketPool pool_;
  Sink sink_{simulator_};
  Link link_{"a>b", simulator_, pool_, {.delay = milliseconds(10)}, 1, sink_};
};

TEST_F(LinkTest, DeliversInOrderAfterTheDelay) {
  SendThree(link_);
  EXPECT_THAT(sink_.first_bytes, ElementsAre(1, 2, 3));
  EXPECT_THAT(sink_.times_ms, ElementsAre(10, 10, 10));
  EXPECT_EQ(link_.counters().offered, 3u);
  EXPECT_EQ(link_.counters().delivered_bytes, 3u * 128);
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(LinkTest, HookDropsExactlyOnePacket) {
  link_.SetHook(On(1, {LinkAction::Kind::kDrop}));
  SendThree(link_);
  EXPECT_THAT(sink_.first_bytes, ElementsAre(1, 3));
  EXPECT_EQ(link_.counters().hook_drops, 1u);
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(LinkTest, HookDuplicatesExactlyOnePacket) {
  link_.SetHook(On(0, {LinkAction::Kind::kDuplicate, milliseconds(5)}));
  SendThree(link_);
  EXPECT_THAT(sink_.first_bytes, ElementsAre(1, 2, 3, 1));
  EXPECT_THAT(sink_.times_ms, ElementsAre(10, 10, 10, 15));
}

TEST_F(LinkTest, HookDelaysExactlyOnePacket) {
  link_.SetHook(On(0, {LinkAction::Kind::kDelay, milliseconds(5)}));
  SendThree(link_);
  EXPECT_THAT(sink_.first_bytes, ElementsAre(2, 3, 1));
}

TEST_F(LinkTest, HookCorruptsAndMarks) {
  link_.SetHook([](const SimPacket&, std::uint64_t index) {
    return LinkAction{index == 0 ? LinkAction::Kind::kCorrupt : LinkAction::Kind::kMark};
  });
  SendThree(link_);
  EXPECT_THAT(sink_.corrupted, ElementsAre(true, false, false));
  EXPECT_THAT(sink_.ecn, ElementsAre(Ecn::kEct0, Ecn::kCe, Ecn::kCe));
  EXPECT_EQ(link_.counters().marked, 2u);
  EXPECT_EQ(link_.counters().corrupted, 1u);
}

TEST_F(LinkTest, ReportsTooBigToTheOriginUnlessItIsABlackHole) {
  class Origin final : public IcmpTarget {
   public:
    void OnIcmp(IcmpKind kind, std::uint32_t mtu_bytes, const SimPacket& packet) override {
      EXPECT_EQ(kind, IcmpKind::kTooBig);
      EXPECT_EQ(packet.bytes.size(), 1400u);
      mtus.push_back(mtu_bytes);
    }
    std::vector<std::uint32_t> mtus;
  };
  Origin origin;
  Link narrow("narrow", simulator_, pool_, {.mtu_bytes = 1280}, 1, sink_);
  const auto send = [&] {
    PacketPtr packet = Packet(1, 1400);
    packet->origin = &origin;
    narrow.Accept(std::move(packet));
    simulator_.RunFor(seconds(1));
  };
  send();
  EXPECT_THAT(origin.mtus, ElementsAre(1280u));
  narrow.SetBlackHole(true);
  send();
  EXPECT_EQ(origin.mtus.size(), 1u);
  EXPECT_EQ(narrow.counters().too_big, 2u);
  EXPECT_TRUE(sink_.first_bytes.empty());
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(LinkTest, RouterPassesOnByDestination) {
  Router router;
  Sink other(simulator_);
  router.AddRoute(Address(2), link_);
  router.Accept(Packet(1));
  PacketPtr elsewhere = Packet(2);
  elsewhere->path.remote = Address(9);
  router.Accept(std::move(elsewhere));
  EXPECT_EQ(router.unroutable(), 1u);
  router.SetDefaultRoute(other);
  elsewhere = Packet(3);
  elsewhere->path.remote = Address(9);
  router.Accept(std::move(elsewhere));
  simulator_.RunFor(seconds(1));
  EXPECT_THAT(sink_.first_bytes, ElementsAre(1));
  EXPECT_THAT(other.first_bytes, ElementsAre(3));
}

TEST(PacketLog, DescribesEachPartOfAHeader) {
  std::array<std::byte, 28> reset;
  HeaderFields fields;
  fields.type = PacketType::kReset;
  fields.seq = SeqNo(5);
  fields.ack = SeqNo(7);
  fields.reset = {ResetCode::kOptionError, {32, 1, 2}};
  WriteHeader(fields, {}, reset);
  EXPECT_EQ(
      DescribePacket(reset, reset.size()),
      std::string("Reset seq=5 ack=7 code=") + ToString(ResetCode::kOptionError) + " data=32,1,2");
  std::array<std::byte, 16> data;
  fields = {};
  fields.seq = SeqNo(5);
  fields.ccval = 3;
  WriteHeader(fields, {}, data);
  EXPECT_EQ(DescribePacket(data, 116), "Data seq=5 ccval=3 data=100");
  EXPECT_NE(DescribePacket(std::span(data).first(8), 8).find("8 bytes"), std::string::npos);
}

TEST_F(LinkTest, LogKeepsTheLatest) {
  PacketLog log(2);
  link_.SetObserver(&log);
  SendThree(link_);
  EXPECT_EQ(log.size(), 2u);
}

}  // namespace
}  // namespace dccp
