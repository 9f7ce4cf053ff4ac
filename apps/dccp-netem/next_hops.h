// Who is next on the way to a destination, by the kernel's routing and neighbour tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "apps/dccp-netem/frame.h"
#include "dccp/time.h"
#include "dccp/types.h"
#include "stack/io/unique_fd.h"

namespace dccp::apps::netem {

// Asks the kernel over netlink, which resolves addresses with ARP and neighbour discovery as for
// its own traffic, and remembers the answers for a short while. Needs CAP_NET_ADMIN to have it
// resolve.
class NextHops {
 public:
  enum class State : std::uint8_t { kKnown, kAsking, kNone };
  struct Answer {
    State state = State::kNone;
    std::array<std::byte, kMacBytes> mac = {};
  };

  // False with `*error` filled.
  bool Open(std::string* error);
  // Towards `destination` on the interface `index`.
  Answer Find(unsigned index, const IpAddress& destination, TimePoint now);

 private:
  struct Entry {
    Answer answer;
    IpAddress gateway;  // or the destination itself
    TimePoint until;
  };
  struct Key {
    unsigned index;
    IpAddress destination;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  // A request and its answer, or an empty one.
  std::span<const std::byte> Ask(std::span<const std::byte> request);
  bool FindGateway(unsigned index, const IpAddress& destination, IpAddress* gateway);
  Answer FindNeighbour(unsigned index, const IpAddress& gateway);
  void Resolve(unsigned index, const IpAddress& gateway);

  UniqueFd fd_;
  std::uint32_t sequence_ = 0;
  int error_ = 0;  // of the last answer
  std::array<std::byte, 8192> buffer_ = {};
  std::unordered_map<Key, Entry, KeyHash> entries_;
};

}  // namespace dccp::apps::netem
