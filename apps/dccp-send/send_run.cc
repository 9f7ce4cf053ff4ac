// The run itself and its end.
#include <fmt/format.h>

#include <algorithm>

#include "apps/common/text.h"
#include "apps/dccp-send/send_app.h"
#include "ccid/common/tfrc_equation.h"

namespace dccp::apps {

namespace {

constexpr Duration kSampleEvery = std::chrono::milliseconds(100);
constexpr Duration kLinger = std::chrono::seconds(2);

}  // namespace

void SendApp::Begin() {
  begun_ = true;
  omitting_ = options_.omit > Duration::zero();
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    if (flow.over) continue;
    flow.session->Open();
    std::uint32_t payload = options_.size_bytes;
    if (!options_.reverse) {
      flow.session->sender().emplace(&runtime_->endpoint(), flow.session->conn(), Plan());
      flow.session->sender()->Start(runtime_->now());
      payload = flow.session->sender()->size_bytes();
    }
    const FlowTuple& t = flow.session->info().tuple;
    const ConnId conn = flow.session->conn();
    reporter_.Started(i, StartToJson(runtime_->endpoint(), conn, options_.common.encap, payload));
    reporter_.Text(fmt::format(
        "[{:>3}] local {} connected to {}, CCID {}, {} bytes a datagram\n", Label(i),
        AddressAndPort(t.path.local, t.local_port), AddressAndPort(t.path.remote, t.remote_port),
        static_cast<unsigned>(options_.reverse ? flow.session->info().rx_ccid
                                               : flow.session->info().tx_ccid),
        payload == 0 ? "all" : fmt::format("{}", payload)));
  }
  if (options_.common.interval > Duration::zero()) reporter_.Text(IntervalHeader());
  StartTimers();
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    if (flows_[i].over) continue;
    if (options_.reverse)
      AskToSend(i);
    else
      Pump(i);
  }
}

void SendApp::StartTimers() {
  if (options_.common.interval > Duration::zero())
    interval_timer_->Every(options_.common.interval, [this] { PrintInterval(); });
  sample_timer_->Every(kSampleEvery, [this] {
    for (Flow& flow : flows_)
      if (!flow.over) flow.session->Sample();
  });
  if (omitting_) omit_timer_->Once(options_.omit, [this] { EndOmission(); });
  if (options_.seconds > Duration::zero())
    end_timer_->Once(options_.omit + options_.seconds, [this] { FinishAll(); });
}

void SendApp::AskToSend(std::size_t index) {
  const Duration seconds = options_.seconds == Duration::zero()
                               ? Duration::zero()
                               : options_.seconds + options_.omit + std::chrono::seconds(5);
  control_->Ask({{"ask", "send"},
                 {"port", flows_[index].session->info().tuple.local_port},
                 {"size", options_.size_bytes},
                 {"packets", options_.packets},
                 {"seconds", std::chrono::duration<double>(seconds).count()},
                 {"bps", options_.bits_per_second}},
                [this, index](const std::optional<nlohmann::json>& answer) {
                  if (flows_[index].over) return;
                  if (answer && answer->contains("ok") && (*answer)["ok"] == true) return;
                  std::string why = "the peer takes no requests";
                  if (answer && answer->contains("why") && (*answer)["why"].is_string())
                    why = (*answer)["why"];
                  flows_[index].pending_error = fmt::format("{} does not send: {}", Peer(), why);
                  CloseFlow(index, Duration::zero());
                });
}

void SendApp::Pump(std::size_t index) {
  Flow& flow = flows_[index];
  std::optional<DataSender>& sender = flow.session->sender();
  if (flow.over || flow.close_asked || !sender) return;
  sender->Pump(runtime_->now());
  if (sender->finished()) {
    flow.pending_error = sender->error();
    CloseFlow(index, options_.common.timeout);
  } else if (sender->next_pump() != kNever) {
    const Duration wait = std::max(Duration::zero(), sender->next_pump() - runtime_->now());
    flow.pace->Once(wait, [this, index] { Pump(index); });
  }
}

void SendApp::PrintInterval() {
  std::vector<IntervalReport> reports;
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    if (flow.over || !flow.session->open()) continue;
    reports.push_back(flow.session->TakeInterval(omitting_));
    reporter_.Interval(i, reports.back());
    reporter_.Text(IntervalText(Label(i), reports.back()));
  }
  if (flows_.size() < 2 || reports.empty()) return;
  const IntervalReport sum = Sum(reports);
  reporter_.IntervalSum(sum);
  reporter_.Text(IntervalText("SUM", sum));
}

// What is left since the last line, unless it is next to nothing.
void SendApp::PrintLastInterval(std::size_t index) {
  if (!begun_ || options_.common.interval == Duration::zero()) return;
  const IntervalReport last = flows_[index].session->TakeInterval(omitting_);
  const double interval = std::chrono::duration<double>(options_.common.interval).count();
  if (last.end_s - last.start_s < interval / 10 && last.start_s > 0) return;
  reporter_.Interval(index, last);
  reporter_.Text(IntervalText(Label(index), last));
}

void SendApp::EndOmission() {
  omitting_ = false;
  for (Flow& flow : flows_)
    if (!flow.over) flow.session->Omit();
  AskReports(true);
}

void SendApp::CloseFlow(std::size_t index, Duration drain) {
  Flow& flow = flows_[index];
  if (flow.over || flow.close_asked) return;
  flow.close_asked = true;
  // A connection that is over already says so in an event.
  static_cast<void>(runtime_->endpoint().Close(flow.session->conn(), runtime_->now(), drain).ok());
}

void SendApp::FinishAll() {
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    if (flow.over) continue;
    if (flow.session->sender()) flow.session->sender()->Finish();
    if (flow.session->open()) flow.session->Stop();
    CloseFlow(i, Duration::zero());
  }
}

void SendApp::Conclude() {
  if (concluded_) return;
  concluded_ = true;
  for (auto* timer : {&interval_timer_, &sample_timer_, &end_timer_, &omit_timer_})
    if (*timer != nullptr) (*timer)->Stop();
  const bool answered = std::any_of(flows_.begin(), flows_.end(), [](const Flow& f) {
    return f.session->open() && f.session->info().close.by != ClosedBy::kTimeout;
  });
  if (control_ != nullptr && answered) {
    AskReports(false);
    return;
  }
  PrintSummary();
  runtime_->Stop();
}

void SendApp::AskReports(bool base) {
  if (control_ == nullptr) return;
  reports_wanted_ += base ? 0 : flows_.size();
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const auto answered = [this, i, base](const std::optional<nlohmann::json>& answer) {
      (base ? flows_[i].remote_base : flows_[i].remote_end) =
          answer ? FiguresFromJson(*answer) : std::nullopt;
      if (base || --reports_wanted_ != 0) return;
      PrintSummary();
      Linger();
    };
    control_->Ask({{"ask", "report"}, {"port", flows_[i].session->info().tuple.local_port}},
                  answered);
  }
}

void SendApp::PrintSummary() {
  reporter_.Text("- - - - - - - - - - - - - - - - - - - - - - - - -\n");
  std::vector<EndReport> ends;
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    EndReport end = flow.session->End();
    const bool have_base = options_.omit == Duration::zero() || flow.remote_base.has_value();
    if (flow.remote_end && have_base)
      AddRemote(*flow.remote_end, flow.remote_base,
                {!options_.reverse, flow.session->TotalPackets(), flow.session->LostBefore()},
                &end);
    if (options_.expect_rtt) {
      const std::optional<DataSender>& sender = flow.session->sender();
      const double segment = sender ? sender->size_bytes() : options_.size_bytes;
      end.equation_bps = 8 * TfrcThroughput(segment, *options_.expect_rtt, *options_.expect_loss);
    }
    reporter_.Ended(i, end);
    reporter_.Text(EndText(Label(i), end));
    ends.push_back(end);
  }
  if (ends.empty()) {
    reporter_.Ended(0, EndReport());
    reporter_.Text("Nothing was sent.\n");
  } else if (ends.size() > 1) {
    reporter_.Text(EndText("SUM", Sum(ends)));
  }
}

// Where the other end closed, it may have missed our answer and repeat its Close.
void SendApp::Linger() {
  if (control_ != nullptr) control_->Close();
  const bool remote = std::any_of(flows_.begin(), flows_.end(), [](const Flow& f) {
    return f.session->info().close.by == ClosedBy::kRemote;
  });
  grace_timer_->Once(remote ? kLinger : std::chrono::milliseconds(20),
                     [this] { runtime_->Stop(); });
}

}  // namespace dccp::apps
