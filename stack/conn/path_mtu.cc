#include "stack/conn/path_mtu.h"

#include <algorithm>
#include <array>

#include "stack/base/check.h"

namespace dccp {

namespace {

constexpr std::array<std::uint32_t, 11> kPlateaus = {65535, 32000, 17914, 8166, 4352, 2002,
                                                     1492,  1006,  508,   296,  68};
constexpr Duration kRediscoverInterval = std::chrono::seconds(2);

constexpr std::uint32_t LessOrZero(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : 0; }

}  // namespace

PathMtu::PathMtu(const Config& config) : config_(config), pmtu_(interface_mtu()) {
  DCCP_CHECK(config.quantum > 0);
  Update();
}

std::uint32_t PathMtu::floor() const { return config_.family == IpFamily::kV4 ? 68 : 1280; }

std::uint32_t PathMtu::LowerHeaderBytes() const {
  return (config_.family == IpFamily::kV4 ? 20u : 40u) +
         (config_.encapsulation == Encapsulation::kUdp ? 8u : 0u);
}

std::uint32_t PathMtu::RoomForHeaders(std::uint32_t payload_bytes) const {
  return LessOrZero(LargestPacket(), LowerHeaderBytes() + payload_bytes);
}

std::uint32_t PathMtu::LargestPacket() const {
  // What the length field of either IP header can say; reassembly is limited to it.
  constexpr std::uint32_t kLargestIpPacket = 65535;
  return config_.fragment ? kLargestIpPacket : pmtu_;
}

bool PathMtu::Update() {
  const std::uint32_t q = config_.quantum;
  const std::uint32_t reserve = (config_.reserve_bytes + q - 1) / q * q;
  const std::uint32_t old = mps_bytes_;
  mps_bytes_ = LessOrZero(LargestPacket(), LowerHeaderBytes() + kHeaderBytes + reserve);
  if (config_.ccmps_bytes != 0) mps_bytes_ = std::min(mps_bytes_, config_.ccmps_bytes);
  return mps_bytes_ != old;
}

bool PathMtu::OnTooBig(std::uint32_t next_hop_mtu, std::uint32_t packet_bytes) {
  std::uint32_t mtu = next_hop_mtu;
  if (mtu == 0 && config_.family == IpFamily::kV4) {
    mtu = PlateauBelow(packet_bytes == 0 ? pmtu_ : std::min(packet_bytes, pmtu_));
  }
  if (mtu >= pmtu_ || mtu < floor()) return false;
  pmtu_ = mtu;
  return Update();
}

bool PathMtu::OnProbeAcked(std::uint32_t mtu) {
  if (mtu <= pmtu_ || mtu > config_.interface_mtu) return false;
  pmtu_ = mtu;
  return Update();
}

bool PathMtu::OnBlackHole(std::uint32_t mtu) {
  if (mtu >= pmtu_ || mtu < floor()) return false;
  pmtu_ = mtu;
  return Update();
}

bool PathMtu::Restart(std::uint32_t interface_mtu) {
  config_.interface_mtu = interface_mtu;
  rediscovered_.reset();
  pmtu_ = this->interface_mtu();
  return Update();
}

bool PathMtu::Rediscover(TimePoint now) {
  if (rediscovered_.has_value() && now - *rediscovered_ < kRediscoverInterval) return false;
  rediscovered_ = now;
  pmtu_ = interface_mtu();
  Update();
  return true;
}

bool PathMtu::SetReserve(std::uint32_t reserve_bytes) {
  config_.reserve_bytes = reserve_bytes;
  return Update();
}

bool PathMtu::SetCcmps(std::uint32_t ccmps_bytes) {
  config_.ccmps_bytes = ccmps_bytes;
  return Update();
}

std::uint32_t PathMtu::PlateauBelow(std::uint32_t mtu) {
  for (const std::uint32_t plateau : kPlateaus) {
    if (plateau < mtu) return plateau;
  }
  return kPlateaus.back();
}

}  // namespace dccp
