#include "apps/common/parse.h"

#include <gtest/gtest.h>

#include "dccp/ccid2.h"

namespace dccp::apps {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Parse, TakesSizesInPowersOf1024) {
  EXPECT_EQ(ParseSize("1420"), 1420u);
  EXPECT_EQ(ParseSize("64K"), 65536u);
  EXPECT_EQ(ParseSize("1.5M"), 1572864u);
  EXPECT_EQ(ParseSize("2G"), std::uint64_t{2} << 30);
}

TEST(Parse, RefusesWhatIsNoSize) {
  for (const char* text : {"", "K", "-1", "-0", "1 K", "1KB", "0x10", "1e3", "nan", "inf", "1K "})
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
}

TEST(Parse, TakesTimesWithSecondsAsDefault) {
  EXPECT_EQ(ParseTime("10"), seconds(10));
  EXPECT_EQ(ParseTime("250us"), microseconds(250));
  EXPECT_EQ(ParseTime("20ms"), milliseconds(20));
  EXPECT_EQ(ParseTime("1.5s"), milliseconds(1500));
  EXPECT_EQ(ParseTime("5m"), std::nullopt);
}

TEST(Parse, TakesRatesInPowersOf1000) {
  EXPECT_EQ(ParseRate("800000"), 800000);
  EXPECT_EQ(ParseRate("800kbit"), 800000);
  EXPECT_EQ(ParseRate("2.5Mbit"), 2500000);
  EXPECT_EQ(ParseRate("1Gbit"), 1e9);
  EXPECT_EQ(ParseRate("1Tbit"), std::nullopt);
}

TEST(Parse, TakesLossAsPercentOrFraction) {
  EXPECT_DOUBLE_EQ(ParseLoss("1%").value_or(-1), 0.01);
  EXPECT_DOUBLE_EQ(ParseLoss("0.01").value_or(-1), 0.01);
  EXPECT_EQ(ParseLoss("101%"), std::nullopt);
  EXPECT_EQ(ParseLoss("1.5"), std::nullopt);
}

TEST(Parse, TakesHostsWithAndWithoutPort) {
  struct Form {
    const char* text;
    const char* host;
    std::uint16_t port;
  };
  for (const Form& form :
       {Form{"host", "host", 0}, Form{"host:7", "host", 7}, Form{"10.0.0.1:5001", "10.0.0.1", 5001},
        Form{"::1", "::1", 0}, Form{"fe80::1%eth0", "fe80::1%eth0", 0}, Form{"[::1]", "::1", 0},
        Form{"[::1]:65535", "::1", 65535}}) {
    const auto got = ParseHostPort(form.text);
    ASSERT_TRUE(got.has_value()) << form.text;
    EXPECT_EQ(got->host, form.host);
    EXPECT_EQ(got->port, form.port) << form.text;
  }
}

TEST(Parse, RefusesWhatIsNoHostAndPort) {
  for (const char* text :
       {"", ":7", "host:", "host:0", "host:65536", "host:x", "[::1", "[::1]7", "[::1]:", "[]:5"})
    EXPECT_FALSE(ParseHostPort(text).has_value()) << text;
}

class ParseCcidList : public testing::Test {
 protected:
  ParseCcidList() { registry_.Add(ccid2_); }

  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  std::string error_;
};

TEST_F(ParseCcidList, TakesWhatTheRegistryHas) {
  EXPECT_EQ(ParseCcids("2", registry_, &error_), std::vector{CcidId::k2});
}

TEST_F(ParseCcidList, SaysWhyItRefuses) {
  EXPECT_TRUE(ParseCcids("3", registry_, &error_).empty());
  EXPECT_EQ(error_, "CCID 3 is not available in this program");
  EXPECT_TRUE(ParseCcids("2,2", registry_, &error_).empty());
  EXPECT_EQ(error_, "CCID 2 is named twice");
  for (const char* text : {"", "2,", "1", "5", "255", "two"}) {
    EXPECT_TRUE(ParseCcids(text, registry_, &error_).empty()) << text;
    EXPECT_NE(error_.find("is no CCID"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace dccp::apps
