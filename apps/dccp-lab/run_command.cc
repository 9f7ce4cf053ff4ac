// dccp-lab run.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/text.h"
#include "apps/common/tool.h"
#include "apps/dccp-lab/child.h"
#include "apps/dccp-lab/commands.h"
#include "apps/dccp-lab/plan_file.h"
#include "apps/dccp-lab/progress.h"

namespace dccp::apps::lab {

namespace {

constexpr const char* kTool = "dccp-lab";

struct RunOptions {
  std::string file;
  bool resume = false;
};

// Parses the words as a command line; false with `*error` filled.
bool Parse(std::vector<std::string> words, Command* command, std::string* error) {
  CLI::App app;
  AddExperiments(&app, command);
  // CLI11 takes them from the end.
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
    return true;
  } catch (const CLI::ParseError& fault) {
    *error = fault.what();
    // A field has no dashes.
    if (error->starts_with("--")) error->erase(0, 2);
    return false;
  }
}

int RunPlans(const RunOptions& o) {
  const std::string text = ReadWholeFile(o.file);
  if (text.empty()) return Fail(kTool, fmt::format("cannot read {}", o.file));
  std::string error;
  const auto bad = [&] { return FailUsage(kTool, fmt::format("{}: {}", o.file, error)); };
  const std::optional<Json> file = ParsePlanText(text, &error);
  if (!file) return bad();
  CLI::App lab;
  Command none;
  AddExperiments(&lab, &none);
  std::optional<std::vector<std::vector<std::string>>> plans = WordsOfPlans(*file, lab, &error);
  if (!plans) return bad();
  // All are understood before the first begins.
  std::vector<Command> commands;
  for (std::vector<std::string>& words : *plans) {
    if (o.resume && std::find(words.begin(), words.end(), "--resume") == words.end())
      words.emplace_back("--resume");
    if (!Parse(words, &commands.emplace_back(), &error)) return bad();
  }
  int code = kExitDone;
  for (const Command& command : commands) {
    code = std::max(code, command());
    if (Interrupted() || code == kExitUsage) break;
  }
  return code;
}

}  // namespace

void AddExperiments(CLI::App* app, Command* run) {
  AddTfrc(app, run);
  AddSizes(app, run);
  AddForward(app, run);
}

void AddRun(CLI::App* app, Command* run) {
  const auto o = std::make_shared<RunOptions>();
  CLI::App* const sub = app->add_subcommand("run", "What a plan in a file says");
  sub->add_option("PLAN", o->file, "JSON: {\"command\": \"tfrc\", \"repeat\": 3, ...}")->required();
  sub->add_flag("--resume", o->resume, "Go on with the results that are there");
  sub->callback([o, run] { *run = [o] { return RunPlans(*o); }; });
}

}  // namespace dccp::apps::lab
