#include "stack/io/udp_socket.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <algorithm>

#include "stack/io/socket_options.h"
#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

class UdpSocketTest : public testing::TestWithParam<IpFamily> {
 protected:
  UdpSocketTest()
      : loopback_(LoopbackAddress(GetParam())),
        server_(OpenServer(loopback_)),
        client_(OpenClient(loopback_, server_->path().local_udp_port)) {}

  OutboundDatagram FromClient(std::span<const std::byte> bytes, Ecn ecn = Ecn::kNotEct) const {
    return {bytes, client_->path(), ecn, false};
  }

  IpAddress loopback_;
  std::unique_ptr<UdpSocket> server_;
  std::unique_ptr<UdpSocket> client_;
  SendBatch send_;
  ErrorBatch errors_;
};
INSTANTIATE_TEST_SUITE_P(Families, UdpSocketTest, testing::Values(IpFamily::kV4, IpFamily::kV6),
                         FamilyName);

TEST_P(UdpSocketTest, CarriesADatagramBothWays) {
  const std::vector<std::byte> question = Bytes(100, 1);
  const OutboundDatagram out = FromClient(question);
  EXPECT_EQ(client_->Send({&out, 1}, send_).taken, 1u);

  const Received got = ReceivePackets(*server_, 1);
  ASSERT_EQ(got.packets.size(), 1u);
  EXPECT_EQ(got.packets[0].bytes, question);
  EXPECT_EQ(got.packets[0].path.remote, loopback_);
  EXPECT_EQ(got.packets[0].path.remote_udp_port, client_->path().local_udp_port);

  const std::vector<std::byte> answer = Bytes(200, 2);
  const OutboundDatagram back = {answer, got.packets[0].path, Ecn::kNotEct, false};
  EXPECT_EQ(server_->Send({&back, 1}, send_).taken, 1u);
  const Received returned = ReceivePackets(*client_, 1);
  ASSERT_EQ(returned.packets.size(), 1u);
  EXPECT_EQ(returned.packets[0].bytes, answer);
  EXPECT_EQ(returned.packets[0].path, client_->path());
}

TEST_P(UdpSocketTest, SegmentsARunAndReassemblesItByStride) {
  std::vector<std::vector<std::byte>> sent;
  std::vector<OutboundDatagram> out;
  for (std::size_t i = 0; i < 64; ++i) sent.push_back(Bytes(1200, i));
  for (const auto& bytes : sent) out.push_back(FromClient(bytes, Ecn::kEct0));
  const SendResult result = client_->Send(out, send_);
  EXPECT_EQ(result.taken, 64u);
  EXPECT_FALSE(result.blocked);

  const Received got = ReceivePackets(*server_, 64);
  ASSERT_EQ(got.packets.size(), 64u);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(got.packets[i].bytes, sent[i]);
    EXPECT_EQ(got.packets[i].ecn, Ecn::kEct0);
  }
  if (client_->segments() && server_->coalesces()) {
    // 54 of 1200 bytes fit one send of at most 65507.
    EXPECT_EQ(got.datagrams, 2u);
  }
}

TEST_P(UdpSocketTest, KeepsTheShorterLastSegmentOfARun) {
  const std::vector<std::byte> full = Bytes(1000, 3);
  const std::vector<std::byte> tail = Bytes(12, 4);
  const OutboundDatagram out[] = {FromClient(full), FromClient(full), FromClient(tail)};
  EXPECT_EQ(client_->Send(out, send_).taken, 3u);
  const Received got = ReceivePackets(*server_, 3);
  ASSERT_EQ(got.packets.size(), 3u);
  EXPECT_EQ(got.packets[2].bytes, tail);
}

TEST_P(UdpSocketTest, WorksWithoutOffload) {
  UdpSocketOptions options;
  options.local = loopback_;
  options.offload = false;
  const auto server = OpenUdp(options);
  options.local = AnyAddress(GetParam());
  options.remote = loopback_;
  options.remote_port = server->path().local_udp_port;
  const auto client = OpenUdp(options);
  EXPECT_FALSE(client->segments());
  EXPECT_FALSE(server->coalesces());

  const std::vector<std::byte> bytes = Bytes(1000);
  const std::vector<OutboundDatagram> out(20, {bytes, client->path(), Ecn::kCe, false});
  EXPECT_EQ(client->Send(out, send_).taken, 20u);
  const Received got = ReceivePackets(*server, 20);
  ASSERT_EQ(got.packets.size(), 20u);
  EXPECT_EQ(got.datagrams, 20u);
  EXPECT_EQ(got.packets[19].ecn, Ecn::kCe);
}

TEST_P(UdpSocketTest, SendsSinglyWhereSegmentationIsRefused) {
  // The kernel refuses to segment for a socket without UDP checksums.
  const bool v4 = GetParam() == IpFamily::kV4;
  ASSERT_TRUE(v4 ? SetIntOption(client_->fd(), SOL_SOCKET, SO_NO_CHECK, 1)
                 : SetIntOption(client_->fd(), IPPROTO_UDP, UDP_NO_CHECK6_TX, 1));
  ASSERT_TRUE(v4 || SetIntOption(server_->fd(), IPPROTO_UDP, UDP_NO_CHECK6_RX, 1));
  const std::vector<std::byte> bytes = Bytes(1000);
  const std::vector<OutboundDatagram> out(40, FromClient(bytes));
  const SendResult result = client_->Send(out, send_);
  EXPECT_EQ(result.taken, 40u);
  EXPECT_FALSE(result.failed);
  EXPECT_EQ(ReceivePackets(*server_, 40).packets.size(), 40u);
}

TEST_P(UdpSocketTest, R6773_ECN_01_CarriesEcnBitsBothWays) {
  const std::vector<std::byte> bytes = Bytes(50);
  for (const Ecn ecn : {Ecn::kNotEct, Ecn::kEct1, Ecn::kEct0, Ecn::kCe}) {
    const OutboundDatagram out = FromClient(bytes, ecn);
    EXPECT_EQ(client_->Send({&out, 1}, send_).taken, 1u);
    const Received got = ReceivePackets(*server_, 1);
    ASSERT_EQ(got.packets.size(), 1u);
    EXPECT_EQ(got.packets[0].ecn, ecn);
    const OutboundDatagram back = {bytes, got.packets[0].path, ecn, false};
    EXPECT_EQ(server_->Send({&back, 1}, send_).taken, 1u);
    const Received returned = ReceivePackets(*client_, 1);
    ASSERT_EQ(returned.packets.size(), 1u);
    EXPECT_EQ(returned.packets[0].ecn, ecn);
  }
}

TEST_P(UdpSocketTest, DoesNotMergeDifferentMarksIntoOneSend) {
  const std::vector<std::byte> bytes = Bytes(100);
  const OutboundDatagram out[] = {FromClient(bytes, Ecn::kEct0), FromClient(bytes, Ecn::kNotEct),
                                  FromClient(bytes, Ecn::kEct0)};
  EXPECT_EQ(client_->Send(out, send_).taken, 3u);
  const Received got = ReceivePackets(*server_, 3);
  ASSERT_EQ(got.packets.size(), 3u);
  EXPECT_EQ(got.packets[0].ecn, Ecn::kEct0);
  EXPECT_EQ(got.packets[1].ecn, Ecn::kNotEct);
  EXPECT_EQ(got.packets[2].ecn, Ecn::kEct0);
}

TEST_P(UdpSocketTest, AServerOnAnyAddressLearnsAndKeepsTheLocalOne) {
  const auto server = OpenServer(AnyAddress(GetParam()));
  // Any address of 127/8 is this host's; IPv6 has one loopback address.
  const IpAddress other = GetParam() == IpFamily::kV4 ? Address("127.0.0.9") : loopback_;
  const auto client = OpenClient(other, server->path().local_udp_port);
  const std::vector<std::byte> bytes = Bytes(30);
  const OutboundDatagram out = {bytes, client->path(), Ecn::kNotEct, false};
  EXPECT_EQ(client->Send({&out, 1}, send_).taken, 1u);
  const Received got = ReceivePackets(*server, 1);
  ASSERT_EQ(got.packets.size(), 1u);
  EXPECT_EQ(got.packets[0].path.local, other);

  // A connected client hears only the address that it called.
  const OutboundDatagram back = {bytes, got.packets[0].path, Ecn::kNotEct, false};
  EXPECT_EQ(server->Send({&back, 1}, send_).taken, 1u);
  EXPECT_EQ(ReceivePackets(*client, 1).packets.size(), 1u);
}

TEST_P(UdpSocketTest, R6773_CSM_03_DropsUdpLengthBelow20) {
  for (const std::size_t size : {0u, 1u, 11u, 12u}) {
    const std::vector<std::byte> bytes = Bytes(size);
    const OutboundDatagram out = FromClient(bytes);
    EXPECT_EQ(client_->Send({&out, 1}, send_).taken, 1u);
    const Received got = ReceivePackets(*server_, 1);
    EXPECT_EQ(got.too_short, size < 12 ? 1u : 0u) << size;
    EXPECT_EQ(got.packets.size(), size < 12 ? 0u : 1u) << size;
  }
}

TEST_P(UdpSocketTest, R6773_CSM_03_DropsAShortTailOfASegmentedRun) {
  const std::vector<std::byte> full = Bytes(500);
  const std::vector<std::byte> tail = Bytes(11);
  const OutboundDatagram out[] = {FromClient(full), FromClient(full), FromClient(tail)};
  EXPECT_EQ(client_->Send(out, send_).taken, 3u);
  const Received got = ReceivePackets(*server_, 3);
  EXPECT_EQ(got.packets.size(), 2u);
  EXPECT_EQ(got.too_short, 1u);
}

TEST_P(UdpSocketTest, R6773_ICMP_01_ReportsPortUnreachableWithTheQuotedPacket) {
  const std::uint16_t port = server_->path().local_udp_port;
  server_.reset();
  const std::vector<std::byte> bytes = Bytes(64, 7);
  const OutboundDatagram out = FromClient(bytes);
  EXPECT_EQ(client_->Send({&out, 1}, send_).taken, 1u);
  ASSERT_TRUE(WaitFor(client_->fd(), POLLPRI));
  client_->ReadErrors(errors_);
  ASSERT_EQ(errors_.errors().size(), 1u);
  const IcmpError& error = errors_.errors()[0];
  EXPECT_EQ(error.kind, IcmpKind::kPortUnreachable);
  EXPECT_EQ(error.path.local, client_->path().local);
  EXPECT_EQ(error.path.local_udp_port, client_->path().local_udp_port);
  EXPECT_EQ(error.path.remote, loopback_);
  EXPECT_EQ(error.path.remote_udp_port, port);
  ASSERT_GE(error.quoted.size(), 16u);
  EXPECT_TRUE(std::equal(error.quoted.begin(), error.quoted.end(), bytes.begin()));
}

TEST_P(UdpSocketTest, ReportsPortUnreachableToAServerOnAnyAddress) {
  const auto sender = OpenServer(AnyAddress(GetParam()));
  const std::uint16_t port = server_->path().local_udp_port;
  server_.reset();
  const std::vector<std::byte> bytes = Bytes(64, 8);
  const Path path = Towards(loopback_, sender->path().local_udp_port, loopback_, port);
  const OutboundDatagram out = {bytes, path, Ecn::kNotEct, false};
  EXPECT_EQ(sender->Send({&out, 1}, send_).taken, 1u);
  ASSERT_TRUE(WaitFor(sender->fd(), POLLPRI));
  sender->ReadErrors(errors_);
  ASSERT_EQ(errors_.errors().size(), 1u);
  EXPECT_EQ(errors_.errors()[0].path, path);
}

TEST_P(UdpSocketTest, KeepsSendingAfterAnUnreachablePort) {
  server_.reset();
  const std::vector<std::byte> bytes = Bytes(40);
  for (int i = 0; i < 3; ++i) {
    const OutboundDatagram out = FromClient(bytes);
    const SendResult result = client_->Send({&out, 1}, send_);
    EXPECT_EQ(result.taken, 1u);
    EXPECT_FALSE(result.failed);
    EXPECT_TRUE(WaitFor(client_->fd(), POLLPRI));
    // The pending error does not hide behind the error queue for ever.
    RecvBatch batch;
    EXPECT_TRUE(client_->Receive(batch).failed);
    client_->ReadErrors(errors_);
    EXPECT_EQ(errors_.errors().size(), 1u);
  }
}

TEST_P(UdpSocketTest, GivesUpADatagramThatCannotBeSentAndSaysWhy) {
  const std::vector<std::byte> good = Bytes(100, 9);
  const std::vector<std::byte> huge = Bytes(66000, 10);
  const OutboundDatagram out[] = {FromClient(good), FromClient(huge), FromClient(good)};
  const SendResult result = client_->Send(out, send_);
  EXPECT_EQ(result.taken, 3u);
  EXPECT_TRUE(result.failed);
  EXPECT_EQ(ReceivePackets(*server_, 2).packets.size(), 2u);
  client_->ReadErrors(errors_);
  ASSERT_EQ(errors_.errors().size(), 1u);
  const IcmpError& error = errors_.errors()[0];
  EXPECT_EQ(error.kind, IcmpKind::kTooBig);
  EXPECT_EQ(error.path, client_->path());
  ASSERT_GE(error.quoted.size(), 16u);
  EXPECT_TRUE(std::equal(error.quoted.begin(), error.quoted.end(), huge.begin()));
  client_->ReadErrors(errors_);
  EXPECT_TRUE(errors_.errors().empty());
}

TEST_P(UdpSocketTest, R4340_MPS_03_MPS_10_FragmentsOnlyWhatMayBeFragmented) {
  ASSERT_NO_FATAL_FAILURE(NarrowForFragments(client_->fd(), GetParam()));
  const std::vector<std::byte> large = Bytes(60000, 11);
  OutboundDatagram out = FromClient(large);
  if (GetParam() == IpFamily::kV6) {
    EXPECT_TRUE(client_->Send({&out, 1}, send_).failed);
    client_->ReadErrors(errors_);
    ASSERT_EQ(errors_.errors().size(), 1u);
    EXPECT_EQ(errors_.errors()[0].kind, IcmpKind::kTooBig);
  }
  out.may_fragment = true;
  EXPECT_FALSE(client_->Send({&out, 1}, send_).failed);
  const Received got = ReceivePackets(*server_, 1);
  ASSERT_EQ(got.packets.size(), 1u);
  EXPECT_EQ(got.packets[0].bytes, large);
}

TEST_P(UdpSocketTest, AnnouncesThatMoreWaitsWhenTheBatchIsFull) {
  UdpSocketOptions options;
  options.local = loopback_;
  options.offload = false;
  const auto server = OpenUdp(options);
  const auto client = OpenClient(loopback_, server->path().local_udp_port);
  const std::vector<std::byte> bytes = Bytes(20);
  const std::vector<OutboundDatagram> out(5, {bytes, client->path(), Ecn::kNotEct, false});
  EXPECT_EQ(client->Send(out, send_).taken, 5u);
  ASSERT_TRUE(WaitFor(server->fd(), POLLIN));
  RecvBatch batch(4);
  EXPECT_TRUE(server->Receive(batch).more);
  EXPECT_EQ(batch.datagrams().size(), 4u);
  EXPECT_FALSE(server->Receive(batch).more);
  EXPECT_EQ(batch.datagrams().size(), 1u);
  const ReceiveResult empty = server->Receive(batch);
  EXPECT_FALSE(empty.more);
  EXPECT_FALSE(empty.failed);
  EXPECT_TRUE(batch.datagrams().empty());
}

TEST_P(UdpSocketTest, NamesThePortThatIsInUse) {
  UdpSocketOptions options;
  options.local = loopback_;
  options.local_port = server_->path().local_udp_port;
  IoError error;
  EXPECT_EQ(UdpSocket::Open(options, &error), nullptr);
  EXPECT_EQ(error.errno_value, EADDRINUSE);
  EXPECT_NE(error.what.find(std::to_string(options.local_port)), std::string::npos) << error.what;
}

TEST_P(UdpSocketTest, SharesAPortOnRequest) {
  UdpSocketOptions options;
  options.local = loopback_;
  options.reuse_port = true;
  const auto first = OpenUdp(options);
  options.local_port = first->path().local_udp_port;
  EXPECT_NE(OpenUdp(options), nullptr);
}

}  // namespace
}  // namespace dccp
