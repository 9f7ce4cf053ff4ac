#include "apps/dccp-netem/packet_store.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace dccp::apps::netem {

static_assert(sizeof(Packet) % alignof(Packet) == 0);

Packet* PacketStore::New(std::size_t bytes) {
  static_assert(kMaxBytes + sizeof(Packet) <= kCellBytes.back());
  std::size_t size_class = 0;
  while (size_class < kCellBytes.size() && kCellBytes[size_class] < bytes + sizeof(Packet))
    ++size_class;
  if (size_class == kCellBytes.size()) return nullptr;
  const std::size_t cell = kCellBytes[size_class];
  if (bytes_in_use_ + cell > limit_bytes_) return nullptr;
  if (free_[size_class] == nullptr) Grow(size_class);
  Packet* const place = free_[size_class];
  free_[size_class] = place->next_free;
  bytes_in_use_ += cell;
  ++in_use_;
  Packet* const packet = ::new (static_cast<void*>(place)) Packet;
  packet->length = static_cast<std::uint32_t>(bytes);
  packet->capacity = static_cast<std::uint32_t>(cell - sizeof(Packet));
  packet->size_class = static_cast<std::uint8_t>(size_class);
  return packet;
}

Packet* PacketStore::Copy(const Packet& packet) {
  Packet* const copy = New(packet.length);
  if (copy == nullptr) return nullptr;
  const std::uint32_t capacity = copy->capacity;
  const std::uint8_t size_class = copy->size_class;
  *copy = packet;
  copy->capacity = capacity;
  copy->size_class = size_class;
  std::memcpy(copy->data(), packet.data(), packet.length);
  return copy;
}

void PacketStore::Free(Packet* packet) {
  const std::size_t size_class = packet->size_class;
  bytes_in_use_ -= kCellBytes[size_class];
  --in_use_;
  packet->next_free = free_[size_class];
  free_[size_class] = packet;
}

void PacketStore::Grow(std::size_t size_class) {
  const std::size_t cell = kCellBytes[size_class];
  const std::size_t count = std::max<std::size_t>(1, kChunkBytes / cell);
  chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(count * cell));
  for (std::size_t i = count; i > 0; --i) {
    Packet* const packet = ::new (static_cast<void*>(chunks_.back().get() + (i - 1) * cell)) Packet;
    packet->next_free = free_[size_class];
    free_[size_class] = packet;
  }
}

}  // namespace dccp::apps::netem
