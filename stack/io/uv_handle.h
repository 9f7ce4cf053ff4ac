// Owns a libuv handle, which only the loop may free.
#pragma once

#include <uv.h>

#include <memory>

namespace dccp {

// Closes the handle; the loop frees it on its next iteration.
template <typename T>
struct UvClose {
  void operator()(T* handle) const {
    uv_close(reinterpret_cast<uv_handle_t*>(handle),
             [](uv_handle_t* closed) { delete reinterpret_cast<T*>(closed); });
  }
};

// Hold only initialized handles: uv_close() must not see another.
template <typename T>
using UvHandle = std::unique_ptr<T, UvClose<T>>;

// Does not keep the loop alive.
template <typename T>
void UvUnref(const UvHandle<T>& handle) {
  uv_unref(reinterpret_cast<uv_handle_t*>(handle.get()));
}

}  // namespace dccp
