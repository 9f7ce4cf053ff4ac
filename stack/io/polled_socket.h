// A packet socket watched by a libuv loop.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <vector>

#include "dccp/endpoint.h"
#include "stack/io/io_error.h"
#include "stack/io/packet_socket.h"
#include "stack/io/uv_handle.h"

namespace dccp {

// Owns the socket and its poll handle, and the facts by which the driver decides whether a client's
// socket is still of use. Write interest is set only while the socket is blocked. RFC 6773 §3.8
class PolledSocket {
 public:
  // Gets the events of uv_poll, or a negative status.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnSocket(PolledSocket& socket, int status, int events) = 0;
  };

  // Null on failure. `path`: the local address and port, and the remote ones of a client's socket.
  static std::unique_ptr<PolledSocket> Watch(uv_loop_t* loop, std::unique_ptr<PacketSocket> socket,
                                             const Path& path, bool client, Listener& listener,
                                             IoError* error);

  PacketSocket& socket() { return *socket_; }
  const Path& path() const { return path_; }
  bool client() const { return client_; }

  bool blocked() const { return blocked_; }
  void SetBlocked(bool blocked);
  // Starts polling again after libuv stopped it on an error.
  void Restart() { Start(); }

  void Touch(TimePoint now) {
    used_ = true;
    last_activity_ = now;
  }
  void AddConnection(ConnId conn) { connections_.push_back(conn); }
  void RemoveConnection(ConnId conn);
  // Nothing has used it for `idle`, and no connection known on it lives in `endpoint`.
  bool Abandoned(const Endpoint& endpoint, TimePoint now, Duration idle);

 private:
  PolledSocket(std::unique_ptr<PacketSocket> socket, const Path& path, bool client,
               Listener& listener);
  void Start();

  std::unique_ptr<PacketSocket> socket_;  // closed after its handle
  UvHandle<uv_poll_t> poll_;
  Path path_;
  bool client_;
  Listener& listener_;
  bool blocked_ = false;
  bool used_ = false;
  TimePoint last_activity_;
  std::vector<ConnId> connections_;
};

}  // namespace dccp
