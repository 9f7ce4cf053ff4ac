// Builds acknowledgements for tests of SentHistory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "stack/conn/sent_history.h"
#include "stack/wire/ack_vector_codec.h"

namespace dccp {

// Runs of an Ack Vector, newest first: state and number of packets.
using VectorRuns = std::vector<std::pair<AckState, std::int64_t>>;

inline std::vector<std::byte> EncodeVector(const VectorRuns& runs) {
  std::vector<std::byte> cells;
  for (auto [state, packets] : runs) {
    for (; packets > 0; packets -= kMaxPacketsPerAckCell) {
      const std::int64_t n = packets < kMaxPacketsPerAckCell ? packets : kMaxPacketsPerAckCell;
      cells.push_back(EncodeAckCell({state, static_cast<std::uint8_t>(n - 1)}));
    }
  }
  return cells;
}

// A history of packets from number `first` on, one sent every millisecond.
class Sender {
 public:
  explicit Sender(std::int64_t first) : next_(first) {}

  void Send(std::int64_t packets, PacketType type = PacketType::kData,
            std::uint32_t payload_bytes = 100) {
    for (; packets > 0; --packets) {
      SentPacket packet;
      packet.type = type;
      packet.payload_bytes = payload_bytes;
      packet.data = type == PacketType::kData || type == PacketType::kDataAck;
      packet.carries_ack = HasAckNumber(type);
      SendPacket(packet);
    }
  }
  void SendPacket(SentPacket packet) {
    packet.seq = Seq64(next_++);
    packet.time = now_;
    history_.OnSent(packet);
    now_ += std::chrono::milliseconds(1);
  }

  Digest Ack(std::int64_t ackno) { return history_.OnAck({Seq64(ackno), now_, {}, {}}); }
  Digest Ack(std::int64_t ackno, const VectorRuns& runs, bool nonce_echo = false) {
    const std::vector<std::byte> cells = EncodeVector(runs);
    const AckVectorOption option = {cells, nonce_echo};
    return history_.OnAck({Seq64(ackno), now_, elapsed_, {&option, 1}});
  }

  void Wait(Duration d) { now_ += d; }
  void set_elapsed(std::optional<Duration> elapsed) { elapsed_ = elapsed; }
  TimePoint now() const { return now_; }
  std::int64_t next() const { return next_; }
  SentHistory& history() { return history_; }

 private:
  SentHistory history_;
  std::int64_t next_;
  TimePoint now_ = TimePoint(std::chrono::seconds(100));
  std::optional<Duration> elapsed_;
};

}  // namespace dccp
