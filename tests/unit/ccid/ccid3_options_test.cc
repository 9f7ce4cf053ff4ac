#include "ccid/ccid3/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace dccp::ccid3 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int v : values) bytes.push_back(static_cast<std::byte>(v));
  return bytes;
}

// The bytes that `add` writes.
template <typename F>
std::vector<int> Written(F add) {
  std::array<std::byte, 512> buffer;
  OptionWriter writer(buffer);
  EXPECT_TRUE(add(writer));
  std::vector<int> out;
  for (std::byte b : writer.bytes()) out.push_back(std::to_integer<int>(b));
  return out;
}

std::vector<int> Rtt(Duration rtt) {
  return Written([&](OptionWriter& w) { return AddRttEstimate(w, RttEstimate::Of(rtt)); });
}
std::vector<int> Loss(double p) {
  return Written([&](OptionWriter& w) { return AddLossEventRate(w, p); });
}

TEST(Ccid3Options, R6323_OPT_01_OPT_02_TheSmallestFormatThatFits) {
  using std::chrono::microseconds;
  EXPECT_THAT(Rtt(microseconds(1)), ElementsAre(128, 3, 1));
  EXPECT_THAT(Rtt(microseconds(255)), ElementsAre(128, 3, 255));
  EXPECT_THAT(Rtt(microseconds(256)), ElementsAre(128, 4, 1, 0));
  EXPECT_THAT(Rtt(microseconds(65535)), ElementsAre(128, 4, 255, 255));
  EXPECT_THAT(Rtt(microseconds(65536)), ElementsAre(128, 5, 1, 0, 0));
}

TEST(Ccid3Options, R6323_OPT_02_OPT_03_NoneShortAndLong) {
  EXPECT_THAT(Rtt(Duration::zero()), ElementsAre(128, 3, 0));
  EXPECT_THAT(Rtt(Duration(1)), ElementsAre(128, 3, 1));
  EXPECT_THAT(Rtt(std::chrono::nanoseconds(1001)), ElementsAre(128, 3, 2));
  EXPECT_THAT(Rtt(std::chrono::microseconds(0xFFFFFE)), ElementsAre(128, 5, 255, 255, 254));
  EXPECT_THAT(Rtt(std::chrono::hours(5)), ElementsAre(128, 5, 255, 255, 255));
  EXPECT_FALSE(RttEstimate::Of(std::chrono::hours(5)).numeric());
  EXPECT_FALSE(RttEstimate::Of(Duration::zero()).numeric());
}

TEST(Ccid3Options, R6323_OPT_01_AnyLengthDecodesAlike) {
  for (const auto& data : {Bytes({7}), Bytes({0, 7}), Bytes({0, 0, 7})})
    EXPECT_EQ(DecodeRttEstimate(data)->us, 7u);
  EXPECT_FALSE(DecodeRttEstimate({}));
  EXPECT_FALSE(DecodeRttEstimate(Bytes({0, 0, 0, 7})));
}

TEST(Ccid3Options, R4342_OPT_02_LossEventRateIsRoundedUp) {
  EXPECT_THAT(Loss(0.03), ElementsAre(192, 6, 0, 0, 0, 34));
  EXPECT_THAT(Loss(0.01), ElementsAre(192, 6, 0, 0, 0, 100));
  EXPECT_THAT(Loss(1), ElementsAre(192, 6, 0, 0, 0, 1));
  EXPECT_THAT(Loss(0), ElementsAre(192, 6, 255, 255, 255, 255));
  EXPECT_THAT(Loss(1e-30), ElementsAre(192, 6, 255, 255, 255, 254));
}

TEST(Ccid3Options, R4342_OPT_02_R4342_LNX_05_DecodesLossEventRate) {
  EXPECT_DOUBLE_EQ(*DecodeLossEventRate(Bytes({0, 0, 0, 34})), 1.0 / 34);
  EXPECT_EQ(*DecodeLossEventRate(Bytes({255, 255, 255, 255})), 0);
  EXPECT_EQ(*DecodeLossEventRate(Bytes({0, 0, 0, 0})), 1);  // nonsense: never a division by zero
  EXPECT_FALSE(DecodeLossEventRate(Bytes({0, 0, 34})));
}

TEST(Ccid3Options, R4342_OPT_03_ReceiveRate) {
  const auto rate = [](double x) {
    return Written([&](OptionWriter& w) { return AddReceiveRate(w, x); });
  };
  EXPECT_THAT(rate(65536.4), ElementsAre(194, 6, 0, 1, 0, 0));
  EXPECT_THAT(rate(0), ElementsAre(194, 6, 0, 0, 0, 0));
  EXPECT_THAT(rate(1e12), ElementsAre(194, 6, 255, 255, 255, 255));
  EXPECT_EQ(*DecodeReceiveRate(Bytes({0, 1, 0, 0})), 65536);
  EXPECT_FALSE(DecodeReceiveRate(Bytes({0, 1, 0, 0, 0})));
}

// RFC 4342 §8.6.2.
TEST(Ccid3Options, R4342_OPT_04_TheExampleOfTheRfc) {
  const std::array<WireInterval, 4> intervals = {
      {{10, 1, 10, true}, {8, 5, 10, false}, {8, 1, 8, false}, {10, 0, 15, true}}};
  const auto written = Written([&](OptionWriter& w) { return AddLossIntervals(w, 2, intervals); });
  const std::vector<int> expected = {193, 39, 2, 0, 0, 10, 128, 0,   1, 0, 0, 10, 0,
                                     0,   8,  0, 0, 5, 0,  0,   10,  0, 0, 8, 0,  0,
                                     1,   0,  0, 8, 0, 0,  10,  128, 0, 0, 0, 0,  15};
  EXPECT_EQ(written, expected);
  std::vector<std::byte> data;
  for (std::size_t i = 2; i < expected.size(); ++i)
    data.push_back(static_cast<std::byte>(expected[i]));
  const auto view = DecodeLossIntervals(data);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->skip, 2u);
  ASSERT_EQ(view->size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ((*view)[i], intervals[i]) << i;
}

TEST(Ccid3Options, R4342_OPT_04_FieldsSaturate) {
  const WireInterval huge = {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, false};
  EXPECT_THAT(Written([&](OptionWriter& w) {
                return AddLossIntervals(w, 0, {&huge, 1});
              }),
              ElementsAre(193, 12, 0, 255, 255, 255, 127, 255, 255, 255, 255, 255));
}

TEST(Ccid3Options, R4342_OPT_04_LossIntervalsOfOtherLengthsAreIgnored) {
  for (std::size_t n = 0; n < 253; ++n) {
    const std::vector<std::byte> data(n);
    EXPECT_EQ(DecodeLossIntervals(data).has_value(), n > 1 && n % 9 == 1) << n;
  }
  std::vector<std::byte> skip(10);
  skip[0] = std::byte{4};
  EXPECT_FALSE(DecodeLossIntervals(skip));
}

TEST(Ccid3Options, WhatDoesNotFitIsNotWritten) {
  std::array<std::byte, 8> buffer;
  OptionWriter writer(buffer);
  const WireInterval interval;
  EXPECT_FALSE(AddLossIntervals(writer, 0, {&interval, 1}));
  EXPECT_THAT(writer.bytes(), IsEmpty());
}

}  // namespace
}  // namespace dccp::ccid3
