// Where received payload goes: a file, a pipe or the standard output.
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dccp::apps {

// Writes datagrams one after another, each behind a 4-byte big-endian length when framed, on
// libuv's thread pool, so that a slow disk or reader never holds up the loop. Owns the file. What
// waits to be written is bounded: beyond that Write() refuses datagrams. After a write error
// nothing more is written.
class PayloadSink {
 public:
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{256} << 20;

  // "-" is the standard output. Null with `*error` filled when it cannot be opened.
  static std::unique_ptr<PayloadSink> Open(uv_loop_t* loop, const std::string& path, bool framed,
                                           std::string* error);
  ~PayloadSink();  // idle() must hold
  PayloadSink(const PayloadSink&) = delete;
  PayloadSink& operator=(const PayloadSink&) = delete;

  // False: refused, for lack of room or after an error.
  bool Write(std::span<const std::byte> datagram);
  // Starts writing what waits; for the end of a batch of Write().
  void Kick();
  // Called when everything was written, and on an error; after Finish() exactly once more.
  void SetIdleHandler(std::function<void()> handler) { on_idle_ = std::move(handler); }
  bool idle() const { return !busy_ && (waiting_.empty() || failed()); }

  // Closes the file; only when idle. False when that reveals an error.
  bool Close();
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  PayloadSink(uv_loop_t* loop, int fd, std::string name, bool framed);
  void StartWrite();
  void OnWritten(std::int64_t result);

  uv_loop_t* loop_;
  int fd_;
  std::string name_;
  bool framed_;
  bool busy_ = false;
  uv_fs_t request_ = {};
  std::vector<std::byte> waiting_;
  std::vector<std::byte> writing_;
  std::size_t written_ = 0;  // of writing_
  std::string error_;
  std::function<void()> on_idle_;
};

}  // namespace dccp::apps
