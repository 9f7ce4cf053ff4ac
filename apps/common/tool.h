// What every program does alike: exit codes, error lines, argument parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "apps/common/text.h"

namespace dccp::apps {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Prints "TOOL: MESSAGE" on the standard error and returns kExitFailed.
int Fail(const std::string& tool, const std::string& message);
int FailUsage(const std::string& tool, const std::string& message);

// Adds --version and parses. The exit code where the program is to end now, else -1.
int ParseArguments(CLI::App* app, const char* version, int argc, char** argv);

// An option of the form --name[=VALUE]: `*value` becomes "-" without a VALUE. Its count() tells
// whether it was given; a VALUE must follow the "=", never a space.
CLI::Option* AddOptionalValue(CLI::App* app, const std::string& name, std::string* value,
                              const std::string& help);

// Runs the program; what it throws (memory that is not there) becomes an error line.
template <typename Program>
int Guarded(const char* tool, Program program) noexcept {
  try {
    return program();
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s: %s\n", tool, fault.what());
  } catch (...) {
    std::fprintf(stderr, "%s: unknown failure\n", tool);
  }
  return kExitFailed;
}

}  // namespace dccp::apps
