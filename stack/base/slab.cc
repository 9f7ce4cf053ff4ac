#include "stack/base/slab.h"

#include <algorithm>
#include <utility>

#include "stack/base/check.h"

namespace dccp {

namespace {

// What one reservation takes, unless the rest of the budget is less.
constexpr std::size_t kChunkBytes = std::size_t{128} * 1024;

}  // namespace

Slab::Slab(std::size_t budget_bytes) : budget_bytes_(budget_bytes) {}

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
  if (chunk->free == nullptr) classes_[chunk->size_class].usable.PushFront(*chunk);
  cell->next = chunk->free;
  chunk->free = cell;
  --chunk->in_use;
  bytes_in_use_ -= cell->capacity;
}

Cell* Slab::TakeFrom(std::size_t size_class) {
  IntrusiveList<Chunk, &Chunk::usable>& usable = classes_[size_class].usable;
  Chunk* chunk = usable.front();
  if (chunk == nullptr) return nullptr;
  Cell* cell = chunk->free;
  chunk->free = cell->next;
  if (chunk->free == nullptr) usable.Remove(*chunk);
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
  classes_[size_class].usable.PushFront(*chunk);
  classes_[size_class].chunks.push_back(std::move(chunk));
  return true;
}

bool Slab::GiveUpEmptyChunks(std::size_t bytes_needed) {
  if (bytes_needed > budget_bytes_) return false;
  for (SizeClass& size_class : classes_) {
    auto& chunks = size_class.chunks;
    for (std::size_t i = chunks.size(); i > 0; --i) {
      if (budget_bytes_ - bytes_reserved_ >= bytes_needed) return true;
      std::unique_ptr<Chunk>& chunk = chunks[i - 1];
      if (chunk->in_use > 0) continue;
      size_class.usable.Remove(*chunk);
      bytes_reserved_ -= std::size_t{chunk->cell_count} * kCellBytes[chunk->size_class];
      chunk.swap(chunks.back());
      chunks.pop_back();
    }
  }
  return budget_bytes_ - bytes_reserved_ >= bytes_needed;
}

}  // namespace dccp
