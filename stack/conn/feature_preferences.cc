#include "stack/conn/feature_preferences.h"

#include <algorithm>

namespace dccp {

PreferenceList PreferenceList::From(std::span<const std::byte> values) {
  PreferenceList list;
  for (std::byte v : values) list.Add(static_cast<std::uint8_t>(v));
  return list;
}

std::optional<std::uint8_t> Reconcile(Role role, std::span<const std::byte> own,
                                      std::span<const std::byte> peer) {
  const auto server = role == Role::kServer ? own : peer;
  const auto client = role == Role::kServer ? peer : own;
  for (std::byte v : server) {
    if (std::ranges::find(client, v) != client.end()) return static_cast<std::uint8_t>(v);
  }
  return std::nullopt;
}

}  // namespace dccp
