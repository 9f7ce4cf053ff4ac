#include "stack/sim/sim_pair.h"

#include <algorithm>
#include <array>

#include "stack/base/byte_order.h"
#include "stack/base/check.h"

namespace dccp {

Result<void> SimPair::Side::SendNumbered(std::uint32_t number, std::size_t bytes) {
  std::vector<std::byte> data(std::max(bytes, sizeof number));
  StoreBe32(data.data(), number);
  return Send(data);
}

SimPair::SimPair(const SimPairConfig& config)
    : config_(config), network_(config.seed, WithRegistry(config.endpoint), config.family) {
  client.node = &network_.AddNode("client");
  server.node = &network_.AddNode(
      "server", WithRegistry(config.server_endpoint ? *config.server_endpoint : config.endpoint));
  links_ = network_.Join(*client.node, *server.node, config.to_server, config.to_client);
  client.node->SetEventHandler([this](const Event& event) { OnEvent(client, event); });
  server.node->SetEventHandler([this](const Event& event) { OnEvent(server, event); });
}

EndpointConfig SimPair::WithRegistry(EndpointConfig config) {
  config.encapsulation = config_.encapsulation;
  if (config.registry == nullptr) {
    if (registry_.Find(CcidId::k2) == nullptr) DCCP_CHECK(registry_.Add(ccid2_));
    config.registry = &registry_;
  }
  return config;
}

Result<ListenerId> SimPair::Listen() {
  ListenParams params;
  params.port = config_.port;
  params.service_codes = {config_.service_code};
  params.options = config_.server;
  params.backlog = config_.backlog;
  params.cookies_above = config_.cookies_above;
  return server.endpoint().Listen(params);
}

Result<ConnId> SimPair::Connect(std::span<const std::byte> request_data) {
  ConnectParams params;
  params.path = client.node->PathTo(*server.node);
  params.remote_port = config_.port;
  params.service_code = config_.service_code;
  params.options = config_.client;
  params.request_data = request_data;
  const Result<ConnId> conn = client.endpoint().Connect(params, now());
  if (conn.ok()) {
    client.conn = *conn;
    client.seen = 0;
  }
  return conn;
}

bool SimPair::Establish(Duration limit) {
  if (!Listen().ok() || !Connect().ok()) return false;
  return RunUntil([this] { return client.connected() && server.connected(); }, limit);
}

void SimPair::OnEvent(Side& side, const Event& event) {
  side.events.push_back(event);
  if ((event.bits & kEventAccepted) != 0) {
    side.conn = event.conn;
    side.seen = 0;
  }
  if (event.conn == side.conn) side.seen |= event.bits;
  if (side.auto_read && (event.bits & (kEventReadable | kEventClosed)) != 0)
    ReadAll(side, event.conn);
  if (side.auto_release && (event.bits & kEventClosed) != 0)
    side.endpoint().Release(event.conn, side.node->now());
}

void SimPair::ReadAll(Side& side, ConnId conn) {
  std::array<ReceivedDatagram, 32> batch;
  while (const std::size_t n = side.endpoint().Read(conn, batch)) {
    for (const ReceivedDatagram& datagram : std::span(batch).first(n)) {
      ++side.received_datagrams;
      side.received_bytes += datagram.bytes.size();
      if (side.keep_data) side.received.emplace_back(datagram.bytes.begin(), datagram.bytes.end());
    }
  }
}

}  // namespace dccp
