#include "dccp/trace.h"

#include <array>

namespace dccp {

namespace {

constexpr auto kDropReasonNames = std::to_array<const char*>({
    "too-short",
    "unknown-type",
    "bad-data-offset",
    "short-seqno-not-allowed-for-type",
    "bad-checksum",
    "bad-checksum-coverage",
    "udp-length",
    "not-for-us",
    "martian",
    "no-connection",
    "sequence-invalid",
    "unexpected-type",
    "short-seqnos-not-negotiated",
    "state-closed",
    "duplicate",
    "option-error",
    "bad-init-cookie",
    "too-little-coverage",
    "data-corrupt",
    "not-listening",
    "receive-queue-full",
    "too-many-connections",
    "rate-limited",
    "no-buffers",
});
static_assert(kDropReasonNames.size() == static_cast<std::size_t>(DropReason::kCount));

}  // namespace

const char* ToString(DropReason reason) {
  const auto i = static_cast<std::size_t>(reason);
  return i < kDropReasonNames.size() ? kDropReasonNames[i] : "?";
}

}  // namespace dccp
