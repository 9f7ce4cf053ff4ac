// Which packets carry the ECN Nonce.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/random.h"

namespace dccp {

// The ECN Nonce of each packet that leaves: unpredictable, drawn in blocks. RFC 4340 §12.2, RFC
// 3540
//
// A nonce is drawn anew for every packet only after Harden(). Before, it is the last packet's but
// for a chance of one in eight, so that segmentation offload, which needs packets of one ECN
// codepoint, finds runs of eight in the mean. Who has to guess the nonce of a lost packet from
// those beside it is then wrong one time in eight instead of one in two: still hopeless for a liar,
// who has to guess again at each loss.
class NonceSource {
 public:
  bool current() const { return current_; }
  // To the nonce of the next packet.
  void Advance(RandomSource& random) {
    if (bits_left_ < bits_per_packet_) Refill(random);
    const std::uint64_t mask = (std::uint64_t{1} << bits_per_packet_) - 1;
    if ((word_ & mask) == 0) current_ = !current_;
    word_ >>= bits_per_packet_;
    bits_left_ -= bits_per_packet_;
  }
  // From now on every packet has a nonce of its own.
  void Harden() { bits_per_packet_ = 1; }

 private:
  static constexpr std::size_t kBlockWords = 8;

  void Refill(RandomSource& random) {
    if (used_words_ == kBlockWords) {
      random.Fill(std::as_writable_bytes(std::span(block_)));
      used_words_ = 0;
    }
    word_ = block_[used_words_++];
    bits_left_ = 64;
  }

  std::array<std::uint64_t, kBlockWords> block_ = {};
  std::size_t used_words_ = kBlockWords;
  std::uint64_t word_ = 0;
  unsigned bits_left_ = 0;
  unsigned bits_per_packet_ = 3;
  bool current_ = false;
};

}  // namespace dccp
