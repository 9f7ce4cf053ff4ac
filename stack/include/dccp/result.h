// Local failures. A peer's fault is never one of these: it is a counted drop or a Reset.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "dccp/export.h"

namespace dccp {

enum class Error {
  kInvalidArgument,   // a parameter is out of its documented range
  kNoSuchConnection,  // the handle is stale or was never given out
  kNoSuchListener,
  kNotConnected,     // the connection cannot send (not yet) or any more
  kMessageTooLarge,  // the datagram exceeds the maximum packet size
  kQueueFull,        // the send queue has no room; wait for kWritable
  kNoBuffers,        // the endpoint's memory budget is spent
  kTooManyConnections,
  kPortInUse,  // port and service code, or the full tuple, are taken
  kNoPortAvailable,
  kUnsupportedCcid,  // the registry holds no such CCID
  kUnsupported,
  kBadState,
  kSystem,  // an operating system call failed; io/ reports errno beside it
};

// One line in plain English, no trailing period. Never null.
DCCP_EXPORT const char* ToString(Error error);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(*-explicit-*)
  Result(Error error) : v_(std::in_place_index<1>, error) {}         // NOLINT(*-explicit-*)

  bool ok() const { return v_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return *std::get_if<0>(&v_); }
  const T& value() const { return *std::get_if<0>(&v_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return std::get_if<0>(&v_); }
  const T* operator->() const { return std::get_if<0>(&v_); }
  Error error() const { return *std::get_if<1>(&v_); }

 private:
  std::variant<T, Error> v_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(error) {}  // NOLINT(*-explicit-*)
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace dccp
