#include "apps/common/tool.h"

#include <fmt/format.h>

#include <cstdio>

namespace dccp::apps {

int Fail(const std::string& tool, const std::string& message) {
  Put(stderr, fmt::format("{}: {}\n", tool, message));
  return kExitFailed;
}

int FailUsage(const std::string& tool, const std::string& message) {
  Put(stderr, fmt::format("{}: {}\nTry '{} --help'.\n", tool, message, tool));
  return kExitUsage;
}

int ParseArguments(CLI::App* app, const char* version, int argc, char** argv) {
  app->set_version_flag("--version", fmt::format("{} {}", app->get_name(), version));
  try {
    app->parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return app->exit(done);
  } catch (const CLI::ParseError& fault) {
    return FailUsage(app->get_name(), fault.what());
  }
  return -1;
}

CLI::Option* AddOptionalValue(CLI::App* app, const std::string& name, std::string* value,
                              const std::string& help) {
  return app->add_flag(name + "{-}", *value, help);
}

}  // namespace dccp::apps
