// A checked, read-only view of a received packet. RFC 4340 §5
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dccp/seqno.h"
#include "dccp/service_code.h"
#include "dccp/types.h"
#include "stack/base/byte_order.h"
#include "stack/wire/header_layout.h"

namespace dccp {

// Why a packet is no valid one; each is a silent drop. The order is that of the tests, but for the
// checksum, which needs addresses: it comes before the coverage in the RFC, and here a coverage
// that is too large ends the parse first, since the sum would otherwise read past the end. RFC 4340
// §8.5 step 1
enum class ParseError : std::uint8_t {
  kNone,
  kTooShort,
  kUnknownType,
  kBadDataOffset,
  kShortSeqnoNotAllowed,
  kBadChecksumCoverage,
};

// Never null.
const char* ToString(ParseError error);

struct ParseOptions {
  bool allow_listen = false;  // type 10 (RFC 5596) is a known type
};

// Owns nothing: the bytes must outlive the view. Trivially copyable. Parse decides once that all
// fields and lengths lie within the bytes; no accessor of a parsed view then reads elsewhere. The
// accessors of a view that was never parsed successfully must not be called. Reserved bits are
// never looked at (§3.1). The checksum is not verified here. RFC 4340 §5
class PacketView {
 public:
  PacketView() = default;

  // `bytes` is one whole packet as IP or UDP delivered it. `out` is written only with kNone.
  static ParseError Parse(std::span<const std::byte> bytes, PacketView* out,
                          ParseOptions options = {}) {
    if (bytes.size() < kMinPacketBytes) return ParseError::kTooShort;
    const std::byte* p = bytes.data();
    const unsigned type_and_x = Load8(p + 8) & 0x1Fu;  // Type (4), X (1)
    const std::size_t fixed = kFixedBytes[type_and_x];
    const bool listen = (type_and_x >> 1) == static_cast<unsigned>(PacketType::kListen);
    if (fixed == 0 || (listen && !options.allow_listen)) return ParseError::kUnknownType;
    const std::size_t header = std::size_t{Load8(p + 4)} * 4;
    if (header < fixed || header > bytes.size()) return ParseError::kBadDataOffset;
    const PacketType type = static_cast<PacketType>(type_and_x >> 1);
    if ((type_and_x & 1) == 0 && !MayUseShortSeqno(type)) return ParseError::kShortSeqnoNotAllowed;
    const std::size_t cscov = Load8(p + 5) & 0x0Fu;
    if (cscov > 1 && (cscov - 1) * 4 > bytes.size() - header)
      return ParseError::kBadChecksumCoverage;
    *out = PacketView(bytes, fixed, header, type_and_x);
    return ParseError::kNone;
  }

  PacketType type() const { return static_cast<PacketType>(type_and_x_ >> 1); }
  // The X bit: sequence and acknowledgement numbers have 48 bits, else 24.
  bool extended() const { return (type_and_x_ & 1) != 0; }
  std::uint16_t source_port() const { return LoadBe16(data_); }
  std::uint16_t destination_port() const { return LoadBe16(data_ + 2); }
  std::uint8_t ccval() const { return static_cast<std::uint8_t>(Load8(data_ + 5) >> 4); }
  std::uint8_t cscov() const { return static_cast<std::uint8_t>(Load8(data_ + 5) & 0x0F); }
  std::uint16_t checksum() const { return LoadBe16(data_ + 6); }

  // With X = 0 only the low 24 bits of the number; ExtendSequenceNumber gives the rest.
  SeqNo seq() const {
    return extended() ? SeqNo(LoadBe48(data_ + 10)) : SeqNo(LoadBe24(data_ + 9));
  }
  bool has_ack() const { return HasAckNumber(type()); }
  // As seq(); 0 in a type without one.
  SeqNo ack() const {
    if (!has_ack()) return SeqNo();
    return extended() ? SeqNo(LoadBe48(data_ + 18)) : SeqNo(LoadBe24(data_ + 13));
  }
  // Of Request, Response and Listen; 0 in any other type.
  ServiceCode service_code() const {
    return HasServiceCode(type()) ? ServiceCode(LoadBe32(data_ + fixed_bytes_ - kTypeFieldBytes))
                                  : ServiceCode();
  }
  // Of Reset; zeros in any other type. The code is as received, known or not.
  ResetReason reset_reason() const {
    if (type() != PacketType::kReset) return {};
    const std::byte* p = data_ + fixed_bytes_ - kTypeFieldBytes;
    return {static_cast<ResetCode>(Load8(p)), {Load8(p + 1), Load8(p + 2), Load8(p + 3)}};
  }

  // header() includes the options; header() and payload() make up bytes().
  std::span<const std::byte> header() const { return {data_, header_bytes_}; }
  std::span<const std::byte> options() const {
    return {data_ + fixed_bytes_, std::size_t{header_bytes_} - fixed_bytes_};
  }
  std::span<const std::byte> payload() const {
    return {data_ + header_bytes_, size_ - header_bytes_};
  }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  // How many bytes from the start the header checksum covers. RFC 4340 §9.2
  std::size_t covered_bytes() const {
    return cscov() == 0 ? size_ : header_bytes_ + (std::size_t{cscov()} - 1) * 4;
  }

 private:
  PacketView(std::span<const std::byte> bytes, std::size_t fixed, std::size_t header,
             unsigned type_and_x)
      : data_(bytes.data()),
        size_(bytes.size()),
        header_bytes_(static_cast<std::uint16_t>(header)),
        fixed_bytes_(static_cast<std::uint8_t>(fixed)),
        type_and_x_(static_cast<std::uint8_t>(type_and_x)) {}

  // Indexed by Type << 1 | X; 0 marks an unknown type.
  static constexpr std::array<std::uint8_t, 32> kFixedBytes = [] {
    std::array<std::uint8_t, 32> table = {};
    for (unsigned i = 0; i <= 2 * static_cast<unsigned>(PacketType::kListen) + 1; ++i)
      table[i] = static_cast<std::uint8_t>(
          FixedHeaderBytes(static_cast<PacketType>(i >> 1), (i & 1) != 0));
    return table;
  }();

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint16_t header_bytes_ = 0;
  std::uint8_t fixed_bytes_ = 0;
  std::uint8_t type_and_x_ = 0;
};

}  // namespace dccp
