// A plan as a file: what a command is to do, as JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/dccp-lab/results.h"

namespace dccp::apps::lab {

// {"command": "tfrc", "paths": [{"rtt": "40ms", "loss": "1%"}], "repeat": 3}, or an array of such:
// a field of a plan is an option of its command without the dashes, "family": 4 or 6 stands for -4
// and -6. Each plan becomes the words of a command line. Nothing with `*error`, which names the
// field, filled. `lab` has the commands.
std::optional<std::vector<std::vector<std::string>>> WordsOfPlans(const Json& file,
                                                                  const CLI::App& lab,
                                                                  std::string* error);

// The file's text as JSON; nothing with `*error`, which tells the line, filled.
std::optional<Json> ParsePlanText(const std::string& text, std::string* error);

}  // namespace dccp::apps::lab
