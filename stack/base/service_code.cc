#include "dccp/service_code.h"

#include <cstddef>

namespace dccp {

namespace {

constexpr std::size_t kCodeBytes = 4;

// RFC 4340 §8.1.2
bool IsCodeCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("-_+.*/?@").find(c) != std::string_view::npos;
}

std::optional<std::uint32_t> ParseCharacters(std::string_view text) {
  if (text.empty() || text.size() > kCodeBytes) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kCodeBytes; ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (i < text.size() && !IsCodeCharacter(c)) return std::nullopt;
    value = (value << 8) | static_cast<unsigned char>(c);
  }
  return value;
}

// -1 when it is not a digit in any base up to 16.
int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::uint32_t> ParseNumber(std::string_view digits, unsigned base) {
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    const int digit = DigitValue(c);
    if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
    value = value * base + static_cast<unsigned>(digit);
    if (value >= ServiceCode::kInvalid) return std::nullopt;
  }
  return static_cast<std::uint32_t>(value);
}

std::optional<std::uint32_t> ParseAny(std::string_view text) {
  if (text.starts_with("SC:")) return ParseCharacters(text.substr(3));
  if (text.starts_with("SC=x") || text.starts_with("SC=X")) return ParseNumber(text.substr(4), 16);
  if (text.starts_with("SC=")) return ParseNumber(text.substr(3), 10);
  if (text.size() == kCodeBytes) return ParseCharacters(text);
  return std::nullopt;
}

}  // namespace

std::optional<ServiceCode> ServiceCode::Parse(std::string_view text) {
  const std::optional<std::uint32_t> value = ParseAny(text);
  if (!value) return std::nullopt;
  return ServiceCode(*value);
}

std::array<char, 16> ServiceCode::ToText() const {
  std::array<char, kCodeBytes> bytes = {};
  for (std::size_t i = 0; i < kCodeBytes; ++i) {
    bytes[i] = static_cast<char>((value_ >> (24 - 8 * i)) & 0xFF);
  }
  std::size_t used = kCodeBytes;
  while (used > 0 && bytes[used - 1] == ' ') --used;
  bool readable = used > 0;
  for (std::size_t i = 0; i < used; ++i) readable = readable && IsCodeCharacter(bytes[i]);

  std::array<char, 16> text = {'S', 'C'};
  if (readable) {
    text[2] = ':';
    for (std::size_t i = 0; i < used; ++i) text[3 + i] = bytes[i];
    return text;
  }
  text[2] = '=';
  text[3] = 'x';
  for (std::size_t i = 0; i < 8; ++i) {
    text[4 + i] = "0123456789ABCDEF"[(value_ >> (28 - 4 * i)) & 0xF];
  }
  return text;
}

}  // namespace dccp
