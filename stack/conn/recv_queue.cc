#include "stack/conn/recv_queue.h"

namespace dccp {

bool RecvQueue::Push(const RecvItem& item) {
  if (!HasRoom(item.cell->length)) {
    ++refused_;
    return false;
  }
  bytes_ += item.cell->length;
  ring_.push_back(item);
  return true;
}

RecvItem RecvQueue::Pop() {
  const RecvItem item = ring_.front();
  ring_.pop_front();
  bytes_ -= item.cell->length;
  return item;
}

void RecvQueue::Clear() {
  while (!ring_.empty()) slab_.Free(Pop().cell);
}

}  // namespace dccp
