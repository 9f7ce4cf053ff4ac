#include "stack/endpoint/init_cookie.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/endpoint/endpoint_fixture.h"

namespace dccp {
namespace {

using ::testing::ElementsAreArray;

Bytes Octets(std::initializer_list<int> values) {
  Bytes out;
  for (int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

struct Sample {
  Bytes options = Octets({32, 4, 1, 2, 1});
  Bytes data = Octets({7, 8, 9});
  InitCookie cookie;

  Sample() {
    cookie.iss = SeqNo(0x0102030405060708);
    cookie.isr = SeqNo(SeqNo::kMask);
    cookie.service_code = ServiceCode(0x66647A70);
    cookie.answered = TenMicros(0x11223344);
    cookie.response_crc = 0xDEADBEEF;
    cookie.ecn = Ecn::kCe;
    cookie.options = options;
    cookie.data = data;
  }
  Bytes Written() const {
    Bytes out(InitCookieBytes(cookie));
    WriteInitCookie(cookie, out);
    return out;
  }
};

TEST(InitCookie, R4340_COOK_04_HoldsAllThatMakesAConnection) {
  Sample sample;
  for (bool refused : {false, true}) {
    sample.cookie.data_refused = refused;
    const Bytes bytes = sample.Written();
    const std::optional<InitCookie> read = ReadInitCookie(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->iss, sample.cookie.iss);
    EXPECT_EQ(read->isr, sample.cookie.isr);
    EXPECT_EQ(read->service_code, sample.cookie.service_code);
    EXPECT_EQ(read->answered, sample.cookie.answered);
    EXPECT_EQ(read->response_crc, sample.cookie.response_crc);
    EXPECT_EQ(read->ecn, Ecn::kCe);
    EXPECT_EQ(read->data_refused, refused);
    EXPECT_THAT(read->options, ElementsAreArray(sample.options));
    EXPECT_THAT(read->data, ElementsAreArray(sample.data));
  }
}

TEST(InitCookie, LayoutIsStable) {
  EXPECT_EQ(Sample().Written(),
            Octets({3,                                      // CE
                    3,    4,    5,    6,    7,    8,        // ISS
                    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,     // ISR
                    0x66, 0x64, 0x7A, 0x70,                 // Service Code
                    0x11, 0x22, 0x33, 0x44,                 // answered
                    0xDE, 0xAD, 0xBE, 0xEF,                 // CRC
                    0,    5,    32,   4,    1,    2,    1,  // options
                    7,    8,    9}));
}

TEST(InitCookie, EveryTruncationIsRefusedOrShort) {
  const Bytes bytes = Sample().Written();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    const auto read = ReadInitCookie(part);
    EXPECT_EQ(read.has_value(), n >= kInitCookieFixedBytes + 5) << n;
  }
  Bytes reserved = bytes;
  reserved[0] |= std::byte{0x08};
  EXPECT_FALSE(ReadInitCookie(reserved));
}

Bytes Unpadded(const Bytes& options) {
  HeaderFields fields = Fields(PacketType::kRequest);
  Bytes packet(FixedHeaderBytes(fields.type, true) + options.size());
  WriteHeader(fields, options, packet);
  PacketView view;
  EXPECT_EQ(PacketView::Parse(packet, &view), ParseError::kNone);
  const auto unpadded = UnpaddedOptions(view);
  return {unpadded.begin(), unpadded.end()};
}

TEST(InitCookie, LeavesOutPaddingThatSaysNothing) {
  EXPECT_EQ(Unpadded({}), Bytes());
  EXPECT_EQ(Unpadded(Octets({0, 0, 0, 0})), Octets({0}));
  EXPECT_EQ(Unpadded(Octets({2, 0, 0, 0})), Octets({2, 0}));
  EXPECT_EQ(Unpadded(Octets({37, 3, 0, 0})), Octets({37, 3, 0, 0}));
  EXPECT_EQ(Unpadded(Octets({37, 4, 0, 0, 0, 0, 0, 0})), Octets({37, 4, 0, 0, 0}));
  EXPECT_EQ(Unpadded(Octets({37, 4, 9, 9})), Octets({37, 4, 9, 9}));
}

TEST(InitCookie, MandatoryBeforePaddingAndNonsenseStayAsTheyAre) {
  EXPECT_EQ(Unpadded(Octets({2, 2, 1, 0})), Octets({2, 2, 1, 0}));
  EXPECT_EQ(Unpadded(Octets({2, 2, 2, 1})), Octets({2, 2, 2, 1}));
  EXPECT_EQ(Unpadded(Octets({2, 37, 99, 0})), Octets({2, 37, 99, 0}));
}

}  // namespace
}  // namespace dccp
