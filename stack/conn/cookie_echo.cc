#include "stack/conn/cookie_echo.h"

#include <algorithm>

#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"

namespace dccp {

bool CookieEcho::OnResponse(Seq64 seq, std::span<const std::span<const std::byte>> cookies,
                            std::size_t room_bytes) {
  if (seq < response_) return true;
  constexpr std::size_t kTypeAndLength = 2;
  std::size_t bytes = 0;
  for (const std::span<const std::byte> cookie : cookies) bytes += kTypeAndLength + cookie.size();
  if (cookies.size() > kMaxCookies || bytes > std::min(room_bytes, kMaxBytes)) return false;
  response_ = seq;
  options_.clear();
  options_.reserve(bytes);
  for (const std::span<const std::byte> cookie : cookies) {
    options_.push_back(static_cast<std::byte>(OptionType::kInitCookie));
    options_.push_back(static_cast<std::byte>(kTypeAndLength + cookie.size()));
    options_.insert(options_.end(), cookie.begin(), cookie.end());
  }
  return true;
}

void CookieEcho::Write(OptionWriter& out) const {
  if (options_.empty()) return;
  OptionReader reader(options_);
  for (OptionView cookie; reader.Next(&cookie);) AddInitCookie(out, cookie.data);
}

}  // namespace dccp
