#include "stack/wire/icmp_quote.h"

#include <gtest/gtest.h>

#include "tests/unit/wire/wire_testing.h"

namespace dccp {
namespace {

using namespace wire_testing;

// The DCCP header quoted by an ICMP "fragmentation needed" for a Request of Linux 6.1.192:
// ports 59536 > 20049, X = 1, sequence number 94c8dea8a5e0.
TEST(IcmpQuote, CapturedQuotation) {
  const Bytes b = FromHex("e8904e510c000226010094c8dea8a5e0000000000000290600ab0e3b");
  const auto q = ParseIcmpQuote(b);
  ASSERT_TRUE(q.has_value());
  EXPECT_EQ(q->source_port, 59536);
  EXPECT_EQ(q->destination_port, 20049);
  EXPECT_TRUE(q->extended);
  EXPECT_EQ(q->seq, SeqNo(0x94C8DEA8A5E0));
}

// Quotations of 8, 12 and 16 bytes as routers send them.
TEST(IcmpQuote, Bug_C15_NumberOnlyWhereTheQuotationReachesIt) {
  const Bytes extended = FromHex("c5624e570c007840010094c8dea8a5e0");
  const Bytes short_form = FromHex("c5624e570300784004dea8a5");
  for (std::size_t n = 0; n <= 16; ++n) {
    const Bytes exact(extended.begin(), extended.begin() + static_cast<std::ptrdiff_t>(n));
    const auto q = ParseIcmpQuote(exact);
    EXPECT_EQ(q.has_value(), n >= 4) << n;
    if (q.has_value()) {
      EXPECT_EQ(q->seq.has_value(), n >= 16) << n;
    }
  }
  for (std::size_t n = 0; n <= 12; ++n) {
    const Bytes exact(short_form.begin(), short_form.begin() + static_cast<std::ptrdiff_t>(n));
    const auto q = ParseIcmpQuote(exact);
    EXPECT_EQ(q.has_value(), n >= 4) << n;
    if (q.has_value()) {
      EXPECT_EQ(q->seq.has_value(), n >= 12) << n;
    }
  }
}

TEST(IcmpQuote, R4340_MPS_07_TwelveBytesAreEnoughForAShortNumber) {
  const auto q = ParseIcmpQuote(FromHex("c5624e570300784004dea8a5"));
  ASSERT_TRUE(q.has_value());
  EXPECT_FALSE(q->extended);
  EXPECT_EQ(q->seq, SeqNo(0xDEA8A5));
}

TEST(IcmpQuote, Bug_C29_TwelveBytesOfALongHeaderProveNothing) {
  const auto q = ParseIcmpQuote(FromHex("d03e4e580c00afa1010035ab"));
  ASSERT_TRUE(q.has_value());
  EXPECT_EQ(q->source_port, 0xD03E);
  EXPECT_FALSE(q->seq.has_value());
}

}  // namespace
}  // namespace dccp
