#include "stack/conn/pmtu_prober.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace dccp {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using State = PmtuProber::State;

constexpr std::uint32_t kHeaders = 40;

// A prober over a path that carries packets of at most `limit` bytes and says nothing of others.
class ProbedPath {
 public:
  explicit ProbedPath(std::uint32_t interface_mtu = 1500, IpFamily family = IpFamily::kV4)
      : prober(family, interface_mtu), limit(interface_mtu) {
    prober.SetEnabled(true, now);
  }

  // Sends `bytes` of data and tells at once what became of them, as an Ack Vector does.
  void Data(std::uint32_t bytes) {
    prober.OnDataSent(seq, bytes, bytes - kHeaders, now);
    Tell(seq, bytes <= limit ? Fate::kReceived : Fate::kLost);
    ++seq;
  }
  // Sends `bytes` and hears nothing of them.
  void DataUnheard(std::uint32_t bytes) {
    prober.OnDataSent(seq, bytes, bytes - kHeaders, now);
    ++seq;
  }
  void Tell(Seq64 packet, Fate fate, std::uint64_t payload_bytes = 100) {
    const std::array<FateRun, 1> run = {{{packet, 1, 1, payload_bytes, now, now, fate}}};
    prober.OnFates(run, now);
  }
  // Lets time pass, probe by probe.
  void Advance(Duration duration) {
    const TimePoint end = now + duration;
    while (prober.NextTimeout() <= end) {
      now = Later(now, prober.NextTimeout());
      Probe();
    }
    now = end;
  }
  // What is due now.
  bool Probe() {
    const auto bytes = prober.Due(now);
    if (!bytes) return false;
    probes.push_back(*bytes);
    prober.OnProbeSent(seq, now, milliseconds(20));
    if (*bytes <= limit) prober.OnSyncAck(seq, now);
    ++seq;
    return true;
  }
  void Doubt() {
    for (int i = 0; i < 3; ++i) Data(prober.mtu());
  }

  PmtuProber prober;
  std::uint32_t limit;
  TimePoint now = TimePoint(seconds(100));
  Seq64 seq{1000};
  std::vector<std::uint32_t> probes;
};

TEST(PmtuProber, R8899_STATE_01_StartsAtTheInterfaceMtuAndAsksNothingWhileItCarries) {
  ProbedPath path;
  EXPECT_EQ(path.prober.mtu(), 1500u);
  for (int i = 0; i < 1000; ++i) {
    path.Data(i % 3 == 0 ? 1500 : 200);
    path.Advance(seconds(3));
  }
  EXPECT_TRUE(path.probes.empty());
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  EXPECT_EQ(path.prober.NextTimeout(), kNever);
}

TEST(PmtuProber, R8899_BLACKHOLE_01_LargePacketsLostWhileSmallOnesArrive) {
  ProbedPath path;
  path.limit = 1300;
  path.Data(1500);
  path.Data(100);
  path.Data(1500);
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  // A small packet that arrives does not clear the large ones.
  path.Data(700);
  path.Data(1500);
  EXPECT_EQ(path.prober.state(), State::kBase);
  // The MTU in use, three times, then the base: evidence before anything is lowered.
  // And once more what is in use, for the path may have been down and be alive again.
  path.Advance(milliseconds(3900));
  EXPECT_EQ(path.probes, (std::vector<std::uint32_t>{1500, 1500, 1500, 1200, 1500}));
  EXPECT_EQ(path.prober.mtu(), 1500u);
  EXPECT_EQ(path.prober.black_holes(), 0u);
  path.Advance(milliseconds(200));
  EXPECT_EQ(path.prober.state(), State::kSearching);
  EXPECT_EQ(path.prober.mtu(), 1200u);
  EXPECT_EQ(path.prober.black_holes(), 1u);
}

TEST(PmtuProber, R8899_SEARCH_01_ConvergesToWhatThePathCarries) {
  for (std::uint32_t limit = 576; limit < 1500; limit += 7) {
    ProbedPath path;
    path.limit = limit;
    path.Doubt();
    path.Advance(minutes(2));
    EXPECT_EQ(path.prober.state(), State::kSearchComplete) << limit;
    EXPECT_LE(path.prober.mtu(), limit);
    EXPECT_GT(path.prober.mtu() + PmtuProber::kStepBytes, limit);
    EXPECT_LE(path.probes.size(), 40u);
  }
}

TEST(PmtuProber, R8899_SEARCH_01_LargeInterfacesToo) {
  for (const std::uint32_t limit : {1500u, 4000u, 9000u, 40000u}) {
    ProbedPath path(65535);
    path.limit = limit;
    path.Doubt();
    path.Advance(minutes(5));
    EXPECT_LE(path.prober.mtu(), limit);
    EXPECT_GT(path.prober.mtu() + PmtuProber::kStepBytes, limit);
  }
}

TEST(PmtuProber, R8899_SEARCH_02_IPv6NeverGoesBelow1280) {
  ProbedPath path(1500, IpFamily::kV6);
  path.limit = 1400;
  path.Doubt();
  path.Advance(minutes(2));
  EXPECT_EQ(path.prober.mtu(), 1400u);
  path.limit = 1000;
  path.Doubt();
  path.Advance(minutes(2));
  EXPECT_EQ(path.prober.mtu(), 1400u) << "nothing that may be tried gets through";
  EXPECT_EQ(path.prober.state(), State::kError);
  for (const std::uint32_t bytes : path.probes) EXPECT_GE(bytes, 1280u);
}

TEST(PmtuProber, R8899_LOSS_01_OneLostProbeDecidesNothing) {
  ProbedPath path;
  path.Doubt();  // everything arrives: no doubt
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  path.limit = 0;
  path.Doubt();
  ASSERT_TRUE(path.Probe());
  ASSERT_FALSE(path.Probe()) << "one is out at a time";
  path.limit = 1500;
  path.Advance(seconds(10));
  EXPECT_EQ(path.prober.mtu(), 1500u);
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  EXPECT_EQ(path.probes.size(), 2u);
  EXPECT_EQ(path.prober.black_holes(), 0u);
}

TEST(PmtuProber, R8899_TIMER_01_AProbeIsWaitedForAtLeastASecond) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  ASSERT_TRUE(path.Probe());
  EXPECT_EQ(path.prober.NextTimeout(), path.now + seconds(1));
  // Unless acknowledgements tell that it was lost.
  path.Tell(path.seq - 1, Fate::kLost);
  EXPECT_LE(path.prober.NextTimeout(), path.now);
}

TEST(PmtuProber, ALongPathIsGivenFourRoundTrips) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  ASSERT_TRUE(path.prober.Due(path.now).has_value());
  path.prober.OnProbeSent(path.seq, path.now, seconds(2));
  EXPECT_EQ(path.prober.NextTimeout(), path.now + seconds(8));
}

TEST(PmtuProber, R8899_LOSS_02_AnAckVectorAnswersForALostSyncAck) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  ASSERT_TRUE(path.Probe());
  path.Tell(path.seq - 1, Fate::kMarked);
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
}

TEST(PmtuProber, APathThatIsDownKeepsItsMtu) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  for (int i = 0; i < 60; ++i) {
    path.DataUnheard(1500);
    path.Advance(seconds(10));
  }
  EXPECT_EQ(path.prober.mtu(), 1500u);
  EXPECT_EQ(path.prober.state(), State::kError);
  // Nine probes a round, and pauses that grow to a minute.
  EXPECT_LE(path.probes.size(), 150u);
  path.limit = 1500;
  path.DataUnheard(1500);
  path.Advance(minutes(2));
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  EXPECT_EQ(path.prober.mtu(), 1500u);
}

TEST(PmtuProber, R8899_IDLE_01_ADeadPathIsNotProbedWithoutData) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  path.Advance(minutes(1));
  const std::size_t before = path.probes.size();
  path.Advance(minutes(60));
  EXPECT_LE(path.probes.size(), before + 9);
  EXPECT_EQ(path.prober.NextTimeout(), kNever);
  path.limit = 1500;
  path.DataUnheard(1500);
  path.Advance(seconds(1));
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
}

TEST(PmtuProber, R8899_BLACKHOLE_02_TimeoutsWithoutAnyAnswerRaiseDoubt) {
  ProbedPath path;
  path.limit = 1200;
  path.DataUnheard(1500);
  path.prober.OnTimeout(path.now);
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  path.DataUnheard(1500);
  path.prober.OnTimeout(path.now);
  EXPECT_EQ(path.prober.state(), State::kBase);
  path.Advance(minutes(2));
  EXPECT_EQ(path.prober.mtu(), 1200u);
}

TEST(PmtuProber, R8899_BLACKHOLE_03_SmallPacketsLostAreNoBlackHole) {
  ProbedPath path;
  path.limit = 0;
  for (int i = 0; i < 100; ++i) path.Data(576);
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  EXPECT_EQ(path.prober.NextTimeout(), kNever);
}

TEST(PmtuProber, AWitnessThatArrivesEndsTheDoubt) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  ASSERT_TRUE(path.Probe());
  path.limit = 1500;
  path.Data(1500);
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  path.Advance(minutes(20));
  EXPECT_EQ(path.probes.size(), 1u);
}

TEST(PmtuProber, R8899_RAISE_01_ALoweredMtuIsTriedAgainAfterTenMinutesOfUse) {
  ProbedPath path;
  path.prober.OnLowered(1400, path.now);
  const TimePoint lowered = path.now;
  EXPECT_EQ(path.prober.NextTimeout(), lowered + minutes(10));
  path.Advance(minutes(30));
  EXPECT_TRUE(path.probes.empty()) << "nobody used it";
  path.Data(100);
  path.Advance(seconds(1));
  EXPECT_EQ(path.probes, (std::vector<std::uint32_t>{1404, 1500}));
  EXPECT_EQ(path.prober.mtu(), 1500u);
  EXPECT_EQ(path.prober.NextTimeout(), kNever);
}

TEST(PmtuProber, R8899_RAISE_02_AnUnchangedPathCostsOneSize) {
  ProbedPath path;
  path.limit = 1400;
  path.prober.OnLowered(1400, path.now);
  path.Data(1400);
  path.Advance(minutes(11));
  EXPECT_EQ(path.probes, (std::vector<std::uint32_t>{1404, 1404, 1404}));
  EXPECT_EQ(path.prober.mtu(), 1400u);
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
  EXPECT_GT(path.prober.NextTimeout(), path.now + minutes(5));
}

TEST(PmtuProber, R8899_PTB_01_ARouterThatRefusesAProbeNamesTheNextOne) {
  ProbedPath path;
  path.limit = 1200;
  path.Doubt();
  while (path.prober.mtu() == 1500) path.Advance(seconds(1));
  // SEARCHING now: a probe is out, and meets a router that speaks.
  ASSERT_EQ(path.prober.state(), State::kSearching);
  ASSERT_GT(path.probes.back(), 1330u);
  path.limit = 1330;
  path.prober.OnTooBig(path.seq - 1, 1330, path.now);
  path.Advance(seconds(1));
  EXPECT_EQ(path.probes.back(), 1330u);
  EXPECT_EQ(path.prober.mtu(), 1330u);
  EXPECT_EQ(path.prober.state(), State::kSearchComplete);
}

TEST(PmtuProber, R8899_PTB_02_NewsOfAnotherPacketIsNoAnswerToTheProbe) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  ASSERT_TRUE(path.Probe());
  path.prober.OnTooBig(path.seq - 2, 1400, path.now);
  path.prober.OnSyncAck(path.seq - 2, path.now);
  EXPECT_EQ(path.prober.state(), State::kBase);
  EXPECT_EQ(path.prober.NextTimeout(), path.now + seconds(1));
}

TEST(PmtuProber, R4340_FT_07_AnotherPathIsConfirmedAtOnce) {
  ProbedPath path;
  path.limit = 1400;
  path.prober.Restart(9000, true, path.now);
  EXPECT_EQ(path.prober.mtu(), 9000u);
  path.Advance(minutes(2));
  EXPECT_EQ(path.prober.mtu(), 1400u);
  // A small witness does not speak for the whole size.
  path.limit = 1280;
  path.prober.Restart(1500, true, path.now);
  path.Data(800);
  path.Advance(minutes(2));
  EXPECT_EQ(path.prober.mtu(), 1280u);
}

TEST(PmtuProber, R8899_CONFIRM_01_WhereAcksTellLittleTheSizeIsConfirmedNowAndThen) {
  ProbedPath path;
  path.limit = 1400;
  for (int i = 0; i < 400; ++i) {
    path.DataUnheard(1500);
    path.Advance(milliseconds(100));
  }
  EXPECT_EQ(path.prober.mtu(), 1400u);
}

// A full queue loses a probe, which comes out of turn, far more often than paced data: three lost
// in a row are no black hole where data of that size is seen to arrive.
TEST(PmtuProber, R8899_CONFIRM_01_DataThatArrivesConfirmsItsSizeWhereAcksTellLittle) {
  ProbedPath path;
  for (int i = 0; i < 4000; ++i) {
    path.DataUnheard(1500);  // every second packet becomes no witness, but is acknowledged
    path.DataUnheard(1500);
    path.Tell(path.seq - 1, Fate::kReceived, 1500 - kHeaders);
    path.Advance(milliseconds(100));
  }
  EXPECT_TRUE(path.probes.empty());

  path.limit = 1400;  // what is smaller confirms nothing
  for (int i = 0; i < 400; ++i) {
    path.DataUnheard(1500);
    path.DataUnheard(1300);
    path.Tell(path.seq - 1, Fate::kReceived, 1300 - kHeaders);
    path.Advance(milliseconds(100));
  }
  EXPECT_EQ(path.prober.mtu(), 1400u);
}

TEST(PmtuProber, OffItAsksNothing) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  path.prober.SetEnabled(false, path.now);
  path.Doubt();
  path.Advance(minutes(60));
  EXPECT_TRUE(path.probes.empty());
  EXPECT_EQ(path.prober.state(), State::kDisabled);
  path.prober.OnLowered(1400, path.now);
  EXPECT_EQ(path.prober.NextTimeout(), kNever);
  path.prober.SetEnabled(true, path.now);
  EXPECT_EQ(path.prober.NextTimeout(), path.now + minutes(10));
}

TEST(PmtuProber, APostponedProbeComesLater) {
  ProbedPath path;
  path.limit = 0;
  path.Doubt();
  ASSERT_TRUE(path.prober.Due(path.now).has_value());
  path.prober.Postpone(path.now);
  EXPECT_FALSE(path.prober.Due(path.now).has_value());
  EXPECT_TRUE(path.prober.Due(path.now + milliseconds(250)).has_value());
}

}  // namespace
}  // namespace dccp
