#include "apps/dccp-lab/tfrc_bed.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <csignal>

#include "apps/dccp-lab/test_path.h"

namespace dccp::apps::lab {

namespace {

constexpr Duration kStart = std::chrono::seconds(30);
constexpr Duration kEnd = std::chrono::seconds(10);
// Wide enough for full Ethernet payloads whatever the headers, as jumbo frames are.
constexpr int kMtu = 2000;
constexpr int kFirstPort = 20'000;
constexpr int kPorts = 12'000;  // below those that systems give out by themselves

// Two labs at the same time should rarely meet; where they do, the next port is tried.
int NextPort() {
  static int next = kFirstPort + static_cast<int>(::getpid() * 97L % kPorts);
  next = next + 1 >= kFirstPort + kPorts ? kFirstPort : next + 1;
  return next;
}

bool SetScheduler(int policy, int priority) {
  sched_param parameters = {};
  parameters.sched_priority = priority;
  return ::sched_setscheduler(0, policy, &parameters) == 0;
}

// The port in "Relaying UDP [::1]:1234 -> ..."; 0 where there is none.
int RelayPort(const std::string& line) {
  const std::size_t arrow = line.find(" -> ");
  if (arrow == std::string::npos) return 0;
  const std::size_t colon = line.rfind(':', arrow);
  int port = 0;
  if (colon != std::string::npos) std::from_chars(&line[colon + 1], &line[arrow], port);
  return port;
}

}  // namespace

Realtime::Realtime() : granted_(SetScheduler(SCHED_RR, 1)) {}

Realtime::~Realtime() {
  if (granted_) SetScheduler(SCHED_OTHER, 0);
}

std::unique_ptr<TfrcBed> TfrcBed::Open(const TfrcSetting& setting, const TfrcCell& cell,
                                       const std::string& name, std::uint64_t seed,
                                       std::string* error) {
  std::unique_ptr<TfrcBed> bed(new TfrcBed(setting, cell, name));
  if (cell.native() && !bed->BuildHosts(error)) return nullptr;
  if (!bed->StartReceiver(error) || !bed->StartEmulator(seed, error)) return nullptr;
  return bed;
}

bool TfrcBed::BuildHosts(std::string* error) {
  const Between between =
      cell_.topology == "bridge" ? Between::kNetemBridge : Between::kNetemRouter;
  hosts_ = TestBed::Build({between, false}, error);
  if (hosts_ == nullptr || !SetMtu(hosts_.get(), kMtu, error)) return false;
  if (cell_.family == IpFamily::kV4 || hosts_->has_v6()) return true;
  *error = "this kernel has no IPv6: -4 leaves it out";
  return false;
}

bool TfrcBed::StartReceiver(std::string* error) {
  const int home = hosts_ != nullptr ? hosts_->receiver().fd() : -1;
  for (int attempt = 0; attempt < 16; ++attempt) {
    receiver_port_ = NextPort();
    const std::string port = std::to_string(receiver_port_);
    std::optional<Child> child =
        Child::Start({setting_.programs + "/dccp-recv", FamilyFlag(), "--encap", Encap(),
                      "--udp-port", port, "-p", port, "-i", "0"},
                     PathFor("-receiver"), error, home);
    if (!child) return false;
    receiver_ = std::move(*child);
    if (receiver_.WaitForLine("Listening", kStart, setting_.stop)) return true;
    if (setting_.stop()) return false;
    *error = "the receiver does not start: " + receiver_.Complaint();
    if (receiver_.Complaint().find("in use") == std::string::npos) return false;
  }
  return false;
}

std::vector<std::string> TfrcBed::EmulatorWords(std::uint64_t seed) const {
  std::vector<std::string> words = {setting_.programs + "/dccp-netem"};
  if (hosts_ != nullptr) {
    words.insert(words.end(), {cell_.topology, TestBed::kLinks[0], TestBed::kLinks[1]});
  } else {
    const std::string host = cell_.family == IpFamily::kV4 ? Loopback() : "[" + Loopback() + "]";
    words.insert(words.end(), {"udp", "--listen", Loopback(), "--to",
                               fmt::format("{}:{}", host, receiver_port_)});
  }
  const double each_way_us = std::chrono::duration<double, std::micro>(cell_.path.rtt).count() / 2;
  words.insert(words.end(), {"--fwd-loss", fmt::format("{:.10g}", cell_.path.loss), "--delay",
                             fmt::format("{:.10g}us", each_way_us), "--seed", std::to_string(seed),
                             "--json=" + PathFor("-emulator.json")});
  if (setting_.realtime) words.emplace_back("--realtime");
  return words;
}

bool TfrcBed::StartEmulator(std::uint64_t seed, std::string* error) {
  const int home = hosts_ != nullptr ? hosts_->between().fd() : -1;
  const char* const first =
      hosts_ == nullptr ? "Relaying" : (cell_.topology == "bridge" ? "Bridging" : "Routing");
  std::optional<Child> child = Child::Start(EmulatorWords(seed), PathFor("-emulator"), error, home);
  if (!child) return false;
  emulator_ = std::move(*child);
  if (!emulator_.WaitForLine(first, kStart, setting_.stop)) {
    *error = "the emulator does not start: " + emulator_.Complaint();
    return false;
  }
  if (hosts_ != nullptr && !WaitForPath(hosts_.get(), cell_.family, kStart, setting_.stop, error))
    return false;
  udp_port_ = hosts_ != nullptr ? receiver_port_ : RelayPort(emulator_.Output());
  if (udp_port_ == 0) *error = "the emulator does not tell its port";
  return udp_port_ != 0;
}

std::optional<Child> TfrcBed::StartSender(const TfrcPlan& plan, const std::string& name,
                                          const std::string& report, std::string* error) const {
  return Child::Start({setting_.programs + "/dccp-send",
                       FamilyFlag(),
                       "--encap",
                       Encap(),
                       "--udp-port",
                       std::to_string(udp_port_),
                       "-p",
                       std::to_string(receiver_port_),
                       "--ccid",
                       "3",
                       "-s",
                       std::to_string(cell_.payload_bytes),
                       "-t",
                       fmt::format("{}", plan.seconds),
                       "--omit",
                       fmt::format("{}", plan.omit),
                       "-i",
                       fmt::format("{}", IntervalSeconds(plan)),
                       "--timeout",
                       "30",
                       "--json=" + report,
                       hosts_ != nullptr ? hosts_->receiver_address(cell_.family) : Loopback()},
                      name, error, hosts_ != nullptr ? hosts_->sender().fd() : -1);
}

std::string TfrcBed::Failure() {
  const auto never = [] { return false; };
  if (receiver_.Wait(Duration::zero(), never))
    return "the receiver ended: " + receiver_.Complaint();
  if (emulator_.Wait(Duration::zero(), never))
    return "the emulator ended: " + emulator_.Complaint();
  return "";
}

Json TfrcBed::Close() {
  emulator_.Signal(SIGTERM);
  receiver_.Signal(SIGTERM);
  emulator_.Wait(kEnd, [] { return false; });
  receiver_.Wait(kEnd, [] { return false; });
  const Json document = Json::parse(ReadWholeFile(PathFor("-emulator.json")), nullptr, false);
  if (!document.is_object() || !document.contains("/end/forward/offered"_json_pointer))
    return nullptr;
  const Json& end = document["end"];
  const auto offered = end["forward"]["offered"].get<double>();
  const auto lost = end["forward"]["lost"].get<double>();
  return {{"loss", offered > 0 ? Json(lost / offered) : Json(nullptr)},
          {"delay_error_ms", end["delay_error_ms"]},
          {"missed", end["missed"]}};
}

}  // namespace dccp::apps::lab
