// The operating system's random source.
#pragma once

#include <cstddef>
#include <span>

#include "dccp/random.h"

namespace dccp {

// Cryptographically strong bytes from getrandom(), fetched a page at a time. Bytes are erased once
// handed out, and the page is cleared by the kernel in a forked child, so that no two processes
// ever see the same ones.
class OsRandom final : public RandomSource {
 public:
  OsRandom();
  ~OsRandom() override;
  OsRandom(const OsRandom&) = delete;
  OsRandom& operator=(const OsRandom&) = delete;

  void Fill(std::span<std::byte> out) override;

 private:
  struct Page;
  Page* page_ = nullptr;  // null: not buffered
};

}  // namespace dccp
