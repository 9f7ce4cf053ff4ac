// Ring buffers indexed from the oldest element: r[0] is the front, r[size() - 1] the back.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "stack/base/check.h"

namespace dccp {

namespace internal {

// The queue operations over a power-of-two array that Derived supplies by data() and capacity().
// Elements are assigned, not constructed: a popped element lives on until its place is reused.
template <typename Derived, typename T>
class RingBase {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  T& operator[](std::size_t i) {
    DCCP_CHECK(i < size_);
    return self().data()[Slot(i)];
  }
  const T& operator[](std::size_t i) const {
    DCCP_CHECK(i < size_);
    return self().data()[Slot(i)];
  }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void pop_front() { pop_front(1); }
  void pop_front(std::size_t n) {
    DCCP_CHECK(n <= size_);
    if (n == 0) return;
    head_ = Slot(n);
    size_ -= n;
  }
  void pop_back() {
    DCCP_CHECK(size_ > 0);
    --size_;
  }
  void clear() { head_ = size_ = 0; }

 protected:
  std::size_t Slot(std::size_t i) const { return (head_ + i) & (self().capacity() - 1); }
  T& Append(T&& value) {
    T& place = self().data()[Slot(size_)];
    place = std::move(value);
    ++size_;
    return place;
  }

  std::size_t head_ = 0;
  std::size_t size_ = 0;

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace internal

// A ring of fixed capacity inside the object itself. Never allocates.
template <typename T, std::size_t kCapacity>
class Ring : public internal::RingBase<Ring<T, kCapacity>, T> {
  static_assert(std::has_single_bit(kCapacity));

 public:
  static constexpr std::size_t capacity() { return kCapacity; }
  bool full() const { return this->size_ == kCapacity; }
  // False, and nothing stored, when the ring is full.
  [[nodiscard]] bool push_back(T value) {
    if (full()) return false;
    this->Append(std::move(value));
    return true;
  }
  T* data() { return items_.data(); }
  const T* data() const { return items_.data(); }

 private:
  std::array<T, kCapacity> items_ = {};
};

// A ring that doubles when it is full. Allocates only then, so a user that reserves what it needs,
// or has reached its working size, never allocates. References are lost when it grows.
template <typename T>
class GrowingRing : public internal::RingBase<GrowingRing<T>, T> {
 public:
  GrowingRing() = default;
  explicit GrowingRing(std::size_t capacity) { reserve(capacity); }

  std::size_t capacity() const { return capacity_; }
  // Room for at least `n` elements.
  void reserve(std::size_t n) {
    if (n > capacity_) Reallocate(std::bit_ceil(n));
  }
  T& push_back(T value) {
    if (this->size_ == capacity_) Reallocate(capacity_ == 0 ? 8 : capacity_ * 2);
    return this->Append(std::move(value));
  }
  T* data() { return items_.get(); }
  const T* data() const { return items_.get(); }

 private:
  void Reallocate(std::size_t capacity) {
    auto items = std::make_unique<T[]>(capacity);
    for (std::size_t i = 0; i < this->size_; ++i) items[i] = std::move(items_[this->Slot(i)]);
    items_ = std::move(items);
    capacity_ = capacity;
    this->head_ = 0;
  }

  std::unique_ptr<T[]> items_;
  std::size_t capacity_ = 0;
};

}  // namespace dccp
