// What passed over the links, for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "stack/sim/link.h"

namespace dccp {

// One line for the header at `bytes`, such as "DataAck seq=7 ack=3 ccval=0 opts=4 data=1420", or
// why it is no DCCP packet. Bytes beyond the header need not be there: `dccp_bytes` is the size of
// the whole packet.
std::string DescribePacket(std::span<const std::byte> bytes, std::size_t dccp_bytes);

// Remembers the latest packets of the links that it observes and prints them one a line, with the
// time since the start of the simulation, the link, the packet and what became of it.
class PacketLog final : public LinkObserver {
 public:
  explicit PacketLog(std::size_t capacity = 1000) : capacity_(capacity) {}

  void OnOffered(const Link& link, const SimPacket& packet, const LinkAction& action,
                 const PathVerdict& verdict, TimePoint now) override;

  // The oldest first.
  std::string Text() const;
  std::size_t size() const { return records_.size(); }
  void Clear() { records_.clear(); }

 private:
  struct Record {
    TimePoint at;
    const Link* link;
    std::vector<std::byte> header;
    std::size_t dccp_bytes;
    Ecn ecn;
    LinkAction action;
    PathVerdict verdict;
  };

  static std::string Line(const Record& record);

  std::size_t capacity_;
  std::deque<Record> records_;
};

}  // namespace dccp
