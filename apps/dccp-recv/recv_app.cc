#include "apps/dccp-recv/recv_app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "apps/common/close_text.h"
#include "apps/common/control.h"
#include "apps/common/text.h"
#include "apps/common/tool.h"

namespace dccp::apps {

namespace {

constexpr Duration kLinger = std::chrono::seconds(2);
constexpr Duration kSampleEvery = std::chrono::milliseconds(100);
constexpr std::uint64_t kControlWord = 1;
constexpr std::size_t kMaxPast = 256;

}  // namespace

int RecvApp::Run() {
  std::string error;
  if (!reporter_.Open(options_.common, options_.output_file == "-", &error))
    return FailUsage("dccp-recv", error);
  if (Prepare()) runtime_->Run();
  guests_.clear();
  if (sink_ != nullptr && !sink_->Close() && !sink_failed_) reporter_.Failure(sink_->error());
  if (hashes_ != nullptr && !hashes_->Finish(&error)) reporter_.Failure(error);
  if (runtime_ != nullptr && !runtime_->FinishTraces(&error)) reporter_.Failure(error);
  if (served_ == 0) {
    reporter_.Text("No connection came.\n");
    reporter_.Ended(0, EndReport());
  }
  const bool wrote = reporter_.Finish();
  for (auto* timer : {&interval_timer_, &sample_timer_, &stop_timer_}) timer->reset();
  sink_.reset();
  runtime_.reset();
  return reporter_.failed() || !wrote ? kExitFailed : kExitDone;
}

bool RecvApp::Prepare() {
  std::string error;
  runtime_ = Runtime::Create(options_.common, &error);
  bool good = runtime_ != nullptr;
  if (good && !options_.output_file.empty()) {
    sink_ = PayloadSink::Open(runtime_->loop(), options_.output_file, options_.framed, &error);
    good = sink_ != nullptr;
    if (good) sink_->SetIdleHandler([this] { OnSinkIdle(); });
  }
  if (good && !options_.hashes_file.empty()) {
    hashes_ = HashLog::Open(options_.hashes_file, &error);
    good = hashes_ != nullptr;
  }
  if (!good) {
    reporter_.Failure(error);
    return false;
  }
  if (!OpenServers() || !Listen()) return false;
  for (auto* timer : {&interval_timer_, &sample_timer_, &stop_timer_})
    *timer = std::make_unique<LoopTimer>(runtime_->loop());
  runtime_->driver().SetEventHandler([this](const Event& event) { OnEvent(event); });
  runtime_->SetInterruptHandler([this] { ShutDown(); });
  if (options_.common.interval > Duration::zero())
    interval_timer_->Every(options_.common.interval, [this] { PrintIntervals(); });
  sample_timer_->Every(kSampleEvery, [this] {
    for (auto& [id, guest] : guests_) guest.session->Sample();
  });
  return true;
}

// Both families unless one is asked for; a host without IPv6 is served on IPv4 alone.
bool RecvApp::OpenServers() {
  const CommonOptions& o = options_.common;
  std::vector<IpAddress> locals;
  if (o.has_bind) {
    locals.push_back(o.bind);
  } else {
    if (!o.only_v6) locals.push_back({IpFamily::kV4, {}, 0});
    if (!o.only_v4) locals.push_back({IpFamily::kV6, {}, 0});
  }
  std::size_t opened = 0;
  DriverError fault;
  for (const IpAddress& local : locals) {
    if (runtime_->driver().OpenServer(local, o.udp_port, false, &fault)) {
      ++opened;
      continue;
    }
    const bool no_family = fault.errno_value == EAFNOSUPPORT || fault.errno_value == EADDRNOTAVAIL;
    if (no_family && local.family == IpFamily::kV6 && opened != 0) continue;
    opened = 0;
    break;
  }
  if (opened != 0) return true;
  reporter_.Failure(DescribeDriverError(fault, o));
  return false;
}

bool RecvApp::Listen() {
  const CommonOptions& o = options_.common;
  ListenParams params;
  params.port = o.port;
  params.service_codes = {o.service};
  params.options = ToConnectionOptions(o);
  if (o.has_bind) params.local = o.bind;
  params.cookies_above = options_.cookies_above;
  const Result<ListenerId> data = runtime_->endpoint().Listen(params);
  params.service_codes = {*ServiceCode::Parse(kControlService)};
  const Result<ListenerId> control = runtime_->endpoint().Listen(params);
  if (!data || !control) {
    reporter_.Failure(fmt::format("cannot listen on DCCP port {}: {}", o.port,
                                  ToString(data ? control.error() : data.error())));
    return false;
  }
  data_listener_ = *data;
  control_listener_ = *control;
  reporter_.Text(
      fmt::format("Listening on DCCP port {}, service {}, {}\n", o.port, o.service.ToText().data(),
                  o.encap == Encapsulation::kUdp ? fmt::format("in UDP, port {}", o.udp_port)
                                                 : std::string("native")));
  return true;
}

void RecvApp::OnEvent(const Event& event) {
  if ((event.bits & kEventAccepted) != 0) OnAccepted(event);
  const std::uint64_t id = runtime_->endpoint().UserData(event.conn);
  if (id == kControlWord) {
    OnControl(event);
    return;
  }
  const auto it = guests_.find(id);
  if (it == guests_.end() || !(it->second.session->conn() == event.conn)) return;
  if ((event.bits & kEventReadable) != 0) it->second.session->Read();
  if ((event.bits & (kEventWritable | kEventMpsChanged)) != 0) Pump(id);
  if ((event.bits & kEventClosed) != 0) OnClosed(id);
}

void RecvApp::OnAccepted(const Event& event) {
  Endpoint& endpoint = runtime_->endpoint();
  if (event.listener == control_listener_) {
    endpoint.SetUserData(event.conn, kControlWord);
    ++controls_;
    return;
  }
  const bool full = options_.max_connections != 0 && guests_.size() >= options_.max_connections;
  if (full || ending_) {
    static_cast<void>(endpoint.Abort(event.conn, runtime_->now(), ResetCode::kTooBusy).ok());
    endpoint.Release(event.conn, runtime_->now());
    return;
  }
  const std::uint64_t id = next_id_++;
  endpoint.SetUserData(event.conn, id);
  SessionConfig config;
  config.nonces = options_.common.ecn_text == "nonce";
  config.echo = options_.echo;
  config.sink = sink_.get();
  config.received_hashes = hashes_.get();
  Guest& guest = guests_[id];
  guest.session = std::make_unique<Session>(runtime_.get(), event.conn, config);
  guest.pace = std::make_unique<LoopTimer>(runtime_->loop());
  guest.session->Open();
  ++served_;
  if (options_.one_off) {
    // The control listener stays: the client will ask for figures.
    static_cast<void>(endpoint.StopListening(data_listener_).ok());
  }
  const FlowTuple& t = guest.session->info().tuple;
  reporter_.Started(id - 1, StartToJson(endpoint, event.conn, options_.common.encap, 0));
  reporter_.Text(fmt::format("[{:>3}] local {} connected with {}, CCID {}\n", id - 1,
                             AddressAndPort(t.path.local, t.local_port),
                             AddressAndPort(t.path.remote, t.remote_port),
                             static_cast<unsigned>(guest.session->info().rx_ccid)));
  if (options_.common.interval > Duration::zero()) reporter_.Text(IntervalHeader());
}

void RecvApp::OnControl(const Event& event) {
  if ((event.bits & kEventReadable) != 0)
    AnswerControl(&runtime_->endpoint(), event.conn,
                  [this](const nlohmann::json& question, const FlowTuple& from) {
                    return Answer(question, from);
                  });
  if ((event.bits & kEventClosed) == 0) return;
  runtime_->endpoint().Release(event.conn, runtime_->now());
  --controls_;
  MaybeStop();
}

nlohmann::json RecvApp::Answer(const nlohmann::json& question, const FlowTuple& from) {
  const double port = NumberOr(question, "port", 0);
  const auto matches = [&](const FlowTuple& t) {
    return t.path == from.path && static_cast<double>(t.remote_port) == port;
  };
  const auto ask = question.find("ask");
  const std::string what =
      ask != question.end() && ask->is_string() ? ask->get<std::string>() : std::string();
  for (auto& [id, guest] : guests_) {
    if (!matches(guest.session->info().tuple)) continue;
    if (what == "report") {
      guest.session->Refresh();
      return FiguresToJson(guest.session->Figures());
    }
    if (what == "send") return StartSending(id, question);
    return {{"ok", false}, {"why", "unknown question"}};
  }
  if (what == "report")
    for (auto it = past_.rbegin(); it != past_.rend(); ++it)
      if (matches(it->tuple)) {
        answered_ = true;
        return FiguresToJson(it->figures);
      }
  return {{"ok", false}, {"why", "no such connection"}};
}

nlohmann::json RecvApp::StartSending(std::uint64_t id, const nlohmann::json& question) {
  if (!options_.reverse_ok) return {{"ok", false}, {"why", "it was not started with --reverse-ok"}};
  Guest& guest = guests_.at(id);
  if (guest.sends) return {{"ok", true}};  // asked again: the first answer was lost
  SendPlan plan;
  const double size = NumberOr(question, "size", 0);
  const double seconds = NumberOr(question, "seconds", 0);
  if (size > 65535 || seconds > 1e8 || NumberOr(question, "packets", 0) > 1e15)
    return {{"ok", false}, {"why", "a number is out of range"}};
  plan.size_bytes = static_cast<std::uint32_t>(size);
  plan.packets = static_cast<std::uint64_t>(NumberOr(question, "packets", 0));
  plan.duration = Duration(static_cast<Duration::rep>(seconds * 1e9));
  plan.bits_per_second = NumberOr(question, "bps", 0);
  guest.session->SetSending(true);
  guest.session->Open();
  guest.session->sender().emplace(&runtime_->endpoint(), guest.session->conn(), plan);
  if (!guest.session->sender()->Start(runtime_->now())) {
    const std::string why = guest.session->sender()->error();
    guest.session->sender().reset();
    return {{"ok", false}, {"why", why}};
  }
  guest.sends = true;
  Pump(id);
  return {{"ok", true}};
}

void RecvApp::Pump(std::uint64_t id) {
  Guest& guest = guests_.at(id);
  std::optional<DataSender>& sender = guest.session->sender();
  if (!sender || guest.close_asked) return;
  sender->Pump(runtime_->now());
  if (sender->finished()) {
    guest.close_asked = true;
    static_cast<void>(runtime_->endpoint()
                          .Close(guest.session->conn(), runtime_->now(), options_.common.timeout)
                          .ok());
  } else if (sender->next_pump() != kNever) {
    guest.pace->Once(std::max(Duration::zero(), sender->next_pump() - runtime_->now()),
                     [this, id] { Pump(id); });
  }
}

void RecvApp::PrintIntervals() {
  for (auto& [id, guest] : guests_) {
    const IntervalReport report = guest.session->TakeInterval(false);
    reporter_.Interval(id - 1, report);
    reporter_.Text(IntervalText(fmt::format("{}", id - 1), report));
  }
}

// What is left since the last line, unless it is next to nothing.
void RecvApp::PrintLastInterval(std::uint64_t id) {
  if (options_.common.interval == Duration::zero()) return;
  const IntervalReport last = guests_.at(id).session->TakeInterval(false);
  const double interval = std::chrono::duration<double>(options_.common.interval).count();
  if (last.end_s - last.start_s < interval / 10 && last.start_s > 0) return;
  reporter_.Interval(id - 1, last);
  reporter_.Text(IntervalText(fmt::format("{}", id - 1), last));
}

void RecvApp::OnClosed(std::uint64_t id) {
  Guest& guest = guests_.at(id);
  guest.session->Read();
  guest.session->Closed();
  PrintLastInterval(id);
  const EndReport end = guest.session->End();
  const std::string label = fmt::format("{}", id - 1);
  reporter_.Ended(id - 1, end);
  reporter_.Text(EndText(label, end));
  const ConnectionInfo& info = guest.session->info();
  const std::string peer = AddressAndPort(info.tuple.path.remote, info.tuple.remote_port);
  if (!EndedByClose(info.close) && !ending_) {
    const std::string text = CloseText(info.close, info, peer, true);
    // A server goes on; where there was one connection only, its fate is the program's.
    if (options_.one_off)
      reporter_.Failure(text);
    else
      Put(stderr, fmt::format("dccp-recv: {}\n", text));
  }
  past_.push_back({info.tuple, guest.session->Figures()});
  if (past_.size() > kMaxPast) past_.pop_front();
  guests_.erase(id);
  MaybeStop();
}

void RecvApp::OnSinkIdle() {
  if (sink_->failed() && !sink_failed_) {
    sink_failed_ = true;
    reporter_.Failure(sink_->error());
    ShutDown();
    return;
  }
  MaybeStop();
}

void RecvApp::ShutDown() {
  ending_ = true;
  for (auto& [id, guest] : guests_) {
    guest.close_asked = true;
    static_cast<void>(
        runtime_->endpoint().Close(guest.session->conn(), runtime_->now(), Duration::zero()).ok());
  }
  if (guests_.empty()) {
    MaybeStop();
    return;
  }
  stop_timer_->Once(kLinger, [this] {
    // Whoever has not answered the Close by now is left.
    while (!guests_.empty()) {
      const auto first = guests_.begin();
      static_cast<void>(
          runtime_->endpoint().Abort(first->second.session->conn(), runtime_->now()).ok());
      OnClosed(first->first);
    }
  });
}

// Ends the program once nothing is left to do: at once after an interrupt; after --one-off not
// before the client had time to ask for figures and to repeat a Close that we answered.
void RecvApp::MaybeStop() {
  if (!guests_.empty() || (sink_ != nullptr && !sink_->idle())) return;
  if (ending_)
    StopAfter(std::chrono::milliseconds(20));
  else if (options_.one_off && served_ != 0)
    StopAfter(controls_ == 0 && answered_ ? std::chrono::milliseconds(50) : kLinger);
}

void RecvApp::StopAfter(Duration wait) {
  stop_timer_->Once(wait, [this] { runtime_->Stop(); });
}

}  // namespace dccp::apps
