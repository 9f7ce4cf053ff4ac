#include "stack/conn/feature_table.h"

#include <gtest/gtest.h>

#include "stack/conn/feature_preferences.h"

namespace dccp {
namespace {

using enum FeatureNumber;

TEST(FeatureTable, R4340_FT_02_Table4) {
  struct Row {
    std::uint8_t number;
    FeatureRule rule;
    std::uint64_t initial;
    bool required;
    std::uint8_t bytes;
  };
  constexpr auto kSp = FeatureRule::kServerPriority;
  constexpr auto kNn = FeatureRule::kNonNegotiable;
  constexpr Row kRows[] = {
      {1, kSp, 2, true, 1},  {2, kSp, 0, true, 1},  {3, kNn, 100, true, 6},
      {4, kSp, 0, false, 1}, {5, kNn, 2, false, 2}, {6, kSp, 0, false, 1},
      {7, kSp, 0, false, 1}, {8, kSp, 0, false, 1}, {9, kSp, 0, false, 1},
  };
  for (const Row& row : kRows) {
    const FeatureInfo* info = FindFeature(FeatureNumber{row.number});
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(static_cast<unsigned>(info->number), row.number);
    EXPECT_EQ(info->rule, row.rule);
    EXPECT_EQ(info->initial, row.initial);
    EXPECT_EQ(info->required, row.required);
    EXPECT_EQ(info->value_bytes, row.bytes);
  }
  for (unsigned n : {0u, 10u, 127u, 128u, 192u, 255u}) {
    EXPECT_EQ(FindFeature(static_cast<FeatureNumber>(n)), nullptr) << n;
  }
}

// RFC 4340 §10.3's table, seen from A: A-to-B is ruled by the CCID located at A (local).
TEST(FeatureTable, R4340_FT_17_CcidSpecificNumbersNameTheHalfConnection) {
  const FeatureNumber low{128};
  const FeatureNumber high{192};
  EXPECT_EQ(CcidLocation(low, Located::kLocal), Located::kLocal);    // Change L(128) from A
  EXPECT_EQ(CcidLocation(high, Located::kRemote), Located::kLocal);  // Change R(192) from A
  EXPECT_EQ(CcidLocation(low, Located::kRemote), Located::kRemote);  // Change R(128) from A
  EXPECT_EQ(CcidLocation(high, Located::kLocal), Located::kRemote);  // Change L(192) from A
  EXPECT_EQ(CcidLocation(FeatureNumber{191}, Located::kLocal), Located::kLocal);
  EXPECT_EQ(CcidLocation(FeatureNumber{255}, Located::kLocal), Located::kRemote);
}

TEST(PreferenceList, KeepsOrderDropsRepeatsAndOverflow) {
  PreferenceList list = {3, 2, 3, 1};
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0], 3);
  EXPECT_EQ(list[2], 1);
  for (int v = 10; v < 100; ++v) list.Add(static_cast<std::uint8_t>(v));
  EXPECT_EQ(list.size(), PreferenceList::kCapacity);
  EXPECT_FALSE(list.Contains(99));
}

TEST(PreferenceList, R4340_FN_08_ServerPriorityWhoeverAsks) {
  const PreferenceList client = {2, 3, 1};
  const PreferenceList server = {3, 2, 1};
  EXPECT_EQ(Reconcile(Role::kServer, server.bytes(), client.bytes()), 3);
  EXPECT_EQ(Reconcile(Role::kClient, client.bytes(), server.bytes()), 3);
}

TEST(PreferenceList, R4340_FN_09_NoSharedEntry) {
  const PreferenceList a = {3};
  const PreferenceList b = {2};
  EXPECT_EQ(Reconcile(Role::kServer, a.bytes(), b.bytes()), std::nullopt);
  EXPECT_EQ(Reconcile(Role::kClient, a.bytes(), {}), std::nullopt);
}

}  // namespace
}  // namespace dccp
