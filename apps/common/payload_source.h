// Payload to send, read ahead from a file, a pipe or the standard input.
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

// Cuts a byte stream into datagrams: of a given size, the last one shorter, or as a 4-byte
// big-endian length before each says. Files are read on libuv's thread pool, pipes and terminals
// when they are readable, into a ring; nothing here blocks. Owns the file.
class PayloadSource {
 public:
  enum class Status { kReady, kWait, kEnd, kBroken };

  // "-" is the standard input. Null with `*error` filled when it cannot be read.
  static std::unique_ptr<PayloadSource> Open(uv_loop_t* loop, const std::string& path, bool framed,
                                             std::string* error);
  ~PayloadSource();
  PayloadSource(const PayloadSource&) = delete;
  PayloadSource& operator=(const PayloadSource&) = delete;

  // Whether a next datagram of at most `max_bytes` is there, and its size. kBroken: see error().
  Status Peek(std::size_t max_bytes, std::size_t* bytes);
  // Copies the datagram of the last Peek() that said kReady.
  void Take(std::span<std::byte> out);

  // Called when Peek() may no longer say kWait.
  void SetReadyHandler(std::function<void()> handler);
  const std::string& error() const;

 private:
  class Reader;
  PayloadSource(Reader* reader, bool framed);
  Status Fail(std::string why);

  Reader* reader_;  // ends itself once its last request has returned
  bool framed_;
  std::size_t next_bytes_ = 0;
  std::string error_;
};

}  // namespace dccp::apps
