// The packets that are under way, and their memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dccp/time.h"
#include "dccp/types.h"

namespace dccp::apps::netem {

// A handle of a relay's client.
struct FlowId {
  std::uint32_t index = 0xFFFFFFFFu;
  std::uint32_t generation = 0;
  friend bool operator==(const FlowId&, const FlowId&) = default;
};

// What became of a packet that was to be sent.
enum class Outcome : std::uint8_t {
  kSent,
  kRefused,     // the system would not take it
  kUnresolved,  // nobody answers for the next hop
  kTryAgain,    // the next hop is being asked for
};

// A packet and what is known of it; its bytes follow it in memory.
struct Packet {
  TimePoint due;               // when it is to leave
  std::uint32_t length = 0;    // of bytes()
  std::uint32_t capacity = 0;  // of the cell
  std::uint32_t ip_bytes = 0;  // what the path model counts
  // The part of bytes() in which a bit may be flipped: what checksums above IP protect.
  std::uint32_t body_offset = 0;
  Ecn ecn = Ecn::kNotEct;
  bool may_fragment = false;
  Outcome outcome = Outcome::kSent;
  std::uint8_t size_class = 0;
  std::uint16_t tries = 0;
  FlowId flow;  // relay only
  // Bridge and router: where the kernel left a checksum to be computed; 0: nowhere.
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
  Packet* next_free = nullptr;

  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(this + 1); }
  std::span<std::byte> bytes() { return {data(), length}; }
  std::span<const std::byte> bytes() const { return {data(), length}; }
};

// Owns all packets, in cells of a few sizes that are used again: nothing is allocated once as many
// packets have been under way as ever will be. The cells in use never exceed the limit.
class PacketStore {
 public:
  explicit PacketStore(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Room for so many bytes, at most kMaxBytes. Null at the limit.
  Packet* New(std::size_t bytes);
  Packet* Copy(const Packet& packet);
  void Free(Packet* packet);

  std::size_t in_use() const { return in_use_; }
  std::size_t bytes_in_use() const { return bytes_in_use_; }

  // A GSO packet with its Ethernet header and VLAN tag.
  static constexpr std::size_t kMaxBytes = 65'600;

 private:
  // Of a cell, the packet's fixed part included.
  static constexpr std::array<std::size_t, 4> kCellBytes = {256, 2048, 9728, 65'792};
  static constexpr std::size_t kChunkBytes = 256 * 1024;

  void Grow(std::size_t size_class);

  std::size_t limit_bytes_;
  std::size_t in_use_ = 0;
  std::size_t bytes_in_use_ = 0;
  std::array<Packet*, kCellBytes.size()> free_ = {};
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace dccp::apps::netem
