// RFC 4340 §7.2, §7.3: initial sequence numbers of one connection after another.

#include <gtest/gtest.h>

#include "tests/support/wire_peer.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::_;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Between the same addresses and ports, again and again.
class Reconnection : public ::testing::Test {
 protected:
  explicit Reconnection(bool short_seqnos = false) : peer_(Config(short_seqnos)) {}

  static WirePeerConfig Config(bool short_seqnos) {
    WirePeerConfig config;
    config.fixed_iss = false;
    config.options.short_seqnos = short_seqnos;
    return config;
  }
  Result<ConnId> TryConnect() {
    ConnectParams params;
    params.path = peer_.path();
    params.local_port = WirePeer::kEndpointPort;
    params.remote_port = WirePeer::kPeerPort;
    return peer_.endpoint().Connect(params, peer_.now());
  }
  // The peer accepts with numbers of its own and closes; we hold TIMEWAIT. The greatest number
  // that the endpoint used in the end.
  std::uint64_t AcceptAndClose(const SentPacket& request) {
    peer_.Inject(Response(peer_.Next(), request.seq).With(ConfirmsFor(request)));
    peer_.Inject(Ack(peer_.Next(), peer_.gss()));
    EXPECT_EQ(peer_.state(), State::kOpen);
    peer_.Inject(CloseReq(peer_.Next(), peer_.gss()));
    peer_.Inject(Reset(peer_.Next(), peer_.gss(), 1));
    EXPECT_EQ(peer_.state(), State::kTimeWait);
    peer_.Take();
    return peer_.gss();
  }

  WirePeer peer_;
};

TEST_F(Reconnection, R4340_SEQ_03_SEQ_04_AClientGoesOnAboveItsLastNumbers) {
  peer_.Connect();
  std::uint64_t last = AcceptAndClose(peer_.TakeOne());
  for (int i = 0; i < 3; ++i) {
    // TIMEWAIT keeps the ports away from every new connection for as long as packets may linger.
    EXPECT_EQ(TryConnect().error(), Error::kPortInUse);
    peer_.Advance(2 * kMsl - seconds(1));
    EXPECT_EQ(TryConnect().error(), Error::kPortInUse);
    EXPECT_THAT(peer_.Take(), IsEmpty());
    peer_.Advance(seconds(1));

    peer_.Connect();
    const SentPacket request = peer_.TakeOne();
    // Above, and not by more than the clock says: the space is that of these ports. §7.2
    const std::uint64_t ahead = (request.seq - last) & SeqNo::kMask;
    EXPECT_GT(ahead, 0u);
    EXPECT_LT(ahead, std::uint64_t{1} << 32);
    // What lingers of the first connection is refused by the numbers of the second.
    peer_.Inject(Reset(peer_.PeekNext(), last, 2));
    EXPECT_EQ(peer_.state(), State::kRequest);
    last = AcceptAndClose(request);
  }
}

TEST_F(Reconnection, R4340_SEQ_03_SEQ_04_AServerGoesOnAboveItsLastNumbers) {
  peer_.Listen();
  std::uint64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    peer_.Inject(Request(peer_.Next()));
    const SentPacket response = peer_.TakeOne();
    ASSERT_EQ(response.type, PacketType::kResponse);
    if (i > 0) {
      const std::uint64_t ahead = (response.seq - last) & SeqNo::kMask;
      EXPECT_GT(ahead, 0u);
      EXPECT_LT(ahead, std::uint64_t{1} << 32);
      // An acknowledgement of the connection before does not complete this one.
      peer_.Inject(Ack(peer_.PeekNext(), last));
      EXPECT_EQ(peer_.state(), State::kRespond);
      peer_.Take();
    }
    peer_.Inject(Ack(peer_.Next(), peer_.gss()).With(ConfirmsFor(response)));
    ASSERT_EQ(peer_.state(), State::kOpen);
    // The peer closes and holds TIMEWAIT; for this end the ports are free at once.
    peer_.Inject(Close(peer_.Next(), peer_.gss()));
    EXPECT_EQ(peer_.state(), State::kClosed);
    last = peer_.gss();
    peer_.Take();
    peer_.Advance(milliseconds(1));
  }
}

TEST_F(Reconnection, R4340_SEQ_03_AServerInTimeWaitRefusesItsPortsUntilItIsOver) {
  WirePeerConfig config = Config(false);
  config.options.server_timewait = true;
  WirePeer peer(config);
  peer.OpenAsServer();
  ASSERT_TRUE(peer.Close().ok());
  const std::uint64_t last = peer.gss();
  peer.Inject(Reset(peer.Next(), last, 1));
  ASSERT_EQ(peer.state(), State::kTimeWait);
  peer.Take();
  peer.Inject(Request(peer.Next()));
  EXPECT_THAT(peer.Take(), ElementsAre(IsReset(_, _, 3)));
  peer.Advance(2 * kMsl);
  peer.Inject(Request(peer.Next()));
  const SentPacket response = peer.TakeOne();
  EXPECT_EQ(response.type, PacketType::kResponse);
  EXPECT_GT((response.seq - last) & SeqNo::kMask, 0u);
  EXPECT_LT((response.seq - last) & SeqNo::kMask, std::uint64_t{1} << 32);
}

class ShortReconnection : public Reconnection {
 protected:
  ShortReconnection() : Reconnection(true) {}
};

// The low 24 bits come round every few seconds, so it is time that keeps connections apart which
// may use them alone: TIMEWAIT at one end or the other.
TEST_F(ShortReconnection, R4340_SN_05_PortsRestForTwoMslWhereNumbersMayBeShort) {
  peer_.Connect();
  AcceptAndClose(peer_.TakeOne());
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(TryConnect().error(), Error::kPortInUse);
    peer_.Inject(Request(peer_.Next()));
    EXPECT_THAT(peer_.Take(), ElementsAre(IsReset(_, _, 3)));
    peer_.Advance(seconds(10));
  }
  EXPECT_TRUE(TryConnect().ok());
}

}  // namespace
}  // namespace dccp::peer
