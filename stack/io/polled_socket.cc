#include "stack/io/polled_socket.h"

#include <algorithm>

namespace dccp {

PolledSocket::PolledSocket(std::unique_ptr<PacketSocket> socket, const Path& path, bool client,
                           Listener& listener)
    : socket_(std::move(socket)), path_(path), client_(client), listener_(listener) {}

std::unique_ptr<PolledSocket> PolledSocket::Watch(uv_loop_t* loop,
                                                  std::unique_ptr<PacketSocket> socket,
                                                  const Path& path, bool client, Listener& listener,
                                                  IoError* error) {
  std::unique_ptr<PolledSocket> out(new PolledSocket(std::move(socket), path, client, listener));
  auto poll = std::make_unique<uv_poll_t>();
  const int status = uv_poll_init(loop, poll.get(), out->socket_->fd());
  if (status != 0) {
    *error = {-status, "uv_poll_init"};
    return nullptr;
  }
  out->poll_.reset(poll.release());
  out->poll_->data = out.get();
  UvUnref(out->poll_);
  out->Start();
  return out;
}

void PolledSocket::Start() {
  // Errors come as priority data (SO_SELECT_ERR_QUEUE).
  const int events = UV_READABLE | UV_PRIORITIZED | (blocked_ ? UV_WRITABLE : 0);
  uv_poll_start(poll_.get(), events, [](uv_poll_t* handle, int status, int got) {
    PolledSocket& self = *static_cast<PolledSocket*>(handle->data);
    self.listener_.OnSocket(self, status, got);
  });
}

void PolledSocket::SetBlocked(bool blocked) {
  if (blocked_ == blocked) return;
  blocked_ = blocked;
  Start();
}

void PolledSocket::RemoveConnection(ConnId conn) { std::erase(connections_, conn); }

bool PolledSocket::Abandoned(const Endpoint& endpoint, TimePoint now, Duration idle) {
  if (!client_ || !used_ || blocked_ || now - last_activity_ < idle) return false;
  std::erase_if(connections_, [&](ConnId conn) { return !endpoint.Info(conn).ok(); });
  return connections_.empty();
}

}  // namespace dccp
