#include "apps/dccp-lab/sizes_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "apps/dccp-lab/last_json.h"

namespace dccp::apps::lab {

namespace {

constexpr Duration kStart = std::chrono::seconds(20);
constexpr Duration kGrace = std::chrono::seconds(15);

Duration Seconds(double s) { return std::chrono::nanoseconds(static_cast<std::int64_t>(s * 1e9)); }

std::string FamilyFlag(const SizesCell& cell) { return cell.family == IpFamily::kV4 ? "-4" : "-6"; }

}  // namespace

SizesRun::SizesRun(const SizesPlan& plan, std::string programs, std::string scratch,
                   std::function<bool()> stop)
    : plan_(plan),
      programs_(std::move(programs)),
      scratch_(std::move(scratch)),
      stop_(std::move(stop)),
      // Two labs at the same time should rarely meet.
      next_port_(20'000 + ::getpid() % 20'000) {}

std::optional<Json> SizesRun::Run(const SizesCell& cell, std::string* error) {
  error->clear();
  return cell.ccid == 0 ? RunPlain(cell, error) : RunDccp(cell, error);
}

std::optional<Child> SizesRun::StartReceiver(
    const std::function<std::vector<std::string>(int)>& words, int* port, std::string* error) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    *port = next_port_;
    next_port_ = next_port_ >= 40'000 ? 20'000 : next_port_ + 1;
    std::optional<Child> child = Child::Start(words(*port), scratch_ + "/receiver", error);
    if (!child) return std::nullopt;
    if (child->WaitForLine("Listening", kStart, stop_)) return child;
    if (stop_()) return std::nullopt;
    *error = "the receiver does not start: " + child->Complaint();
    if (child->Complaint().find("in use") == std::string::npos) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Json> SizesRun::RunDccp(const SizesCell& cell, std::string* error) {
  int port = 0;
  std::optional<Child> receiver = StartReceiver(
      [&](int p) {
        return std::vector<std::string>{programs_ + "/dccp-recv",
                                        FamilyFlag(cell),
                                        "--encap",
                                        cell.encap,
                                        "--udp-port",
                                        std::to_string(p),
                                        "-p",
                                        std::to_string(p),
                                        "-i",
                                        "0"};
      },
      &port, error);
  if (!receiver) return std::nullopt;
  const std::string report = scratch_ + "/sender.json";
  const std::vector<std::string> words = {programs_ + "/dccp-send",
                                          FamilyFlag(cell),
                                          "--encap",
                                          cell.encap,
                                          "--udp-port",
                                          std::to_string(port),
                                          "-p",
                                          std::to_string(port),
                                          "--ccid",
                                          std::to_string(cell.ccid),
                                          "-s",
                                          std::to_string(cell.payload_bytes),
                                          "-t",
                                          fmt::format("{}", plan_.seconds),
                                          "--omit",
                                          fmt::format("{}", plan_.omit),
                                          "-i",
                                          "0",
                                          "--timeout",
                                          "10",
                                          "--json=" + report,
                                          cell.family == IpFamily::kV4 ? "127.0.0.1" : "::1"};
  std::optional<Child> sender = Child::Start(words, scratch_ + "/sender", error);
  if (!sender) return std::nullopt;
  if (!sender->Wait(Seconds(plan_.seconds + plan_.omit) + kGrace, stop_)) {
    if (!stop_()) *error = "dccp-send does not end";
    return std::nullopt;
  }
  if (sender->exit_code() != 0) {
    *error = sender->Complaint();
    return std::nullopt;
  }
  Json document = Json::parse(ReadWholeFile(report), nullptr, false);
  if (document.is_discarded() || !document.contains("end")) {
    *error = "dccp-send wrote no report";
    return std::nullopt;
  }
  receiver->Signal(SIGTERM);
  receiver->Wait(kGrace, stop_);
  return std::move(document["end"]);
}

std::optional<Json> SizesRun::RunPlain(const SizesCell& cell, std::string* error) {
  const auto words = [&](const char* role, int port) {
    return std::vector<std::string>{"/proc/self/exe",
                                    "plain-udp",
                                    role,
                                    FamilyFlag(cell),
                                    "--port",
                                    std::to_string(port),
                                    "--size",
                                    std::to_string(cell.payload_bytes),
                                    "--seconds",
                                    fmt::format("{}", plan_.seconds),
                                    "--omit",
                                    fmt::format("{}", plan_.omit)};
  };
  int port = 0;
  std::optional<Child> receiver =
      StartReceiver([&](int p) { return words("receive", p); }, &port, error);
  if (!receiver) return std::nullopt;
  std::optional<Child> sender = Child::Start(words("send", port), scratch_ + "/sender", error);
  if (!sender) return std::nullopt;
  if (!sender->Wait(Seconds(plan_.seconds + plan_.omit) + kGrace, stop_)) {
    if (!stop_()) *error = "the plain UDP sender does not end";
    return std::nullopt;
  }
  receiver->Signal(SIGTERM);
  if (!receiver->Wait(kGrace, stop_)) return std::nullopt;
  const Json sent = LastJsonLine(sender->Output());
  const Json received = LastJsonLine(receiver->Output());
  if (!sent.is_object() || !received.is_object()) {
    *error = "plain UDP: " + (sent.is_object() ? receiver->Complaint() : sender->Complaint());
    return std::nullopt;
  }
  const auto counts = [](const Json& side) {
    return Json{{"packets", side["packets"]},
                {"bytes", side["bytes"]},
                {"bits_per_second", side["bits_per_second"]}};
  };
  const double lost = sent["packets"].get<double>() - received["packets"].get<double>();
  Json out = {
      {"seconds", received["seconds"]}, {"sent", counts(sent)}, {"received", counts(received)}};
  out["received"]["lost_percent"] =
      sent["packets"].get<double>() > 0
          ? Json(std::max(0.0, 100 * lost / sent["packets"].get<double>()))
          : Json(nullptr);
  out["cpu"] = {{"local_percent", sent["cpu_percent"]},
                {"remote_percent", received["cpu_percent"]},
                {"local_us_per_packet", sent["us_per_packet"]},
                {"remote_us_per_packet", received["us_per_packet"]}};
  return out;
}

}  // namespace dccp::apps::lab
