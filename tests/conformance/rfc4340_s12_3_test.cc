// RFC 4340 §12.3: a receiver that conceals losses and marks gains nothing.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dccp/ccid2.h"
#include "stack/sim/network.h"
#include "stack/wire/packet_view.h"

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Lie {
  kNone,
  kHideLosses,  // whatever is missing was received
  kHideMarks,   // what was marked was received without a mark
};
// What a liar takes a nonce for that it did not see.
enum class Guess { kNeighbour, kCoin, kAlwaysZero };

// A liar is an honest endpoint behind this: it is given the packets that the liar says it has
// received. Counts those that did arrive.
class Liar final : public PacketSink {
 public:
  Liar(Lie lie, Guess guess, PacketPool& pool, PacketSink& endpoint)
      : lie_(lie), guess_(guess), pool_(pool), endpoint_(endpoint) {}

  void Accept(PacketPtr packet) override {
    PacketView view;
    if (PacketView::Parse(packet->bytes, &view) != ParseError::kNone ||
        (view.type() != PacketType::kData && view.type() != PacketType::kDataAck)) {
      endpoint_.Accept(std::move(packet));
      return;
    }
    ++arrived_;
    const std::int64_t missing = last_ ? view.seq().Minus(*last_) - 1 : 0;
    if (lie_ == Lie::kHideLosses && missing < 1000) {
      for (std::int64_t i = missing; i > 0; --i) Forge(*packet, view.seq() + -i);
    }
    last_ = view.seq();
    if (lie_ == Lie::kHideMarks && packet->ecn == Ecn::kCe) packet->ecn = GuessEcn();
    if (packet->ecn != Ecn::kCe) neighbour_ = packet->ecn;
    if (lie_ != Lie::kNone && guess_ == Guess::kAlwaysZero) packet->ecn = Ecn::kNotEct;
    endpoint_.Accept(std::move(packet));
  }

  std::uint64_t arrived() const { return arrived_; }

 private:
  void Forge(const SimPacket& like, SeqNo seq) {
    PacketPtr forged = pool_.Copy(like);
    forged->ecn = GuessEcn();
    for (unsigned i = 0; i < 6; ++i)
      forged->bytes[10 + i] = static_cast<std::byte>(seq.value() >> (40 - 8 * i) & 0xFF);
    endpoint_.Accept(std::move(forged));
  }
  Ecn GuessEcn() {
    switch (guess_) {
      case Guess::kNeighbour:
        return neighbour_;
      case Guess::kCoin:
        return random_.Chance(0.5) ? Ecn::kEct1 : Ecn::kEct0;
      case Guess::kAlwaysZero:
        break;
    }
    return Ecn::kEct0;
  }

  Lie lie_;
  Guess guess_;
  PacketPool& pool_;
  PacketSink& endpoint_;
  SeededRandom random_{99};
  std::optional<SeqNo> last_;
  Ecn neighbour_ = Ecn::kEct0;
  std::uint64_t arrived_ = 0;
};

struct Shares {
  double liar = 0;  // of all packets that arrived
  bool penalty = false;
  ConnectionInfo sender;  // of the liar's sender
};

// Two senders share a bottleneck; one of the receivers may be a liar.
class Contest {
 public:
  Contest(Lie lie, Guess guess, bool nonces, bool red)
      : network_(1, Defaults(registry_, ccid2_)), nonces_(nonces) {
    Router& right = network_.AddRouter();
    Router& left = network_.AddRouter();
    PathConfig forward = {.delay = milliseconds(20), .rate_bps = 10'000'000};
    forward.queue_packets = red ? 200 : 40;
    if (red) forward.red = RedConfig{};
    Link& bottleneck = network_.AddLink("bottleneck", forward, right);
    Link& back = network_.AddLink("back", {.delay = milliseconds(20)}, left);
    for (int i = 0; i < 2; ++i) {
      SimNode& sender = network_.AddNode(i == 0 ? "a0" : "a1");
      SimNode& receiver = network_.AddNode(i == 0 ? "b0" : "b1");
      liars_.push_back(
          std::make_unique<Liar>(i == 0 ? lie : Lie::kNone, guess, network_.pool(), receiver));
      right.AddRoute(receiver.address(), *liars_.back());
      left.AddRoute(sender.address(), sender);
      sender.SetUplink(bottleneck);
      receiver.SetUplink(back);
      Open(sender, receiver);
    }
  }

  Shares Run(Duration time) {
    network_.simulator().RunFor(time);
    Shares shares;
    const auto liar = static_cast<double>(liars_[0]->arrived());
    shares.liar = liar / (liar + static_cast<double>(liars_[1]->arrived()));
    shares.sender = senders_[0]->endpoint().Info(conns_[0]).value();
    shares.penalty = shares.sender.close.reset.code == ResetCode::kAggressionPenalty;
    return shares;
  }

 private:
  static EndpointConfig Defaults(CcidRegistry& registry, const Ccid2Factory& ccid2) {
    EXPECT_TRUE(registry.Add(ccid2));
    EndpointConfig config;
    config.registry = &registry;
    return config;
  }

  void Open(SimNode& sender, SimNode& receiver) {
    ListenParams listen;
    listen.port = 5001;
    EXPECT_TRUE(receiver.endpoint().Listen(listen).ok());
    receiver.SetEventHandler([&receiver](const Event& event) {
      std::array<ReceivedDatagram, 64> batch;
      while (receiver.endpoint().Read(event.conn, batch) > 0) {
      }
    });
    ConnectParams connect;
    connect.path = sender.PathTo(receiver);
    connect.remote_port = 5001;
    connect.options.ecn_nonce = nonces_;
    const ConnId conn = sender.endpoint().Connect(connect, sender.now()).value();
    senders_.push_back(&sender);
    conns_.push_back(conn);
    sender.SetEventHandler([&sender, conn](const Event&) {
      static constexpr std::array<std::byte, 1000> kData = {};
      while (sender.endpoint().Send(conn, kData).ok()) {
      }
    });
  }

  Ccid2Factory ccid2_;
  CcidRegistry registry_;
  Network network_;
  bool nonces_;
  std::vector<std::unique_ptr<Liar>> liars_;
  std::vector<SimNode*> senders_;
  std::vector<ConnId> conns_;
};

constexpr Duration kTime = seconds(60);

TEST(LyingReceiver, R4340_AGG_01_HonestReceiversShareFairly) {
  for (const bool red : {false, true}) {
    const Shares shares = Contest(Lie::kNone, Guess::kCoin, true, red).Run(kTime);
    EXPECT_NEAR(shares.liar, 0.5, 0.1);
    EXPECT_EQ(shares.sender.counters.nonce_mismatches, 0u);
    EXPECT_EQ(shares.sender.counters.false_acks, 0u);
    EXPECT_FALSE(shares.penalty);
  }
}

TEST(LyingReceiver, R4340_AGG_01_WithoutNoncesLyingPays) {
  EXPECT_GT(Contest(Lie::kHideLosses, Guess::kCoin, false, false).Run(seconds(10)).liar, 0.75);
  EXPECT_GT(Contest(Lie::kHideMarks, Guess::kCoin, false, true).Run(seconds(10)).liar, 0.75);
}

TEST(LyingReceiver, R4340_AGG_01_WhoHidesLossesIsCutOff) {
  for (const Guess guess : {Guess::kNeighbour, Guess::kCoin, Guess::kAlwaysZero}) {
    const Shares shares = Contest(Lie::kHideLosses, guess, true, false).Run(kTime);
    EXPECT_LT(shares.liar, 0.2);
    EXPECT_TRUE(shares.penalty);
    EXPECT_EQ(shares.sender.close.by, ClosedBy::kProtocol);
  }
}

TEST(LyingReceiver, R4340_AGG_01_WhoHidesMarksGainsNothing) {
  for (const Guess guess : {Guess::kNeighbour, Guess::kCoin, Guess::kAlwaysZero}) {
    const Shares shares = Contest(Lie::kHideMarks, guess, true, true).Run(kTime);
    EXPECT_LT(shares.liar, 0.55);
    // It never claimed what it did not get.
    EXPECT_FALSE(shares.penalty);
    EXPECT_EQ(shares.sender.counters.false_acks, 0u);
  }
}

}  // namespace
}  // namespace dccp
