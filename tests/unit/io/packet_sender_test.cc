#include "stack/io/packet_sender.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "stack/io/socket_options.h"
#include "stack/io/unique_fd.h"
#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

// A local datagram socket, unlike loopback UDP, blocks its sender.
class BlockingPair {
 public:
  BlockingPair() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, fds), 0);
    sender = UniqueFd(fds[0]);
    receiver = UniqueFd(fds[1]);
    EXPECT_TRUE(SetIntOption(sender.get(), SOL_SOCKET, SO_SNDBUF, 1));  // the system's minimum
  }
  // The first bytes of what waits.
  std::vector<std::byte> Drain() {
    std::vector<std::byte> out;
    std::array<std::byte, 100> buffer;
    while (::recv(receiver.get(), buffer.data(), buffer.size(), 0) > 0) out.push_back(buffer[0]);
    return out;
  }
  UniqueFd sender;
  UniqueFd receiver;
};

TEST(PacketSender, LeavesTheRestToTheCallerWhenBlocked) {
  BlockingPair pair;
  PacketSender sender(pair.sender.get(), {.family = IpFamily::kV4, .connected = true});
  std::vector<std::array<std::byte, 20>> cells(200);
  std::vector<OutboundDatagram> out(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].fill(static_cast<std::byte>(i));
    out[i].bytes = cells[i];
  }
  SendBatch batch;
  std::vector<std::byte> received;
  std::size_t taken = 0;
  bool was_blocked = false;
  while (taken < out.size()) {
    const SendResult result = sender.Send(std::span(out).subspan(taken), batch);
    taken += result.taken;
    was_blocked = was_blocked || result.blocked;
    EXPECT_EQ(result.blocked, taken < out.size());
    EXPECT_FALSE(result.failed);
    const std::vector<std::byte> got = pair.Drain();
    ASSERT_FALSE(got.empty());
    received.insert(received.end(), got.begin(), got.end());
  }
  EXPECT_TRUE(was_blocked);
  ASSERT_EQ(received.size(), cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(received[i], cells[i][0]);
}

TEST(PacketSender, GivesUpEachDatagramWhenThePeerIsGone) {
  BlockingPair pair;
  pair.receiver.Reset();
  PacketSender sender(pair.sender.get(), {.family = IpFamily::kV4, .connected = true});
  const std::vector<std::byte> bytes = Bytes(20);
  const std::vector<OutboundDatagram> out(12, {bytes, Path(), Ecn::kNotEct, false});
  SendBatch batch;
  const SendResult result = sender.Send(out, batch);
  EXPECT_EQ(result.taken, 12u);
  EXPECT_TRUE(result.failed);
  EXPECT_FALSE(result.blocked);
  // Bounded memory: the newest few are remembered.
  EXPECT_EQ(sender.failures().size(), 8u);
}

// The flags of the IPv4 header of one UDP datagram, seen by a raw socket.
class Ipv4Watcher {
 public:
  Ipv4Watcher() : fd_(::socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK, IPPROTO_UDP)) {}
  bool available() const { return fd_.valid(); }
  bool DontFragment(std::uint16_t destination_port) {
    std::array<unsigned char, 2048> packet = {};
    while (WaitFor(fd_.get(), POLLIN)) {
      if (::recv(fd_.get(), packet.data(), packet.size(), 0) < 28) continue;
      if ((packet[22] << 8 | packet[23]) == destination_port) return (packet[6] & 0x40) != 0;
    }
    ADD_FAILURE() << "no packet seen";
    return false;
  }

 private:
  UniqueFd fd_;
};

TEST(PacketSender, R4340_MPS_10_SetsDontFragmentUnlessTheDatagramMayBeFragmented) {
  Ipv4Watcher watcher;
  if (!watcher.available()) GTEST_SKIP() << "needs CAP_NET_RAW to see IP headers";
  const IpAddress loopback = LoopbackAddress(IpFamily::kV4);
  const auto server = OpenServer(loopback);
  const std::uint16_t port = server->path().local_udp_port;
  const auto client = OpenClient(loopback, port);
  const std::vector<std::byte> bytes = Bytes(100);
  SendBatch batch;
  for (const bool may_fragment : {false, true, true, false}) {
    const OutboundDatagram out = {bytes, client->path(), Ecn::kNotEct, may_fragment};
    EXPECT_EQ(client->Send({&out, 1}, batch).taken, 1u);
    EXPECT_EQ(watcher.DontFragment(port), !may_fragment);
  }
  // Both kinds in one call.
  const OutboundDatagram mixed[] = {{bytes, client->path(), Ecn::kNotEct, true},
                                    {bytes, client->path(), Ecn::kNotEct, false}};
  EXPECT_EQ(client->Send(mixed, batch).taken, 2u);
  EXPECT_FALSE(watcher.DontFragment(port));
  EXPECT_TRUE(watcher.DontFragment(port));
}

}  // namespace
}  // namespace dccp
