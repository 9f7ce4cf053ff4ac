// The TCP of the simulation, by what is known of TCP.
#include <gtest/gtest.h>

#include <cmath>

#include "stack/lab/bottleneck_lab.h"
#include "stack/lab/statistics.h"

namespace dccp::lab {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

BottleneckLabConfig OneTcp() {
  BottleneckLabConfig config;
  config.flows = {FlowKind::kTcp};
  config.bottleneck = {.delay = milliseconds(20)};
  config.reverse_delay = milliseconds(20);
  config.start_spread = Duration::zero();
  return config;
}

TEST(TcpReno, FillsABottleneck) {
  BottleneckLabConfig config = OneTcp();
  config.bottleneck.rate_bps = 10'000'000;
  config.bottleneck.queue_packets = 34;
  BottleneckLab lab(config);
  lab.Run(seconds(5));
  const std::uint64_t before = lab.ReceivedBytes()[0];
  lab.Run(seconds(60));
  const double used =
      static_cast<double>(lab.ReceivedBytes()[0] - before) * 8 / 60 / (10e6 * 1440 / 1492);
  EXPECT_GT(used, 0.98);
  EXPECT_LE(used, 1.001);
}

// Without a timeout the mean window is sqrt(3/2p) packets, a packet acknowledged each or not, since
// the window grows by what is acknowledged. M. Mathis et al., 1997
TEST(TcpReno, FollowsTheSquareRootLaw) {
  for (const double loss : {0.001, 0.01}) {
    BottleneckLabConfig config = OneTcp();
    config.bottleneck.loss = loss;
    BottleneckLab lab(config);
    lab.Run(seconds(20));
    const std::uint64_t before = lab.ReceivedBytes()[0];
    lab.Run(seconds(1000));
    const double window = static_cast<double>(lab.ReceivedBytes()[0] - before) / 1440 / 1000 * 0.04;
    EXPECT_NEAR(window / std::sqrt(1.5 / loss), 1, 0.15) << loss;
  }
}

TEST(TcpReno, OutlivesHeavyLoss) {
  BottleneckLabConfig config = OneTcp();
  config.bottleneck.loss = 0.2;
  BottleneckLab lab(config);
  lab.Run(seconds(300));
  const std::uint64_t before = lab.ReceivedBytes()[0];
  lab.Run(seconds(300));
  EXPECT_GT(lab.ReceivedBytes()[0] - before, 100u * 1440);
}

TEST(TcpReno, TwoShareEvenly) {
  BottleneckLabConfig config = OneTcp();
  config.flows = {FlowKind::kTcp, FlowKind::kTcp};
  config.access_jitter = milliseconds(1);
  config.bottleneck.rate_bps = 10'000'000;
  config.bottleneck.queue_packets = 34;
  BottleneckLab lab(config);
  lab.Run(seconds(400));
  const auto bytes = lab.ReceivedBytes();
  EXPECT_GT(JainIndex(std::vector<double>(bytes.begin(), bytes.end())), 0.95);
}

}  // namespace
}  // namespace dccp::lab
