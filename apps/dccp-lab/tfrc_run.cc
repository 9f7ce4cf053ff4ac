#include "apps/dccp-lab/tfrc_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

namespace dccp::apps::lab {

namespace {

constexpr Duration kPoll = std::chrono::milliseconds(100);
// For connecting and for the last reports.
constexpr double kGrace = 45;
constexpr double kGraceStopped = 8;
// A run that was stopped counts from this share of its time on.
constexpr double kLeastShare = 0.1;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

double NumberAt(const Json& document, const char* pointer) {
  const Json::json_pointer at(pointer);
  return document.contains(at) && document[at].is_number() ? document[at].get<double>() : 0;
}

Json Quotient(double a, double b) { return b > 0 ? Json(a / b) : Json(nullptr); }

}  // namespace

TfrcBatch::TfrcBatch(const TfrcSetting& setting, const TfrcPlan& plan,
                     std::span<const TfrcCell> cells)
    : setting_(setting), plan_(plan), cells_(cells) {}

std::vector<TfrcOutcome> TfrcBatch::Run(const std::vector<TfrcJob>& jobs,
                                        const std::function<void(double)>& progress) {
  OpenBeds(jobs);
  StartSenders(jobs);
  WaitForAll(progress);
  return Collect();
}

void TfrcBatch::OpenBeds(const std::vector<TfrcJob>& jobs) {
  for (const TfrcJob& job : jobs) {
    if (places_.contains(job.cell) || setting_.stop()) continue;
    Place& place = places_[job.cell];
    place.bed = TfrcBed::Open(setting_, cells_[job.cell], fmt::format("cell{}", job.cell),
                              SeedOf(plan_, cells_[job.cell], job.repeat), &place.error);
  }
}

void TfrcBatch::StartSenders(const std::vector<TfrcJob>& jobs) {
  for (const TfrcJob& job : jobs) {
    if (setting_.stop()) return;
    Sender sender;
    sender.job = job;
    const std::string name = fmt::format("{}/sender{}-{}", setting_.scratch, job.cell, job.repeat);
    sender.report = name + ".json";
    const Place& place = places_[job.cell];
    std::optional<Child> child;
    if (place.bed == nullptr) {
      sender.error = place.error;
    } else {
      child = place.bed->StartSender(plan_, name, sender.report, &sender.error);
    }
    if (child) sender.child = std::move(*child);
    sender.over = !child;
    senders_.push_back(std::move(sender));
  }
}

void TfrcBatch::WaitForAll(const std::function<void(double)>& progress) {
  const double start = Now();
  const double whole = plan_.omit + plan_.seconds;
  double deadline = start + whole + kGrace;
  double next_check = start;
  bool begun = false;
  bool ended = false;
  bool stopped = false;
  const auto running = [](Sender& s) {
    s.over = s.over || s.child.Wait(Duration::zero(), [] { return false; });
    return !s.over;
  };
  while (std::count_if(senders_.begin(), senders_.end(), running) != 0) {
    const double now = Now();
    if (!begun && now >= start + plan_.omit) ReadClocks(begun = true);
    // A little before the first sender may end.
    if (begun && !ended && (now >= start + whole - plan_.seconds / 50 || setting_.stop())) {
      ReadClocks(false);
      ended = true;
    }
    if (setting_.stop() && !stopped) {
      stopped = true;
      for (const Sender& s : senders_) s.child.Signal(SIGINT);
      deadline = now + kGraceStopped;
    }
    if (now >= deadline) {
      for (Sender& s : senders_)
        if (!s.over) s = {s.job, s.report, Child(), true, stopped ? "" : "dccp-send does not end"};
      return;
    }
    if (now >= next_check) {
      next_check = now + 1;
      CheckBeds();
      progress(std::max(0.0, start + whole - now));
    }
    std::this_thread::sleep_for(kPoll);
  }
  if (begun && !ended) ReadClocks(false);
}

void TfrcBatch::CheckBeds() {
  for (auto& [index, place] : places_) {
    if (place.bed == nullptr || !place.error.empty()) continue;
    place.error = place.bed->Failure();
    if (place.error.empty()) continue;
    for (Sender& s : senders_)
      if (s.job.cell == index && !s.over) s = {s.job, s.report, Child(), true, place.error};
  }
}

void TfrcBatch::ReadClocks(bool begin) {
  const double sign = begin ? -1 : 1;
  window_s_ += sign * Now();
  const std::optional<HostCpu> host = HostCpu::Now();
  if (begin)
    host_begin_ = host;
  else if (host_begin_ && host)
    host_ = LoadBetween(*host_begin_, *host);
  for (auto& [index, place] : places_) {
    if (place.bed == nullptr) continue;
    place.receiver_s += sign * Seconds(place.bed->ReceiverCpu());
    place.emulator_s += sign * Seconds(place.bed->EmulatorCpu());
  }
}

TfrcOutcome TfrcBatch::Outcome(Sender* sender) {
  TfrcOutcome out = {sender->job, nullptr, sender->error};
  if (!out.error.empty()) return out;
  Json document = Json::parse(ReadWholeFile(sender->report), nullptr, false);
  const double seconds = document.is_discarded() ? 0 : NumberAt(document, "/end/seconds");
  const bool stopped = setting_.stop();
  // Of one that was asked to stop while the start was being left out there is nothing.
  const bool enough =
      seconds >= kLeastShare * plan_.seconds && NumberAt(document, "/end/sent/packets") > 0;
  if (sender->child.exit_code() != 0 || !enough) {
    if (!stopped) out.error = "dccp-send: " + sender->child.Complaint();
    return out;
  }
  // The measured part, not what was asked to stop in the part that is left out.
  bool measured = false;
  for (const Json& interval : document["intervals"])
    measured = measured || interval.value("omitted", false) == false;
  if (stopped && !measured) return out;
  out.run = std::move(document["end"]);
  out.run["seed"] = SeedOf(plan_, cells_[out.job.cell], out.job.repeat);
  if (seconds < 0.98 * plan_.seconds) out.run["partial"] = true;
  out.run["intervals"] = std::move(document["intervals"]);
  return out;
}

std::vector<TfrcOutcome> TfrcBatch::Collect() {
  for (auto& [index, place] : places_)
    if (place.bed != nullptr) place.emulator = place.bed->Close();
  std::vector<TfrcOutcome> outcomes;
  for (Sender& sender : senders_) {
    outcomes.push_back(Outcome(&sender));
    const Json& run = outcomes.back().run;
    if (run.is_null()) continue;
    Place& place = places_[sender.job.cell];
    place.received += NumberAt(run, "/received/packets");
    place.sent += NumberAt(run, "/sent/packets");
    place.runs += 1;
  }
  double packets = 0;
  double cpu_s = 0;
  for (TfrcOutcome& outcome : outcomes) {
    if (outcome.run.is_null()) continue;
    packets += NumberAt(outcome.run, "/sent/packets");
    cpu_s += NumberAt(outcome.run, "/cpu/local_percent") / 100 * NumberAt(outcome.run, "/seconds");
    AddShares(places_[outcome.job.cell], &outcome.run);
  }
  for (const auto& [index, place] : places_) cpu_s += place.receiver_s + place.emulator_s;
  us_per_packet_ = packets > 0 ? cpu_s / packets * 1e6 : 0;
  senders_.clear();
  places_.clear();
  return outcomes;
}

// Receiver and emulator serve all runs of a cell in this batch: each run gets its share.
void TfrcBatch::AddShares(const Place& place, Json* run) const {
  Json& cpu = (*run)["cpu"];
  const double runs_seconds = place.runs * window_s_;
  cpu["remote_percent"] = Quotient(100 * place.receiver_s, runs_seconds);
  cpu["remote_us_per_packet"] = Quotient(1e6 * place.receiver_s, place.received);
  cpu["emulator_percent"] = Quotient(100 * place.emulator_s, runs_seconds);
  cpu["emulator_us_per_packet"] = Quotient(1e6 * place.emulator_s, place.sent);
  cpu["host_percent"] = host_ ? Json(host_->percent) : Json(nullptr);
  cpu["host_softirq_percent"] = host_ ? Json(host_->softirq_percent) : Json(nullptr);
  (*run)["emulator"] = place.emulator;
}

}  // namespace dccp::apps::lab
