#include "dccp/option_writer.h"

#include <algorithm>

#include "stack/base/check.h"
#include "stack/wire/integer_field.h"

namespace dccp {
namespace {

constexpr std::size_t kMaxOptionData = 253;  // the length byte also counts itself and the type
constexpr unsigned kFirstLongType = 32;

bool IsSingleByte(OptionType type) { return static_cast<unsigned>(type) < kFirstLongType; }

}  // namespace

bool OptionWriter::AddByte(OptionType type) {
  DCCP_CHECK(IsSingleByte(type));
  if (remaining() < 1) return false;
  buffer_[size_++] = static_cast<std::byte>(type);
  return true;
}

bool OptionWriter::Add(OptionType type, std::span<const std::byte> data) {
  DCCP_CHECK(!IsSingleByte(type));
  if (data.size() > kMaxOptionData || remaining() < data.size() + 2) return false;
  buffer_[size_] = static_cast<std::byte>(type);
  buffer_[size_ + 1] = static_cast<std::byte>(data.size() + 2);
  std::copy(data.begin(), data.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(size_ + 2));
  size_ += data.size() + 2;
  return true;
}

std::span<std::byte> OptionWriter::Reserve(OptionType type, std::size_t data_bytes) {
  DCCP_CHECK(!IsSingleByte(type) && data_bytes > 0);
  if (data_bytes > kMaxOptionData || remaining() < data_bytes + 2) return {};
  buffer_[size_] = static_cast<std::byte>(type);
  buffer_[size_ + 1] = static_cast<std::byte>(data_bytes + 2);
  const std::span<std::byte> data = buffer_.subspan(size_ + 2, data_bytes);
  size_ += data_bytes + 2;
  return data;
}

bool OptionWriter::AddInteger(OptionType type, std::uint64_t value, std::size_t value_bytes) {
  DCCP_CHECK(value_bytes >= 1 && value_bytes <= 8);
  const std::span<std::byte> out = Reserve(type, value_bytes);
  if (out.empty()) return false;
  StoreInteger(out, value);
  return true;
}

bool OptionWriter::AddFeature(OptionType type, FeatureNumber feature,
                              std::span<const std::byte> value, bool mandatory) {
  DCCP_CHECK(type >= OptionType::kChangeL && type <= OptionType::kConfirmR);
  const std::size_t needed = (mandatory ? 1u : 0u) + 3 + value.size();
  if (value.size() + 1 > kMaxOptionData || remaining() < needed) return false;
  if (mandatory) AddByte(OptionType::kMandatory);
  const std::span<std::byte> out = Reserve(type, value.size() + 1);
  out[0] = static_cast<std::byte>(feature);
  std::copy(value.begin(), value.end(), out.begin() + 1);
  return true;
}

void OptionWriter::Pad(std::size_t quantum) {
  DCCP_CHECK(quantum > 0 && quantum % 4 == 0);
  const std::size_t wanted = (size_ + quantum - 1) / quantum * quantum;
  const std::size_t end = std::min(wanted, buffer_.size());
  while (size_ < end) buffer_[size_++] = static_cast<std::byte>(OptionType::kPadding);
}

}  // namespace dccp
