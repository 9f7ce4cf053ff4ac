#include "interop/peers/peer.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "apps/common/runtime.h"

namespace dccp::interop {
namespace {

constexpr int kEndCopies = 3;  // one of them survives a bad path
constexpr int kSignals[] = {SIGUSR1, SIGUSR2, SIGTERM};

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

const char* ByText(ClosedBy by) {
  switch (by) {
    case ClosedBy::kNobody:
      return "nobody";
    case ClosedBy::kLocal:
      return "closed";
    case ClosedBy::kRemote:
      return "eof";
    case ClosedBy::kTimeout:
      return "timeout";
    case ClosedBy::kProtocol:
      return "protocol";
    case ClosedBy::kUnreachable:
      return "unreachable";
  }
  return "?";
}

}  // namespace

Peer::Peer(const PeerOptions& options) : options_(options), ledger_(options.omit) {
  uv_loop_init(&loop_);
}

Peer::~Peer() {
  if (timer_.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  for (uv_signal_t& signal : signals_)
    if (signal.data != nullptr) uv_close(reinterpret_cast<uv_handle_t*>(&signal), nullptr);
  driver_.reset();
  uv_run(&loop_, UV_RUN_DEFAULT);
  uv_loop_close(&loop_);
}

void Peer::Say(const char* event, const std::string& rest) {
  fmt::print("{{\"event\":\"{}\",\"at\":{:.6f}{}}}\n", event,
             Seconds(driver_->now().time_since_epoch()), rest);
  std::fflush(stdout);
}

bool Peer::Open() {
  UvDriverConfig config;
  config.endpoint.encapsulation = Encapsulation::kNative;
  config.endpoint.registry = &apps::ToolRegistry();
  config.tun_device = options_.tun;
  DriverError error;
  driver_ = UvDriver::Create(&loop_, config, &error);
  if (driver_ == nullptr) {
    std::fprintf(stderr, "stack_peer: %s: %s\n", error.what.c_str(), ToString(error.error));
    return false;
  }
  driver_->SetEventHandler([this](const Event& event) { OnEvent(event); });
  start_ = driver_->now();
  StartHandles();
  return options_.server ? Listen() : Connect();
}

void Peer::StartHandles() {
  for (int i = 0; i < 3; ++i) {
    uv_signal_init(&loop_, &signals_[i]);
    signals_[i].data = this;
    uv_signal_start(
        &signals_[i],
        [](uv_signal_t* signal, int number) {
          static_cast<Peer*>(signal->data)->End(number == SIGUSR2);
        },
        kSignals[i]);
  }
  uv_timer_init(&loop_, &timer_);
  timer_.data = this;
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<Peer*>(timer->data)->OnTick(); }, 50, 50);
}

ConnectionOptions Peer::Wishes() const {
  ConnectionOptions wishes;
  wishes.tx_ccids = wishes.rx_ccids = options_.ccids;
  wishes.user_timeout = options_.user_timeout;
  wishes.keep_alive = options_.keep_alive;
  wishes.request_timeout = options_.connect_wait;
  wishes.probe_path_mtu = !options_.icmp_only;
  wishes.server_timewait = options_.timewait;
  wishes.sequence_window = options_.sequence_window;
  wishes.checksum_coverage = static_cast<std::uint8_t>(options_.coverage);
  wishes.min_checksum_coverage = static_cast<std::uint8_t>(options_.coverage);
  return wishes;
}

bool Peer::Listen() {
  DriverError error;
  if (!driver_->OpenServer(options_.address, 0, false, &error)) {
    std::fprintf(stderr, "stack_peer: %s\n", error.what.c_str());
    return false;
  }
  ListenParams params;
  params.port = options_.port;
  params.service_codes = {ServiceCode(options_.service)};
  params.options = Wishes();
  if (const auto listener = driver_->endpoint().Listen(params); !listener) {
    std::fprintf(stderr, "stack_peer: listen: %s\n", ToString(listener.error()));
    return false;
  }
  Say("listening", "");
  return true;
}

bool Peer::Connect() {
  DriverError error;
  ConnectParams params;
  params.remote_port = options_.port;
  params.service_code = ServiceCode(options_.service);
  params.options = Wishes();
  if (!driver_->OpenPath(options_.address, 0, options_.has_bind ? &options_.bind : nullptr,
                         &params.path, &error)) {
    std::fprintf(stderr, "stack_peer: %s\n", error.what.c_str());
    return false;
  }
  const auto conn = driver_->endpoint().Connect(params, driver_->now());
  if (!conn) {
    std::fprintf(stderr, "stack_peer: connect: %s\n", ToString(conn.error()));
    return false;
  }
  conn_ = *conn;
  known_ = true;
  return true;
}

void Peer::Run() { uv_run(&loop_, UV_RUN_DEFAULT); }

void Peer::OnEvent(const Event& event) {
  if ((event.bits & kEventAccepted) != 0 && !known_) {
    conn_ = event.conn;
    known_ = true;
  }
  if (!known_ || !(event.conn == conn_)) return;
  if ((event.bits & (kEventAccepted | kEventConnected)) != 0) OnOpen(event.conn);
  if ((event.bits & kEventReadable) != 0) ReadAll();
  if ((event.bits & kEventClosed) != 0) {
    ReadAll();
    const auto info = driver_->endpoint().Info(conn_);
    Finish(info ? ByText(info->close.by) : "gone");
    return;
  }
  if (phase_ == Phase::kOpen) Pump();
}

void Peer::OnOpen(ConnId conn) {
  const auto info = driver_->endpoint().Info(conn);
  if (!info || phase_ != Phase::kWaiting) return;
  phase_ = Phase::kOpen;
  size_ = options_.size != 0 ? options_.size : info->mps_bytes;
  heard_ = driver_->now();
  begun_ = progress_ = heard_ + options_.pause;
  if (options_.send == 0) ends_ = kEndCopies;
  std::string features;
  for (const FeatureNumber feature :
       {FeatureNumber::kCcid, FeatureNumber::kAllowShortSeqnos, FeatureNumber::kSequenceWindow,
        FeatureNumber::kEcnIncapable, FeatureNumber::kAckRatio, FeatureNumber::kSendAckVector,
        FeatureNumber::kSendNdpCount, FeatureNumber::kMinChecksumCoverage,
        FeatureNumber::kSendLossEventRate}) {
    const auto local = driver_->endpoint().Feature(conn, feature, true);
    const auto remote = driver_->endpoint().Feature(conn, feature, false);
    features +=
        fmt::format("{}\"{}\":[{},{}]", features.empty() ? "" : ",", static_cast<unsigned>(feature),
                    local ? static_cast<std::int64_t>(*local) : -1,
                    remote ? static_cast<std::int64_t>(*remote) : -1);
  }
  Say("connected",
      fmt::format(",\"ccid_tx\":{},\"ccid_rx\":{},\"mps\":{},\"size\":{},\"features\":{{{}}}",
                  static_cast<unsigned>(info->tx_ccid), static_cast<unsigned>(info->rx_ccid),
                  info->mps_bytes, size_, features));
}

bool Peer::SendOne(TimePoint now, bool over) {
  Endpoint& endpoint = driver_->endpoint();
  if (!over && options_.rate > 0) {
    const double due = Seconds(now - begun_) * options_.rate;
    if (static_cast<double>(sent_) >= due) return false;
  }
  // An end mark as small as a header would be a sudden fall of the rate in bytes, to which a
  // rate-based sender has to hold itself for seconds.
  const std::size_t bytes = over ? std::max<std::size_t>(size_ - 1, kHeaderBytes) : size_;
  const auto cell = endpoint.ReserveSend(conn_, bytes);
  if (!cell) return false;
  FillDatagram(cell->first(bytes), over ? kEndMark : kDataMark, static_cast<std::uint32_t>(sent_));
  if (!endpoint.CommitSend(conn_, bytes)) return false;
  progress_ = now;
  if (over) {
    ++ends_;
  } else {
    ++sent_;
    bytes_sent_ += bytes;
  }
  return true;
}

void Peer::Pump() {
  const TimePoint now = driver_->now();
  while (now >= begun_) {
    const bool over = options_.send >= 0 ? sent_ >= static_cast<std::uint64_t>(options_.send)
                                         : now - begun_ >= options_.seconds;
    if (over && ends_ >= kEndCopies) return;
    if (!SendOne(now, over)) return;
  }
}

void Peer::ReadAll() {
  ReceivedDatagram batch[32];
  for (;;) {
    const std::size_t count = driver_->endpoint().Read(conn_, batch);
    if (count == 0) return;
    heard_ = driver_->now();
    for (std::size_t i = 0; i < count; ++i) ledger_.Add(batch[i].bytes, heard_);
  }
}

void Peer::OnTick() {
  const TimePoint now = driver_->now();
  if (phase_ == Phase::kOver) {
    if (now - over_at_ >= options_.linger) uv_stop(&loop_);
    return;
  }
  if (phase_ == Phase::kWaiting) {
    if (now - start_ >= options_.connect_wait + std::chrono::seconds(5)) Finish("nobody");
    return;
  }
  if (phase_ == Phase::kOpen) Pump();
  const auto info = driver_->endpoint().Info(conn_);
  const bool all_sent = ends_ >= kEndCopies && info && info->send_queue_datagrams == 0;
  const Duration silent = now - Later(heard_, progress_);
  const bool all = !options_.expect || ledger_.end_marks() != 0;
  if (!complete_ && phase_ == Phase::kOpen && all_sent &&
      ((all && now - heard_ >= options_.quiet) || silent >= options_.wait / 2)) {
    complete_ = true;
    Say("complete", fmt::format(",\"sent\":{},\"received\":{}", sent_, ledger_.received()));
  }
  if (silent >= options_.wait) Finish("silence");
}

void Peer::End(bool abort) {
  if (phase_ == Phase::kWaiting) {
    Finish("interrupted");
    return;
  }
  if (phase_ != Phase::kOpen) return;
  phase_ = Phase::kEnding;
  Say("closing", "");
  Endpoint& endpoint = driver_->endpoint();
  ReadAll();
  const Result<void> done =
      abort ? endpoint.Abort(conn_, driver_->now()) : endpoint.Close(conn_, driver_->now());
  if (!done) Finish("cannot close");
}

void Peer::Finish(const std::string& outcome) {
  if (phase_ == Phase::kOver) return;
  phase_ = Phase::kOver;
  over_at_ = driver_->now();
  ConnectionInfo info;
  if (const auto known = driver_->endpoint().Info(conn_); known_ && known) info = *known;
  const ConnectionCounters& c = info.counters;
  Say("end",
      fmt::format(
          ",\"outcome\":\"{}\",\"clean\":{},\"reset\":{},\"reset_received\":{},\"sent\":{},"
          "\"bytes_sent\":{},\"received\":{},\"unique\":{},\"duplicates\":{},\"corrupt\":{},"
          "\"bytes\":{},\"end_marks\":{},\"seconds\":{:.6f},\"window_packets\":{},"
          "\"window_bytes\":{},\"window_seconds\":{:.6f},\"counters\":{{\"data_sent\":{},"
          "\"data_received\":{},\"lost\":{},\"duplicates\":{},\"sequence_invalid\":{},"
          "\"syncs_sent\":{},\"queue_drops\":{},\"receive_overflows\":{},\"false_acks\":{}}}",
          outcome, info.close.clean, static_cast<unsigned>(info.close.reset.code),
          info.close.reset_received, sent_, bytes_sent_, ledger_.received(), ledger_.unique(),
          ledger_.duplicates(), ledger_.corrupt(), ledger_.bytes(), ledger_.end_marks(),
          Seconds(ledger_.span()), ledger_.window_packets(), ledger_.window_bytes(),
          Seconds(ledger_.window_span()), c.data_packets_sent, c.data_packets_received,
          c.data_packets_lost, c.duplicates, c.sequence_invalid, c.syncs_sent, c.queue_drops,
          c.receive_overflows, c.false_acks));
}

}  // namespace dccp::interop
