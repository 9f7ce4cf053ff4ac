// Two hosts and a path between them: the stage of most protocol tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dccp/ccid2.h"
#include "stack/sim/network.h"

namespace dccp {

struct SimPairConfig {
  std::uint64_t seed = 1;
  Encapsulation encapsulation = Encapsulation::kUdp;
  IpFamily family = IpFamily::kV4;
  PathConfig to_server = {.delay = std::chrono::milliseconds(10)};
  PathConfig to_client = {.delay = std::chrono::milliseconds(10)};
  ConnectionOptions client = {};
  ConnectionOptions server = {};
  EndpointConfig endpoint = {};                        // registry null: CCID 2 only
  std::optional<EndpointConfig> server_endpoint = {};  // default: as `endpoint`
  std::uint32_t backlog = 4096;                        // as in ListenParams, as is the next
  std::optional<std::uint32_t> cookies_above = {};
  std::uint16_t port = 5001;
  ServiceCode service_code = ServiceCode(0x74657374);  // "test"
};

// Owns a network of a client and a server. Each side keeps what happens to its latest connection
// and reads what arrives, unless told not to.
class SimPair {
 public:
  // One side's application.
  struct Side {
    SimNode* node = nullptr;
    ConnId conn;                // of the server: the connection accepted last
    std::uint32_t seen = 0;     // all event bits of `conn` so far
    std::vector<Event> events;  // of all connections, in order
    bool auto_read = true;
    bool keep_data = true;      // else only counts
    bool auto_release = false;  // give the handle back once it is closed
    std::vector<std::vector<std::byte>> received;
    std::uint64_t received_datagrams = 0;
    std::uint64_t received_bytes = 0;

    Endpoint& endpoint() { return node->endpoint(); }
    bool connected() const { return (seen & (kEventConnected | kEventAccepted)) != 0; }
    bool closed() const { return (seen & kEventClosed) != 0; }
    ConnectionInfo info() {
      return endpoint().Info(conn).ok() ? *endpoint().Info(conn) : ConnectionInfo();
    }
    Result<void> Send(std::span<const std::byte> data, const SendOptions& options = {}) {
      return endpoint().Send(conn, data, options);
    }
    // `bytes` bytes whose first ones are `number`, big-endian.
    Result<void> SendNumbered(std::uint32_t number, std::size_t bytes);
    Result<void> Close(Duration drain = std::chrono::hours(24)) {
      return endpoint().Close(conn, node->now(), drain);
    }
    Result<void> Abort(ResetCode code = ResetCode::kAborted) {
      return endpoint().Abort(conn, node->now(), code);
    }
  };

  explicit SimPair(const SimPairConfig& config = {});
  SimPair(const SimPair&) = delete;
  SimPair& operator=(const SimPair&) = delete;

  // The server waits for connections with the configuration's port, code and options.
  Result<ListenerId> Listen();
  // The client connects to it; client.conn is the new connection.
  Result<ConnId> Connect(std::span<const std::byte> request_data = {});
  // Listens, connects, and runs until both sides are open; false when `limit` passed first.
  bool Establish(Duration limit = std::chrono::seconds(30));

  void Run(Duration duration) { simulator().RunFor(duration); }
  bool RunUntil(const std::function<bool()>& done, Duration limit) {
    return simulator().RunUntil(done, limit);
  }
  bool RunUntilClosed(Duration limit) {
    return RunUntil([this] { return client.closed() && server.closed(); }, limit);
  }

  Network& network() { return network_; }
  Simulator& simulator() { return network_.simulator(); }
  TimePoint now() { return simulator().now(); }
  Link& to_server() { return *links_.forward; }
  Link& to_client() { return *links_.reverse; }
  // The packets so far, one a line: for the message of a failed expectation.
  std::string Log() { return network_.log().Text(); }

  Side client;
  Side server;

 private:
  EndpointConfig WithRegistry(EndpointConfig config);
  void OnEvent(Side& side, const Event& event);
  static void ReadAll(Side& side, ConnId conn);

  SimPairConfig config_;
  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  Network network_;
  DuplexLink links_;
};

}  // namespace dccp
