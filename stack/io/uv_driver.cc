#include "dccp/uv_driver.h"

#include "stack/io/monotonic_clock.h"
#include "stack/io/uv_driver_impl.h"

namespace dccp {

std::unique_ptr<UvDriver> UvDriver::Create(uv_loop_t* loop, const UvDriverConfig& config,
                                           DriverError* error) {
  auto impl = std::make_unique<Impl>(loop, config);
  if (!impl->Start(error)) return nullptr;
  return std::unique_ptr<UvDriver>(new UvDriver(std::move(impl)));
}

UvDriver::UvDriver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
UvDriver::~UvDriver() = default;

Endpoint& UvDriver::endpoint() { return impl_->endpoint(); }
TimePoint UvDriver::now() { return MonotonicClock::Now(); }

bool UvDriver::OpenPath(const IpAddress& remote, std::uint16_t remote_udp_port,
                        const IpAddress* bind_local, Path* path, DriverError* error) {
  return impl_->OpenPath(remote, remote_udp_port, bind_local, path, error);
}

bool UvDriver::OpenServer(const IpAddress& local, std::uint16_t udp_port, bool reuse_port,
                          DriverError* error) {
  return impl_->OpenServer(local, udp_port, reuse_port, error);
}

void UvDriver::SetEventHandler(std::function<void(const Event&)> handler) {
  impl_->SetEventHandler(std::move(handler));
}

void UvDriver::Ref() { impl_->Ref(); }
void UvDriver::Unref() { impl_->Unref(); }

}  // namespace dccp
