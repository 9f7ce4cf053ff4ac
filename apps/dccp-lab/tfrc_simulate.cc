#include "apps/dccp-lab/tfrc_simulate.h"

#include <algorithm>
#include <cmath>

#include "stack/lab/pair_lab.h"
#include "stack/lab/statistics.h"
#include "stack/lab/ticker.h"

namespace dccp::apps::lab {

namespace {

// As often as the programs look at it.
constexpr Duration kSampleEvery = std::chrono::milliseconds(100);

double Milliseconds(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

Duration Nanoseconds(double s) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(s * 1e9));
}

dccp::lab::PairLabConfig ConfigOf(const TfrcCell& cell, std::uint64_t seed) {
  dccp::lab::PairLabConfig config;
  config.seed = seed;
  config.family = cell.family;
  config.encapsulation = cell.native() ? Encapsulation::kNative : Encapsulation::kUdp;
  config.forward = {.delay = cell.path.rtt / 2, .loss = cell.path.loss};
  config.reverse = {.delay = cell.path.rtt - cell.path.rtt / 2};
  config.flow.payload_bytes = cell.payload_bytes;
  return config;
}

Json IntervalOf(double start_s, double end_s, const ConnectionInfo& before,
                const ConnectionInfo& after, bool omitted) {
  const auto bytes =
      static_cast<double>(after.counters.data_bytes_sent - before.counters.data_bytes_sent);
  const SenderStats& sender = after.sender;
  return {{"start_s", start_s},
          {"end_s", end_s},
          {"packets", after.counters.data_packets_sent - before.counters.data_packets_sent},
          {"bytes", after.counters.data_bytes_sent - before.counters.data_bytes_sent},
          {"bits_per_second", 8 * bytes / (end_s - start_s)},
          {"lost_packets", nullptr},
          {"rtt_ms", Milliseconds(sender.srtt)},
          {"x_bits_per_second", 8 * sender.x_bytes_per_second},
          {"loss_event_rate", sender.loss_event_rate},
          {"omitted", omitted}};
}

Json Counts(std::uint64_t packets, std::uint64_t bytes, double seconds) {
  return {{"packets", packets},
          {"bytes", bytes},
          {"bits_per_second", 8 * static_cast<double>(bytes) / seconds}};
}

}  // namespace

Json SimulateRun(const TfrcPlan& plan, const TfrcCell& cell, std::uint64_t seed,
                 const std::function<bool()>& stop) {
  dccp::lab::PairLab lab(ConfigOf(cell, seed));
  if (!lab.Open()) return nullptr;
  dccp::lab::RunningMoments rtt;
  dccp::lab::Ticker ticker(lab.simulator(), kSampleEvery, [&] {
    if (const Duration srtt = lab.flow().info().sender.srtt; srtt > Duration::zero())
      rtt.Add(Milliseconds(srtt));
  });
  Json intervals = Json::array();
  const double step = IntervalSeconds(plan);
  ConnectionInfo last = lab.flow().info();
  double time = 0;
  const auto run_until = [&](double end, bool omitted) {
    while (time < end - 1e-6) {
      if (stop()) return false;
      const double next = std::min(end, time + step);
      lab.Run(Nanoseconds(next - time));
      const ConnectionInfo info = lab.flow().info();
      intervals.push_back(IntervalOf(time, next, last, info, omitted));
      last = info;
      time = next;
    }
    return true;
  };
  if (!run_until(plan.omit, true)) return nullptr;
  const ConnectionCounters before = lab.flow().info().counters;
  const std::uint64_t received_before = lab.flow().received_bytes();
  ticker.Start();
  if (!run_until(plan.omit + plan.seconds, false)) return nullptr;
  ticker.Stop();
  const ConnectionInfo after = lab.flow().info();
  const std::uint64_t received = lab.flow().received_bytes() - received_before;
  Json run = {{"seconds", plan.seconds}};
  run["sent"] = Counts(after.counters.data_packets_sent - before.data_packets_sent,
                       after.counters.data_bytes_sent - before.data_bytes_sent, plan.seconds);
  run["received"] = Counts(received / cell.payload_bytes, received, plan.seconds);
  run["cpu"] = {{"local_percent", nullptr},
                {"remote_percent", nullptr},
                {"local_us_per_packet", nullptr},
                {"remote_us_per_packet", nullptr}};
  run["rtt_ms"] = {{"min", Milliseconds(after.sender.min_rtt)},
                   {"mean", rtt.count() != 0 ? Json(rtt.mean()) : Json(nullptr)},
                   {"max", nullptr}};
  run["loss_event_rate"] = after.sender.loss_event_rate;
  run["seed"] = seed;
  run["intervals"] = std::move(intervals);
  return run;
}

}  // namespace dccp::apps::lab
