#include "stack/endpoint/demux.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "stack/endpoint/flow_hash.h"
#include "tests/unit/endpoint/endpoint_fixture.h"

namespace dccp {
namespace {

constexpr SipKey kKey = {1, 2};

FlowTuple Tuple() {
  FlowTuple tuple;
  tuple.path = UdpPath();
  tuple.local_port = 5001;
  tuple.remote_port = 50000;
  return tuple;
}

TEST(Demux, FindsWhatWasInsertedUntilItIsErased) {
  Demux demux(kKey);
  EXPECT_EQ(demux.Find(Tuple()), Demux::kNone);
  EXPECT_TRUE(demux.Insert(Tuple(), 3));
  EXPECT_EQ(demux.Find(Tuple()), 3u);
  EXPECT_FALSE(demux.Insert(Tuple(), 4));
  demux.Erase(3);
  EXPECT_EQ(demux.Find(Tuple()), Demux::kNone);
  demux.Erase(3);
  EXPECT_TRUE(demux.Insert(Tuple(), 4));
  EXPECT_EQ(demux.Find(Tuple()), 4u);
}

// Each part of the six makes another connection.
TEST(Demux, R6773_DMX_01_SixTupleNamesTheConnection) {
  std::vector<FlowTuple> tuples(7, Tuple());
  tuples[1].path.local.bytes[3] = 9;
  tuples[2].path.remote.bytes[3] = 9;
  tuples[3].path.local_udp_port = 9;
  tuples[4].path.remote_udp_port = 9;
  tuples[5].local_port = 9;
  tuples[6].remote_port = 9;
  Demux demux(kKey);
  std::set<std::uint64_t> hashes;
  for (std::uint32_t i = 0; i < tuples.size(); ++i) {
    EXPECT_TRUE(demux.Insert(tuples[i], i));
    hashes.insert(HashFlow(kKey, tuples[i]));
  }
  EXPECT_EQ(hashes.size(), tuples.size());
  for (std::uint32_t i = 0; i < tuples.size(); ++i) EXPECT_EQ(demux.Find(tuples[i]), i);
}

TEST(Demux, HashSeparatesFamiliesScopesAndKeys) {
  FlowTuple v4 = Tuple();
  FlowTuple v6 = Tuple();
  v6.path.local.family = v6.path.remote.family = IpFamily::kV6;
  FlowTuple scoped = v6;
  scoped.path.remote.scope_id = 2;
  EXPECT_NE(HashFlow(kKey, v4), HashFlow(kKey, v6));
  EXPECT_NE(HashFlow(kKey, v6), HashFlow(kKey, scoped));
  EXPECT_NE(HashFlow(kKey, v4), HashFlow({1, 3}, v4));
}

TEST(Demux, AgreesWithAMap) {
  Demux demux(kKey);
  std::map<std::uint32_t, std::uint32_t> slot_by_port_pair;
  TestRandom random(1);
  for (int step = 0; step < 20'000; ++step) {
    FlowTuple tuple = Tuple();
    const auto pair = static_cast<std::uint32_t>(random.NextUint64() % 512);
    tuple.remote_port = static_cast<std::uint16_t>(pair);
    const auto known = slot_by_port_pair.find(pair);
    ASSERT_EQ(demux.Find(tuple), known == slot_by_port_pair.end() ? Demux::kNone : known->second);
    if (known == slot_by_port_pair.end()) {
      ASSERT_TRUE(demux.Insert(tuple, pair));
      slot_by_port_pair[pair] = pair;
    } else if (random.NextUint64() % 2 == 0) {
      demux.Erase(known->second);
      slot_by_port_pair.erase(known);
    }
    ASSERT_EQ(demux.size(), slot_by_port_pair.size());
  }
}

}  // namespace
}  // namespace dccp
