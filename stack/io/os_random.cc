#include "stack/io/os_random.h"

#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "stack/base/check.h"

namespace dccp {
namespace {

void FromKernel(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    // Nothing safe could be done without randomness.
    DCCP_CHECK(got > 0);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

// All zero, as a fork leaves it, means empty.
struct OsRandom::Page {
  static constexpr std::size_t kBytes = 4096 - sizeof(std::size_t);
  std::size_t available;  // at the end of `bytes`
  std::byte bytes[kBytes];
};

OsRandom::OsRandom() {
  void* memory =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  if (::madvise(memory, sizeof(Page), MADV_WIPEONFORK) != 0) {
    ::munmap(memory, sizeof(Page));
    return;
  }
  page_ = static_cast<Page*>(memory);
}

OsRandom::~OsRandom() {
  if (page_ == nullptr) return;
  ::explicit_bzero(page_, sizeof(Page));
  ::munmap(page_, sizeof(Page));
}

void OsRandom::Fill(std::span<std::byte> out) {
  if (page_ == nullptr || out.size() > Page::kBytes) {
    FromKernel(out);
    return;
  }
  if (page_->available < out.size()) {
    FromKernel(page_->bytes);
    page_->available = Page::kBytes;
  }
  std::byte* from = page_->bytes + (Page::kBytes - page_->available);
  std::copy_n(from, out.size(), out.data());
  ::explicit_bzero(from, out.size());
  page_->available -= out.size();
}

}  // namespace dccp
