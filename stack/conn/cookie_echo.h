// The Init Cookies that a client carries back to its server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dccp/option_writer.h"
#include "dccp/seqno.h"

namespace dccp {

// Keeps the cookies of the newest Response, which is the one that the client acknowledges until it
// is OPEN, and writes them, unaltered and in their order, on each packet that leaves. There are
// none in the usual case, and then it owns no memory. RFC 4340 §8.1.4
class CookieEcho {
 public:
  // More than that no server needs, and every packet of the handshake must carry it: four cookies
  // of full length would not leave room in an option area for anything else.
  static constexpr std::size_t kMaxCookies = 8;
  static constexpr std::size_t kMaxBytes = 3 * 256;

  bool empty() const { return options_.empty(); }
  // Of option space.
  std::size_t bytes() const { return options_.size(); }

  // A Response `seq` carried these, maybe none. False: more than can be carried back in
  // `room_bytes` of option space; then nothing changes.
  bool OnResponse(Seq64 seq, std::span<const std::span<const std::byte>> cookies,
                  std::size_t room_bytes = kMaxBytes);
  // First on each packet, since it must not be left out for lack of room.
  void Write(OptionWriter& out) const;
  // The server acknowledged one of our packets: it has its state.
  void Stop() { options_ = {}; }

 private:
  std::vector<std::byte> options_;  // type, length, data; one after another
  Seq64 response_;
};

}  // namespace dccp
