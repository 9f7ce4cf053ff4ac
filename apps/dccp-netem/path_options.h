// The options that describe a path, and what they mean.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "stack/sim/path_model.h"

namespace dccp::apps::netem {

// As typed; empty: not given.
struct PathTexts {
  std::string delay;
  std::string loss;
  std::string rate;
  std::string queue;
  std::string red;
  std::string reorder;
  std::string duplicate;
  std::string corrupt;
  std::string ecn_mark;
  std::string mtu;
  bool red_ecn = false;
  bool jitter_reorders = false;
};

// Of both directions, and what one of them has instead.
struct PathOptionTexts {
  PathTexts both;
  PathTexts forward;
  PathTexts reverse;
};

void AddPathOptions(CLI::App* app, PathOptionTexts* texts);

// The path of one direction. Nothing with `*error` filled when something makes no sense.
std::optional<PathConfig> UnderstandPath(const PathTexts& both, const PathTexts& own,
                                         std::string_view prefix, std::string* error);

// The parts: "20ms", "20ms,5ms"; "1%", "1%,burst 4", "0,burst 0.01/0.2/1/0"; "100", "64K".
bool ParseDelay(std::string_view text, PathConfig* path);
bool ParseLossModel(std::string_view text, PathConfig* path);
bool ParseQueue(std::string_view text, PathConfig* path);
bool ParseRed(std::string_view text, PathConfig* path);
bool ParseReorder(std::string_view text, PathConfig* path);

// "40 ms, 1 % loss, 10 Mbits/sec ..." for people.
std::string DescribePath(const PathConfig& path);

}  // namespace dccp::apps::netem
