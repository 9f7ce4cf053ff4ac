#include "stack/lab/tcp_reno.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dccp::lab {
namespace {

constexpr std::size_t kHeaderBytes = 32;  // with timestamps
constexpr std::uint32_t kIpBytes = 20;
constexpr std::uint64_t kDupThresh = 3;
constexpr Duration kLeastRto = std::chrono::seconds(1);
constexpr Duration kDelayedAck = std::chrono::milliseconds(100);

Path PathOf(const IpAddress& from, const IpAddress& to) {
  Path path;
  path.local = from;
  path.remote = to;
  return path;
}

}  // namespace

TcpFlow::TcpFlow(Simulator& simulator, PacketPool& pool, const IpAddress& from, const IpAddress& to,
                 std::size_t payload_bytes)
    : payload_bytes_(payload_bytes),
      sender_(simulator, {pool, PathOf(from, to), kHeaderBytes + payload_bytes}),
      receiver_(simulator, {pool, PathOf(to, from), kHeaderBytes}) {}

void TcpFlow::SetUplinks(PacketSink& data, PacketSink& acks) {
  sender_.SetUplink(data);
  receiver_.SetUplink(acks);
}

void TcpFlow::Port::Send(const Segment& segment) {
  static_assert(sizeof(Segment) <= kHeaderBytes);
  PacketPtr packet = pool.New();
  packet->bytes.resize(bytes);
  std::memcpy(packet->bytes.data(), &segment, sizeof segment);
  packet->overhead_bytes = kIpBytes;
  packet->path = path;
  packet->ecn = Ecn::kNotEct;
  uplink->Accept(std::move(packet));
}

TcpFlow::Segment TcpFlow::Port::Parse(const SimPacket& packet) {
  Segment segment;
  std::memcpy(&segment, packet.bytes.data(), sizeof segment);
  return segment;
}

// ------------------------------------------------------------------------------------ sender ----

void TcpFlow::Sender::Accept(PacketPtr packet) {
  const Segment ack = Port::Parse(*packet);
  rtt_.OnSample(simulator_.now() - ack.stamp);
  MarkArrived(ack.seq);
  const std::uint64_t acked = Advance(ack.next);
  MarkLost();
  if (acked > 0) {
    Grow(acked);
    ArmTimer();
  }
  SendAll();
}

void TcpFlow::Sender::MarkArrived(std::uint64_t seq) {
  most_arrived_ = std::max(most_arrived_, seq + 1);
  if (seq < una_ || seq >= next()) return;
  State& state = window_[seq - una_];
  if (state == State::kInFlight) --pipe_;
  state = State::kArrived;
}

// Returns how many packets are newly acknowledged in order.
std::uint64_t TcpFlow::Sender::Advance(std::uint64_t next_missing) {
  std::uint64_t acked = 0;
  for (; una_ < next_missing && !window_.empty(); ++una_, ++acked) {
    if (window_.front() == State::kInFlight) --pipe_;
    window_.pop_front();
  }
  if (!recovering()) after_timeout_ = false;
  return acked;
}

void TcpFlow::Sender::MarkLost() {
  lost_until_ = std::max(lost_until_, una_);
  bool any = false;
  for (; lost_until_ + kDupThresh < most_arrived_ && lost_until_ < next(); ++lost_until_) {
    State& state = window_[lost_until_ - una_];
    if (state != State::kInFlight) continue;
    state = State::kLost;
    --pipe_;
    any |= lost_until_ >= recovery_point_;
  }
  if (!any) return;
  ssthresh_ = std::max(std::floor(cwnd_ / 2), 2.0);
  cwnd_ = ssthresh_;
  acked_ = 0;
  recovery_point_ = next();
  after_timeout_ = false;
  ++halvings_;
}

// RFC 5681 §3.1, by counting what is acknowledged.
void TcpFlow::Sender::Grow(std::uint64_t acked) {
  if (recovering() && !after_timeout_) return;
  if (cwnd_ < ssthresh_) {
    cwnd_ += 1;
    return;
  }
  acked_ += acked;
  if (static_cast<double>(acked_) < cwnd_) return;
  acked_ -= static_cast<std::uint64_t>(cwnd_);
  cwnd_ += 1;
}

void TcpFlow::Sender::SendAll() {
  resend_from_ = std::max(resend_from_, una_);
  while (static_cast<double>(pipe_) + 1 <= cwnd_) {
    while (resend_from_ < lost_until_ && window_[resend_from_ - una_] != State::kLost)
      ++resend_from_;
    if (resend_from_ < lost_until_) {
      SendOne(resend_from_++);
    } else {
      window_.push_back(State::kLost);
      SendOne(next() - 1);
    }
  }
}

void TcpFlow::Sender::SendOne(std::uint64_t seq) {
  window_[seq - una_] = State::kInFlight;
  ++pipe_;
  if (deadline_ == kNever) ArmTimer();
  port_.Send({.seq = seq, .next = 0, .stamp = simulator_.now()});
}

void TcpFlow::Sender::ArmTimer() {
  const bool armed = deadline_ != kNever;
  deadline_ = simulator_.now() + std::max(rtt_.rto(), kLeastRto);
  if (!armed) simulator_.Schedule(deadline_, *this, ++timer_);
}

void TcpFlow::Sender::OnSimEvent(std::uint64_t cookie) {
  if (cookie != timer_) return;
  if (simulator_.now() < deadline_) {
    simulator_.Schedule(deadline_, *this, timer_);
    return;
  }
  deadline_ = kNever;
  OnTimeout();
}

void TcpFlow::Sender::OnTimeout() {
  ++timeouts_;
  ssthresh_ = std::max(std::floor(cwnd_ / 2), 2.0);
  cwnd_ = 1;
  acked_ = 0;
  rtt_.BackOff();
  for (State& state : window_) {
    if (state == State::kInFlight) state = State::kLost;
  }
  pipe_ = 0;
  lost_until_ = recovery_point_ = next();
  resend_from_ = una_;
  after_timeout_ = true;
  SendAll();
}

// ---------------------------------------------------------------------------------- receiver ----

void TcpFlow::Receiver::Accept(PacketPtr packet) {
  const Segment data = Port::Parse(*packet);
  const bool in_order = data.seq == next_;
  if (in_order) {
    ++packets_;
    ++next_;
    while (!beyond_.empty() && *beyond_.begin() == next_) {
      beyond_.erase(beyond_.begin());
      ++next_;
    }
  } else if (data.seq > next_ && beyond_.insert(data.seq).second) {
    ++packets_;
  }
  if (!in_order || waiting_ || !beyond_.empty()) {
    Acknowledge(data);
    return;
  }
  waiting_ = true;
  unacked_ = data;
  simulator_.Schedule(simulator_.now() + kDelayedAck, *this, ++timer_);
}

void TcpFlow::Receiver::OnSimEvent(std::uint64_t cookie) {
  if (waiting_ && cookie == timer_) Acknowledge(unacked_);
}

void TcpFlow::Receiver::Acknowledge(const Segment& data) {
  waiting_ = false;
  port_.Send({.seq = data.seq, .next = next_, .stamp = data.stamp});
}

}  // namespace dccp::lab
