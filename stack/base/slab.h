// Packet memory: cells of a few sizes, recycled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stack/base/intrusive_list.h"

namespace dccp {

namespace internal {
struct SlabChunk;
}

// A buffer of a Slab. The bytes in use are data[offset, offset + length): the room before them
// takes the header that is written once a datagram is sent, so its payload is never moved.
struct Cell {
  std::byte* data = nullptr;
  std::uint32_t capacity = 0;  // usable bytes at data; at least what was asked for
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  Cell* next = nullptr;                  // for the queue that holds the cell
  internal::SlabChunk* chunk = nullptr;  // the slab's own

  std::span<std::byte> bytes() { return {data + offset, length}; }
  std::span<const std::byte> bytes() const { return {data + offset, length}; }
  std::uint32_t headroom() const { return offset; }
  std::uint32_t tailroom() const { return capacity - offset - length; }
};

namespace internal {

// A run of equal cells in one block of memory.
struct SlabChunk {
  std::size_t size_class = 0;
  std::uint32_t cell_count = 0;
  std::uint32_t in_use = 0;
  Cell* free = nullptr;
  ListLink<SlabChunk> usable;
  std::unique_ptr<Cell[]> cells;
  std::unique_ptr<std::byte[]> memory;
};

}  // namespace internal

// Hands out cells of four sizes from chunks and takes them back. Memory is reserved chunk by chunk,
// never beyond the byte budget, and kept: once the working set is reached no call allocates.
// When the budget is spent on chunks of one size that stand empty, they are given up for another.
// Every cell must be freed before the slab is destroyed, or never touched afterwards.
class Slab {
 public:
  // Room for a small acknowledgement, an Ethernet frame, a jumbo frame, and a whole UDP datagram,
  // each with headroom for a header.
  static constexpr std::array<std::uint32_t, 4> kCellBytes = {256, 2048, 10240, 65536 + 512};

  explicit Slab(std::size_t budget_bytes);
  ~Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  // A cell of at least `bytes`, with offset and length 0 and its contents unspecified. Null when
  // `bytes` exceeds the largest size or the budget is spent.
  Cell* Allocate(std::size_t bytes);
  // Null is allowed.
  void Free(Cell* cell);

  // Bytes of the cells handed out, and of all cells; the second never exceeds the budget.
  std::size_t bytes_in_use() const { return bytes_in_use_; }
  std::size_t bytes_reserved() const { return bytes_reserved_; }
  std::size_t budget_bytes() const { return budget_bytes_; }

 private:
  using Chunk = internal::SlabChunk;

  // All chunks of one cell size, and those of them that have a free cell.
  struct SizeClass {
    std::vector<std::unique_ptr<Chunk>> chunks;
    IntrusiveList<Chunk, &Chunk::usable> usable;
  };

  Cell* TakeFrom(std::size_t size_class);
  bool Grow(std::size_t size_class);
  bool GiveUpEmptyChunks(std::size_t bytes_needed);

  std::size_t budget_bytes_;
  std::size_t bytes_in_use_ = 0;
  std::size_t bytes_reserved_ = 0;
  std::array<SizeClass, kCellBytes.size()> classes_;
};

}  // namespace dccp
