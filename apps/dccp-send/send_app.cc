// Connecting, and the flow of events.
#include "apps/dccp-send/send_app.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/common/close_text.h"
#include "apps/common/resolve.h"
#include "apps/common/text.h"
#include "apps/common/tool.h"

namespace dccp::apps {

std::string SendApp::Peer() const {
  const std::string address = AddressAndPort(connect_.path.remote, connect_.remote_port);
  const bool literal = AddressText(connect_.path.remote) == options_.target.host;
  return literal ? address : fmt::format("{} ({})", options_.target.host, address);
}

std::string SendApp::Label(std::size_t index) const { return fmt::format("{}", index + 1); }

SendPlan SendApp::Plan() {
  SendPlan plan;
  plan.size_bytes = options_.size_bytes;
  plan.packets = options_.packets;
  plan.bits_per_second = options_.bits_per_second;
  plan.source = source_.get();
  plan.hashes = hashes_.get();
  return plan;
}

int SendApp::Run() {
  std::string error;
  if (!reporter_.Open(options_.common, false, &error)) return FailUsage("dccp-send", error);
  if (Prepare()) {
    TryNextAddress();
    if (!concluded_) runtime_->Run();
  }
  if (!concluded_) PrintSummary();
  if (hashes_ != nullptr && !hashes_->Finish(&error)) reporter_.Failure(error);
  if (runtime_ != nullptr && !runtime_->FinishTraces(&error)) reporter_.Failure(error);
  const bool wrote = reporter_.Finish();
  // In the order in which they depend on one another.
  control_.reset();
  flows_.clear();
  source_.reset();
  for (auto* timer : {&interval_timer_, &sample_timer_, &end_timer_, &omit_timer_, &grace_timer_})
    timer->reset();
  runtime_.reset();
  return reporter_.failed() || !wrote ? kExitFailed : kExitDone;
}

bool SendApp::Prepare() {
  std::string error;
  const auto family = options_.common.only_v4
                          ? FamilyChoice::kV4
                          : (options_.common.only_v6 ? FamilyChoice::kV6 : FamilyChoice::kAny);
  addresses_ = Resolve(options_.target.host, family, &error);
  if (!addresses_.empty()) runtime_ = Runtime::Create(options_.common, &error);
  if (runtime_ == nullptr) {
    reporter_.Failure(error);
    return false;
  }
  if (!options_.input_file.empty()) {
    source_ = PayloadSource::Open(runtime_->loop(), options_.input_file, options_.framed, &error);
    if (source_ == nullptr) {
      reporter_.Failure(error);
      return false;
    }
    source_->SetReadyHandler([this] {
      if (begun_) Pump(0);
    });
  }
  if (!options_.hashes_file.empty()) {
    hashes_ = HashLog::Open(options_.hashes_file, &error);
    if (hashes_ == nullptr) {
      reporter_.Failure(error);
      return false;
    }
  }
  for (auto* timer : {&interval_timer_, &sample_timer_, &end_timer_, &omit_timer_, &grace_timer_})
    *timer = std::make_unique<LoopTimer>(runtime_->loop());
  runtime_->driver().SetEventHandler([this](const Event& event) { OnEvent(event); });
  runtime_->SetInterruptHandler([this] { Interrupt(); });
  return true;
}

void SendApp::TryNextAddress() {
  flows_.clear();
  control_.reset();
  while (next_address_ < addresses_.size()) {
    const IpAddress& address = addresses_[next_address_++];
    const IpAddress* bind = options_.common.has_bind ? &options_.common.bind : nullptr;
    Path path;
    DriverError fault;
    if (!runtime_->driver().OpenPath(address, options_.common.udp_port, bind, &path, &fault)) {
      last_error_ = DescribeDriverError(fault, options_.common);
      continue;
    }
    if (ConnectAll(path)) return;
  }
  reporter_.Failure(last_error_);
  Conclude();
}

bool SendApp::ConnectAll(const Path& path) {
  connect_ = {};
  connect_.path = path;
  connect_.remote_port = options_.target.port;
  connect_.service_code = options_.common.service;
  connect_.options = ToConnectionOptions(options_.common);
  reporter_.Text(fmt::format("Connecting to {}, {}\n", Peer(),
                             options_.common.encap == Encapsulation::kUdp
                                 ? fmt::format("DCCP in UDP, port {}", options_.common.udp_port)
                                 : std::string("native DCCP")));
  for (unsigned i = 0; i < options_.parallel; ++i) {
    const Result<ConnId> conn = runtime_->endpoint().Connect(connect_, runtime_->now());
    if (!conn) {
      last_error_ = fmt::format("cannot connect to {}: {}", Peer(), ToString(conn.error()));
      flows_.clear();
      return false;
    }
    runtime_->endpoint().SetUserData(*conn, i + 1);
    SessionConfig config;
    config.nonces = connect_.options.ecn_nonce;
    config.sending = !options_.reverse;
    config.received_hashes = options_.reverse ? hashes_.get() : nullptr;
    Flow& flow = flows_.emplace_back();
    flow.session = std::make_unique<Session>(runtime_.get(), *conn, config);
    flow.pace = std::make_unique<LoopTimer>(runtime_->loop());
  }
  return true;
}

void SendApp::OnEvent(const Event& event) {
  if (control_ != nullptr && control_->Owns(event.conn)) {
    control_->OnEvent(event);
    return;
  }
  const std::uint64_t word = runtime_->endpoint().UserData(event.conn);
  if (word == 0 || word > flows_.size()) return;
  const std::size_t index = word - 1;
  Flow& flow = flows_[index];
  if (flow.over || !(flow.session->conn() == event.conn)) return;
  if ((event.bits & kEventConnected) != 0) OnConnected(index);
  if ((event.bits & kEventReadable) != 0) flow.session->Read();
  if ((event.bits & kEventMpsChanged) != 0 && flow.session->sender() &&
      !flow.session->sender()->OnMpsChanged())
    Pump(index);
  if ((event.bits & kEventWritable) != 0 && begun_) Pump(index);
  if ((event.bits & kEventClosed) != 0) OnClosed(index);
}

void SendApp::OnConnected(std::size_t index) {
  flows_[index].session->Open();
  if (control_ == nullptr) control_ = std::make_unique<ControlClient>(runtime_.get(), connect_);
  const bool all = std::all_of(flows_.begin(), flows_.end(),
                               [](const Flow& f) { return f.over || f.session->open(); });
  if (all && !begun_) Begin();
}

// An attempt that found nobody may go on with the host's next address.
bool SendApp::MayTryAnother(const Flow& flow) const {
  const CloseReason& close = flow.session->info().close;
  const bool nobody =
      close.by == ClosedBy::kUnreachable || close.by == ClosedBy::kTimeout ||
      (close.by == ClosedBy::kRemote && close.reset.code == ResetCode::kNoConnection);
  return nobody && !interrupted_ && next_address_ < addresses_.size() &&
         std::none_of(flows_.begin(), flows_.end(),
                      [](const Flow& f) { return f.session->open(); });
}

void SendApp::OnClosed(std::size_t index) {
  Flow& flow = flows_[index];
  flow.session->Read();
  flow.session->Closed();
  const ConnectionInfo& info = flow.session->info();
  const std::string text = CloseText(info.close, info, Peer(), flow.session->open());
  if (MayTryAnother(flow)) {
    last_error_ = text;
    // Not from inside the event of a connection that goes away with it.
    end_timer_->Once(Duration::zero(), [this] { TryNextAddress(); });
    return;
  }
  PrintLastInterval(index);
  flow.over = true;
  // In a reverse run the other end closes when it has sent what it was asked for.
  const bool expected = EndedByClose(info.close) && (flow.close_asked || options_.reverse);
  // A timed run leaves what is queued when the time is over.
  const bool cut_short = !info.close.clean && options_.seconds == Duration::zero();
  if (!flow.pending_error.empty())
    reporter_.Failure(flow.pending_error);
  else if (!expected && !interrupted_)
    reporter_.Failure(text);
  else if (cut_short && !interrupted_)
    reporter_.Failure("the connection closed before everything was sent");
  const bool all = std::all_of(flows_.begin(), flows_.end(), [](const Flow& f) { return f.over; });
  if (all)
    Conclude();
  else if (!begun_ && std::all_of(flows_.begin(), flows_.end(),
                                  [](const Flow& f) { return f.over || f.session->open(); }))
    Begin();
}

void SendApp::Interrupt() {
  interrupted_ = true;
  if (flows_.empty() || concluded_) {
    runtime_->Stop();
    return;
  }
  reporter_.Text("Interrupted\n");
  FinishAll();
  // Whoever does not answer the Close by then is left.
  grace_timer_->Once(std::chrono::seconds(2), [this] {
    for (Flow& flow : flows_) {
      if (flow.over) continue;
      static_cast<void>(runtime_->endpoint().Abort(flow.session->conn(), runtime_->now()).ok());
    }
    if (!concluded_) Conclude();
  });
}

}  // namespace dccp::apps
