#include "interop/peers/ledger.h"

#include <cstring>

namespace dccp::interop {
namespace {

constexpr char kMagic[] = {'u', 'd', 'c', 'p'};
constexpr std::uint32_t kMaxIndex = 1u << 24;

std::byte Pattern(std::uint32_t index, std::size_t offset) {
  return static_cast<std::byte>(index * 31u + static_cast<std::uint32_t>(offset) * 7u);
}

}  // namespace

void FillDatagram(std::span<std::byte> out, char mark, std::uint32_t index) {
  std::memset(out.data(), 0, kHeaderBytes);
  std::memcpy(out.data(), kMagic, sizeof kMagic);
  out[4] = static_cast<std::byte>(mark);
  for (std::size_t i = 0; i < 4; ++i) out[8 + i] = static_cast<std::byte>(index >> (24 - 8 * i));
  for (std::size_t i = kHeaderBytes; i < out.size(); ++i) out[i] = Pattern(index, i);
}

void Ledger::Add(std::span<const std::byte> datagram, TimePoint now) {
  if (datagram.size() < kHeaderBytes || std::memcmp(datagram.data(), kMagic, sizeof kMagic) != 0) {
    ++corrupt_;
    return;
  }
  std::uint32_t index = 0;
  for (std::size_t i = 8; i < kHeaderBytes; ++i)
    index = index << 8 | std::to_integer<std::uint32_t>(datagram[i]);
  for (std::size_t i = kHeaderBytes; i < datagram.size(); ++i) {
    if (datagram[i] == Pattern(index, i)) continue;
    ++corrupt_;
    return;
  }
  if (datagram[4] == static_cast<std::byte>(kEndMark)) {
    ++end_marks_;
    return;
  }
  if (received_++ == 0) first_ = now;
  last_ = now;
  bytes_ += datagram.size();
  if (now - first_ >= omit_) {
    if (window_packets_++ == 0)
      window_first_ = now;
    else
      window_bytes_ += datagram.size();
  }
  index %= kMaxIndex;
  if (index >= seen_.size()) seen_.resize(std::size_t{index} + 1024);
  if (seen_[index]) ++duplicates_;
  seen_[index] = true;
}

}  // namespace dccp::interop
