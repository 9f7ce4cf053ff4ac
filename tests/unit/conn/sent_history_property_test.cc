// SentHistory against a record of every packet, with random vectors of random age.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "tests/unit/conn/sent_history_util.h"

namespace dccp {
namespace {

constexpr std::int64_t kIss = 7000;

// What the network did: which packets arrived, when in the order of arrivals, and which were
// marked. Acks are snapshots of it.
struct NaivePacket {
  bool data = false;
  std::uint32_t bytes = 0;
  bool acked = false;
  bool decided = false;  // left the pipe
  bool abandoned = false;
};

class Model {
 public:
  explicit Model(unsigned seed) : random_(seed), sender_(kIss) {}

  void Step() {
    switch (Uniform(8)) {
      case 0:
      case 1:
      case 2:
        Send();
        break;
      case 3:
      case 4:
        Arrive();
        break;
      case 5:
      case 6:
        Ack();
        break;
      default:
        if (Uniform(20) == 0) Abandon();
        break;
    }
    ASSERT_EQ(sender_.history().in_flight_data_packets(), InFlight());
  }

 private:
  unsigned Uniform(unsigned n) {
    return std::uniform_int_distribution<unsigned>(0, n - 1)(random_);
  }

  void Send() {
    // The window is kept below the memory of the history, so that nothing is forgotten early.
    if (InFlight() > 50) return;
    const PacketType type = Uniform(3) == 0 ? PacketType::kAck : PacketType::kData;
    const std::uint32_t bytes = Uniform(1000);
    packets_[sender_.next()] = {type == PacketType::kData, bytes};
    sender_.Send(1, type, bytes);
  }

  void Arrive() {
    if (packets_.empty()) return;
    const std::int64_t seq =
        std::max(kIss, sender_.next() - 1 - static_cast<std::int64_t>(Uniform(30)));
    arrived_.emplace(seq, Uniform(10) == 0 ? AckState::kMarked : AckState::kReceived);
    snapshots_.push_back(arrived_);
    if (snapshots_.size() > 5) snapshots_.erase(snapshots_.begin());
  }

  void Ack() {
    if (snapshots_.empty()) return;
    const auto& snapshot = snapshots_[Uniform(static_cast<unsigned>(snapshots_.size()))];
    const std::int64_t ackno = snapshot.rbegin()->first;
    const std::int64_t oldest = std::max(kIss, ackno - static_cast<std::int64_t>(Uniform(60)));
    VectorRuns runs;
    for (std::int64_t seq = ackno; seq >= oldest; --seq) {
      const auto it = snapshot.find(seq);
      runs.push_back({it == snapshot.end() ? AckState::kNotReceived : it->second, 1});
    }
    const Digest digest = sender_.Ack(ackno, runs);
    const auto expected = Expect(snapshot, ackno, oldest);
    ASSERT_EQ(Told(digest), expected);
    ASSERT_EQ(digest.in_flight_data_packets, InFlight());
    CheckSums(digest);
  }

  // The naive rule, packet by packet. RFC 4341 §5
  std::map<std::int64_t, Fate> Expect(const std::map<std::int64_t, AckState>& snapshot,
                                      std::int64_t ackno, std::int64_t oldest) {
    std::map<std::int64_t, Fate> fates;
    for (const auto& [seq, state] : snapshot) {
      NaivePacket& packet = packets_[seq];
      if (seq < oldest || seq > ackno || packet.acked) continue;
      if (!sender_.history().SentTime(Seq64(seq))) continue;
      packet.acked = true;
      fates[seq] = packet.decided               ? Fate::kLate
                   : state == AckState::kMarked ? Fate::kMarked
                                                : Fate::kReceived;
      packet.decided = true;
    }
    int later = 0;
    for (auto it = packets_.rbegin(); it != packets_.rend(); ++it) {
      if (it->second.acked) {
        ++later;
      } else if (!it->second.decided && later >= 3) {
        it->second.decided = true;
        fates[it->first] = Fate::kLost;
      }
    }
    return fates;
  }

  static std::map<std::int64_t, Fate> Told(const Digest& digest) {
    std::map<std::int64_t, Fate> fates;
    for (const FateRun& run : digest.runs) {
      for (std::uint32_t i = 0; i < run.packets; ++i) fates[(run.first + i).value()] = run.fate;
    }
    return fates;
  }

  void CheckSums(const Digest& digest) {
    for (const FateRun& run : digest.runs) {
      std::uint32_t data = 0;
      std::uint64_t bytes = 0;
      for (std::uint32_t i = 0; i < run.packets; ++i) {
        const NaivePacket& packet = packets_[(run.first + i).value()];
        data += packet.data ? 1 : 0;
        bytes += packet.data ? packet.bytes : 0;
      }
      ASSERT_EQ(run.data_packets, data);
      ASSERT_EQ(run.data_bytes, bytes);
    }
  }

  void Abandon() {
    for (auto& [seq, packet] : packets_) packet.decided = true;
    sender_.history().AbandonInFlight();
  }

  std::uint32_t InFlight() const {
    return static_cast<std::uint32_t>(
        std::count_if(packets_.begin(), packets_.end(),
                      [](const auto& p) { return p.second.data && !p.second.decided; }));
  }

  std::mt19937 random_;
  Sender sender_;
  std::map<std::int64_t, NaivePacket> packets_;
  std::map<std::int64_t, AckState> arrived_;
  std::vector<std::map<std::int64_t, AckState>> snapshots_;
};

class SentHistoryPropertyTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(SentHistoryPropertyTest, R4341_CWND_05_AgreesWithAModelOfEveryPacket) {
  Model model(GetParam());
  for (int i = 0; i < 2000 && !HasFatalFailure(); ++i) model.Step();
}

INSTANTIATE_TEST_SUITE_P(Seeds, SentHistoryPropertyTest, ::testing::Range(1u, 21u));

}  // namespace
}  // namespace dccp
