#include "stack/base/slab.h"

#include <algorithm>

#include "stack/base/check.h"

namespace dccp {

namespace internal {

// A run of equal cells in one block of memory.
struct SlabChunk {
  std::size_t size_class = 0;
  std::uint32_t cell_count = 0;
  std::uint32_t in_use = 0;
  Cell* free = nullptr;
  SlabChunk* prev = nullptr;  // among all chunks of the size
  SlabChunk* next = nullptr;
  SlabChunk* usable_prev = nullptr;  // among those with a free cell
  SlabChunk* usable_next = nullptr;
  std::unique_ptr<Cell[]> cells;
  std::unique_ptr<std::byte[]> memory;
};

}  // namespace internal

namespace {

using internal::SlabChunk;

// What one reservation takes, unless the rest of the budget is less.
constexpr std::size_t kChunkBytes = 128 * 1024;

template <SlabChunk* SlabChunk::*kPrev, SlabChunk* SlabChunk::*kNext>
void Link(SlabChunk*& head, SlabChunk* chunk) {
  chunk->*kPrev = nullptr;
  chunk->*kNext = head;
  if (head != nullptr) head->*kPrev = chunk;
  head = chunk;
}

template <SlabChunk* SlabChunk::*kPrev, SlabChunk* SlabChunk::*kNext>
void Unlink(SlabChunk*& head, SlabChunk* chunk) {
  SlabChunk* prev = chunk->*kPrev;
  SlabChunk* next = chunk->*kNext;
  (prev != nullptr ? prev->*kNext : head) = next;
  if (next != nullptr) next->*kPrev = prev;
}

constexpr auto kLinkAll = Link<&SlabChunk::prev, &SlabChunk::next>;
constexpr auto kUnlinkAll = Unlink<&SlabChunk::prev, &SlabChunk::next>;
constexpr auto kLinkUsable = Link<&SlabChunk::usable_prev, &SlabChunk::usable_next>;
constexpr auto kUnlinkUsable = Unlink<&SlabChunk::usable_prev, &SlabChunk::usable_next>;

}  // namespace

Slab::Slab(std::size_t budget_bytes) : budget_bytes_(budget_bytes) {}

Slab::~Slab() {
  for (SizeClass& size_class : classes_) {
    while (size_class.all != nullptr) Destroy(size_class.all);
  }
}

Cell* Slab::Allocate(std::size_t bytes) {
  const auto fit = std::lower_bound(kCellBytes.begin(), kCellBytes.end(), bytes);
  if (fit == kCellBytes.end()) return nullptr;
  const auto wanted = static_cast<std::size_t>(fit - kCellBytes.begin());
  if (Cell* cell = TakeFrom(wanted)) return cell;
  if (Grow(wanted)) return TakeFrom(wanted);
  // A larger cell that lies idle is better than none.
  for (std::size_t larger = wanted + 1; larger < kCellBytes.size(); ++larger) {
    if (Cell* cell = TakeFrom(larger)) return cell;
  }
  return nullptr;
}

void Slab::Free(Cell* cell) {
  if (cell == nullptr) return;
  Chunk* chunk = cell->chunk;
  DCCP_CHECK(chunk != nullptr && chunk->in_use > 0);
  if (chunk->free == nullptr) kLinkUsable(classes_[chunk->size_class].usable, chunk);
  cell->next = chunk->free;
  chunk->free = cell;
  --chunk->in_use;
  bytes_in_use_ -= cell->capacity;
}

Cell* Slab::TakeFrom(std::size_t size_class) {
  Chunk* chunk = classes_[size_class].usable;
  if (chunk == nullptr) return nullptr;
  Cell* cell = chunk->free;
  chunk->free = cell->next;
  if (chunk->free == nullptr) kUnlinkUsable(classes_[size_class].usable, chunk);
  ++chunk->in_use;
  bytes_in_use_ += cell->capacity;
  cell->next = nullptr;
  cell->offset = 0;
  cell->length = 0;
  return cell;
}

bool Slab::Grow(std::size_t size_class) {
  const std::uint32_t cell_bytes = kCellBytes[size_class];
  if (budget_bytes_ - bytes_reserved_ < cell_bytes && !GiveUpEmptyChunks(cell_bytes)) return false;
  const std::size_t room = std::min(budget_bytes_ - bytes_reserved_, kChunkBytes);
  const auto count = static_cast<std::uint32_t>(std::max<std::size_t>(room / cell_bytes, 1));

  auto chunk = std::make_unique<Chunk>();
  chunk->size_class = size_class;
  chunk->cell_count = count;
  chunk->cells = std::make_unique<Cell[]>(count);
  // Left uninitialised on purpose: the contents of a new cell are unspecified.
  chunk->memory.reset(new std::byte[std::size_t{count} * cell_bytes]);
  for (std::uint32_t i = count; i > 0; --i) {
    Cell& cell = chunk->cells[i - 1];
    cell.data = chunk->memory.get() + std::size_t{i - 1} * cell_bytes;
    cell.capacity = cell_bytes;
    cell.chunk = chunk.get();
    cell.next = chunk->free;
    chunk->free = &cell;
  }
  bytes_reserved_ += std::size_t{count} * cell_bytes;
  kLinkUsable(classes_[size_class].usable, chunk.get());
  kLinkAll(classes_[size_class].all, chunk.release());
  return true;
}

bool Slab::GiveUpEmptyChunks(std::size_t bytes_needed) {
  if (bytes_needed > budget_bytes_) return false;
  for (SizeClass& size_class : classes_) {
    Chunk* chunk = size_class.usable;
    while (chunk != nullptr && budget_bytes_ - bytes_reserved_ < bytes_needed) {
      Chunk* next = chunk->usable_next;
      if (chunk->in_use == 0) Destroy(chunk);
      chunk = next;
    }
  }
  return budget_bytes_ - bytes_reserved_ >= bytes_needed;
}

void Slab::Destroy(Chunk* chunk) {
  SizeClass& size_class = classes_[chunk->size_class];
  if (chunk->free != nullptr) kUnlinkUsable(size_class.usable, chunk);
  kUnlinkAll(size_class.all, chunk);
  bytes_reserved_ -= std::size_t{chunk->cell_count} * kCellBytes[chunk->size_class];
  const std::unique_ptr<Chunk> owned(chunk);
}

}  // namespace dccp
