// Two negotiators over a channel that loses and reorders. RFC 4340 §6.3, §6.6
#include <random>

#include "tests/unit/conn/feature_test_util.h"

namespace dccp {
namespace {

using namespace feature_test;  // NOLINT(google-build-using-namespace)

struct Flight {
  PacketType type;
  Seq64 seq;
  std::optional<Seq64> ack;
  std::vector<std::byte> options;
};

constexpr FeatureNumber kSpFeatures[] = {kCcid, kSendNdpCount, kMinChecksumCoverage,
                                         kCheckDataChecksum};
constexpr FeatureNumber kNnFeatures[] = {kSequenceWindow, kAckRatio};

// A client and a server whose packets wait in two bags and leave them in any order, or never.
class Pair {
 public:
  explicit Pair(std::uint32_t seed) : random_(seed) {
    for (int side : {0, 1}) {
      n_[side] = std::make_unique<FeatureNegotiator>(side == 0 ? Role::kClient : Role::kServer);
      for (int id : {2, 3, 4, 5}) {
        EXPECT_TRUE(n_[side]->RegisterCcid(static_cast<CcidId>(id), {}));
      }
    }
  }

  unsigned Pick(unsigned n) { return static_cast<unsigned>(random_() % n); }

  void Start() {
    for (int side : {0, 1}) {
      n_[side]->Start(sent_[side]);
      received_[side] = sent_[1 - side];
      n_[side]->OnPeerInitial(sent_[1 - side]);
      n_[side]->SetOpen(now_);
    }
  }

  // `anchor`: a value that every list holds, so that changed lists always share an entry.
  PreferenceList RandomList(FeatureNumber feature, bool anchor) {
    PreferenceList list;
    const unsigned base = feature == kCcid ? 2 : 0;
    const unsigned span = feature == kCcid ? 4 : feature == kMinChecksumCoverage ? 5 : 2;
    for (unsigned i = 0; i <= Pick(4); ++i) list.Add(static_cast<std::uint8_t>(base + Pick(span)));
    if (anchor) list.Add(static_cast<std::uint8_t>(base));
    return list;
  }

  void ConfigureAtRandom(bool anchor) {
    for (int side : {0, 1}) {
      for (FeatureNumber f : kSpFeatures) {
        for (Located at : {kLocal, kRemote}) {
          if (Pick(3) == 0) continue;
          // CCID lists hold 2: without it a list that shares nothing is a Reset by design.
          const bool with_anchor = anchor || f == kCcid;
          EXPECT_TRUE(
              n_[side]->Configure({f, at, RandomList(f, with_anchor), 0, false, Pick(2) == 0}));
        }
      }
    }
  }

  void Send(int side, PacketType type) {
    std::vector<std::byte> buffer(24 + Pick(100));
    OptionWriter writer(buffer);
    const Seq64 seq = ++sent_[side];
    const auto ack = HasAckNumber(type) ? std::optional(received_[side]) : std::nullopt;
    n_[side]->WriteOptions({type, seq, ack, now_}, writer);
    bag_[1 - side].push_back({type, seq, ack, {writer.bytes().begin(), writer.bytes().end()}});
  }

  void Deliver(int side, std::size_t index) {
    const Flight packet = bag_[side][index];
    bag_[side].erase(bag_[side].begin() + static_cast<std::ptrdiff_t>(index));
    received_[side] = std::max(received_[side], packet.seq);
    const auto reset = Feed(*n_[side], {packet.type, packet.seq, packet.ack}, packet.options);
    ASSERT_EQ(reset, std::nullopt) << ToHex(packet.options);
  }

  void Step(bool wishes) {
    const int side = static_cast<int>(Pick(2));
    auto& bag = bag_[side];
    switch (Pick(wishes ? 8 : 6)) {
      case 0:
        Send(side, PacketType::kData);
        break;
      case 1:
        Send(side, PacketType::kAck);
        break;
      case 2:
      case 3:
        if (!bag.empty()) Deliver(side, Pick(static_cast<unsigned>(bag.size())));
        break;
      case 4:
        if (!bag.empty() && Pick(2) == 0) bag.erase(bag.begin());
        break;
      case 5:
        now_ += milliseconds(50 + Pick(500));
        n_[side]->HandleTimeout(now_);
        break;
      case 6: {
        const FeatureNumber f = kSpFeatures[Pick(std::size(kSpFeatures))];
        const Located at = Pick(2) == 0 ? kLocal : kRemote;
        EXPECT_TRUE(n_[side]->ChangePreference(f, at, RandomList(f, true)));
        break;
      }
      default:
        EXPECT_TRUE(n_[side]->ChangeLocalNn(kNnFeatures[Pick(2)], 32 + Pick(5)));
    }
  }

  bool Stable() const { return n_[0]->AllStable() && n_[1]->AllStable(); }

  void ExpectAgreement() const {
    for (unsigned f = 1; f <= 9; ++f) {
      const FeatureNumber feature{static_cast<std::uint8_t>(f)};
      for (Located at : {kLocal, kRemote}) {
        ASSERT_EQ(n_[0]->value(feature, at), n_[1]->value(feature, Opposite(at)))
            << "feature " << f << " located at the " << (at == kLocal ? "client" : "server");
      }
    }
  }

  // The channel turns perfect: everything must settle.
  void Drain() {
    for (int round = 0; round < 400 && !Stable(); ++round) {
      now_ += seconds(1);
      for (int side : {0, 1}) {
        n_[side]->HandleTimeout(now_);
        Send(side, PacketType::kAck);
        while (!bag_[1 - side].empty()) ASSERT_NO_FATAL_FAILURE(Deliver(1 - side, 0));
      }
    }
    ASSERT_TRUE(Stable());
  }

  FeatureNegotiator& at(int side) { return *n_[side]; }

 private:
  std::mt19937 random_;
  std::unique_ptr<FeatureNegotiator> n_[2];
  std::vector<Flight> bag_[2];  // what is under way to that side
  Seq64 sent_[2] = {S(0), R(0)};
  Seq64 received_[2];
  TimePoint now_ = At(seconds(1));
};

void RunPair(std::uint32_t seed, bool wishes) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Pair pair(seed);
  pair.ConfigureAtRandom(wishes);
  pair.Start();
  for (int step = 0; step < 150; ++step) {
    ASSERT_NO_FATAL_FAILURE(pair.Step(wishes));
    if (!pair.Stable()) continue;
    ASSERT_NO_FATAL_FAILURE(pair.ExpectAgreement());
  }
  ASSERT_NO_FATAL_FAILURE(pair.Drain());
  ASSERT_NO_FATAL_FAILURE(pair.ExpectAgreement());
}

TEST(FeatureProperty, R4340_FN_06_FN_12_AgreementUnderLossAndReordering) {
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) ASSERT_NO_FATAL_FAILURE(RunPair(seed, false));
}

TEST(FeatureProperty, R4340_FN_06_FN_28_AgreementWhileWishesChange) {
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) ASSERT_NO_FATAL_FAILURE(RunPair(seed, true));
}

TEST(FeatureProperty, R4340_FN_08_ResultFollowsFromTheListsAlone) {
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    Pair pair(seed);
    const PreferenceList client = pair.RandomList(kMinChecksumCoverage, true);
    const PreferenceList server = pair.RandomList(kMinChecksumCoverage, true);
    const unsigned who = pair.Pick(3);
    ASSERT_TRUE(pair.at(0).Configure({kMinChecksumCoverage, kLocal, client, 0, false, who != 1}));
    ASSERT_TRUE(pair.at(1).Configure({kMinChecksumCoverage, kRemote, server, 0, false, who != 0}));
    pair.Start();
    for (int step = 0; step < 100; ++step) ASSERT_NO_FATAL_FAILURE(pair.Step(false));
    ASSERT_NO_FATAL_FAILURE(pair.Drain());
    EXPECT_EQ(pair.at(0).value(kMinChecksumCoverage, kLocal),
              Reconcile(Role::kClient, client.bytes(), server.bytes()))
        << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(pair.ExpectAgreement());
  }
}

// Whatever bytes arrive, nothing breaks and the answers stay well-formed.
TEST(FeatureProperty, SurvivesRandomOptions) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    Endpoint e(round % 2 == 0 ? Role::kServer : Role::kClient, Needs::kReal);
    e.Start(round % 3 == 0 ? Endpoint::Phase::kHandshake : Endpoint::Phase::kOpen);
    for (int i = 0; i < 8; ++i) {
      std::vector<std::byte> area;
      for (int k = 0; k < 4; ++k) {
        const auto length = 2 + random() % 8;
        area.push_back(static_cast<std::byte>(32 + random() % 4));
        area.push_back(static_cast<std::byte>(length));
        area.push_back(static_cast<std::byte>(random() % 4 != 0 ? random() % 10 : random()));
        for (std::size_t b = 3; b < length; ++b)
          area.push_back(static_cast<std::byte>(random() % 5));
        if (length == 2) area.pop_back();
      }
      Feed(e.n, {PacketType::kAck, R(++e.peer_seq), S(e.sent_seq)}, area);
      EXPECT_EQ(OptionReader(FromHex(e.Send())).malformed(), false);
      e.now += milliseconds(300);
      e.n.HandleTimeout(e.now);
      if (i == 4) e.n.SetOpen(e.now);
    }
  }
}

}  // namespace
}  // namespace dccp
