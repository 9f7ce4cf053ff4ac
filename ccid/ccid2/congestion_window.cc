#include "ccid/ccid2/congestion_window.h"

#include <algorithm>

namespace dccp::ccid2 {
namespace {

constexpr std::uint32_t kMinSsthresh = 2;

}  // namespace

std::uint32_t InitialWindow(std::uint32_t packet_bytes) {
  constexpr std::uint32_t kBytes = 4380;
  if (packet_bytes == 0) return 2;
  return std::clamp(kBytes / packet_bytes, 2u, 4u);
}

void CongestionWindow::Grow(std::uint32_t acked, std::uint32_t ack_ratio, std::uint32_t limit) {
  if (acked == 0 || cwnd_ >= limit) return;
  if (in_slow_start()) {
    const std::uint32_t halves = half_packets_ + std::min(acked, std::max(ack_ratio, 1u));
    half_packets_ = halves % 2;
    cwnd_ = std::min({halves / 2 + cwnd_, ssthresh_, limit});
    return;
  }
  acked_in_window_ += acked;
  if (acked_in_window_ < cwnd_) return;
  acked_in_window_ = std::min(acked_in_window_ - cwnd_, cwnd_);
  ++cwnd_;
}

void CongestionWindow::ReduceTo(std::uint32_t packets) {
  cwnd_ = std::clamp(packets, 1u, cwnd_);
  ssthresh_ = std::max(cwnd_, kMinSsthresh);
  half_packets_ = 0;
  acked_in_window_ = 0;
}

void CongestionWindow::OnTimeout() {
  ReduceTo(Halved());
  cwnd_ = 1;
}

void CongestionWindow::OnIdle(std::int64_t periods, std::uint32_t floor) {
  if (periods <= 0 || cwnd_ <= floor) return;
  ssthresh_ = std::max({ssthresh_, cwnd_ - cwnd_ / 4, kMinSsthresh});
  cwnd_ = std::max(periods < 32 ? cwnd_ >> periods : 0u, floor);
  half_packets_ = 0;
  acked_in_window_ = 0;
}

void CongestionWindow::ClampTo(std::uint32_t limit) { cwnd_ = std::clamp(cwnd_, 1u, limit); }

}  // namespace dccp::ccid2
