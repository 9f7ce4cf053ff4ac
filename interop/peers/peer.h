// One end of an interop connection, on the library.
#pragma once

#include <uv.h>

#include <memory>
#include <string>
#include <vector>

#include "dccp/uv_driver.h"
#include "interop/peers/ledger.h"
#include "interop/peers/peer_options.h"

namespace dccp::interop {

// Owns a loop with one connection of either role: sends, counts what arrives, ends the connection
// when a signal says so, and tells what happens as JSON lines on the standard output.
class Peer {
 public:
  explicit Peer(const PeerOptions& options);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // False when it cannot be opened; the reason is on the standard error.
  bool Open();
  void Run();

 private:
  enum class Phase { kWaiting, kOpen, kEnding, kOver };

  bool Listen();
  bool Connect();
  ConnectionOptions Wishes() const;
  void StartHandles();
  void OnEvent(const Event& event);
  void OnOpen(ConnId conn);
  void OnTick();
  void Pump();
  // False: it was not taken, or is not due yet.
  bool SendOne(TimePoint now, bool over);
  void ReadAll();
  void End(bool abort);
  void Finish(const std::string& outcome);
  void Say(const char* event, const std::string& rest);

  PeerOptions options_;
  Ledger ledger_;
  uv_loop_t loop_ = {};
  uv_timer_t timer_ = {};
  uv_signal_t signals_[3] = {};
  std::unique_ptr<UvDriver> driver_;
  Phase phase_ = Phase::kWaiting;
  ConnId conn_;
  bool known_ = false;
  bool complete_ = false;
  bool over_ = false;
  std::uint32_t size_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
  int ends_ = 0;
  TimePoint start_;
  TimePoint begun_;     // sending
  TimePoint heard_;     // a datagram
  TimePoint progress_;  // one was taken for sending
  TimePoint over_at_;
};

}  // namespace dccp::interop
