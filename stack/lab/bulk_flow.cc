#include "stack/lab/bulk_flow.h"

#include <array>

#include "stack/base/check.h"

namespace dccp::lab {
namespace {

const ServiceCode kServiceCode(0x6C61622E);  // "lab."

}  // namespace

Ccids::Ccids(const Ccid2Options& two, const Ccid3Options& three) : ccid2_(two), ccid3_(three) {
  DCCP_CHECK(registry_.Add(ccid2_));
  DCCP_CHECK(registry_.Add(ccid3_));
  DCCP_CHECK(registry_.Add(ccid4_));
}

BulkFlow::BulkFlow(SimNode& client, SimNode& server, const BulkFlowConfig& config)
    : client_(client), server_(server), config_(config), payload_(config.payload_bytes) {
  config_.options.tx_ccids = config_.options.rx_ccids = {config.ccid};
  client_.SetEventHandler([this](const Event& event) { OnClientEvent(event); });
  server_.SetEventHandler([this](const Event& event) { OnServerEvent(event); });
  ListenParams listen;
  listen.port = config_.port;
  listen.service_codes = {kServiceCode};
  listen.options = config_.options;
  DCCP_CHECK(server_.endpoint().Listen(listen).ok());
}

void BulkFlow::Start() {
  ConnectParams connect;
  connect.path = client_.PathTo(server_);
  connect.remote_port = config_.port;
  connect.service_code = kServiceCode;
  connect.options = config_.options;
  const Result<ConnId> conn = client_.endpoint().Connect(connect, client_.now());
  DCCP_CHECK(conn.ok());
  conn_ = *conn;
  Fill();
  client_.Settle();
}

void BulkFlow::Resume() {
  paused_ = false;
  Fill();
  client_.Settle();
}

ConnectionInfo BulkFlow::info() const {
  const Result<ConnectionInfo> info = client_.endpoint().Info(conn_);
  return info.ok() ? *info : ConnectionInfo();
}

ConnectionInfo BulkFlow::peer_info() const {
  const Result<ConnectionInfo> info = server_.endpoint().Info(peer_conn_);
  return info.ok() ? *info : ConnectionInfo();
}

void BulkFlow::OnClientEvent(const Event& event) {
  if ((event.bits & kEventConnected) != 0) open_ = true;
  if ((event.bits & kEventClosed) != 0) failed_ = true;
  // A datagram that was too large for the path may fit again.
  if ((event.bits & (kEventWritable | kEventConnected | kEventMpsChanged)) != 0) Fill();
}

void BulkFlow::OnServerEvent(const Event& event) {
  if ((event.bits & kEventAccepted) != 0) peer_conn_ = event.conn;
  std::array<ReceivedDatagram, 64> batch;
  while (const std::size_t n = server_.endpoint().Read(event.conn, batch)) {
    for (const ReceivedDatagram& datagram : std::span(batch).first(n))
      received_bytes_ += datagram.bytes.size();
  }
}

// Until one is refused: then the endpoint says when there is room again.
void BulkFlow::Fill() {
  while (!paused_ && client_.endpoint().Send(conn_, payload_).ok()) {
  }
}

}  // namespace dccp::lab
