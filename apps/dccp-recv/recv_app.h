// One run of dccp-recv.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/common/hash_log.h"
#include "apps/common/loop_timer.h"
#include "apps/common/payload_sink.h"
#include "apps/common/remote_figures.h"
#include "apps/common/reporter.h"
#include "apps/common/runtime.h"
#include "apps/common/session.h"
#include "apps/dccp-recv/recv_options.h"

namespace dccp::apps {

// Listens until interrupted, or with --one-off until the first connection has ended; answers
// control connections about the others.
class RecvApp {
 public:
  explicit RecvApp(const RecvOptions& options) : options_(options), reporter_("dccp-recv") {}

  int Run();

 private:
  struct Guest {
    std::unique_ptr<Session> session;
    std::unique_ptr<LoopTimer> pace;
    bool close_asked = false;
    bool sends = false;
  };
  // A connection that is over, for questions that come late.
  struct Past {
    FlowTuple tuple;
    RemoteFigures figures;
  };

  bool Prepare();
  bool OpenServers();
  bool Listen();

  void OnEvent(const Event& event);
  void OnAccepted(const Event& event);
  void OnControl(const Event& event);
  void OnClosed(std::uint64_t id);
  void OnSinkIdle();

  nlohmann::json Answer(const nlohmann::json& question, const FlowTuple& from);
  nlohmann::json StartSending(std::uint64_t id, const nlohmann::json& question);
  void Pump(std::uint64_t id);
  void PrintIntervals();
  void PrintLastInterval(std::uint64_t id);

  // Ends every connection, then the program.
  void ShutDown();
  void MaybeStop();
  void StopAfter(Duration wait);

  RecvOptions options_;
  Reporter reporter_;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<PayloadSink> sink_;
  std::unique_ptr<HashLog> hashes_;
  ListenerId data_listener_;
  ListenerId control_listener_;
  std::map<std::uint64_t, Guest> guests_;  // by the word at the connection
  std::deque<Past> past_;
  std::uint64_t next_id_ = 2;
  std::size_t controls_ = 0;  // open control connections
  std::unique_ptr<LoopTimer> interval_timer_;
  std::unique_ptr<LoopTimer> sample_timer_;
  std::unique_ptr<LoopTimer> stop_timer_;
  std::size_t served_ = 0;
  bool ending_ = false;
  bool sink_failed_ = false;
  bool answered_ = false;  // a client has had final figures
};

}  // namespace dccp::apps
