#include "apps/common/payload_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "apps/common/text.h"
#include "stack/base/byte_order.h"

namespace dccp::apps {

namespace {

constexpr std::size_t kRingBytes = std::size_t{4} << 20;
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr std::size_t kFrameHeaderBytes = 4;

}  // namespace

// The ring and the reading into it. A request of libuv's may be under way when the source goes;
// the reader then stays until it has returned.
class PayloadSource::Reader {
 public:
  Reader(uv_loop_t* loop, int fd, std::string name)
      : loop_(loop), fd_(fd), name_(std::move(name)), ring_(kRingBytes) {
    request_.data = this;
    flags_ = fcntl(fd_, F_GETFL);
    // A regular file refuses to be polled, and so does /dev/zero: those are read by the pool.
    if (uv_poll_init(loop_, &poll_, fd_) == 0) {
      poll_.data = this;
      has_poll_ = true;
    }
  }

  void Advance() {
    if (busy_ || ended_ || released_ || free_bytes() == 0) return;
    busy_ = true;
    if (has_poll_) {
      uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* poll, int status, int) {
        static_cast<Reader*>(poll->data)->OnReadable(status);
      });
      return;
    }
    const std::span<std::byte> room = WriteRoom();
    uv_buf_t buffer =
        uv_buf_init(reinterpret_cast<char*>(room.data()), static_cast<unsigned>(room.size()));
    uv_fs_read(loop_, &request_, fd_, &buffer, 1, -1, [](uv_fs_t* request) {
      auto* self = static_cast<Reader*>(request->data);
      const std::int64_t result = request->result;
      uv_fs_req_cleanup(request);
      self->OnRead(result);
    });
  }

  void Release() {
    released_ = true;
    ready_ = nullptr;
    if (has_poll_) {
      uv_poll_stop(&poll_);
      busy_ = false;
    }
    if (!busy_) End();
  }

  std::size_t available() const { return static_cast<std::size_t>(tail_ - head_); }
  bool ended() const { return ended_; }
  const std::string& error() const { return error_; }

  void Copy(std::span<std::byte> out) const {
    const std::size_t at = static_cast<std::size_t>(head_ % kRingBytes);
    const std::size_t first = std::min(out.size(), kRingBytes - at);
    std::memcpy(out.data(), ring_.data() + at, first);
    std::memcpy(out.data() + first, ring_.data(), out.size() - first);
  }
  void Skip(std::size_t n) {
    head_ += n;
    Advance();
  }
  void SetReady(std::function<void()> ready) { ready_ = std::move(ready); }

 private:
  ~Reader() = default;

  std::size_t free_bytes() const { return kRingBytes - available(); }

  std::span<std::byte> WriteRoom() {
    const std::size_t at = static_cast<std::size_t>(tail_ % kRingBytes);
    return std::span(ring_).subspan(at, std::min({free_bytes(), kRingBytes - at, kReadBytes}));
  }

  void OnReadable(int status) {
    uv_poll_stop(&poll_);
    if (status < 0) {
      OnRead(status);
      return;
    }
    const std::span<std::byte> room = WriteRoom();
    const ssize_t n = read(fd_, room.data(), room.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      busy_ = false;
      Advance();
      return;
    }
    OnRead(n < 0 ? -errno : n);
  }

  void OnRead(std::int64_t result) {
    busy_ = false;
    if (released_) {
      End();
      return;
    }
    if (result < 0)
      error_ = fmt::format("cannot read {}: {}", name_, uv_strerror(static_cast<int>(result)));
    if (result <= 0)
      ended_ = true;
    else
      tail_ += static_cast<std::uint64_t>(result);
    Advance();
    if (ready_) ready_();
  }

  void End() {
    if (has_poll_) {
      // Polling made the descriptor non-blocking, for everybody who shares it.
      fcntl(fd_, F_SETFL, flags_);
      uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* handle) {
        auto* self = static_cast<Reader*>(handle->data);
        self->CloseFile();
        delete self;
      });
      return;
    }
    CloseFile();
    delete this;
  }

  void CloseFile() const {
    if (fd_ != STDIN_FILENO) close(fd_);
  }

  uv_loop_t* loop_;
  int fd_;
  std::string name_;
  int flags_ = 0;
  uv_fs_t request_ = {};
  uv_poll_t poll_ = {};
  bool has_poll_ = false;
  bool busy_ = false;
  bool ended_ = false;
  bool released_ = false;
  std::string error_;
  std::vector<std::byte> ring_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::function<void()> ready_;
};

std::unique_ptr<PayloadSource> PayloadSource::Open(uv_loop_t* loop, const std::string& path,
                                                   bool framed, std::string* error) {
  const bool standard = path == "-";
  const int fd = standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    *error = fmt::format("cannot read {}: {}", path, ErrnoText());
    return nullptr;
  }
  auto* reader = new Reader(loop, fd, standard ? "the standard input" : path);
  std::unique_ptr<PayloadSource> source(new PayloadSource(reader, framed));
  reader->Advance();
  return source;
}

PayloadSource::PayloadSource(Reader* reader, bool framed) : reader_(reader), framed_(framed) {}

PayloadSource::~PayloadSource() { reader_->Release(); }

PayloadSource::Status PayloadSource::Fail(std::string why) {
  error_ = std::move(why);
  return Status::kBroken;
}

PayloadSource::Status PayloadSource::Peek(std::size_t max_bytes, std::size_t* bytes) {
  if (!error_.empty()) return Status::kBroken;
  if (!reader_->error().empty()) return Fail(reader_->error());
  const std::size_t available = reader_->available();
  if (available == 0 && reader_->ended()) return Status::kEnd;
  std::size_t wanted = max_bytes;
  if (framed_) {
    if (available < kFrameHeaderBytes)
      return reader_->ended() ? Fail("the framed input ends inside a length") : Status::kWait;
    std::array<std::byte, kFrameHeaderBytes> header = {};
    reader_->Copy(header);
    wanted = LoadBe32(header.data());
    if (wanted > max_bytes)
      return Fail(fmt::format("a framed datagram of {} bytes is larger than the {} that fit",
                              wanted, max_bytes));
    if (available - kFrameHeaderBytes < wanted)
      return reader_->ended() ? Fail("the framed input ends inside a datagram") : Status::kWait;
  } else if (available < wanted) {
    if (!reader_->ended()) return Status::kWait;
    wanted = available;
  }
  next_bytes_ = wanted;
  *bytes = wanted;
  return Status::kReady;
}

void PayloadSource::Take(std::span<std::byte> out) {
  if (framed_) reader_->Skip(kFrameHeaderBytes);
  reader_->Copy(out.first(next_bytes_));
  reader_->Skip(next_bytes_);
}

void PayloadSource::SetReadyHandler(std::function<void()> handler) {
  reader_->SetReady(std::move(handler));
}

const std::string& PayloadSource::error() const { return error_; }

}  // namespace dccp::apps
