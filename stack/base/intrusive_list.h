// A doubly linked list through a member of its elements: no allocation, O(1) removal.
#pragma once

#include "stack/base/check.h"

namespace dccp {

// The member that an element embeds for each list it can be on.
template <typename T>
struct ListLink {
  T* prev = nullptr;
  T* next = nullptr;
  bool linked = false;
};

// Does not own its elements; an element must be removed before it is destroyed.
//   struct Conn { ListLink<Conn> ready; };   IntrusiveList<Conn, &Conn::ready> list;
template <typename T, ListLink<T> T::*kLink>
class IntrusiveList {
 public:
  IntrusiveList() = default;
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  bool empty() const { return head_ == nullptr; }
  T* front() const { return head_; }
  T* back() const { return tail_; }
  static T* Next(const T& element) { return (element.*kLink).next; }
  static bool Contains(const T& element) { return (element.*kLink).linked; }

  // The element must not be on the list.
  void PushBack(T& element) {
    ListLink<T>& link = element.*kLink;
    DCCP_CHECK(!link.linked);
    link = {.prev = tail_, .next = nullptr, .linked = true};
    (tail_ == nullptr ? head_ : (tail_->*kLink).next) = &element;
    tail_ = &element;
  }
  void PushFront(T& element) {
    ListLink<T>& link = element.*kLink;
    DCCP_CHECK(!link.linked);
    link = {.prev = nullptr, .next = head_, .linked = true};
    (head_ == nullptr ? tail_ : (head_->*kLink).prev) = &element;
    head_ = &element;
  }
  // Does nothing when the element is not on a list.
  void Remove(T& element) {
    ListLink<T>& link = element.*kLink;
    if (!link.linked) return;
    (link.prev == nullptr ? head_ : (link.prev->*kLink).next) = link.next;
    (link.next == nullptr ? tail_ : (link.next->*kLink).prev) = link.prev;
    link = {};
  }
  // Null when the list is empty.
  T* PopFront() {
    T* element = head_;
    if (element != nullptr) Remove(*element);
    return element;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
};

}  // namespace dccp
