// What the runs of one cell share: a receiver and an emulated path to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/dccp-lab/child.h"
#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/test_bed.h"
#include "apps/dccp-lab/tfrc_plan.h"

namespace dccp::apps::lab {

// What every bed needs to know.
struct TfrcSetting {
  std::string programs;  // the folder of dccp-send, dccp-recv, dccp-netem
  std::string scratch;   // for their output
  // Asked all the time: when it says so, what runs is ended.
  std::function<bool()> stop;
  bool realtime = false;  // the emulator may have real-time scheduling
};

// Gives this process, and so what it starts meanwhile, the lowest priority of real time, which
// comes before all others; takes it back at its end.
class Realtime {
 public:
  Realtime();
  ~Realtime();
  Realtime(const Realtime&) = delete;
  Realtime& operator=(const Realtime&) = delete;
  bool granted() const { return granted_; }

 private:
  bool granted_;
};

// Owns a dccp-recv and a dccp-netem, which end with it: over loopback, or with a bridge or a router
// in hosts of their own.
class TfrcBed {
 public:
  // `name`: of its files, another for each bed. Null with `*error` filled.
  static std::unique_ptr<TfrcBed> Open(const TfrcSetting& setting, const TfrcCell& cell,
                                       const std::string& name, std::uint64_t seed,
                                       std::string* error);

  // Starts a dccp-send to it that writes its report to `report`.
  std::optional<Child> StartSender(const TfrcPlan& plan, const std::string& name,
                                   const std::string& report, std::string* error) const;

  // Not empty: why no more will arrive.
  std::string Failure();
  Duration ReceiverCpu() const { return receiver_.CpuTime(); }
  Duration EmulatorCpu() const { return emulator_.CpuTime(); }
  // Ends both; what the emulator says of its losses and of its clock, null where it says nothing.
  Json Close();

 private:
  TfrcBed(const TfrcSetting& setting, const TfrcCell& cell, std::string name)
      : setting_(setting), cell_(cell), name_(std::move(name)) {}

  bool BuildHosts(std::string* error);
  bool StartReceiver(std::string* error);
  bool StartEmulator(std::uint64_t seed, std::string* error);
  std::string FamilyFlag() const { return cell_.family == IpFamily::kV4 ? "-4" : "-6"; }
  std::string Loopback() const { return cell_.family == IpFamily::kV4 ? "127.0.0.1" : "::1"; }
  const char* Encap() const { return cell_.native() ? "native" : "udp"; }
  std::vector<std::string> EmulatorWords(std::uint64_t seed) const;
  std::string PathFor(const char* what) const { return setting_.scratch + "/" + name_ + what; }

  const TfrcSetting& setting_;
  TfrcCell cell_;
  std::string name_;
  std::unique_ptr<TestBed> hosts_;  // null over loopback
  int receiver_port_ = 0;           // of DCCP, and of UDP where DCCP is in UDP
  int udp_port_ = 0;                // that senders send to
  Child receiver_;
  Child emulator_;
};

}  // namespace dccp::apps::lab
