// Sequence numbers. On the wire they are 48 bits and circular (SeqNo); inside a connection they are
// unwrapped once to 64 bits (Seq64) and compare as plain numbers. RFC 4340 §3.1, §7
#pragma once

#include <compare>
#include <cstdint>

namespace dccp {

// A 48-bit circular sequence number as carried on the wire. There is no operator<: circular order
// is not transitive, so callers say Before/After, or unwrap.
class SeqNo {
 public:
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;

  constexpr SeqNo() = default;
  constexpr explicit SeqNo(std::uint64_t value) : value_(value & kMask) {}

  constexpr std::uint64_t value() const { return value_; }
  constexpr std::uint32_t low24() const { return static_cast<std::uint32_t>(value_ & 0xFFFFFFu); }

  friend constexpr bool operator==(SeqNo, SeqNo) = default;
  bool operator<(SeqNo) const = delete;
  bool operator>(SeqNo) const = delete;
  bool operator<=(SeqNo) const = delete;
  bool operator>=(SeqNo) const = delete;

  constexpr SeqNo operator+(std::int64_t n) const {
    return SeqNo(value_ + static_cast<std::uint64_t>(n));
  }

  // Signed distance from `other` to this in (-2^47, 2^47]; positive when this is after `other`.
  // At exactly 2^47 the order is ambiguous on the circle; this function calls it "after" both ways.
  constexpr std::int64_t Minus(SeqNo other) const {
    const std::uint64_t d = (value_ - other.value_) & kMask;
    return d <= (std::uint64_t{1} << 47) ? static_cast<std::int64_t>(d)
                                         : static_cast<std::int64_t>(d) - (std::int64_t{1} << 48);
  }

 private:
  std::uint64_t value_ = 0;
};

// An unwrapped sequence number: an ordinary 64-bit integer whose low 48 bits are the SeqNo.
// Connections number from a base of 2^48 so that values "before the first" stay positive.
class Seq64 {
 public:
  constexpr Seq64() = default;
  constexpr explicit Seq64(std::int64_t value) : value_(value) {}

  // The unwrapped number nearest to `reference` whose low 48 bits are `seq`.
  static constexpr Seq64 Unwrap(SeqNo seq, Seq64 reference) {
    return Seq64(reference.value_ + seq.Minus(reference.Wrap()));
  }
  // The first number of a direction (its ISS or ISR).
  static constexpr Seq64 FromInitial(SeqNo seq) {
    return Seq64(static_cast<std::int64_t>(seq.value()) + (std::int64_t{1} << 48));
  }

  constexpr std::int64_t value() const { return value_; }
  constexpr SeqNo Wrap() const { return SeqNo(static_cast<std::uint64_t>(value_)); }

  friend constexpr auto operator<=>(Seq64, Seq64) = default;
  constexpr Seq64 operator+(std::int64_t n) const { return Seq64(value_ + n); }
  constexpr Seq64 operator-(std::int64_t n) const { return Seq64(value_ - n); }
  constexpr std::int64_t operator-(Seq64 other) const { return value_ - other.value_; }
  constexpr Seq64& operator++() {
    ++value_;
    return *this;
  }

 private:
  std::int64_t value_ = 0;
};

}  // namespace dccp
