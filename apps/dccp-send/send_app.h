// One run of dccp-send.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/control.h"
#include "apps/common/hash_log.h"
#include "apps/common/loop_timer.h"
#include "apps/common/payload_source.h"
#include "apps/common/remote_figures.h"
#include "apps/common/reporter.h"
#include "apps/common/runtime.h"
#include "apps/common/session.h"
#include "apps/dccp-send/send_options.h"

namespace dccp::apps {

// Connects, sends (or lets the other end send), closes, asks the other end for its figures, prints.
// Addresses of the host are tried one after another until one answers.
class SendApp {
 public:
  explicit SendApp(const SendOptions& options) : options_(options), reporter_("dccp-send") {}

  int Run();

 private:
  // One data connection and what belongs to it.
  struct Flow {
    std::unique_ptr<Session> session;
    std::unique_ptr<LoopTimer> pace;
    bool close_asked = false;
    bool over = false;
    std::string pending_error;  // known before the close, told once
    std::optional<RemoteFigures> remote_base;
    std::optional<RemoteFigures> remote_end;
  };

  bool Prepare();
  void TryNextAddress();
  bool ConnectAll(const Path& path);

  void OnEvent(const Event& event);
  void OnConnected(std::size_t index);
  void OnClosed(std::size_t index);
  bool MayTryAnother(const Flow& flow) const;

  void Begin();
  void StartTimers();
  void AskToSend(std::size_t index);
  void Pump(std::size_t index);
  void PrintInterval();
  void PrintLastInterval(std::size_t index);
  void EndOmission();
  void CloseFlow(std::size_t index, Duration drain);
  void FinishAll();
  void Interrupt();

  void Conclude();
  void AskReports(bool base);
  void PrintSummary();
  void Linger();

  std::string Peer() const;
  std::string Label(std::size_t index) const;
  SendPlan Plan();

  SendOptions options_;
  Reporter reporter_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<PayloadSource> source_;
  std::unique_ptr<HashLog> hashes_;
  std::vector<IpAddress> addresses_;
  std::size_t next_address_ = 0;
  ConnectParams connect_;
  std::vector<Flow> flows_;
  std::unique_ptr<ControlClient> control_;
  std::unique_ptr<LoopTimer> interval_timer_;
  std::unique_ptr<LoopTimer> sample_timer_;
  std::unique_ptr<LoopTimer> end_timer_;
  std::unique_ptr<LoopTimer> omit_timer_;
  std::unique_ptr<LoopTimer> grace_timer_;
  bool begun_ = false;
  bool omitting_ = false;
  bool interrupted_ = false;
  bool concluded_ = false;
  std::size_t reports_wanted_ = 0;
  std::string last_error_;
};

}  // namespace dccp::apps
