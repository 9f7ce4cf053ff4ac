#include "apps/dccp-lab/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dccp::apps::lab {

namespace {

std::vector<const CLI::App*> Commands(const CLI::App& lab) {
  return lab.get_subcommands([](const CLI::App*) { return true; });
}

std::string CommandNames(const CLI::App& lab) {
  std::string names;
  for (const CLI::App* sub : Commands(lab)) names += (names.empty() ? "" : ", ") + sub->get_name();
  return names;
}

std::string FieldNames(const CLI::App& command) {
  std::string names = "family";
  for (const CLI::Option* option : command.get_options())
    if (!option->get_lnames().empty() && option->get_lnames().front() != "help")
      names += ", " + option->get_lnames().front();
  return names;
}

// {"rtt": "40ms", "loss": "1%"} is "40ms/1%".
std::optional<std::string> PathOf(const Json& value, const std::string& where, std::string* error) {
  for (const auto& [name, part] : value.items()) {
    if (name != "rtt" && name != "loss") {
      *error = fmt::format("{}.{}: a path has \"rtt\" and \"loss\"", where, name);
      return std::nullopt;
    }
  }
  std::string text;
  for (const char* name : {"rtt", "loss"}) {
    if (!value.contains(name)) {
      *error = fmt::format("{}.{}: is missing", where, name);
      return std::nullopt;
    }
    const Json& part = value[name];
    if (!part.is_string() && !part.is_number()) {
      *error = fmt::format("{}.{}: {} is neither a string nor a number", where, name, part.dump());
      return std::nullopt;
    }
    text += (text.empty() ? "" : "/") + (part.is_string() ? part.get<std::string>() : part.dump());
  }
  return text;
}

// One value as the text of an option.
std::optional<std::string> TextOf(const Json& value, const std::string& where, std::string* error) {
  if (value.is_string() && !value.get<std::string>().empty()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  if (value.is_object() && where.find("paths") != std::string::npos)
    return PathOf(value, where, error);
  *error = fmt::format("{}: {} is no value", where, value.dump());
  return std::nullopt;
}

// Appends the words of one field; false with `*error` filled.
bool AddField(const CLI::App& command, const std::string& name, const Json& value,
              const std::string& where, std::vector<std::string>* words, std::string* error) {
  if (name == "family") {
    if (value != 4 && value != 6) {
      *error = fmt::format("{}: {} is neither 4 nor 6", where, value.dump());
      return false;
    }
    words->push_back(value == 4 ? "-4" : "-6");
    return true;
  }
  const CLI::Option* const option =
      name == "help" ? nullptr : command.get_option_no_throw("--" + name);
  if (option == nullptr) {
    *error = fmt::format("{}: no field of '{}', which has {}", where, command.get_name(),
                         FieldNames(command));
    return false;
  }
  if (option->get_items_expected_max() == 0) {  // a flag
    if (!value.is_boolean()) {
      *error = fmt::format("{}: {} is neither true nor false", where, value.dump());
      return false;
    }
    if (value == true) words->push_back("--" + name);
    return true;
  }
  const bool list = option->get_delimiter() != '\0';
  if (value.is_array() && !list) {
    *error = fmt::format("{}: takes one value, no list", where);
    return false;
  }
  const std::vector<Json> items =
      value.is_array() ? value.get<std::vector<Json>>() : std::vector<Json>{value};
  if (items.empty()) {
    *error = fmt::format("{}: is empty", where);
    return false;
  }
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string place = value.is_array() ? fmt::format("{}[{}]", where, i) : where;
    const std::optional<std::string> item = TextOf(items[i], place, error);
    if (!item) return false;
    text += (text.empty() ? "" : ",") + *item;
  }
  words->push_back(fmt::format("--{}={}", name, text));
  return true;
}

std::optional<std::vector<std::string>> WordsOf(const Json& plan, const std::string& where,
                                                const CLI::App& lab, std::string* error) {
  if (!plan.is_object()) {
    *error = fmt::format("{}a plan is an object, as in {{\"command\": \"tfrc\"}}",
                         where.empty() ? "" : where.substr(0, where.size() - 1) + ": ");
    return std::nullopt;
  }
  const Json command = plan.value("command", Json());
  const CLI::App* sub = nullptr;
  for (const CLI::App* known : Commands(lab))
    if (command == known->get_name()) sub = known;
  if (sub == nullptr) {
    *error = fmt::format("{}command: {} is none of {}", where,
                         plan.contains("command") ? command.dump() : "what is missing",
                         CommandNames(lab));
    return std::nullopt;
  }
  std::vector<std::string> words = {sub->get_name()};
  for (const auto& [name, value] : plan.items())
    if (name != "command" && !AddField(*sub, name, value, where + name, &words, error))
      return std::nullopt;
  return words;
}

}  // namespace

std::optional<std::vector<std::vector<std::string>>> WordsOfPlans(const Json& file,
                                                                  const CLI::App& lab,
                                                                  std::string* error) {
  std::vector<std::vector<std::string>> all;
  const bool several = file.is_array();
  if (several && file.empty()) {
    *error = "there is no plan in it";
    return std::nullopt;
  }
  std::set<std::string> folders;
  for (std::size_t i = 0; i < (several ? file.size() : 1); ++i) {
    const Json& plan = several ? file[i] : file;
    const std::string where = several ? fmt::format("[{}].", i) : "";
    std::optional<std::vector<std::string>> words = WordsOf(plan, where, lab, error);
    if (!words) return std::nullopt;
    if (several && !folders.insert(plan.value("out", Json()).dump()).second) {
      *error = fmt::format("{}out: each plan needs a folder of its own", where);
      return std::nullopt;
    }
    all.push_back(std::move(*words));
  }
  return all;
}

std::optional<Json> ParsePlanText(const std::string& text, std::string* error) {
  try {
    return Json::parse(text, nullptr, true, true);
  } catch (const Json::parse_error& fault) {
    const std::size_t end = std::min(text.size(), fault.byte == 0 ? 0 : fault.byte - 1);
    const std::string before = text.substr(0, end);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n');
    *error = fmt::format("line {}, column {}: this is no JSON", line,
                         before.size() - (start == std::string::npos ? 0 : start + 1) + 1);
    return std::nullopt;
  }
}

}  // namespace dccp::apps::lab
