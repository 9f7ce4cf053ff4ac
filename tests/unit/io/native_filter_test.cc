#include "stack/io/native_filter.h"

#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

// The generic header's ports and type. RFC 4340 §5.1
class Header {
 public:
  Header(std::uint16_t source, std::uint16_t destination, PacketType type = PacketType::kData) {
    bytes_[0] = static_cast<std::byte>(source >> 8);
    bytes_[1] = static_cast<std::byte>(source & 0xFF);
    bytes_[2] = static_cast<std::byte>(destination >> 8);
    bytes_[3] = static_cast<std::byte>(destination & 0xFF);
    bytes_[8] = static_cast<std::byte>(static_cast<unsigned>(type) << 1 | 1u);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::array<std::byte, 16> bytes_ = {};
};

class NativeFilterTest : public testing::Test {
 protected:
  void Send(const Header& header) {
    const OutboundDatagram out = {header.bytes(), Path(), Ecn::kNotEct, false};
    filter_.OnSent({&out, 1});
  }
  bool Wants(const Header& header, const char* from, const char* to) const {
    InboundDatagram in;
    in.bytes = header.bytes();
    in.path.remote = Address(from);
    in.path.local = Address(to);
    return filter_.Wants(in);
  }
  NativeFilter filter_;
};

TEST_F(NativeFilterTest, AClientTakesOnlyPacketsToPortsItSentFrom) {
  filter_.AddPath(Address("10.0.0.1"));
  Send(Header(50000, 5001));
  EXPECT_TRUE(Wants(Header(5001, 50000), "10.0.0.2", "10.0.0.1"));
  EXPECT_FALSE(Wants(Header(5001, 50001), "10.0.0.2", "10.0.0.1"));
  EXPECT_FALSE(Wants(Header(7, 5001, PacketType::kRequest), "10.0.0.2", "10.0.0.1"));
}

TEST_F(NativeFilterTest, NobodyTakesPacketsToAnAddressThatIsNotHis) {
  filter_.AddPath(Address("10.0.0.1"));
  filter_.AddServer(Address("10.0.0.3"));
  Send(Header(50000, 5001));
  EXPECT_FALSE(Wants(Header(5001, 50000), "10.0.0.2", "10.0.0.9"));
  EXPECT_TRUE(Wants(Header(7, 5001, PacketType::kRequest), "10.0.0.2", "10.0.0.3"));
}

TEST_F(NativeFilterTest, AServerOnAnyAddressTakesItsFamilyOnly) {
  filter_.AddServer(AnyAddress(IpFamily::kV6));
  EXPECT_TRUE(Wants(Header(7, 5001), "2001:db8::2", "2001:db8::1"));
  EXPECT_FALSE(Wants(Header(7, 5001), "10.0.0.2", "10.0.0.1"));
}

TEST_F(NativeFilterTest, AClientDoesNotAnswerItsOwnRequestOverLoopback) {
  filter_.AddPath(Address("127.0.0.1"));
  const Header request(50000, 5001, PacketType::kRequest);
  Send(request);
  EXPECT_FALSE(Wants(request, "127.0.0.1", "127.0.0.1"));
  EXPECT_TRUE(Wants(Header(5001, 50000, PacketType::kResponse), "127.0.0.1", "127.0.0.1"));
}

TEST_F(NativeFilterTest, AServerDoesNotAnswerItsOwnPacketsOverLoopback) {
  filter_.AddServer(AnyAddress(IpFamily::kV4));
  EXPECT_TRUE(Wants(Header(50000, 5001, PacketType::kRequest), "127.0.0.1", "127.0.0.1"));
  const Header response(5001, 50000, PacketType::kResponse);
  Send(response);
  EXPECT_FALSE(Wants(response, "127.0.0.1", "127.0.0.1"));
  EXPECT_FALSE(Wants(response, "127.0.0.1", "127.0.0.2"));
  // A peer elsewhere may well use the same port number.
  EXPECT_TRUE(Wants(response, "10.0.0.2", "10.0.0.1"));
}

TEST_F(NativeFilterTest, AProgramMayConnectToItself) {
  filter_.AddServer(AnyAddress(IpFamily::kV4));
  const Header request(50000, 5001, PacketType::kRequest);
  Send(request);
  EXPECT_TRUE(Wants(request, "127.0.0.1", "127.0.0.1"));
  const Header response(5001, 50000, PacketType::kResponse);
  Send(response);
  EXPECT_TRUE(Wants(response, "127.0.0.1", "127.0.0.1"));
}

}  // namespace
}  // namespace dccp
