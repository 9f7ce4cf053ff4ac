// One wake-up: read, expire, let the application react, transmit, re-arm.
#include <algorithm>

#include "stack/io/monotonic_clock.h"
#include "stack/io/uv_driver_impl.h"

namespace dccp {
namespace {

// Bounds of one iteration: some milliseconds of a flow at full rate.
constexpr int kMaxReadBatches = 8;
constexpr int kMaxErrorBatches = 4;
constexpr int kMaxRounds = 16;
constexpr int kMaxEventsPerRound = 1024;
constexpr Duration kBlockedRetry = std::chrono::milliseconds(1);

// Between polling and the end of its callbacks: longer than any timer's precision, shorter than any
// timer that gives something up.
constexpr Duration kStandstill = std::chrono::milliseconds(50);

}  // namespace

void UvDriver::Impl::OnSocket(PolledSocket& socket, int status, int events) {
  dirty_ = true;
  if (status < 0 || (events & UV_PRIORITIZED) != 0) ReadErrors(socket);
  if ((events & UV_WRITABLE) != 0) socket.SetBlocked(false);
  if (status < 0) {
    // libuv takes a bare POLLERR for a dead descriptor and stops; the errors are taken by now.
    ReadPackets(socket);
    socket.Restart();
  } else if ((events & UV_READABLE) != 0) {
    ReadPackets(socket);
  }
}

void UvDriver::Impl::ReadPackets(PolledSocket& socket) {
  for (int i = 0; i < kMaxReadBatches; ++i) {
    const ReceiveResult result = socket.socket().Receive(received_);
    if (result.errors) ReadErrors(socket);
    for (std::size_t n = result.too_short; n > 0; --n) {
      endpoint_->CountDrop(native() ? DropReason::kTooShort : DropReason::kUdpLength);
    }
    if (native()) {
      const std::size_t foreign = received_.RemoveIf(
          [this](const InboundDatagram& packet) { return !native_filter_.Wants(packet); });
      for (std::size_t n = foreign; n > 0; --n) endpoint_->CountDrop(DropReason::kNotForUs);
    }
    const bool any = !received_.datagrams().empty();
    if (any) {
      const TimePoint now = MonotonicClock::Now();
      socket.Touch(now);
      endpoint_->Receive(received_.datagrams(), now);
    }
    // After a failure, which reported an ICMP error, packets may wait behind it.
    if (!result.more && !result.failed) return;
    // A full batch is much: acknowledge it and let the application take it, before the next one
    // overflows the receive queues.
    if (any) Work();
  }
}

void UvDriver::Impl::ReadErrors(PolledSocket& socket) {
  for (int i = 0; i < kMaxErrorBatches; ++i) {
    const bool more = socket.socket().ReadErrors(errors_);
    const TimePoint now = MonotonicClock::Now();
    for (const IcmpError& error : errors_.errors()) endpoint_->OnIcmp(error, now);
    if (!more) return;
  }
}

void UvDriver::Impl::OnPolled() {
  if (!dirty_) return;
  const TimePoint now = MonotonicClock::Now();
  // A callback of the application may have held the loop since the sockets were looked at: look
  // again, but do not wait for a loop that is always slow.
  const TimePoint polled_at{std::chrono::milliseconds(uv_now(loop_))};
  excused_ = !excused_ && now - polled_at > kStandstill;
  if (!excused_) endpoint_->HandleTimeout(now);
  Work();
}

void UvDriver::Impl::Work() {
  if (working_) return;
  working_ = true;
  dirty_ = false;
  bool progress = true;
  for (int round = 0; progress && round < kMaxRounds; ++round) {
    const TimePoint now = MonotonicClock::Now();
    const bool events = DispatchEvents();
    const bool sent = Transmit(now);
    // Sending, or dropping what may not be sent any more, makes room that somebody waits for.
    progress = DispatchEvents() || events || sent;
  }
  working_ = false;
  Schedule(progress);
}

bool UvDriver::Impl::DispatchEvents() {
  for (int i = 0; i < kMaxEventsPerRound; ++i) {
    const std::optional<Event> event = endpoint_->PollEvent();
    if (!event) return i > 0;
    NoteConnection(*event);
    if (handler_) handler_(*event);
  }
  return true;
}

void UvDriver::Impl::NoteConnection(const Event& event) {
  constexpr std::uint32_t kBegins = kEventAccepted | kEventConnected;
  if (native() || (event.bits & (kBegins | kEventClosed)) == 0) return;
  const Result<ConnectionInfo> info = endpoint_->Info(event.conn);
  if (!info.ok()) return;
  PolledSocket* socket = sockets_.Find(info->tuple.path);
  if (socket == nullptr || !socket->client()) return;
  if ((event.bits & kBegins) != 0) socket->AddConnection(event.conn);
  if ((event.bits & kEventClosed) != 0) socket->RemoveConnection(event.conn);
}

bool UvDriver::Impl::Transmit(TimePoint now) {
  bool any = false;
  for (;;) {
    // What is handed out stays valid until the endpoint is asked again, so the rest goes first.
    if (pending_ == 0) pending_ = endpoint_->Transmit(slots_, now);
    if (pending_ == 0) return any;
    const std::size_t before = pending_;
    FlushPending(now);
    any = any || pending_ < before;
    if (pending_ > 0) return any;
  }
}

void UvDriver::Impl::FlushPending(TimePoint now) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pending_;) {
    std::size_t end = i + 1;
    while (end < pending_ && SocketTable::SameSocket(slots_[i].path, slots_[end].path)) ++end;
    i += SendRun(std::span(slots_).subspan(i, end - i), now);
    while (i < end) slots_[kept++] = slots_[i++];
  }
  pending_ = kept;
}

std::size_t UvDriver::Impl::SendRun(std::span<const OutboundDatagram> run, TimePoint now) {
  PolledSocket* socket = sockets_.Find(run.front().path);
  // Its socket was given up: lost, as far as the endpoint can tell.
  if (socket == nullptr) return run.size();
  if (socket->blocked()) return 0;
  if (native() && native_filter_.OnSent(run)) UpdateFilters();
  socket->Touch(now);
  const SendResult result = socket->socket().Send(run, send_);
  if (result.failed) ReadErrors(*socket);
  if (result.blocked) socket->SetBlocked(true);
  return result.taken;
}

void UvDriver::Impl::Schedule(bool unfinished) {
  if (unfinished) {
    uv_idle_start(idle_.get(), [](uv_idle_t*) {});
  } else {
    uv_idle_stop(idle_.get());
  }
  TimePoint next = endpoint_->NextTimeout();
  if (pending_ > 0 && next != kNever) {
    // Whatever is due may be waiting for the blocked socket, whose turn comes when it is writable.
    next = Later(next, MonotonicClock::Now() + kBlockedRetry);
  }
  timer_.Arm(next);
  UpdateLoopReference();
}

void UvDriver::Impl::UpdateLoopReference() {
  auto* handle = reinterpret_cast<uv_handle_t*>(timer_poll_.get());
  if (refs_ > 0 || pending_ > 0 || endpoint_->ActiveConnections() > 0) {
    uv_ref(handle);
  } else {
    uv_unref(handle);
  }
}

void UvDriver::Impl::Ref() {
  ++refs_;
  UpdateLoopReference();
}

void UvDriver::Impl::Unref() {
  if (refs_ > 0) --refs_;
  UpdateLoopReference();
}

}  // namespace dccp
