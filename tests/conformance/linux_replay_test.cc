// Whole connections that Linux 6.1.192 had with itself, one of its ends replaced by an endpoint
// that starts with the same sequence number: the other end's packets come in their order, at their
// times, byte for byte but for the ports and, since the endpoint acknowledges at other moments than
// Linux does, the Acknowledgement Number where told.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/conformance/linux_capture.h"

namespace dccp::peer {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::Not;

// Whether a packet was received, as the newest Ack Vector that names it says. RFC 4340 §11.4
class VectorLog {
 public:
  void Add(const SentPacket& packet) {
    if (!packet.ack || packet.type == PacketType::kSync) return;
    std::uint64_t seq = *packet.ack;
    for (const WireOption& option : packet.options) {
      if (option.type != OptionType::kAckVectorNonce0 &&
          option.type != OptionType::kAckVectorNonce1)
        continue;
      for (const std::uint8_t cell : option.data) {
        for (int run = (cell & 63) + 1; run > 0; --run) received_[seq--] = cell >> 6 != 3;
      }
    }
  }
  bool Received(std::uint64_t seq) const {
    const auto it = received_.find(seq);
    return it != received_.end() && it->second;
  }
  const std::map<std::uint64_t, bool>& all() const { return received_; }

 private:
  std::map<std::uint64_t, bool> received_;
};

std::size_t Count(const SentPacket& packet, OptionType type) {
  return static_cast<std::size_t>(
      std::count_if(packet.options.begin(), packet.options.end(),
                    [type](const WireOption& option) { return option.type == type; }));
}

// Plays the packets of one Linux end into an endpoint.
class Replay {
 public:
  Replay(const std::string& name, bool linux_is_client)
      : packets_(LinuxConversation(name)),
        linux_is_client_(linux_is_client),
        peer_(linux_is_client ? AsServerOf(packets_) : AsClientOf(packets_)),
        begin_(peer_.now()) {}

  WirePeer& peer() { return peer_; }
  const std::vector<LinuxPacket>& packets() const { return packets_; }
  bool FromLinux(const LinuxPacket& packet) const { return packet.from_client == linux_is_client_; }

  void WaitFor(const LinuxPacket& packet) {
    const TimePoint at = begin_ + packet.at;
    if (at > peer_.now()) peer_.Advance(at - peer_.now());
    Collect();
  }
  // Acknowledges what the endpoint has sent last.
  void Inject(const LinuxPacket& packet) {
    peer_.InjectRaw(packet.ack ? ToWirePeer(packet, peer_.gss()) : ToWirePeer(packet));
    Collect();
  }
  void InjectAsCaptured(const LinuxPacket& packet) {
    peer_.InjectRaw(ToWirePeer(packet));
    Collect();
  }
  void Collect() {
    for (const SentPacket& packet : peer_.Take()) {
      vectors_.Add(packet);
      sent_.push_back(packet);
    }
  }
  const std::vector<SentPacket>& sent() const { return sent_; }
  const VectorLog& vectors() const { return vectors_; }

 private:
  const std::vector<LinuxPacket> packets_;
  const bool linux_is_client_;
  WirePeer peer_;
  const TimePoint begin_;
  std::vector<SentPacket> sent_;
  VectorLog vectors_;
};

TEST(LinuxReplay, R4340_LNX_01_LNX_09_LNX_23_ALinuxClientTalksToOurEchoServer) {
  Replay replay("loopback-ccid2", true);
  WirePeer& peer = replay.peer();
  peer.Listen();
  std::size_t data = 0;
  std::vector<std::string> read;
  std::size_t changes = 0;
  for (const LinuxPacket& packet : replay.packets()) {
    if (!replay.FromLinux(packet)) continue;
    replay.WaitFor(packet);
    if (packet.type == PacketType::kDataAck) {
      data += packet.has_data ? 1u : 0u;
      changes += Count(Decoded(packet), OptionType::kChangeL);
    }
    replay.Inject(packet);
    for (const std::string& datagram : peer.Read()) {
      read.push_back(datagram);
      ASSERT_TRUE(peer.Send(datagram).ok());
    }
    replay.Collect();
  }
  EXPECT_EQ(data, 60u);
  EXPECT_EQ(read.size(), data);
  EXPECT_THAT(read, Each(::testing::SizeIs(200)));
  EXPECT_EQ(peer.state(), State::kClosed);
  EXPECT_TRUE(peer.Info().close.clean);
  EXPECT_EQ(peer.Info().close.by, ClosedBy::kRemote);
  EXPECT_EQ(peer.Info().counters.syncs_sent, 0u);
  EXPECT_EQ(peer.Info().counters.duplicates, 0u);
  EXPECT_EQ(peer.DroppedInAll(), 0u);
  EXPECT_EQ(peer.Info().counters.data_packets_lost, 0u);
  // Every Change that it made on the way was confirmed at once.
  EXPECT_EQ(changes, 2u);
  std::size_t confirms = 0;
  std::size_t echoed = 0;
  for (const SentPacket& packet : replay.sent()) {
    if (packet.type != PacketType::kResponse) confirms += Count(packet, OptionType::kConfirmR);
    echoed += packet.payload.size() == 200 ? 1u : 0u;
    EXPECT_TRUE(packet.extended);
    EXPECT_EQ(packet.ecn, Ecn::kNotEct);
  }
  EXPECT_GE(confirms, changes);
  EXPECT_EQ(echoed, data);
  EXPECT_THAT(replay.sent().back(), HasType(PacketType::kReset));
  EXPECT_EQ(replay.sent().back().reset.code, ResetCode::kClosed);
}

TEST(LinuxReplay, R4340_LNX_05_LNX_17_OurClientTalksToALinuxEchoServer) {
  Replay replay("loopback-ccid2", false);
  WirePeer& peer = replay.peer();
  peer.Connect();
  std::size_t data = 0;
  std::size_t read = 0;
  for (const LinuxPacket& packet : replay.packets()) {
    replay.WaitFor(packet);
    if (!replay.FromLinux(packet)) {
      if (packet.has_data) {
        ASSERT_TRUE(peer.Send(std::string(200, 'x')).ok());
        ++data;
      }
      if (packet.type == PacketType::kClose) {
        EXPECT_TRUE(peer.Close().ok());
      }
      replay.Collect();
      continue;
    }
    replay.Inject(packet);
    read += peer.Read().size();
  }
  EXPECT_EQ(data, 60u);
  EXPECT_EQ(read, 60u);
  EXPECT_EQ(peer.state(), State::kTimeWait);
  EXPECT_TRUE(peer.Info().close.clean);
  EXPECT_EQ(peer.Info().counters.data_packets_sent, 60u);
  EXPECT_EQ(peer.Info().counters.syncs_sent, 0u);
  EXPECT_EQ(peer.DroppedInAll(), 0u);
  EXPECT_THAT(replay.sent(), Each(Not(HasType(PacketType::kReset))));
}

// What arrived is what our Ack Vectors say, packet by packet.
TEST(LinuxReplay, R4340_LNX_23_AV_05_OurServerReportsTheLossesOfALinuxSender) {
  Replay replay("netem-ccid2", true);
  WirePeer& peer = replay.peer();
  peer.Listen();
  std::map<std::uint64_t, bool> arrived;
  std::size_t data = 0;
  std::size_t read = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  for (const LinuxPacket& packet : replay.packets()) {
    if (!replay.FromLinux(packet)) continue;
    replay.WaitFor(packet);
    if (first == 0) first = packet.seq;
    last = std::max(last, packet.seq);
    arrived[packet.seq] = true;
    data += packet.has_data ? 1u : 0u;
    replay.Inject(packet);
    read += peer.Read().size();
  }
  EXPECT_EQ(peer.state(), State::kOpen);
  EXPECT_GT(data, 300u);
  EXPECT_EQ(read, data);
  const std::uint64_t lost = last - first + 1 - arrived.size();
  EXPECT_GE(lost, 3u) << "the capture shows no loss";
  // The Request has the Response for an acknowledgement. What no vector covers was not received.
  for (std::uint64_t seq = first + 1; seq <= last; ++seq)
    EXPECT_EQ(replay.vectors().Received(seq), arrived.contains(seq)) << seq - first;
  EXPECT_EQ(peer.Info().counters.syncs_sent, 0u);
  EXPECT_EQ(peer.DroppedInAll(), 0u);
}

// Each acknowledgement of the Linux receiver comes once our client has sent what it acknowledges:
// as if our packets had met the losses of the capture.
TEST(LinuxReplay, R4340_LNX_23_OurClientLearnsItsLossesFromALinuxReceiver) {
  Replay replay("netem-ccid2", false);
  WirePeer& peer = replay.peer();
  peer.Connect();
  replay.Collect();
  VectorLog told;
  std::size_t used = 0;
  for (const LinuxPacket& packet : replay.packets()) {
    if (!replay.FromLinux(packet)) continue;
    ASSERT_TRUE(packet.ack.has_value());
    for (int waits = 0; peer.gss() < *packet.ack; ++waits) {
      ASSERT_LT(waits, 2000) << "stalls at " << peer.gss() - kIss << " after " << used;
      while (peer.endpoint().SendRoom(peer.conn(), 500) > 0)
        ASSERT_TRUE(peer.Send(std::string(500, 'x')).ok());
      peer.Advance(milliseconds(1));
      replay.Collect();
    }
    told.Add(Decoded(packet));
    replay.InjectAsCaptured(packet);
    ++used;
    ASSERT_LT(peer.state(), State::kCloseReq);
  }
  EXPECT_GT(used, 150u);
  std::map<std::uint64_t, bool> is_data;
  for (const SentPacket& packet : replay.sent()) is_data[packet.seq] = !packet.payload.empty();
  std::uint64_t lost = 0;
  for (const auto& [seq, received] : told.all()) lost += !received && is_data[seq] ? 1u : 0u;
  EXPECT_GE(lost, 3u) << "the capture shows no loss";
  EXPECT_EQ(peer.Info().counters.data_packets_lost, lost);
  EXPECT_GE(peer.Info().sender.loss_events, 1u);
  EXPECT_LE(peer.Info().sender.loss_events, lost);
  EXPECT_EQ(peer.Info().counters.syncs_sent, 0u);
  EXPECT_EQ(peer.DroppedInAll(), 0u);
}

}  // namespace
}  // namespace dccp::peer
