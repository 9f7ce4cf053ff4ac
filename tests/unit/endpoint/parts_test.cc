// The small parts: listeners, TIMEWAIT, initial numbers, ports, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "stack/endpoint/isn_generator.h"
#include "stack/endpoint/listener_table.h"
#include "stack/endpoint/port_allocator.h"
#include "stack/endpoint/refuser.h"
#include "stack/endpoint/time_wait_table.h"
#include "tests/unit/endpoint/endpoint_fixture.h"

namespace dccp {
namespace {

using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr SipKey kKey = {1, 2};
constexpr TimePoint kStart = TimePoint(seconds(1));
constexpr ServiceCode kA = ServiceCode(0x41414141);
constexpr ServiceCode kB = ServiceCode(0x42424242);

ListenParams Listen(std::uint16_t port, std::vector<ServiceCode> codes,
                    std::optional<IpAddress> local = {}) {
  ListenParams params;
  params.port = port;
  params.service_codes = std::move(codes);
  params.local = local;
  return params;
}

FlowTuple TupleWithPort(std::uint16_t port) { return {UdpPath(), port, 5001}; }

TEST(ListenerTable, R4340_SVC_01_IANA_02_SharesAPortByServiceCode) {
  ListenerTable table;
  const ListenerId a = *table.Add(Listen(7, {kA}));
  const ListenerId b = *table.Add(Listen(7, {kB, ServiceCode(5)}));
  EXPECT_EQ(table.Lookup(7, V4(1, 2, 3, 4), kA).id, a);
  EXPECT_EQ(table.Lookup(7, V4(1, 2, 3, 4), ServiceCode(5)).id, b);
  const Result<ListenerId> again = table.Add(Listen(7, {ServiceCode(9), kB}));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error(), Error::kPortInUse);
  EXPECT_TRUE(table.Add(Listen(8, {kA})).ok());
}

TEST(ListenerTable, R4340_CON_05_TellsBadCodeFromNoListener) {
  ListenerTable table;
  ASSERT_TRUE(table.Add(Listen(7, {kA, kB})).ok());
  EXPECT_EQ(table.Lookup(7, V4(1, 2, 3, 4), ServiceCode(5)).verdict,
            ListenerTable::Verdict::kBadServiceCode);
  EXPECT_EQ(table.Lookup(7, V4(1, 2, 3, 4), ServiceCode(0xFFFFFFFFu)).verdict,
            ListenerTable::Verdict::kBadServiceCode);
  EXPECT_EQ(table.Lookup(8, V4(1, 2, 3, 4), kA).verdict, ListenerTable::Verdict::kNoPort);
}

TEST(ListenerTable, RestrictsToALocalAddress) {
  ListenerTable table;
  const ListenerId one = *table.Add(Listen(7, {kA}, V4(10, 0, 0, 1)));
  const ListenerId two = *table.Add(Listen(7, {kA}, V4(10, 0, 0, 2)));
  EXPECT_EQ(table.Lookup(7, V4(10, 0, 0, 1), kA).id, one);
  EXPECT_EQ(table.Lookup(7, V4(10, 0, 0, 2), kA).id, two);
  EXPECT_EQ(table.Lookup(7, V4(10, 0, 0, 3), kA).verdict, ListenerTable::Verdict::kNoPort);
  EXPECT_EQ(table.Add(Listen(7, {kA})).error(), Error::kPortInUse);
}

TEST(ListenerTable, RefusesBadParameters) {
  ListenerTable table;
  EXPECT_EQ(table.Add(Listen(0, {kA})).error(), Error::kInvalidArgument);
  EXPECT_EQ(table.Add(Listen(7, {})).error(), Error::kInvalidArgument);
  EXPECT_EQ(table.Add(Listen(7, {kA, kA})).error(), Error::kInvalidArgument);
  EXPECT_EQ(table.Add(Listen(7, {ServiceCode(0xFFFFFFFFu)})).error(), Error::kInvalidArgument);
  EXPECT_EQ(table.Add(Listen(7, {kA}, V4(224, 0, 0, 1))).error(), Error::kInvalidArgument);
}

TEST(ListenerTable, RemovedListenersAreGone) {
  ListenerTable table;
  const ListenerId id = *table.Add(Listen(7, {kA}));
  EXPECT_TRUE(table.Remove(id));
  EXPECT_FALSE(table.Remove(id));
  EXPECT_EQ(table.Find(id), nullptr);
  EXPECT_EQ(table.Lookup(7, V4(1, 2, 3, 4), kA).verdict, ListenerTable::Verdict::kNoPort);
  EXPECT_TRUE(table.Add(Listen(7, {kA})).ok());
}

TEST(TimeWaitTable, R4340_GEN_09_HoldsATupleFor2Msl) {
  TimeWaitTable table(kKey, 2 * kMsl);
  table.Add(TupleWithPort(1), kStart);
  EXPECT_TRUE(table.Contains(TupleWithPort(1), kStart + seconds(239)));
  EXPECT_FALSE(table.Contains(TupleWithPort(1), kStart + seconds(240)));
  EXPECT_FALSE(table.Contains(TupleWithPort(2), kStart));
  table.Expire(kStart + seconds(240));
  EXPECT_EQ(table.size(), 0u);
}

TEST(TimeWaitTable, AddingAgainStartsAnew) {
  TimeWaitTable table(kKey, minutes(4));
  table.Add(TupleWithPort(1), kStart);
  table.Add(TupleWithPort(1), kStart + minutes(3));
  EXPECT_EQ(table.size(), 1u);
  table.Expire(kStart + minutes(4));
  EXPECT_TRUE(table.Contains(TupleWithPort(1), kStart + minutes(6)));
  table.Expire(kStart + minutes(7));
  EXPECT_EQ(table.size(), 0u);
}

TEST(TimeWaitTable, TheOldestGoesWhenItIsFull) {
  TimeWaitTable table(kKey, minutes(4), 3);
  const auto tuple = [](std::uint16_t port) { return FlowTuple{NativePath(), 5001, port}; };
  for (std::uint16_t port = 1; port <= 4; ++port) table.Add(tuple(port), TimePoint());
  EXPECT_FALSE(table.Contains(tuple(1), TimePoint()));
  for (std::uint16_t port = 2; port <= 4; ++port)
    EXPECT_TRUE(table.Contains(tuple(port), TimePoint()));
  EXPECT_EQ(table.size(), 3u);
}
TEST(TimeWaitTable, ManyComeAndGoInOrder) {
  TimeWaitTable table(kKey, seconds(10));
  for (int i = 0; i < 100'000; ++i) {
    const TimePoint now = kStart + std::chrono::milliseconds(i);
    table.Add(TupleWithPort(static_cast<std::uint16_t>(i)), now);
    ASSERT_TRUE(table.Contains(TupleWithPort(static_cast<std::uint16_t>(i)), now));
    if (i < 10'000) continue;
    ASSERT_FALSE(table.Contains(TupleWithPort(static_cast<std::uint16_t>(i - 10'000)), now));
  }
  EXPECT_EQ(table.size(), 10'000u);
}

// A connection that began at ISN and sent one packet per 256 ns is never ahead of the next ISN.
TEST(IsnGenerator, R4340_SEQ_03_NumbersOfOneTupleAdvance) {
  const IsnGenerator isn(kKey);
  const FlowTuple tuple = TupleWithPort(1);
  const SeqNo first = isn.Generate(tuple, kStart);
  EXPECT_EQ(isn.Generate(tuple, kStart + microseconds(256)).Minus(first), 1000);
  EXPECT_EQ(isn.Generate(tuple, kStart + minutes(4)).Minus(first), 240'000'000'000 / 256);
}

TEST(IsnGenerator, R4340_SEQ_04_TuplesHaveIndependentSpaces) {
  const IsnGenerator isn(kKey);
  std::set<std::uint64_t> differences;
  SeqNo last;
  for (std::uint16_t port = 1; port <= 1000; ++port) {
    const SeqNo now = isn.Generate(TupleWithPort(port), kStart);
    differences.insert((now + -static_cast<std::int64_t>(last.value())).value());
    last = now;
  }
  EXPECT_EQ(differences.size(), 1000u);
  EXPECT_NE(isn.Generate(TupleWithPort(1), kStart),
            IsnGenerator({1, 3}).Generate(TupleWithPort(1), kStart));
}

TEST(PortAllocator, R4340_HDR_06_IANA_02_StaysInTheDynamicRangeAndSpreads) {
  TestRandom random(1);
  PortAllocator ports(random);
  std::set<std::uint16_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::optional<std::uint16_t> port = ports.Choose([](std::uint16_t) { return true; });
    ASSERT_TRUE(port.has_value());
    EXPECT_GE(*port, 49152);
    seen.insert(*port);
  }
  EXPECT_GT(seen.size(), 900u);
}

TEST(PortAllocator, FindsTheLastFreePortAndThenNone) {
  TestRandom random(1);
  PortAllocator ports(random);
  EXPECT_EQ(ports.Choose([](std::uint16_t port) { return port == 65535; }), 65535);
  EXPECT_EQ(ports.Choose([](std::uint16_t) { return false; }), std::nullopt);
}

class RefuserTest : public ::testing::Test {
 protected:
  PacketView View(const HeaderFields& fields) {
    bytes_ = MakePacket(fields, UdpPath());
    PacketView view;
    EXPECT_EQ(PacketView::Parse(bytes_, &view), ParseError::kNone);
    return view;
  }
  Bytes bytes_;
  Slab slab_{1u << 20};
};

TEST_F(RefuserTest, R4340_RST_10_NeverAnswersAReset) {
  Refuser refuser(slab_, Encapsulation::kUdp, 1000, nullptr);
  EXPECT_EQ(refuser.Refuse(View(Fields(PacketType::kReset)), UdpPath(), {}, kStart),
            Refuser::Outcome::kNotAnswered);
  EXPECT_TRUE(refuser.queue().empty());
}

TEST_F(RefuserTest, R4340_RST_11_LimitsTheRate) {
  Refuser refuser(slab_, Encapsulation::kUdp, 1000, nullptr);
  const PacketView packet = View(Fields(PacketType::kAck));
  int answered = 0;
  for (int i = 0; i < 100'000; ++i) {
    const TimePoint now = kStart + microseconds(100 * i);  // ten seconds
    if (refuser.Refuse(packet, UdpPath(), {}, now) != Refuser::Outcome::kQueued) continue;
    ++answered;
    slab_.Free(refuser.queue().Front().cell);
    refuser.queue().Pop();
  }
  EXPECT_GE(answered, 10'000);
  EXPECT_LE(answered, 10'000 + 1000 / 8);
}

TEST_F(RefuserTest, ZeroPerSecondMeansSilence) {
  Refuser refuser(slab_, Encapsulation::kUdp, 0, nullptr);
  EXPECT_EQ(refuser.Refuse(View(Fields(PacketType::kAck)), UdpPath(), {}, kStart),
            Refuser::Outcome::kRateLimited);
}

TEST_F(RefuserTest, AFullQueueDropsRatherThanGrows) {
  Refuser refuser(slab_, Encapsulation::kUdp, 1'000'000, nullptr);
  const PacketView packet = View(Fields(PacketType::kAck));
  int queued = 0;
  while (refuser.Refuse(packet, UdpPath(), {}, kStart) == Refuser::Outcome::kQueued) ++queued;
  EXPECT_EQ(queued, 256);
  EXPECT_EQ(refuser.Refuse(packet, UdpPath(), {}, kStart), Refuser::Outcome::kNoBuffers);
}

}  // namespace
}  // namespace dccp
