#include "stack/wire/data_dropped_codec.h"

#include <algorithm>

namespace dccp {

std::size_t EncodeDataDroppedRun(bool dropped, std::uint8_t code, std::uint64_t* packets,
                                 std::span<std::byte> out) {
  const std::uint64_t most = dropped ? kMaxPacketsPerDropBlock : kMaxPacketsPerNormalBlock;
  std::size_t written = 0;
  while (*packets > 0 && written < out.size()) {
    const std::uint64_t run = std::min(*packets, most);
    out[written++] = EncodeDataDroppedBlock({dropped, code, static_cast<std::uint32_t>(run)});
    *packets -= run;
  }
  return written;
}

}  // namespace dccp
