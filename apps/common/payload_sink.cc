#include "apps/common/payload_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "apps/common/text.h"
#include "stack/base/byte_order.h"

namespace dccp::apps {

std::unique_ptr<PayloadSink> PayloadSink::Open(uv_loop_t* loop, const std::string& path,
                                               bool framed, std::string* error) {
  const bool standard = path == "-";
  const int fd =
      standard ? STDOUT_FILENO : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    *error = fmt::format("cannot write {}: {}", path, ErrnoText());
    return nullptr;
  }
  return std::unique_ptr<PayloadSink>(
      new PayloadSink(loop, fd, standard ? "the standard output" : path, framed));
}

PayloadSink::PayloadSink(uv_loop_t* loop, int fd, std::string name, bool framed)
    : loop_(loop), fd_(fd), name_(std::move(name)), framed_(framed) {
  request_.data = this;
}

PayloadSink::~PayloadSink() { Close(); }

bool PayloadSink::Write(std::span<const std::byte> datagram) {
  if (failed() || waiting_.size() + datagram.size() > kMaxWaitingBytes) return false;
  if (framed_) {
    std::array<std::byte, 4> length = {};
    StoreBe32(length.data(), static_cast<std::uint32_t>(datagram.size()));
    waiting_.insert(waiting_.end(), length.begin(), length.end());
  }
  waiting_.insert(waiting_.end(), datagram.begin(), datagram.end());
  return true;
}

void PayloadSink::Kick() {
  if (busy_ || waiting_.empty() || failed()) return;
  writing_.clear();
  writing_.swap(waiting_);
  written_ = 0;
  busy_ = true;
  StartWrite();
}

void PayloadSink::StartWrite() {
  uv_buf_t buffer = uv_buf_init(reinterpret_cast<char*>(writing_.data()) + written_,
                                static_cast<unsigned>(writing_.size() - written_));
  uv_fs_write(loop_, &request_, fd_, &buffer, 1, -1, [](uv_fs_t* request) {
    auto* self = static_cast<PayloadSink*>(request->data);
    const std::int64_t result = request->result;
    uv_fs_req_cleanup(request);
    self->OnWritten(result);
  });
}

void PayloadSink::OnWritten(std::int64_t result) {
  if (result < 0) {
    error_ = fmt::format("cannot write {}: {}", name_, uv_strerror(static_cast<int>(result)));
  } else {
    written_ += static_cast<std::size_t>(result);
    if (written_ < writing_.size()) {
      StartWrite();
      return;
    }
  }
  busy_ = false;
  Kick();
  if (idle() && on_idle_) on_idle_();
}

bool PayloadSink::Close() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0 || fd == STDOUT_FILENO) return !failed();
  if (close(fd) != 0 && !failed()) error_ = fmt::format("cannot write {}: {}", name_, ErrnoText());
  return !failed();
}

}  // namespace dccp::apps
