#include "apps/common/data_sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "apps/common/stamp.h"

namespace dccp::apps {

namespace {

// Bytes that do not compress, the same in every run.
void FillPattern(std::span<std::byte> out) {
  std::uint64_t x = 0x9E3779B97F4A7C15u;
  for (std::byte& b : out) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    b = static_cast<std::byte>(x & 0xFF);
  }
}

}  // namespace

DataSender::DataSender(Endpoint* endpoint, ConnId conn, const SendPlan& plan)
    : endpoint_(endpoint), conn_(conn), plan_(plan) {}

bool DataSender::TakeSize() {
  const Result<ConnectionInfo> info = endpoint_->Info(conn_);
  if (!info) return true;
  if (plan_.size_bytes > info->mps_bytes) {
    error_ = fmt::format("a payload of {} bytes is larger than the {} that fit the path",
                         plan_.size_bytes, info->mps_bytes);
    finished_ = true;
    return false;
  }
  size_ = plan_.size_bytes != 0 ? plan_.size_bytes : info->mps_bytes;
  if (pattern_.size() < size_) {
    pattern_.resize(size_);
    FillPattern(pattern_);
  }
  return true;
}

bool DataSender::Start(TimePoint now) {
  start_ = now;
  return TakeSize();
}

bool DataSender::OnMpsChanged() { return TakeSize(); }

// How many datagrams may be queued now by plan, which also sets next_pump().
std::uint64_t DataSender::Budget(TimePoint now) {
  std::uint64_t budget = ~std::uint64_t{0};
  next_pump_ = kNever;
  if (plan_.packets != 0) budget = plan_.packets - std::min(plan_.packets, queued_);
  if (plan_.duration != Duration::zero() && now - start_ >= plan_.duration) budget = 0;
  if (budget == 0) finished_ = true;
  if (finished_ || plan_.bits_per_second == 0) return budget;
  const double per_packet_ns = std::max(size_, 1u) * 8e9 / plan_.bits_per_second;
  const double elapsed_ns = static_cast<double>((now - start_).count());
  const auto due = static_cast<std::uint64_t>(elapsed_ns / per_packet_ns) + 1;
  next_pump_ = start_ + Duration(static_cast<Duration::rep>(
                            static_cast<double>(std::max(due, queued_)) * per_packet_ns));
  return std::min(budget, due > queued_ ? due - queued_ : 0);
}

void DataSender::Pump(TimePoint now) {
  if (finished_) return;
  std::uint64_t budget = Budget(now);
  waiting_ = false;
  while (budget > 0 && !waiting_ && !finished_) {
    // One is tried even without room: the refusal makes the endpoint say when there is room again.
    const std::uint64_t room =
        std::min<std::uint64_t>(budget, std::max(endpoint_->SendRoom(conn_, size_), 1u));
    for (std::uint64_t i = 0; i < room; ++i) {
      if (!QueueOne(now)) return;
    }
    budget -= room;
  }
  if (plan_.packets != 0 && queued_ >= plan_.packets) finished_ = true;
}

// False: nothing more can be queued for now, or at all.
bool DataSender::QueueOne(TimePoint now) {
  std::size_t bytes = size_;
  if (plan_.source != nullptr) {
    switch (plan_.source->Peek(size_, &bytes)) {
      case PayloadSource::Status::kReady:
        break;
      case PayloadSource::Status::kWait:
        waiting_ = true;
        return false;
      case PayloadSource::Status::kBroken:
        error_ = plan_.source->error();
        finished_ = true;
        return false;
      case PayloadSource::Status::kEnd:
        finished_ = true;
        return false;
    }
  }
  const Result<std::span<std::byte>> cell = endpoint_->ReserveSend(conn_, bytes);
  if (!cell) return false;
  const std::span<std::byte> out = cell->first(bytes);
  if (plan_.source != nullptr) {
    plan_.source->Take(out);
  } else {
    std::memcpy(out.data(), pattern_.data(), out.size());
    WriteStamp(out, static_cast<std::uint32_t>(queued_), now);
  }
  if (plan_.hashes != nullptr) plan_.hashes->Add(out);
  if (!endpoint_->CommitSend(conn_, bytes)) return false;
  ++queued_;
  return true;
}

}  // namespace dccp::apps
