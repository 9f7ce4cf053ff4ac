#include "apps/dccp-send/send_options.h"

#include <fmt/format.h>

#include "apps/common/runtime.h"

namespace dccp::apps {

void AddSendOptions(CLI::App* app, SendOptions* o) {
  app->add_option("HOST", o->target_text, "HOST, HOST:PORT, [IPv6] or [IPv6]:PORT")->required();
  app->add_option("-s,--size", o->size_text, "Bytes a datagram (the largest that fits)");
  app->add_option("-t,--time", o->seconds_text, "Send for S seconds (10)");
  app->add_option("-n,--packets", o->packets, "Send N datagrams");
  app->add_option("--input", o->input_file, "Send a file, or with - the standard input");
  app->add_flag("--framed", o->framed, "A 4-byte length stands before each datagram of --input");
  app->add_option("--hashes", o->hashes_file, "Write index, length and SHA-256 of each datagram");
  app->add_option("-b,--rate", o->rate_text, "Send at most so many bits a second, e.g. 2Mbit");
  app->add_flag("-R,--reverse", o->reverse, "The other end sends");
  app->add_option("-P,--parallel", o->parallel, "Connections side by side (1)")
      ->check(CLI::Range(1, 1024));
  app->add_option("--omit", o->omit_text, "Leave the first S seconds out of the figures");
  app->add_option("--expect-rtt", o->expect_rtt_text, "Round trip for the throughput equation");
  app->add_option("--expect-loss", o->expect_loss_text, "Loss for the equation: 1% or 0.01");
  AddCommonOptions(app, &o->common);
}

namespace {

std::string CheckCombinations(const SendOptions& o) {
  const int ends =
      (o.seconds_text.empty() ? 0 : 1) + (o.packets != 0 ? 1 : 0) + (o.input_file.empty() ? 0 : 1);
  if (ends > 1) return "only one of -t, -n and --input makes sense";
  if (o.framed && o.input_file.empty()) return "--framed needs --input";
  if (!o.input_file.empty() && o.reverse) return "--input and --reverse exclude each other";
  if (o.parallel > 1 && (!o.input_file.empty() || !o.hashes_file.empty()))
    return "--input and --hashes go with one connection only";
  if (o.expect_rtt_text.empty() != o.expect_loss_text.empty())
    return "--expect-rtt and --expect-loss belong together";
  return "";
}

}  // namespace

std::string UnderstandSendOptions(SendOptions* o) {
  if (std::string fault = UnderstandCommonOptions(ToolRegistry(), &o->common); !fault.empty())
    return fault;
  if (std::string fault = CheckCombinations(*o); !fault.empty()) return fault;
  const std::optional<HostPort> target = ParseHostPort(o->target_text);
  if (!target) return fmt::format("'{}' is neither HOST nor HOST:PORT", o->target_text);
  o->target = *target;
  if (o->target.port == 0) o->target.port = o->common.port;

  if (!o->size_text.empty()) {
    const std::optional<std::uint64_t> size = ParseSize(o->size_text);
    if (!size || *size == 0 || *size > 65535)
      return fmt::format("--size: '{}' is no size from 1 to 65535", o->size_text);
    o->size_bytes = static_cast<std::uint32_t>(*size);
  }
  if (o->seconds_text.empty() && o->packets == 0 && o->input_file.empty()) o->seconds_text = "10";
  if (!o->seconds_text.empty()) {
    const std::optional<Duration> time = ParseTime(o->seconds_text);
    if (!time || *time <= Duration::zero())
      return fmt::format("--time: '{}' is no time above 0", o->seconds_text);
    o->seconds = *time;
  }
  const std::optional<Duration> omit = ParseTime(o->omit_text);
  if (!omit) return fmt::format("--omit: '{}' is no time", o->omit_text);
  o->omit = *omit;
  if (o->omit > Duration::zero() && o->seconds == Duration::zero())
    return "--omit goes with -t only";
  if (!o->rate_text.empty()) {
    const std::optional<double> rate = ParseRate(o->rate_text);
    if (!rate || *rate < 1) return fmt::format("--rate: '{}' is no rate", o->rate_text);
    o->bits_per_second = *rate;
  }
  if (!o->expect_rtt_text.empty()) {
    o->expect_rtt = ParseTime(o->expect_rtt_text);
    if (!o->expect_rtt || *o->expect_rtt <= Duration::zero())
      return fmt::format("--expect-rtt: '{}' is no time above 0", o->expect_rtt_text);
    o->expect_loss = ParseLoss(o->expect_loss_text);
    if (!o->expect_loss || *o->expect_loss <= 0)
      return fmt::format("--expect-loss: '{}' is no loss above 0", o->expect_loss_text);
  }
  return "";
}

}  // namespace dccp::apps
