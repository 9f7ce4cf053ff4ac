#include <algorithm>
#include <optional>

#include "ccid/common/tfrc_equation.h"
#include "stack/base/byte_order.h"
#include "stack/lab/bulk_flow.h"
#include "stack/lab/statistics.h"
#include "stack/sim/sim_pair.h"
#include "stack/wire/packet_view.h"
#include "tests/accuracy/sections.h"

namespace dccp::accuracy {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kPayload = 20;
constexpr Duration kEvery = milliseconds(20);
constexpr Duration kRtt = milliseconds(100);
constexpr std::uint32_t kPackets = 6000;  // two minutes
constexpr std::uint32_t kStartUp = 150;   // three seconds
constexpr double kBytesPerSecond = 1000;

struct VoiceFigures {
  double latest_ms = 0;   // the longest that a packet left after its time
  double left_share = 0;  // of the packets
  double allowed = 0;     // by the equation for packets of this size, by what is sent
};

// The number in a data packet's payload; empty for other packets.
std::optional<std::uint32_t> NumberOf(const SimPacket& packet) {
  PacketView view;
  if (PacketView::Parse(packet.bytes, &view) != ParseError::kNone) return std::nullopt;
  const bool data = view.type() == PacketType::kData || view.type() == PacketType::kDataAck;
  if (!data || view.payload().size() != kPayload) return std::nullopt;
  return LoadBe32(view.payload().data());
}

VoiceFigures MeasureVoice(CcidId ccid, std::uint64_t seed) {
  const lab::Ccids ccids;
  SimPairConfig config;
  config.seed = seed;
  config.to_server = {.delay = kRtt / 2, .loss = 0.05};
  config.to_client = {.delay = kRtt / 2};
  config.client.tx_ccids = {ccid};
  config.server.tx_ccids = {ccid, CcidId::k2};
  config.client.send_queue_datagrams = 4096;
  config.endpoint.registry = &ccids.registry();
  SimPair pair(config);
  pair.server.keep_data = false;
  VoiceFigures figures;
  if (!pair.Establish()) return figures;
  const TimePoint begin = pair.now();
  Duration latest = Duration::zero();
  std::uint32_t left = 0;
  pair.to_server().SetHook([&](const SimPacket& packet, std::uint64_t) {
    if (const auto number = NumberOf(packet)) {
      ++left;
      if (*number >= kStartUp)
        latest = std::max<Duration>(latest, pair.now() - (begin + std::int64_t{*number} * kEvery));
    }
    return LinkAction{};
  });
  lab::RunningMoments p;
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    static_cast<void>(pair.client.SendNumbered(i, kPayload));
    pair.client.node->Settle();
    pair.Run(begin + std::int64_t{i + 1} * kEvery - pair.now());
    const double now = pair.client.info().sender.loss_event_rate;
    if (i >= kStartUp && now > 0) p.Add(now);
  }
  figures.latest_ms = std::chrono::duration<double, std::milli>(latest).count();
  figures.left_share = static_cast<double>(left) / kPackets;
  figures.allowed = TfrcThroughput(kPayload, kRtt, p.mean()) / kBytesPerSecond;
  return figures;
}

}  // namespace

std::vector<lab::Cell> VoiceCells() {
  std::vector<lab::Cell> cells;
  for (const CcidId ccid : {CcidId::k4, CcidId::k3}) {
    const bool four = ccid == CcidId::k4;
    lab::Measure latest = {.name = "latest packet, ms", .over = lab::Measure::Over::kEachRun};
    lab::Measure allowed = {.name = "equation for 20 bytes / sent"};
    if (four) {
      latest.most = 40;
      allowed.most = 1;
    }
    cells.push_back({.section = "voice",
                     .name = four ? "CCID 4, 20 bytes each 20 ms, 5 %, 100 ms" : "CCID 3, the same",
                     .measures = {latest, {.name = "share of the packets that left"}, allowed},
                     .seeds = 20,
                     .cost = 3 * kPackets,
                     .run = [ccid](std::uint64_t seed) {
                       const VoiceFigures f = MeasureVoice(ccid, seed);
                       return std::vector<double>{f.latest_ms, f.left_share, f.allowed};
                     }});
  }
  return cells;
}

}  // namespace dccp::accuracy
