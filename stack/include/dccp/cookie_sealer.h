// Seals the Init Cookies in which a listener under load keeps its half-open connections.
#pragma once

#include <cstddef>
#include <span>

#include "dccp/time.h"

namespace dccp {

// What Seal() makes only Open() of the same sealer can read, and nobody else can make or alter it:
// authenticated encryption, compared in constant time, with a secret that is made anew from time to
// time and never leaves the object. It owns its keys and reads no clock. One thread at a time, as
// the endpoint that uses it; endpoints that share the packets of one flow share one sealer.
// RFC 4340 §8.1.4
class CookieSealer {
 public:
  virtual ~CookieSealer() = default;

  // By how many bytes sealing makes a text longer; always the same.
  virtual std::size_t overhead_bytes() const = 0;
  // Writes the sealed `text` to `out`, which has text.size() + overhead_bytes() bytes. `context` is
  // bound to it without being in it: Open() needs the same one. False: not now.
  virtual bool Seal(std::span<const std::byte> context, std::span<const std::byte> text,
                    TimePoint now, std::span<std::byte> out) = 0;
  // The inverse; `out` has sealed.size() - overhead_bytes() bytes, and the caller makes sure that
  // this is not negative. False, and nothing of use is in `out`: these bytes were not sealed here
  // with that context, or the key is gone. It must last as long as a cookie may take to come back:
  // EndpointConfig::msl.
  virtual bool Open(std::span<const std::byte> context, std::span<const std::byte> sealed,
                    TimePoint now, std::span<std::byte> out) = 0;
};

}  // namespace dccp
