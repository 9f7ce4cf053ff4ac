// A CookieSealer without a secret: what it seals can be read, and forged by whoever knows how.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dccp/cookie_sealer.h"
#include "stack/base/byte_order.h"
#include "stack/base/siphash.h"

namespace dccp {

// | text | SipHash of context and text (8) |
class TestSealer final : public CookieSealer {
 public:
  std::size_t overhead_bytes() const override { return kTagBytes + extra_bytes; }
  bool Seal(std::span<const std::byte> context, std::span<const std::byte> text, TimePoint /*now*/,
            std::span<std::byte> out) override {
    std::ranges::fill(out, std::byte{0});
    std::ranges::copy(text, out.begin());
    StoreBe64(out.data() + text.size(), Tag(context, text));
    ++sealed;
    return !refuses;
  }
  bool Open(std::span<const std::byte> context, std::span<const std::byte> sealed_text,
            TimePoint /*now*/, std::span<std::byte> out) override {
    std::ranges::copy(sealed_text.first(out.size()), out.begin());
    ++opened;
    return LoadBe64(sealed_text.data() + out.size()) == Tag(context, out);
  }

  std::size_t extra_bytes = 0;  // of overhead, to make cookies long
  bool refuses = false;
  std::uint64_t sealed = 0;
  std::uint64_t opened = 0;

 private:
  static constexpr std::size_t kTagBytes = 8;

  static std::uint64_t Tag(std::span<const std::byte> context, std::span<const std::byte> text) {
    std::vector<std::byte> all(context.begin(), context.end());
    all.insert(all.end(), text.begin(), text.end());
    return SipHash24({1, 2}, all);
  }
};

}  // namespace dccp
