// One direction of a wire.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "stack/sim/path_model.h"
#include "stack/sim/sim_packet.h"
#include "stack/sim/simulator.h"

namespace dccp {

// What a test wants with one packet, before the path model sees it.
struct LinkAction {
  enum class Kind : std::uint8_t {
    kPass,
    kDrop,
    kDuplicate,  // a second copy arrives `delay` after the first
    kDelay,      // it arrives `delay` later than it would; others may overtake it
    kCorrupt,    // a bit is flipped
    kMark,       // Congestion Experienced
  };
  Kind kind = Kind::kPass;
  Duration delay = Duration::zero();
};

struct LinkCounters {
  std::uint64_t offered = 0;
  std::uint64_t offered_bytes = 0;  // of IP packets
  std::uint64_t delivered = 0;      // copies
  std::uint64_t delivered_bytes = 0;
  std::uint64_t hook_drops = 0;
  std::uint64_t lost = 0;
  std::uint64_t queue_drops = 0;  // queue full or RED
  std::uint64_t too_big = 0;
  std::uint64_t marked = 0;  // arrived with CE, but were sent without
  std::uint64_t corrupted = 0;
};

class Link;

// Watches the packets of a link, at the moment in which they are offered.
class LinkObserver {
 public:
  virtual ~LinkObserver() = default;
  virtual void OnOffered(const Link& link, const SimPacket& packet, const LinkAction& action,
                         const PathVerdict& verdict, TimePoint now) = 0;
};

// Carries packets to `to` as its path model says. A packet that is too big for it is reported to
// its sender, one delay later, unless the link is told to be a black hole.
class Link final : public PacketSink, public SimActor {
 public:
  using Hook = std::function<LinkAction(const SimPacket& packet, std::uint64_t index)>;

  // `pool`, `simulator` and `to` must outlive it.
  Link(std::string name, Simulator& simulator, PacketPool& pool, const PathConfig& config,
       std::uint64_t seed, PacketSink& to);

  void Accept(PacketPtr packet) override;
  void OnSimEvent(std::uint64_t cookie) override;

  // Decides about each packet; `index` counts those that were offered, from 0.
  void SetHook(Hook hook) { hook_ = std::move(hook); }
  void SetObserver(LinkObserver* observer) { observer_ = observer; }
  void SetBlackHole(bool black_hole) { black_hole_ = black_hole; }

  const std::string& name() const { return name_; }
  PathModel& model() { return model_; }
  const LinkCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint64_t kIcmpFlag = std::uint64_t{1} << 63;

  PathVerdict Judge(const SimPacket& packet, const LinkAction& action);
  void Count(const SimPacket& packet, const PathVerdict& verdict);
  void ReportTooBig(PacketPtr packet);

  std::string name_;
  Simulator& simulator_;
  PacketPool& pool_;
  PacketSink& to_;
  PathModel model_;
  Hook hook_;
  LinkObserver* observer_ = nullptr;
  bool black_hole_ = false;
  LinkCounters counters_;
};

}  // namespace dccp
