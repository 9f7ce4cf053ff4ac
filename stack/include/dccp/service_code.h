// Service Codes: 32 bits that say which service a connection is for. RFC 4340 §8.1.2; RFC 5595
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dccp/export.h"

namespace dccp {

class DCCP_EXPORT ServiceCode {
 public:
  static constexpr std::uint32_t kInvalid = 0xFFFFFFFFu;

  constexpr ServiceCode() = default;  // 0: no meaningful code, legal
  constexpr explicit ServiceCode(std::uint32_t value) : value_(value) {}

  constexpr std::uint32_t value() const { return value_; }
  constexpr bool valid() const { return value_ != kInvalid; }
  friend constexpr bool operator==(ServiceCode, ServiceCode) = default;

  // Accepts "SC:fdpz" (1-4 characters of A-Z a-z 0-9 - _ + . * / ? @, padded with spaces),
  // "SC=1717858426", "SC=x6664707A" and, as the tools do, four bare characters "fdpz".
  // Empty on bad text or a value above 4294967294.
  static std::optional<ServiceCode> Parse(std::string_view text);

  // "SC:fdpz" where the characters allow it, else "SC=xHHHHHHHH". NUL-terminated.
  std::array<char, 16> ToText() const;

 private:
  std::uint32_t value_ = 0;
};

}  // namespace dccp
