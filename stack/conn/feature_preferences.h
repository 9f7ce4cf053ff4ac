// Preference lists of server-priority features and their reconciliation. RFC 4340 §6.3.1
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "dccp/types.h"

namespace dccp {

// A short list of one-byte values, best first, without allocation. It drops what exceeds its
// capacity and repeated values: neither can alter a choice among the values that it holds.
class PreferenceList {
 public:
  static constexpr std::size_t kCapacity = 16;

  constexpr PreferenceList() = default;
  constexpr PreferenceList(std::initializer_list<std::uint8_t> values) {
    for (std::uint8_t v : values) Add(v);
  }
  // At most the first kCapacity distinct values.
  static PreferenceList From(std::span<const std::byte> values);

  constexpr void Add(std::uint8_t value) {
    if (size_ < kCapacity && !Contains(value)) values_[size_++] = std::byte{value};
  }
  constexpr bool Contains(std::uint8_t value) const {
    for (std::size_t i = 0; i < size_; ++i)
      if (values_[i] == std::byte{value}) return true;
    return false;
  }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr std::uint8_t operator[](std::size_t i) const {
    return static_cast<std::uint8_t>(values_[i]);
  }
  std::span<const std::byte> bytes() const { return {values_.data(), size_}; }

  friend constexpr bool operator==(const PreferenceList& a, const PreferenceList& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }

 private:
  std::array<std::byte, kCapacity> values_ = {};
  std::uint8_t size_ = 0;
};

// The first entry of the server's list that is in the client's list too; empty: no shared entry.
// `own` is the list of the endpoint that plays `role`. RFC 4340 §6.3.1
std::optional<std::uint8_t> Reconcile(Role role, std::span<const std::byte> own,
                                      std::span<const std::byte> peer);

}  // namespace dccp
