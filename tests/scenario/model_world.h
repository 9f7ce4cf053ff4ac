// Two endpoints between which somebody chooses what happens next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dccp/ccid2.h"
#include "dccp/endpoint.h"
#include "stack/sim/seeded_random.h"
#include "tests/support/test_sealer.h"

namespace dccp {

// What an application does, at a moment that the explorer chooses.
enum class ModelAction : std::uint8_t { kSend, kClose, kAbort };

struct ModelScenario {
  std::string name;
  ConnectionOptions client = {};
  ConnectionOptions server = {};
  std::vector<ModelAction> client_actions = {};  // in this order
  std::vector<ModelAction> server_actions = {};  // from when the connection is accepted
  bool cookies = false;                          // the server keeps no half-open connection
  bool begin_open = false;                       // the handshake happens before the first choice
  // Bounds of what one run may contain.
  std::size_t depth = 6;
  std::uint8_t losses = 3;
  std::uint8_t duplicates = 1;
  std::uint8_t timers = 4;
};

// One step of a run. Every packet in flight may be delivered whenever one likes, which is delay and
// reordering; a duplicate is a delivery that leaves the packet in flight.
struct ModelChoice {
  enum class Kind : std::uint8_t {
    kDeliver,
    kLose,
    kDuplicate,
    kTimer,  // time passes until the first deadline of either end
    kClientAction,
    kServerAction,
  };
  Kind kind;
  std::uint8_t packet = 0;  // position in flight
};

// A CCID that differs from CCID 2 in nothing but its number, so that there is a choice to
// negotiate.
class SecondCcidFactory final : public CcidFactory {
 public:
  static constexpr CcidId kId = static_cast<CcidId>(249);
  SecondCcidFactory() : traits_(ccid2_.traits()) { traits_.id = kId; }
  const CcidTraits& traits() const override { return traits_; }
  std::unique_ptr<CcidSender> NewSender(const CcidInit& init) const override {
    return ccid2_.NewSender(init);
  }
  std::unique_ptr<CcidReceiver> NewReceiver(const CcidInit& init) const override {
    return ccid2_.NewReceiver(init);
  }

 private:
  Ccid2Factory ccid2_;
  CcidTraits traits_;
};

// A client and a server endpoint, the packets between them and the time. Everything follows from
// the choices made, so a state is named by the choices that lead to it. The network takes no time
// of its own: packets wait until they are chosen, and time passes with kTimer (and a tick a
// Request).
class ModelWorld {
 public:
  explicit ModelWorld(const ModelScenario& scenario);

  std::vector<ModelChoice> Choices() const;
  void Apply(const ModelChoice& choice);
  // What the choice would do, such as "lose Ack 1001 to server".
  std::string Describe(const ModelChoice& choice) const;
  // Of all that can be observed: states, feature values, deadlines, queues, numbers used and
  // received, packets in flight, and what the bounds still allow.
  std::uint64_t Fingerprint() const;
  std::string StateText() const;

  // From here on the network loses nothing and the applications do what they have left to do.
  // Empty: all went well, else what did not. RFC 4340 §8.4, §6.6.1
  std::string CheckFairFuture();

 private:
  enum SideIndex : std::size_t { kClient = 0, kServer = 1 };
  struct Side {
    std::unique_ptr<Endpoint> endpoint;
    std::vector<ConnId> conns;
    std::size_t actions_done = 0;
    std::uint64_t received_hash = 0;  // of the set of numbers received
    std::uint64_t gss = 0;
    std::uint32_t timers_fired = 0;
    std::uint32_t datagrams_sent = 0;
    std::uint32_t datagrams_read = 0;
    bool closing = false;  // its application ended the connection
  };
  struct Flight {
    SideIndex to;
    std::vector<std::byte> bytes;
    Ecn ecn;
    std::uint8_t copies = 0;
  };

  const std::vector<ModelAction>& ActionsOf(SideIndex side) const {
    return side == kClient ? scenario_.client_actions : scenario_.server_actions;
  }
  Path PathOf(SideIndex side) const;
  void CreateEndpoint(SideIndex side);
  bool ActionPossible(SideIndex side) const;
  void Act(SideIndex side);
  void CloseAll(SideIndex side);
  void Deliver(const Flight& flight);
  void PassTime();
  void Pump(SideIndex side);
  std::uint64_t SideFingerprint(const Side& side) const;
  const ConnId* OpenConnection(SideIndex side) const;

  // Runs the fair network for so long. False: packets went to and fro without end.
  bool Settle(Duration span);
  std::string CheckAgreement() const;
  std::string CheckEnds() const;

  const ModelScenario& scenario_;
  Ccid2Factory ccid2_;
  SecondCcidFactory second_;
  CcidRegistry registry_;
  std::array<SeededRandom, 2> random_ = {SeededRandom(1), SeededRandom(2)};
  TestSealer sealer_;
  std::array<Side, 2> sides_;
  std::vector<Flight> flights_;
  TimePoint now_ = TimePoint(std::chrono::seconds(100));
  std::uint8_t losses_ = 0;
  std::uint8_t duplicates_ = 0;
  std::uint8_t timers_ = 0;
};

}  // namespace dccp
