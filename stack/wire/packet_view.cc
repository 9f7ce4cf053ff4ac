#include "stack/wire/packet_view.h"

#include <type_traits>

namespace dccp {

static_assert(std::is_trivially_copyable_v<PacketView>);

const char* ToString(ParseError error) {
  switch (error) {
    case ParseError::kNone:
      return "none";
    case ParseError::kTooShort:
      return "shorter than a header";
    case ParseError::kUnknownType:
      return "unknown packet type";
    case ParseError::kBadDataOffset:
      return "bad Data Offset";
    case ParseError::kShortSeqnoNotAllowed:
      return "short sequence number on a type that has none";
    case ParseError::kBadChecksumCoverage:
      return "checksum coverage beyond the packet";
  }
  return "?";
}

}  // namespace dccp
