#include "tests/accuracy/equation.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <deque>
#include <span>

#include "ccid/ccid3/options.h"
#include "ccid/common/tfrc_equation.h"
#include "stack/base/check.h"
#include "stack/lab/pair_lab.h"
#include "stack/lab/statistics.h"
#include "stack/lab/ticker.h"
#include "tests/accuracy/plain_receiver.h"

namespace dccp::accuracy {
namespace {

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

double PacketsPerSecond(const EquationSetting& setting) {
  return TfrcThroughput(1, setting.rtt, setting.loss);
}

// The measured part of a run. A loss event takes in the losses of the round trip that it begins, so
// that from one to the next there are 1/p packets and a window in the mean.
double MeasuredSeconds(const EquationSetting& setting) {
  constexpr double kMargin = 1.2;  // three standard deviations of the number of events
  const double packets_per_event =
      1 / setting.loss + PacketsPerSecond(setting) * Seconds(setting.rtt);
  return kMargin * setting.loss_events * packets_per_event / PacketsPerSecond(setting);
}

// What Loss Event Rate can say of `p`: whole packets to a loss event. RFC 4342 §8.5
double AsTold(double p) {
  std::array<std::byte, OptionWriter::kMaxBytes> buffer;
  OptionWriter writer{std::span<std::byte>(buffer)};
  DCCP_CHECK(ccid3::AddLossEventRate(writer, p));
  return ccid3::DecodeLossEventRate(writer.bytes().subspan(2)).value_or(0);
}

// Compares both ends' loss event rates at the moment at which a feedback has arrived; where the
// receiver sends no Loss Intervals, with what its other option could say of its rate.
class Agreement final : public LinkObserver, public SimActor {
 public:
  Agreement(lab::PairLab& lab, bool plain_receiver) : lab_(lab), plain_receiver_(plain_receiver) {
    lab.reverse().SetObserver(this);
  }

  void OnOffered(const Link& /*link*/, const SimPacket& /*packet*/, const LinkAction& /*action*/,
                 const PathVerdict& verdict, TimePoint /*now*/) override {
    if (verdict.copies == 0) return;
    told_.push_back(lab_.flow().peer_info().receiver.loss_event_rate);
    lab_.simulator().Schedule(verdict.arrival[0] + Duration(1), *this, 0);
  }
  void OnSimEvent(std::uint64_t /*cookie*/) override {
    const double receiver = plain_receiver_ ? AsTold(told_.front()) : told_.front();
    told_.pop_front();
    if (receiver > 0) off_.Add(std::abs(lab_.flow().info().sender.loss_event_rate / receiver - 1));
  }
  double mean() const { return off_.mean(); }

 private:
  lab::PairLab& lab_;
  bool plain_receiver_;
  std::deque<double> told_;
  lab::RunningMoments off_;
};

}  // namespace

double ExpectedPackets(const EquationSetting& setting) {
  return MeasuredSeconds(setting) / 0.9 * PacketsPerSecond(setting);
}

EquationFigures MeasureEquation(const EquationSetting& setting, std::uint64_t seed) {
  const PlainReceiverCcids plain;
  lab::PairLabConfig config;
  config.seed = seed;
  config.family = setting.family;
  config.forward = {.delay = setting.rtt / 2, .loss = setting.loss};
  config.reverse = {.delay = setting.rtt - setting.rtt / 2};
  config.flow.payload_bytes = setting.payload_bytes;
  config.ccid3 = setting.options;
  if (setting.plain_receiver) config.server_ccids = &plain.registry();
  lab::PairLab lab(config);
  EquationFigures figures;
  if (!lab.Open()) return figures;

  const double measured = MeasuredSeconds(setting);
  const auto whole = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(measured));
  lab.Run(whole / 9);

  lab::RunningMoments current;
  lab::Ticker ticker(lab.simulator(), setting.rtt / 4, [&] {
    const SenderStats sender = lab.flow().info().sender;
    if (sender.loss_event_rate > 0)
      current.Add(TfrcThroughput(static_cast<double>(setting.payload_bytes), sender.srtt,
                                 sender.loss_event_rate));
  });
  Agreement agreement(lab, setting.plain_receiver);
  const ConnectionInfo before = lab.flow().info();
  ticker.Start();
  lab.Run(whole);
  ticker.Stop();
  lab.reverse().SetObserver(nullptr);
  const ConnectionInfo after = lab.flow().info();

  figures.rate =
      static_cast<double>(after.counters.data_bytes_sent - before.counters.data_bytes_sent) /
      measured;
  figures.to_equation = figures.rate / TfrcThroughput(static_cast<double>(setting.payload_bytes),
                                                      setting.rtt, setting.loss);
  figures.to_current = current.count() > 0 ? figures.rate / current.mean() : 0;
  figures.disagreement = agreement.mean();
  figures.loss_events = static_cast<double>(after.sender.loss_events - before.sender.loss_events);
  return figures;
}

}  // namespace dccp::accuracy
