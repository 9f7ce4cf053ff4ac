#include "apps/common/receive_meter.h"

#include <cmath>

#include "apps/common/stamp.h"

namespace dccp::apps {

void ReceiveMeter::Add(const ReceivedDatagram& datagram) {
  if (packets_ == 0) {
    first_arrival_ = datagram.arrival;
    highest_ = datagram.seq;
  } else if (datagram.seq.Minus(highest_) < 0) {
    ++out_of_order_;
  } else {
    highest_ = datagram.seq;
  }
  if (stamped_) AddStamp(datagram);
  ++packets_;
  bytes_ += datagram.bytes.size();
  last_arrival_ = datagram.arrival;
}

void ReceiveMeter::AddStamp(const ReceivedDatagram& datagram) {
  const std::optional<Stamp> stamp = ReadStamp(datagram.bytes);
  if (!stamp) {
    stamped_ = false;
    return;
  }
  const auto ahead =
      static_cast<std::int32_t>(stamp->counter - static_cast<std::uint32_t>(expected_));
  if (ahead >= 0) expected_ += static_cast<std::uint64_t>(ahead) + 1;
  if (!stamp->time) return;
  const Duration transit = datagram.arrival - *stamp->time;
  if (timed_) {
    const double change = std::abs(static_cast<double>((transit - last_transit_).count()));
    jitter_ns_ += (change - jitter_ns_) / 16;
  }
  timed_ = true;
  last_transit_ = transit;
}

std::optional<std::uint64_t> ReceiveMeter::lost() const {
  if (!stamped_ || packets_ == 0) return std::nullopt;
  return expected_ > packets_ ? expected_ - packets_ : 0;
}

std::optional<double> ReceiveMeter::jitter_ms() const {
  if (!stamped_ || !timed_) return std::nullopt;
  return jitter_ns_ / 1e6;
}

}  // namespace dccp::apps
