// ICMP errors that nobody can vouch for.
#pragma once

#include <cstdint>

namespace dccp {

// Counts Datagram Too Big messages that quote no packet of ours in flight. Whoever can guess the
// ports can forge them, so one means nothing; but a confused router may send only such. Once more
// than three came and the peer has reported more than three lost packets since the first, they
// deserve attention. RFC 4340 §14.1
class OddIcmp {
 public:
  static constexpr std::uint32_t kMany = 3;

  // `lost_packets`: so far, as the peer reported. True: look into it; counting begins anew.
  bool OnTooBig(std::uint64_t lost_packets) {
    if (messages_++ == 0) lost_before_ = lost_packets;
    if (messages_ <= kMany || lost_packets - lost_before_ <= kMany) return false;
    messages_ = 0;
    return true;
  }

 private:
  std::uint64_t messages_ = 0;
  std::uint64_t lost_before_ = 0;
};

}  // namespace dccp
