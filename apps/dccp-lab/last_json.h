// What a program reported.
#pragma once

#include <string>

#include "apps/dccp-lab/results.h"

namespace dccp::apps::lab {

// The last line of a text as JSON; null where it is none.
inline Json LastJsonLine(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return nullptr;
  const std::size_t line = text.find_last_of('\n', end);
  Json out = Json::parse(text.substr(line == std::string::npos ? 0 : line + 1), nullptr, false);
  return out.is_discarded() ? Json(nullptr) : out;
}

}  // namespace dccp::apps::lab
