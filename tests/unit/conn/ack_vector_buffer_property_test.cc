// AckVectorBuffer against a map of every packet, with random arrivals, lost acks and acks of acks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/unit/conn/ack_vector_util.h"

namespace dccp {
namespace {

struct Packet {
  AckState state;
  bool nonce;
  bool data;
  bool acknowledged = false;  // the peer acknowledged a report of it
};

class Model {
 public:
  explicit Model(unsigned seed, bool nonces = true) : nonces_(nonces), random_(seed) {
    buffer_.Start(Seq64(kIsr));
  }

  void Step() {
    const unsigned what = Uniform(100);
    if (what < 60) {
      Arrive();
    } else if (what < 85) {
      SendAck();
    } else {
      AckOfAck();
    }
    ASSERT_TRUE(!buffer_.AllAcknowledged() || AllAcknowledged());
    // Asked after every step, so that the length is carried over from each to the next.
    if (!nonces_) {
      ASSERT_EQ(buffer_.EncodedBytes(), NaiveBytes());
    }
  }

  // Once an ack of everything is acknowledged nothing is left.
  void Finish() {
    SendAck();
    if (our_seq_ > 0) buffer_.OnAckOfAck(Seq64(our_seq_));
    ASSERT_TRUE(buffer_.AllAcknowledged());
  }

 private:
  static constexpr std::int64_t kIsr = 1000;

  unsigned Uniform(unsigned n) {
    return std::uniform_int_distribution<unsigned>(0, n - 1)(random_);
  }

  void Arrive() {
    std::int64_t seq = greatest_ + 1;
    const unsigned kind = Uniform(10);
    if (kind < 2) seq += Uniform(20);
    if (kind == 2) seq += Uniform(300);
    if (kind > 6) seq = std::max(kIsr, greatest_ - static_cast<std::int64_t>(Uniform(40)));
    auto ecn = static_cast<Ecn>(Uniform(4));
    if (!nonces_ && ecn == Ecn::kEct1) ecn = Ecn::kEct0;
    const PacketType type = Uniform(4) == 0 ? PacketType::kAck : PacketType::kData;
    const bool known = packets_.count(seq) > 0;
    ASSERT_EQ(buffer_.Received(Seq64(seq)), known || Seq64(seq) < buffer_.oldest());
    const RecordResult result = buffer_.Record(Seq64(seq), ecn, type);
    if (known) {
      ASSERT_NE(result, RecordResult::kNew);
      return;
    }
    if (result == RecordResult::kTooOld) {
      ASSERT_LT(Seq64(seq), buffer_.oldest());
      return;
    }
    ASSERT_EQ(result, RecordResult::kNew);
    packets_[seq] = {ecn == Ecn::kCe ? AckState::kMarked : AckState::kReceived, ecn == Ecn::kEct1,
                     IsDataPacket(type)};
    greatest_ = std::max(greatest_, seq);
  }

  void SendAck() {
    if (packets_.empty()) return;
    const auto options = WriteVector(buffer_, ++our_seq_);
    std::size_t bytes = 0;
    std::int64_t at = greatest_;
    for (const WrittenOption& option : options) {
      bytes += option.data.size() + 2;
      ASSERT_LE(option.data.size(), 253u);
      unsigned echo = 0;
      for (const std::byte b : option.data) {
        const AckVectorCell cell = DecodeAckCell(b);
        for (std::uint32_t i = 0; i < cell.packets(); ++i, --at) {
          const auto packet = packets_.find(at);
          const bool known = packet != packets_.end();
          ASSERT_EQ(cell.state, known ? packet->second.state : AckState::kNotReceived) << at;
          if (known && cell.state == AckState::kReceived && packet->second.nonce) echo ^= 1;
          if (known) sent_[our_seq_].insert(at);
        }
      }
      ASSERT_EQ(NonceEcho(option.type), echo);
    }
    ASSERT_EQ(bytes, buffer_.EncodedBytes());
    // Everything received that the peer has not acknowledged is in it.
    for (const auto& [seq, packet] : packets_) {
      ASSERT_TRUE(packet.acknowledged || sent_[our_seq_].count(seq) > 0) << seq;
    }
  }

  void AckOfAck() {
    if (our_seq_ == 0) return;
    const std::int64_t acked = our_seq_ - static_cast<std::int64_t>(Uniform(8));
    if (sent_.count(acked) == 0) return;
    // Reports of earlier acks that the peer did not get do not count, and need not: this one
    // repeated them.
    for (const std::int64_t seq : sent_[acked]) packets_[seq].acknowledged = true;
    buffer_.OnAckOfAck(Seq64(acked));
  }

  // Without nonces each stretch of one state is one run.
  std::size_t NaiveBytes() const {
    if (packets_.empty()) return 0;
    std::size_t cells = 0;
    std::size_t useful = 0;
    AckState state = AckState::kReserved;
    std::int64_t length = 0;
    const std::int64_t last = std::min(buffer_.window_start().value(), greatest_);
    for (std::int64_t seq = greatest_; seq >= last; --seq) {
      const auto packet = packets_.find(seq);
      const AckState s = packet == packets_.end() ? AckState::kNotReceived : packet->second.state;
      length = s == state ? length + 1 : 1;
      state = s;
      if (length % 64 == 1) ++cells;
      if (state != AckState::kNotReceived) useful = cells;
    }
    return useful + 2 * ((useful + 252) / 253);
  }

  bool AllAcknowledged() const {
    return std::all_of(packets_.begin(), packets_.end(),
                       [](const auto& p) { return p.second.acknowledged || !p.second.data; });
  }

  bool nonces_;
  std::mt19937 random_;
  AckVectorBuffer buffer_;
  std::map<std::int64_t, Packet> packets_;
  std::map<std::int64_t, std::set<std::int64_t>> sent_;
  std::int64_t greatest_ = kIsr - 1;
  std::int64_t our_seq_ = 0;
};

class AckVectorBufferPropertyTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(AckVectorBufferPropertyTest, R4340_AV_13_AgreesWithAModelOfEveryPacket) {
  Model model(GetParam());
  for (int i = 0; i < 3000 && !HasFatalFailure(); ++i) model.Step();
  if (!HasFatalFailure()) model.Finish();
}

TEST_P(AckVectorBufferPropertyTest, KnowsItsLengthAfterEveryStep) {
  Model model(GetParam(), false);
  for (int i = 0; i < 3000 && !HasFatalFailure(); ++i) model.Step();
}

INSTANTIATE_TEST_SUITE_P(Seeds, AckVectorBufferPropertyTest, ::testing::Range(1u, 21u));

}  // namespace
}  // namespace dccp
