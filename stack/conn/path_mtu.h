// Path MTU and maximum packet size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp {

// Keeps the path MTU and derives the maximum packet size, the largest application payload of one
// packet. Room for the longest usual header and for options (an Ack Vector most of all) is left
// free, so that a datagram of exactly mps_bytes() always goes. RFC 4340 §14
class PathMtu {
 public:
  // Generic header and acknowledgement with 48-bit numbers. RFC 4340 §5.1
  static constexpr std::uint32_t kHeaderBytes = 24;
  static constexpr std::uint32_t kDefaultReserveBytes = 32;

  struct Config {
    IpFamily family = IpFamily::kV4;
    Encapsulation encapsulation = Encapsulation::kUdp;
    std::uint32_t interface_mtu = 1500;
    std::uint32_t ccmps_bytes = 0;  // largest payload the CCID allows; 0: no limit
    std::uint32_t reserve_bytes = kDefaultReserveBytes;
    std::uint32_t quantum = 4;  // options are padded to a multiple of this
    bool fragment = false;      // payloads may exceed the path MTU: IP fragments them
  };

  explicit PathMtu(const Config& config);

  // Largest payload; 0 on a path that is too narrow for any.
  std::uint32_t mps_bytes() const { return mps_bytes_; }
  std::uint32_t pmtu() const { return pmtu_; }
  // The greatest value that pmtu() can take.
  std::uint32_t interface_mtu() const { return std::max(config_.interface_mtu, floor()); }
  // IP, and UDP, headers.
  std::uint32_t LowerHeaderBytes() const;
  // The least MTU of the IP version: 68 or 1280.
  std::uint32_t floor() const;
  // Header and option bytes that a packet with `payload_bytes` may take without exceeding the PMTU,
  // or the greatest IP packet where fragments are allowed.
  std::uint32_t RoomForHeaders(std::uint32_t payload_bytes) const;

  // A validated ICMP "datagram too big". `next_hop_mtu` 0 (IPv4 only): unknown, the next plateau
  // below `packet_bytes` (the quoted IP length; 0: the current PMTU) is taken. A value that is not
  // below the current PMTU, or below the floor, is ignored. True when the MPS changed.
  bool OnTooBig(std::uint32_t next_hop_mtu, std::uint32_t packet_bytes = 0);
  // A probe of `mtu` bytes got through: upward discovery. True when the MPS changed.
  bool OnProbeAcked(std::uint32_t mtu);
  // Packets above `mtu` bytes vanish on the path. True when the MPS changed.
  bool OnBlackHole(std::uint32_t mtu);
  // The application asks to discover afresh from the interface MTU; at most once in two seconds.
  // False: too early.
  bool Rediscover(TimePoint now);
  // Another path, of which nothing is known but the interface. True when the MPS changed.
  bool Restart(std::uint32_t interface_mtu);

  bool SetReserve(std::uint32_t reserve_bytes);
  bool SetCcmps(std::uint32_t ccmps_bytes);

  // Greatest entry of the plateau table below `mtu`; the least entry at the end. RFC 1191 §7.1
  static std::uint32_t PlateauBelow(std::uint32_t mtu);

 private:
  bool Update();
  std::uint32_t LargestPacket() const;

  Config config_;
  std::uint32_t pmtu_;
  std::uint32_t mps_bytes_ = 0;
  std::optional<TimePoint> rediscovered_;
};

// The MTU of an interface within an application's limit; 0: it has none.
constexpr std::uint32_t LimitedMtu(std::uint32_t interface_mtu, std::uint32_t limit) {
  return limit == 0 ? interface_mtu : std::min(interface_mtu, limit);
}

}  // namespace dccp
