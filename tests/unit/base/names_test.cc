#include <set>
#include <string>

#include "dccp/result.h"
#include "dccp/trace.h"
#include "dccp/types.h"
#include "gtest/gtest.h"

namespace dccp {
namespace {

// The names of `T` for raw values 0 to 255, without the answer for an unassigned one.
template <typename T>
std::set<std::string> Names() {
  std::set<std::string> names;
  for (int i = 0; i < 256; ++i) names.insert(ToString(static_cast<T>(i)));
  names.erase("?");
  return names;
}

TEST(Names, EveryAssignedValueHasItsOwn) {
  EXPECT_EQ(Names<PacketType>().size(), 11u);
  EXPECT_EQ(Names<ResetCode>().size(), 13u);
  EXPECT_EQ(Names<OptionType>().size(), 17u);  // 16 and "CCID-specific"
  EXPECT_EQ(Names<State>().size(), 9u);
  EXPECT_EQ(Names<Ecn>().size(), 4u);
  EXPECT_EQ(Names<FeatureNumber>().size(), 12u);  // 11 and "CCID-specific"
  EXPECT_EQ(Names<DropReason>().size(), static_cast<std::size_t>(DropReason::kCount));
}

TEST(Names, AreTheOnesOfTheRfc) {
  EXPECT_STREQ(ToString(PacketType::kDataAck), "DataAck");
  EXPECT_STREQ(ToString(ResetCode::kNoConnection), "No Connection");
  EXPECT_STREQ(ToString(OptionType::kAckVectorNonce1), "Ack Vector [Nonce 1]");
  EXPECT_STREQ(ToString(State::kPartOpen), "PARTOPEN");
  EXPECT_STREQ(ToString(FeatureNumber::kSequenceWindow), "Sequence Window");
  EXPECT_STREQ(ToString(DropReason::kBadChecksum), "bad-checksum");
}

TEST(Names, OptionAndFeatureRangesOfTheCcids) {
  EXPECT_STREQ(ToString(static_cast<OptionType>(127)), "?");
  EXPECT_STREQ(ToString(static_cast<OptionType>(128)), "CCID-specific");
  EXPECT_STREQ(ToString(static_cast<OptionType>(255)), "CCID-specific");
  EXPECT_STREQ(ToString(static_cast<FeatureNumber>(127)), "?");
  EXPECT_STREQ(ToString(static_cast<FeatureNumber>(129)), "CCID-specific");
}

TEST(Names, EveryErrorHasALineOfItsOwn) {
  std::set<std::string> lines;
  const int count = static_cast<int>(Error::kSystem) + 1;
  for (int i = 0; i < count; ++i) lines.insert(ToString(static_cast<Error>(i)));
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(lines.count("unknown error"), 0u);
  EXPECT_STREQ(ToString(static_cast<Error>(count)), "unknown error");
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = 7;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Error::kQueueFull;
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), Error::kQueueFull);
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_EQ(Result<void>(Error::kBadState).error(), Error::kBadState);
}

}  // namespace
}  // namespace dccp
