// Writes and reads Ack Vectors in tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "dccp/option_writer.h"
#include "stack/conn/ack_vector_buffer.h"
#include "stack/wire/ack_vector_codec.h"

namespace dccp {

struct WrittenOption {
  OptionType type;
  std::vector<std::byte> data;
};

// The options in `bytes`, which hold nothing but options of type 32 and above.
inline std::vector<WrittenOption> SplitOptions(std::span<const std::byte> bytes) {
  std::vector<WrittenOption> options;
  while (bytes.size() >= 2) {
    const auto length = static_cast<std::size_t>(bytes[1]);
    const auto data = bytes.subspan(2, length - 2);
    options.push_back({static_cast<OptionType>(bytes[0]), {data.begin(), data.end()}});
    bytes = bytes.subspan(length);
  }
  return options;
}

// One cell, in the RFC's "S,L" notation.
inline std::byte AckCell(unsigned state, unsigned run_length) {
  return static_cast<std::byte>(state << 6 | run_length);
}

// What `buffer` reports in a packet `our_seq` with `room` bytes for options.
inline std::vector<WrittenOption> WriteVector(AckVectorBuffer& buffer, std::int64_t our_seq,
                                              std::size_t room = OptionWriter::kMaxBytes) {
  std::array<std::byte, OptionWriter::kMaxBytes> bytes;
  OptionWriter out(std::span<std::byte>(bytes).first(room));
  buffer.Write(out, Seq64(our_seq));
  return SplitOptions(out.bytes());
}

// All cells of several options as one sequence.
inline std::vector<std::byte> Cells(const std::vector<WrittenOption>& options) {
  std::vector<std::byte> cells;
  for (const WrittenOption& o : options) cells.insert(cells.end(), o.data.begin(), o.data.end());
  return cells;
}

// The state that the options report of each packet, for a packet that acknowledges `ackno`.
inline std::map<std::int64_t, AckState> StatesOf(const std::vector<WrittenOption>& options,
                                                 std::int64_t ackno) {
  std::map<std::int64_t, AckState> states;
  for (const std::byte b : Cells(options)) {
    const AckVectorCell cell = DecodeAckCell(b);
    for (std::uint32_t i = 0; i < cell.packets(); ++i) states[ackno--] = cell.state;
  }
  return states;
}

}  // namespace dccp
