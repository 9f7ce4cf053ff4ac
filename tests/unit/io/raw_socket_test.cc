#include "stack/io/raw_socket.h"

#include <cstring>

#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

class RawSocketTest : public testing::TestWithParam<IpFamily> {
 protected:
  void SetUp() override {
    IoError error;
    socket_ = RawSocket::Open(GetParam(), 1u << 20, &error);
    if (socket_ == nullptr && error.errno_value == EPERM) {
      EXPECT_NE(error.what.find("CAP_NET_RAW"), std::string::npos);
      GTEST_SKIP() << error.what;
    }
    ASSERT_NE(socket_, nullptr) << error.what << ": " << std::strerror(error.errno_value);
    path_.local = path_.remote = LoopbackAddress(GetParam());
  }

  // Protocol 33 is seen by the whole host: finds ours among what arrives.
  std::vector<Packet> ReceiveMarked(std::byte mark, std::size_t count) {
    std::vector<Packet> out;
    while (out.size() < count) {
      const Received got = ReceivePackets(*socket_, 1);
      if (got.packets.empty()) return out;
      for (const Packet& packet : got.packets) {
        if (packet.bytes.back() == mark) out.push_back(packet);
      }
    }
    return out;
  }

  std::unique_ptr<RawSocket> socket_;
  Path path_;
  SendBatch send_;
};
INSTANTIATE_TEST_SUITE_P(Families, RawSocketTest, testing::Values(IpFamily::kV4, IpFamily::kV6),
                         FamilyName);

TEST_P(RawSocketTest, ReceivesWhatItSentOverLoopbackWithoutTheIpHeader) {
  const std::vector<std::byte> bytes = Bytes(200, 5);
  for (const Ecn ecn : {Ecn::kNotEct, Ecn::kEct0, Ecn::kCe}) {
    const OutboundDatagram out = {bytes, path_, ecn, false};
    EXPECT_EQ(socket_->Send({&out, 1}, send_).taken, 1u);
    const std::vector<Packet> got = ReceiveMarked(bytes.back(), 1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].bytes, bytes);
    EXPECT_EQ(got[0].ecn, ecn);
    EXPECT_EQ(got[0].path, path_);
  }
}

TEST_P(RawSocketTest, SendsABatchInOneCall) {
  std::vector<std::vector<std::byte>> sent;
  std::vector<OutboundDatagram> out;
  for (std::size_t i = 0; i < 100; ++i) {
    sent.push_back(Bytes(60, i));
    sent.back().back() = std::byte{0x5A};
  }
  for (const auto& bytes : sent) out.push_back({bytes, path_, Ecn::kEct0, false});
  EXPECT_EQ(socket_->Send(out, send_).taken, 100u);
  const std::vector<Packet> got = ReceiveMarked(std::byte{0x5A}, 100);
  ASSERT_EQ(got.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(got[i].bytes, sent[i]);
}

TEST_P(RawSocketTest, UsesTheSourceAddressOfThePath) {
  if (GetParam() == IpFamily::kV6) GTEST_SKIP() << "IPv6 has one loopback address";
  path_.local = Address("127.0.0.7");
  const std::vector<std::byte> bytes = Bytes(40, 6);
  const OutboundDatagram out = {bytes, path_, Ecn::kNotEct, false};
  EXPECT_EQ(socket_->Send({&out, 1}, send_).taken, 1u);
  const std::vector<Packet> got = ReceiveMarked(bytes.back(), 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].path.remote, Address("127.0.0.7"));
  EXPECT_EQ(got[0].path.local, Address("127.0.0.1"));
}

TEST_P(RawSocketTest, R4340_MPS_03_MPS_10_FragmentsOnlyWhatMayBeFragmented) {
  ASSERT_NO_FATAL_FAILURE(NarrowForFragments(socket_->fd(), GetParam()));
  const std::vector<std::byte> large = Bytes(60000, 7);
  OutboundDatagram out = {large, path_, Ecn::kNotEct, false};
  if (GetParam() == IpFamily::kV6) {
    EXPECT_TRUE(socket_->Send({&out, 1}, send_).failed);
    ErrorBatch errors;
    socket_->ReadErrors(errors);
    ASSERT_EQ(errors.errors().size(), 1u);
    EXPECT_EQ(errors.errors()[0].kind, IcmpKind::kTooBig);
  }
  out.may_fragment = true;
  EXPECT_FALSE(socket_->Send({&out, 1}, send_).failed);
  const std::vector<Packet> got = ReceiveMarked(large.back(), 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].bytes, large);
}

TEST_P(RawSocketTest, DropsPacketsBelowTheGenericHeader) {
  const std::vector<std::byte> bytes = Bytes(11);
  const OutboundDatagram out = {bytes, path_, Ecn::kNotEct, false};
  EXPECT_EQ(socket_->Send({&out, 1}, send_).taken, 1u);
  std::size_t too_short = 0;
  RecvBatch batch;
  while (too_short == 0 && WaitFor(socket_->fd(), POLLIN)) {
    too_short = socket_->Receive(batch).too_short;
  }
  EXPECT_EQ(too_short, 1u);
}

}  // namespace
}  // namespace dccp
