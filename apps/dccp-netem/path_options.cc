#include "apps/dccp-netem/path_options.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "apps/common/parse.h"
#include "apps/common/text.h"

namespace dccp::apps::netem {

namespace {

// A path with a rate has a queue: as many packets unless told otherwise.
constexpr std::uint64_t kDefaultQueuePackets = 100;
constexpr Duration kDefaultReorderDelay = std::chrono::milliseconds(1);
constexpr Duration kMaxDelay = std::chrono::minutes(10);

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool ParseInto(std::string_view text, Duration* out) {
  const std::optional<Duration> value = ParseTime(text);
  if (!value || *value > kMaxDelay) return false;
  *out = *value;
  return true;
}

bool ParseInto(std::string_view text, double* probability) {
  const std::optional<double> value = ParseLoss(text);
  if (!value) return false;
  *probability = *value;
  return true;
}

// A plain number above 0.
std::optional<double> ParsePositive(std::string_view text) {
  const std::optional<double> value = ParseRate(text);
  if (!value || *value <= 0 || text.find_first_not_of("0123456789.") != std::string_view::npos)
    return std::nullopt;
  return value;
}

}  // namespace

bool ParseDelay(std::string_view text, PathConfig* path) {
  const std::vector<std::string_view> parts = Split(text, ',');
  if (parts.size() > 2 || !ParseInto(parts[0], &path->delay)) return false;
  return parts.size() == 1 || ParseInto(parts[1], &path->jitter);
}

bool ParseLossModel(std::string_view text, PathConfig* path) {
  const std::vector<std::string_view> parts = Split(text, ',');
  double loss = 0;
  if (parts.size() > 2 || !ParseInto(parts[0], &loss)) return false;
  if (parts.size() == 1) {
    path->loss = loss;
    return true;
  }
  constexpr std::string_view kBurst = "burst";
  std::string_view model = parts[1];
  if (!model.starts_with(kBurst) || model.size() < kBurst.size() + 2) return false;
  if (std::string_view(" =:").find(model[kBurst.size()]) == std::string_view::npos) return false;
  const std::vector<std::string_view> numbers = Split(model.substr(kBurst.size() + 1), '/');
  GilbertElliottConfig chain;
  if (numbers.size() == 1) {
    // The mean length of a burst: all packets of the bad state are lost, none of the good one.
    const std::optional<double> length = ParsePositive(numbers[0]);
    if (!length || *length < 1 || loss >= 1) return false;
    chain.bad_to_good = 1 / *length;
    chain.good_to_bad = loss * chain.bad_to_good / (1 - loss);
    if (chain.good_to_bad > 1) return false;
    path->burst_loss = chain;
    return true;
  }
  if (numbers.size() > 4 || !ParseInto(numbers[0], &chain.good_to_bad) ||
      !ParseInto(numbers[1], &chain.bad_to_good))
    return false;
  if (numbers.size() > 2 && !ParseInto(numbers[2], &chain.loss_bad)) return false;
  if (numbers.size() > 3 && !ParseInto(numbers[3], &chain.loss_good)) return false;
  path->loss = loss;
  path->burst_loss = chain;
  return true;
}

bool ParseQueue(std::string_view text, PathConfig* path) {
  const bool packets =
      !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (text.ends_with('B')) text.remove_suffix(1);
  const std::optional<std::uint64_t> value = ParseSize(text);
  if (!value || *value == 0) return false;
  (packets ? path->queue_packets : path->queue_bytes) = *value;
  (packets ? path->queue_bytes : path->queue_packets) = 0;
  return true;
}

bool ParseRed(std::string_view text, PathConfig* path) {
  const std::vector<std::string_view> parts = Split(text, ',');
  if (parts.size() != 3) return false;
  const std::optional<double> least = ParsePositive(parts[0]);
  const std::optional<double> most = ParsePositive(parts[1]);
  RedConfig red;
  if (!least || !most || *least >= *most || !ParseInto(parts[2], &red.max_probability))
    return false;
  red.min_packets = *least;
  red.max_packets = *most;
  red.mark = false;
  path->red = red;
  return red.max_probability > 0;
}

bool ParseReorder(std::string_view text, PathConfig* path) {
  const std::vector<std::string_view> parts = Split(text, ',');
  if (parts.size() > 2 || !ParseInto(parts[0], &path->reorder)) return false;
  path->reorder_delay = kDefaultReorderDelay;
  return parts.size() == 1 || ParseInto(parts[1], &path->reorder_delay);
}

void AddPathOptions(CLI::App* app, PathOptionTexts* texts) {
  struct Set {
    const char* prefix;
    const char* group;
    PathTexts* texts;
  };
  for (const Set& set : {Set{"--", "Path, both directions", &texts->both},
                         Set{"--fwd-", "Path, forward only", &texts->forward},
                         Set{"--rev-", "Path, reverse only", &texts->reverse}}) {
    const auto add = [&](const char* name, std::string* text, const char* help) {
      app->add_option(set.prefix + std::string(name), *text, help)->group(set.group);
    };
    add("delay", &set.texts->delay, "T[,JITTER]: one way, e.g. 20ms,2ms");
    add("loss", &set.texts->loss,
        "P[,burst N]: 1%, or in bursts of N on average; or burst GB/BG[/LOSS_BAD[/LOSS_GOOD]]");
    add("rate", &set.texts->rate, "Bits a second, e.g. 10Mbit");
    add("queue", &set.texts->queue, "Limit of the queue before the rate: packets, or 64K bytes");
    add("red", &set.texts->red, "MIN,MAX,P: random early detection, thresholds in packets");
    add("reorder", &set.texts->reorder, "P[,T]: so many packets come T later (1ms)");
    add("duplicate", &set.texts->duplicate, "P: so many packets come twice");
    add("corrupt", &set.texts->corrupt, "P: so many packets have a bit flipped");
    add("ecn-mark", &set.texts->ecn_mark, "P: of the ECN-capable packets, set CE");
    add("mtu", &set.texts->mtu, "Largest IP packet in bytes");
    app->add_flag(set.prefix + std::string("red-ecn"), set.texts->red_ecn,
                  "RED marks what is ECN-capable instead of dropping it")
        ->group(set.group);
    app->add_flag(set.prefix + std::string("jitter-reorders"), set.texts->jitter_reorders,
                  "Jitter may change the order of packets")
        ->group(set.group);
  }
}

namespace {

// What of both texts counts, under its name.
class Reader {
 public:
  Reader(std::string_view prefix, std::string* error) : prefix_(prefix), error_(error) {}

  template <typename Parse>
  void Take(const char* name, const std::string& both, const std::string& own, const char* what,
            Parse&& parse) {
    const std::string& text = own.empty() ? both : own;
    if (!error_->empty() || text.empty() || parse(text)) return;
    *error_ = fmt::format("--{}{}: '{}' is no {}", own.empty() ? "" : prefix_, name, text, what);
  }

 private:
  std::string_view prefix_;
  std::string* error_;
};

}  // namespace

std::optional<PathConfig> UnderstandPath(const PathTexts& both, const PathTexts& own,
                                         std::string_view prefix, std::string* error) {
  PathConfig path;
  error->clear();
  Reader reader(prefix, error);
  const auto probability = [](double* out) {
    return [out](const std::string& text) { return ParseInto(text, out); };
  };
  reader.Take("delay", both.delay, own.delay, "delay up to 10 minutes (20ms, or 20ms,5ms)",
              [&](const std::string& t) { return ParseDelay(t, &path); });
  reader.Take("loss", both.loss, own.loss, "loss (1%; 1%,burst 4; 0,burst 0.01/0.2)",
              [&](const std::string& t) { return ParseLossModel(t, &path); });
  reader.Take("rate", both.rate, own.rate, "rate of at least 1000 bits a second (10Mbit)",
              [&](const std::string& t) {
                const std::optional<double> rate = ParseRate(t);
                path.rate_bps = rate ? static_cast<std::uint64_t>(std::min(*rate, 1e13)) : 0;
                return path.rate_bps >= 1000;
              });
  reader.Take("queue", both.queue, own.queue, "limit (100 packets, or 64K bytes)",
              [&](const std::string& t) { return ParseQueue(t, &path); });
  reader.Take("red", both.red, own.red, "MIN,MAX,P with MIN below MAX",
              [&](const std::string& t) { return ParseRed(t, &path); });
  reader.Take("reorder", both.reorder, own.reorder, "P or P,T (5%,2ms)",
              [&](const std::string& t) { return ParseReorder(t, &path); });
  reader.Take("duplicate", both.duplicate, own.duplicate, "probability",
              probability(&path.duplicate));
  reader.Take("corrupt", both.corrupt, own.corrupt, "probability", probability(&path.corrupt));
  reader.Take("ecn-mark", both.ecn_mark, own.ecn_mark, "probability", probability(&path.ecn_mark));
  reader.Take("mtu", both.mtu, own.mtu, "size from 68 to 65535", [&](const std::string& t) {
    const std::optional<std::uint64_t> mtu = ParseSize(t);
    path.mtu_bytes = mtu && *mtu <= 65535 ? static_cast<std::uint32_t>(*mtu) : 0;
    return path.mtu_bytes >= 68;
  });
  path.jitter_keeps_order = !both.jitter_reorders && !own.jitter_reorders;
  if (path.red) path.red->mark = both.red_ecn || own.red_ecn;
  const bool limited = path.queue_packets != 0 || path.queue_bytes != 0;
  if (error->empty() && path.rate_bps == 0 && (limited || path.red))
    *error =
        fmt::format("--{}{} needs --rate: without one no queue forms",
                    own.queue.empty() && own.red.empty() ? "" : prefix, path.red ? "red" : "queue");
  if (error->empty() && !path.red && (both.red_ecn || own.red_ecn))
    *error = "--red-ecn needs --red";
  if (!error->empty()) return std::nullopt;
  if (path.rate_bps != 0 && !limited) path.queue_packets = kDefaultQueuePackets;
  return path;
}

std::string DescribePath(const PathConfig& path) {
  const auto ms = [](Duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
  std::string out = fmt::format("{:g} ms", ms(path.delay));
  if (path.jitter > Duration::zero()) out += fmt::format(" + 0..{:g} ms", ms(path.jitter));
  const auto share = [&](double p, const char* what) {
    if (p > 0) out += fmt::format(", {:g} % {}", p * 100, what);
  };
  share(path.loss, "loss");
  if (path.burst_loss) {
    const GilbertElliottConfig& chain = *path.burst_loss;
    const double moves = chain.good_to_bad + chain.bad_to_good;
    const double bad = moves > 0 ? chain.good_to_bad / moves : 0;
    out += fmt::format(", {:.3g} % loss in bursts of {:.3g}",
                       100 * (bad * chain.loss_bad + (1 - bad) * chain.loss_good),
                       chain.bad_to_good > 0 ? 1 / chain.bad_to_good : INFINITY);
  }
  if (path.rate_bps != 0) {
    out += ", " + RateText(static_cast<double>(path.rate_bps));
    if (path.queue_packets != 0) out += fmt::format(", queue of {} packets", path.queue_packets);
    if (path.queue_bytes != 0)
      out += ", queue of " + BytesText(static_cast<double>(path.queue_bytes));
  }
  if (path.red)
    out += fmt::format(", RED {:g} to {:g} packets, {:g} %{}", path.red->min_packets,
                       path.red->max_packets, path.red->max_probability * 100,
                       path.red->mark ? " by ECN" : "");
  share(path.reorder, "reordered");
  share(path.duplicate, "duplicated");
  share(path.corrupt, "corrupted");
  share(path.ecn_mark, "CE-marked");
  if (path.mtu_bytes != 0) out += fmt::format(", MTU {}", path.mtu_bytes);
  return out;
}

}  // namespace dccp::apps::netem
