// The CookieSealer of the library: AES-128-GCM by OpenSSL.
#pragma once

#include <memory>

#include "dccp/cookie_sealer.h"
#include "dccp/export.h"
#include "dccp/time.h"

namespace dccp {

// A new key from OpenSSL's random source every `rotation`; the one before it still opens. So what
// was sealed can be opened for at least one rotation and less than two. Null: OpenSSL offers no
// such cipher or no randomness, or `rotation` is not positive. UvDriver makes one by itself.
DCCP_EXPORT std::unique_ptr<CookieSealer> MakeOpenSslCookieSealer(Duration rotation = kMsl);

}  // namespace dccp
