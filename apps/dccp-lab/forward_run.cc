#include "apps/dccp-lab/forward_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "apps/common/text.h"
#include "apps/dccp-lab/forward_rules.h"
#include "apps/dccp-lab/forward_search.h"
#include "apps/dccp-lab/host_cpu.h"
#include "apps/dccp-lab/last_json.h"
#include "dccp/uv_driver.h"
#include "stack/io/socket_address.h"

namespace dccp::apps::lab {

namespace {

constexpr Duration kStart = std::chrono::seconds(20);
constexpr Duration kGrace = std::chrono::seconds(20);
constexpr std::uint16_t kPlainPort = 6511;
constexpr std::uint16_t kDiscardPort = 9;
constexpr std::size_t kFrameCheckBytes = 4;  // cables of software have none
constexpr double kResolution = 0.02;
constexpr std::size_t kMostTrials = 12;

Duration Seconds(double s) { return std::chrono::nanoseconds(static_cast<std::int64_t>(s * 1e9)); }

std::string FamilyFlag(const ForwardCell& cell) {
  return cell.family == IpFamily::kV4 ? "-4" : "-6";
}

double Number(const Json& object, const char* pointer) {
  const Json::json_pointer at{std::string(pointer)};
  return object.contains(at) && object[at].is_number() ? object[at].get<double>() : 0;
}

// What the host between has sent towards the receiver.
struct LinkCount {
  double frames = 0;
  double bytes = 0;
};
LinkCount CountLink(TestBed* bed) {
  std::string text;
  bed->between().Inside([&] { text = ReadWholeFile("/proc/thread-self/net/dev"); });
  LinkCount count;
  const std::string mark = std::string(TestBed::kLinks[1]) + ":";
  if (const std::size_t at = text.find(mark); at != std::string::npos)
    std::sscanf(text.c_str() + at + mark.size(), "%*s %*s %*s %*s %*s %*s %*s %*s %lf %lf",
                &count.bytes, &count.frames);
  return count;
}

Json LinkToJson(const LinkCount& start, const LinkCount& end) {
  const double frames = end.frames - start.frames;
  if (frames <= 0) return {{"frames", 0}, {"mean_frame_bytes", nullptr}};
  return {{"frames", frames},
          {"mean_frame_bytes", (end.bytes - start.bytes) / frames + kFrameCheckBytes}};
}

Json RatesOf(double frames, double seconds, std::size_t frame_bytes) {
  const double bytes = frames * static_cast<double>(frame_bytes);
  const double a_second = seconds > 0 ? 1 / seconds : 0;
  return {{"packets", frames},
          {"bytes", bytes},
          {"bits_per_second", 8 * bytes * a_second},
          {"packets_per_second", frames * a_second}};
}

Json TrialToJson(const ForwardTrial& trial, const ForwardCell& cell) {
  Json out = {{"seconds", trial.seconds},
              {"sent", RatesOf(trial.sent, trial.seconds, cell.frame_bytes)},
              {"received", RatesOf(trial.received, trial.seconds, cell.frame_bytes)}};
  out["received"]["lost_percent"] = 100 * trial.lost;
  out["cpu"] = trial.cpu;
  out["between"] = trial.between;
  return out;
}

Json StepToJson(const ForwardTrial& trial, bool passed) {
  return {{"offered_packets_per_second",
           trial.offered_per_second > 0 ? Json(trial.offered_per_second) : Json(nullptr)},
          {"sent_packets_per_second", trial.sent_per_second()},
          {"received_packets_per_second", trial.received_per_second()},
          {"lost_percent", 100 * trial.lost},
          {"passed", passed}};
}

bool TrialPasses(const ForwardTrial& trial, double max_loss) {
  return Passes(
      {trial.offered_per_second, trial.sent_per_second(), trial.received_per_second(), trial.lost},
      max_loss);
}

}  // namespace

std::unique_ptr<TestBed> BuildForwardBed(const ForwardCell& cell, std::string* error) {
  // DCCP leaves room for options in what it takes as the largest payload: for the largest frame
  // the path has to be wider.
  constexpr std::uint32_t kMtu = 1600;
  return TestBed::Build({cell.between, false, kMtu}, error);
}

bool WarmUp(TestBed* bed, IpFamily family, std::string* error) {
  IpAddress address;
  ParseAddress(bed->receiver_address(family), &address);
  const SocketAddress to(address, kDiscardPort);
  UniqueFd fd;
  bed->sender().Inside([&] {
    fd = UniqueFd(::socket(AddressFamily(family), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  });
  bool good = fd.valid() && ::connect(fd.get(), to.get(), to.size()) == 0;
  bool answered = false;
  for (int i = 0; good && !answered && i < 50; ++i) {
    good = ::send(fd.get(), "", 0, 0) == 0 || errno == ECONNREFUSED;
    pollfd wait = {fd.get(), POLLIN, 0};
    answered = ::poll(&wait, 1, 100) == 1;
  }
  if (good && answered) return true;
  *error = "the receiver's host cannot be reached from the sender's: " +
           (good ? std::string("no answer") : ErrnoText());
  return false;
}

ForwardRun::ForwardRun(const ForwardPlan& plan, std::string programs, std::string scratch,
                       std::function<bool()> stop)
    : plan_(plan),
      programs_(std::move(programs)),
      scratch_(std::move(scratch)),
      stop_(std::move(stop)) {}

std::optional<Json> ForwardRun::Run(const ForwardCell& cell, std::string* error) {
  error->clear();
  const std::unique_ptr<TestBed> bed = BuildForwardBed(cell, error);
  if (bed == nullptr ||
      !InstallRules(bed.get(), cell.between, cell.firewall, cell.family, plan_.rules, scratch_,
                    error) ||
      !WarmUp(bed.get(), cell.family, error))
    return std::nullopt;
  const double busy_before = BusyPercent();
  const std::optional<ForwardTrial> blast = Try(bed.get(), cell, 0, error);
  if (!blast) return std::nullopt;
  Json steps = Json::array();
  std::optional<ForwardTrial> best;
  if (TrialPasses(*blast, plan_.max_loss)) {
    best = blast;
  } else {
    RateSearch search(blast->sent_per_second(), kResolution, kMostTrials);
    while (const std::optional<double> rate = search.Next()) {
      const std::optional<ForwardTrial> trial = Try(bed.get(), cell, *rate, error);
      if (!trial) return std::nullopt;
      const bool passed = TrialPasses(*trial, plan_.max_loss);
      steps.push_back(StepToJson(*trial, passed));
      search.Report(passed);
      if (passed) best = trial;
    }
  }
  // No rate passed: the throughput is zero, and the CPU of that is nobody's.
  Json out = TrialToJson(best ? *best : ForwardTrial{}, cell);
  out["blast"] = TrialToJson(*blast, cell);
  out["limit"] = !best ? "none" : steps.empty() ? "sender" : "loss";
  out["host_percent_before"] = busy_before;
  out["trials"] = std::move(steps);
  return out;
}

std::vector<std::string> ForwardRun::ReceiverWords(const ForwardCell& cell,
                                                   const TestBed& bed) const {
  if (cell.traffic == Traffic::kPlain)
    return {"/proc/self/exe", "plain-udp",
            "receive",        FamilyFlag(cell),
            "--address",      bed.receiver_address(cell.family),
            "--port",         std::to_string(kPlainPort),
            "--size",         std::to_string(cell.payload_bytes),
            "--omit",         fmt::format("{}", plan_.omit)};
  return {programs_ + "/dccp-recv", FamilyFlag(cell), "--encap", NameOf(cell.traffic), "-i", "0"};
}

std::vector<std::string> ForwardRun::SenderWords(const ForwardCell& cell, const TestBed& bed,
                                                 double per_second) const {
  const std::string to = bed.receiver_address(cell.family);
  const std::string size = std::to_string(cell.payload_bytes);
  const std::string seconds = fmt::format("{}", plan_.seconds);
  const std::string omit = fmt::format("{}", plan_.omit);
  if (cell.traffic == Traffic::kPlain)
    return {"/proc/self/exe", "plain-udp", "send",      FamilyFlag(cell),
            "--address",      to,          "--port",    std::to_string(kPlainPort),
            "--size",         size,        "--seconds", seconds,
            "--omit",         omit,        "--rate",    fmt::format("{:.3f}", per_second)};
  std::vector<std::string> words = {programs_ + "/dccp-send",
                                    FamilyFlag(cell),
                                    "--encap",
                                    NameOf(cell.traffic),
                                    "--ccid",
                                    "2",
                                    "-s",
                                    size,
                                    "-t",
                                    seconds,
                                    "--omit",
                                    omit,
                                    "-i",
                                    "0",
                                    "--timeout",
                                    "10",
                                    "--json=" + report()};
  if (per_second > 0) {
    words.push_back("-b");
    words.push_back(
        fmt::format("{:.3f}", 8 * per_second * static_cast<double>(cell.payload_bytes)));
  }
  words.push_back(to);
  return words;
}

std::optional<ForwardTrial> ForwardRun::Try(TestBed* bed, const ForwardCell& cell,
                                            double per_second, std::string* error) {
  const LinkCount frames_before = CountLink(bed);
  std::optional<Child> receiver =
      Child::Start(ReceiverWords(cell, *bed), scratch_ + "/receiver", error, bed->receiver().fd());
  if (!receiver) return std::nullopt;
  if (!receiver->WaitForLine("Listening", kStart, stop_)) {
    if (!stop_()) *error = "the receiver does not start: " + receiver->Complaint();
    return std::nullopt;
  }
  std::remove(report().c_str());
  std::optional<Child> sender = Child::Start(SenderWords(cell, *bed, per_second),
                                             scratch_ + "/sender", error, bed->sender().fd());
  if (!sender) return std::nullopt;
  // The host's load is of the middle of the trial, when both ends are at work.
  sender->Wait(Seconds(plan_.omit + 0.15 * plan_.seconds), stop_);
  const std::optional<HostCpu> before = HostCpu::Now();
  sender->Wait(Seconds(0.75 * plan_.seconds), stop_);
  const std::optional<HostCpu> after = HostCpu::Now();
  if (!sender->Wait(Seconds(plan_.seconds) + kGrace, stop_)) {
    if (!stop_()) *error = "the sender does not end";
    return std::nullopt;
  }
  if (sender->exit_code() != 0) {
    *error = sender->Complaint();
    return std::nullopt;
  }
  receiver->Signal(SIGTERM);
  if (!receiver->Wait(kGrace, stop_)) {
    if (!stop_()) *error = "the receiver does not end";
    return std::nullopt;
  }
  ForwardTrial trial;
  trial.offered_per_second = per_second;
  const bool read = cell.traffic == Traffic::kPlain ? ReadPlain(*sender, *receiver, &trial, error)
                                                    : ReadDccp(&trial, error);
  if (!read) return std::nullopt;
  trial.between = LinkToJson(frames_before, CountLink(bed));
  if (!before || !after) return trial;
  const HostLoad load = LoadBetween(*before, *after);
  trial.cpu["host_percent"] = load.percent;
  trial.cpu["host_softirq_percent"] = load.softirq_percent;
  const double rate = trial.received_per_second();
  if (rate > 0)
    trial.cpu["host_us_per_packet"] =
        load.percent * 1e4 * std::max(1u, std::thread::hardware_concurrency()) / rate;
  return trial;
}

bool ForwardRun::ReadPlain(const Child& sender, const Child& receiver, ForwardTrial* trial,
                           std::string* error) const {
  const Json sent = LastJsonLine(sender.Output());
  const Json received = LastJsonLine(receiver.Output());
  if (!sent.is_object() || !received.is_object()) {
    *error = "plain UDP: " + (sent.is_object() ? receiver.Complaint() : sender.Complaint());
    return false;
  }
  trial->seconds = Number(sent, "/seconds");
  trial->sent = Number(sent, "/packets");
  // Each side has its own clock and its own first packet: rates compare, counts do not.
  const double seconds = Number(received, "/seconds");
  if (seconds > 0) trial->received = Number(received, "/packets") * trial->seconds / seconds;
  const double all = Number(sent, "/total_packets");
  if (all > 0) trial->lost = std::max(0.0, 1 - Number(received, "/total_packets") / all);
  trial->cpu = {{"local_percent", sent["cpu_percent"]},
                {"remote_percent", received["cpu_percent"]},
                {"local_us_per_packet", sent["us_per_packet"]},
                {"remote_us_per_packet", received["us_per_packet"]}};
  return true;
}

bool ForwardRun::ReadDccp(ForwardTrial* trial, std::string* error) const {
  const Json document = Json::parse(ReadWholeFile(report()), nullptr, false);
  if (document.is_discarded() || !document.contains("end")) {
    *error = "dccp-send wrote no report";
    return false;
  }
  const Json& end = document["end"];
  if (!end.contains("received") || !end["received"].is_object() ||
      !end["received"]["packets"].is_number()) {
    *error = "the receiver did not tell what it got";
    return false;
  }
  trial->seconds = Number(end, "/seconds");
  trial->sent = Number(end, "/sent/packets");
  trial->received = Number(end, "/received/packets");
  trial->lost = Number(end, "/received/lost_percent") / 100;
  trial->cpu = end["cpu"];
  return true;
}

}  // namespace dccp::apps::lab
