// What an application sees at the edges: keep-alive, room in the queue, reservations, bad options.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Every data packet in `sent` that carries nothing.
std::size_t EmptyDatagrams(const std::vector<SentPacket>& sent) {
  std::size_t n = 0;
  for (const SentPacket& packet : sent)
    n += (packet.type == PacketType::kData || packet.type == PacketType::kDataAck) &&
                 packet.payload.empty()
             ? 1u
             : 0u;
  return n;
}

TEST(KeepAlive, R6773_KA_01_AnEmptyDatagramAfterEachSilence) {
  WirePeerConfig config;
  config.options.keep_alive = seconds(15);
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Take();
  std::size_t empty = 0;
  for (int i = 0; i < 4; ++i) {
    peer.Advance(seconds(15));
    empty += EmptyDatagrams(peer.Take());
    peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 3, 0}));
  }
  EXPECT_EQ(empty, 4u);
}

TEST(KeepAlive, ADeadPeerCostsNoBusyLoop) {
  WirePeerConfig config;
  config.options.keep_alive = seconds(1);
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Take();
  // Advance() steps from timer to timer: a deadline that does not move on would never end.
  peer.Advance(seconds(600));
  EXPECT_LE(EmptyDatagrams(peer.Take()), 60u);
}

TEST(KeepAlive, LeavesAReservationAlone) {
  WirePeerConfig config;
  config.options.keep_alive = seconds(1);
  WirePeer peer(config);
  peer.OpenAsServer();
  peer.Take();
  auto room = peer.endpoint().ReserveSend(peer.conn(), 5);
  ASSERT_TRUE(room.ok());
  peer.Advance(seconds(2));
  EXPECT_GE(EmptyDatagrams(peer.Take()), 1u);
  std::memcpy(room->data(), "hello", 5);
  ASSERT_TRUE(peer.endpoint().CommitSend(peer.conn(), 5).ok());
  peer.Inject(Ack(peer.Next(), peer.gss()).With({38, 4, 0, 0}));
  peer.Advance(seconds(1));
  EXPECT_THAT(peer.Take(), Contains(HasPayload("hello")));
}

TEST(Writable, IsToldWhenExpiredDatagramsMadeRoom) {
  WirePeerConfig config;
  config.options.send_queue_datagrams = 8;
  WirePeer peer(config);
  peer.OpenAsServer();
  // The window fills, then the queue, with datagrams that nobody wants after a second.
  SendOptions soon;
  soon.deadline = peer.now() + seconds(1);
  int accepted = 0;
  while (peer.endpoint().Send(peer.conn(), std::as_bytes(std::span("x", 1)), soon).ok()) {
    ++accepted;
    peer.Advance(Duration::zero());
    ASSERT_LT(accepted, 1000);
  }
  peer.TakeEvents();
  peer.Take();
  peer.Advance(seconds(5));
  EXPECT_NE(peer.TakeEvents() & kEventWritable, 0u);
  EXPECT_TRUE(peer.Send("y").ok());
}

TEST(Options, DurationsMustMakeADeadline) {
  for (const Duration bad : {Duration::max(), Duration::min(), Duration(-1), Duration(5)}) {
    for (int field = 0; field < 3; ++field) {
      WirePeer peer;
      ConnectParams params;
      params.path = peer.path();
      params.remote_port = 7;
      (field == 0   ? params.options.user_timeout
       : field == 1 ? params.options.keep_alive
                    : params.options.request_timeout) = bad;
      const auto conn = peer.endpoint().Connect(params, peer.now());
      ASSERT_FALSE(conn.ok()) << bad.count() << " in field " << field;
      EXPECT_EQ(conn.error(), Error::kInvalidArgument);
    }
  }
}

TEST(Reservation, CannotBeCommittedOnceClosing) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.endpoint().ReserveSend(peer.conn(), 5).ok());
  ASSERT_TRUE(peer.Close().ok());
  EXPECT_EQ(peer.endpoint().CommitSend(peer.conn(), 5).error(), Error::kBadState);
}

TEST(Release, DataForAReleasedConnectionIsRefusedNotStored) {
  WirePeer peer;
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Send("queued").ok());
  ASSERT_TRUE(peer.Close().ok());
  peer.endpoint().Release(peer.conn(), peer.now());
  for (int i = 0; i < 4; ++i) peer.Inject(Data(peer.Next(), "late"));
  EXPECT_EQ(peer.Dropped(DropReason::kNotListening), 4u);
}

}  // namespace
}  // namespace dccp::peer
