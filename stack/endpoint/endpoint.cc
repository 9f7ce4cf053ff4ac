#include "dccp/endpoint.h"

#include <utility>

#include "stack/endpoint/endpoint_impl.h"

namespace dccp {

Result<std::unique_ptr<Endpoint>> Endpoint::Create(const EndpointConfig& config) {
  const bool valid = config.registry != nullptr && !config.registry->all().empty() &&
                     config.random != nullptr && config.max_connections > 0 &&
                     config.memory_bytes > 0 && config.msl > Duration::zero();
  if (!valid) return Error::kInvalidArgument;
  return std::unique_ptr<Endpoint>(new Endpoint(std::make_unique<Impl>(config)));
}

Endpoint::Endpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Endpoint::~Endpoint() = default;

Result<ConnId> Endpoint::Connect(const ConnectParams& params, TimePoint now) {
  return impl_->Connect(params, now);
}
Result<ListenerId> Endpoint::Listen(const ListenParams& params) { return impl_->Listen(params); }
Result<void> Endpoint::StopListening(ListenerId listener) { return impl_->StopListening(listener); }

Result<void> Endpoint::Send(ConnId conn, std::span<const std::byte> data,
                            const SendOptions& options) {
  ConnEntry* entry = impl_->Find(conn);
  if (entry == nullptr) return Error::kNoSuchConnection;
  const Result<void> sent = entry->conn->Send(data, options);
  if (sent.ok()) impl_->Touch(*entry);
  return sent;
}

Result<std::span<std::byte>> Endpoint::ReserveSend(ConnId conn, std::size_t bytes) {
  ConnEntry* entry = impl_->Find(conn);
  if (entry == nullptr) return Error::kNoSuchConnection;
  return entry->conn->ReserveSend(bytes);
}

Result<void> Endpoint::CommitSend(ConnId conn, std::size_t bytes, const SendOptions& options) {
  ConnEntry* entry = impl_->Find(conn);
  if (entry == nullptr) return Error::kNoSuchConnection;
  const Result<void> sent = entry->conn->CommitSend(bytes, options);
  if (sent.ok()) impl_->Touch(*entry);
  return sent;
}

std::uint32_t Endpoint::SendRoom(ConnId conn, std::size_t bytes) const {
  const ConnEntry* entry = impl_->Find(conn);
  return entry == nullptr ? 0 : entry->conn->SendRoom(bytes);
}

std::size_t Endpoint::Read(ConnId conn, std::span<ReceivedDatagram> out) {
  ConnEntry* entry = impl_->Find(conn);
  return entry == nullptr ? 0 : entry->conn->Read(out);
}

Result<void> Endpoint::StopReading(ConnId conn) {
  ConnEntry* const entry = impl_->Find(conn);
  if (entry == nullptr) return Error::kNoSuchConnection;
  entry->conn->StopReading();
  return {};
}
Result<void> Endpoint::SetSlowReceiver(ConnId conn, bool slow) {
  ConnEntry* const entry = impl_->Find(conn);
  if (entry == nullptr) return Error::kNoSuchConnection;
  entry->conn->SetSlowReceiver(slow);
  impl_->Touch(*entry);
  return {};
}

Result<void> Endpoint::PathChanged(ConnId conn, TimePoint now) {
  return impl_->PathChanged(conn, now);
}
Result<void> Endpoint::RediscoverMtu(ConnId conn, TimePoint now) {
  return impl_->RediscoverMtu(conn, now);
}

Result<void> Endpoint::Close(ConnId conn, TimePoint now, Duration drain) {
  return impl_->Close(conn, now, drain);
}
Result<void> Endpoint::Abort(ConnId conn, TimePoint now, ResetCode code) {
  return impl_->Abort(conn, now, code);
}
void Endpoint::Release(ConnId conn, TimePoint now) { impl_->Release(conn, now); }

Result<ConnectionInfo> Endpoint::Info(ConnId conn) const {
  const ConnEntry* entry = impl_->Find(conn);
  if (entry == nullptr) return Error::kNoSuchConnection;
  return impl_->Info(*entry);
}

Result<std::uint64_t> Endpoint::Feature(ConnId conn, FeatureNumber feature,
                                        bool located_here) const {
  const ConnEntry* entry = impl_->Find(conn);
  if (entry == nullptr) return Error::kNoSuchConnection;
  return entry->conn->Feature(feature, located_here);
}

void Endpoint::SetUserData(ConnId conn, std::uint64_t word) {
  if (ConnEntry* entry = impl_->Find(conn)) entry->user_data = word;
}
std::uint64_t Endpoint::UserData(ConnId conn) const {
  const ConnEntry* entry = impl_->Find(conn);
  return entry == nullptr ? 0 : entry->user_data;
}
std::uint32_t Endpoint::ActiveConnections() const { return impl_->ActiveConnections(); }

void Endpoint::Receive(std::span<const InboundDatagram> batch, TimePoint now) {
  impl_->Receive(batch, now);
}
void Endpoint::OnIcmp(const IcmpError& error, TimePoint now) { impl_->OnIcmp(error, now); }
std::optional<Event> Endpoint::PollEvent() { return impl_->PollEvent(); }
std::size_t Endpoint::Transmit(std::span<OutboundDatagram> out, TimePoint now) {
  return impl_->Transmit(out, now);
}
TimePoint Endpoint::NextTimeout() const { return impl_->NextTimeout(); }
void Endpoint::HandleTimeout(TimePoint now) { impl_->HandleTimeout(now); }
bool Endpoint::WantsTransmit(TimePoint now) const { return impl_->WantsTransmit(now); }
void Endpoint::CountDrop(DropReason reason) { impl_->CountDrop(reason); }
const EndpointCounters& Endpoint::counters() const { return impl_->counters(); }

}  // namespace dccp
