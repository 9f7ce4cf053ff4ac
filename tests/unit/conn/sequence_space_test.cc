#include "stack/conn/sequence_space.h"

#include <gtest/gtest.h>

namespace dccp {
namespace {

using Verdict = SequenceSpace::Verdict;

// A space that sent numbers 1000..1000+sent-1 and received 5000..5000+received-1.
SequenceSpace Make(int sent, int received, std::uint64_t local_window = 100,
                   std::uint64_t remote_window = 100) {
  SequenceSpace s;
  s.SetIss(SeqNo(1000));
  for (int i = 0; i < sent; ++i) s.TakeNext();
  s.SetIsr(SeqNo(5000));
  s.OnAccepted(PacketType::kAck, Seq64::FromInitial(SeqNo(5000)) + (received - 1), s.iss());
  s.SetLocalWindow(local_window);
  s.SetRemoteWindow(remote_window);
  return s;
}

Seq64 Rx(std::int64_t n) { return Seq64::FromInitial(SeqNo(0)) + n; }

TEST(SequenceSpace, R4340_HDR_14_EveryPacketTakesTheNextNumber) {
  SequenceSpace s;
  s.SetIss(SeqNo(SeqNo::kMask));
  EXPECT_EQ(s.TakeNext().Wrap(), SeqNo(SeqNo::kMask));
  EXPECT_EQ(s.PeekNext().Wrap(), SeqNo(0));
  EXPECT_EQ(s.TakeNext().Wrap(), SeqNo(0));
  EXPECT_EQ(s.TakeNext().Wrap(), SeqNo(1));
  EXPECT_GT(s.gss(), s.iss());
}

TEST(SequenceSpace, R4340_SEQ_02_GarStartsAtIss) {
  SequenceSpace s;
  s.SetIss(SeqNo(77));
  EXPECT_EQ(s.gar().Wrap(), SeqNo(77));
}

TEST(SequenceSpace, R4340_SEQ_01_VariablesBeginAsDefined) {
  SequenceSpace s;
  s.SetIss(SeqNo(1000));
  EXPECT_FALSE(s.has_isr());
  // The first Request or Response has ISS, and then the first packet of the peer gives ISR.
  EXPECT_EQ(s.TakeNext().Wrap(), SeqNo(1000));
  s.SetIsr(SeqNo(5000));
  EXPECT_EQ(s.iss().Wrap(), SeqNo(1000));
  EXPECT_EQ(s.gss().Wrap(), SeqNo(1000));
  EXPECT_EQ(s.gar().Wrap(), SeqNo(1000));
  EXPECT_EQ(s.isr().Wrap(), SeqNo(5000));
  EXPECT_EQ(s.gsr().Wrap(), SeqNo(5000));
  // With W = W' = 100, and neither window before the initial numbers.
  EXPECT_EQ(s.swl().Wrap(), SeqNo(5000));
  EXPECT_EQ(s.swh().Wrap(), SeqNo(5075));
  EXPECT_EQ(s.awl().Wrap(), SeqNo(1000));
  EXPECT_EQ(s.awh().Wrap(), SeqNo(1000));
}

TEST(SequenceSpace, R4340_SEQ_07_WindowBounds) {
  struct Row {
    std::uint64_t w;
    std::int64_t below, above;
  };
  // SWL = GSR + 1 - floor(W/4), SWH = GSR + ceil(3W/4); the width is W.
  for (const Row r : {Row{100, 24, 75}, Row{32, 7, 24}, Row{33, 7, 25}, Row{34, 7, 26},
                      Row{35, 7, 27}, Row{36, 8, 27}}) {
    const SequenceSpace s = Make(1, 1000, 100, r.w);
    EXPECT_EQ(s.gsr() - s.swl(), r.below) << r.w;
    EXPECT_EQ(s.swh() - s.gsr(), r.above) << r.w;
    EXPECT_EQ(s.swh() - s.swl() + 1, static_cast<std::int64_t>(r.w));
  }
  const SequenceSpace s = Make(500, 1, 64);
  EXPECT_EQ(s.awh(), s.gss());
  EXPECT_EQ(s.awh() - s.awl() + 1, 64);
}

TEST(SequenceSpace, Bug_A12_WindowsNeverReachBelowTheFirstNumbers) {
  SequenceSpace s = Make(3, 2);
  EXPECT_EQ(s.swl(), s.isr());
  EXPECT_EQ(s.awl(), s.iss());
  s.SetLocalWindow(SequenceSpace::kMaxWindow);
  s.SetRemoteWindow(SequenceSpace::kMaxWindow);
  EXPECT_EQ(s.swl(), s.isr());
  EXPECT_EQ(s.awl(), s.iss());
}

TEST(SequenceSpace, Bug_A11_LowerAckBoundFollowsWhatWasSent) {
  SequenceSpace s = Make(1639, 1);
  EXPECT_EQ(s.awl(), s.gss() - 99);
  EXPECT_FALSE(s.AckInWindow(s.iss()));
}

TEST(SequenceSpace, R4340_SEQ_08_NumbersWrapWithoutLosingTheWindow) {
  SequenceSpace s;
  s.SetIss(SeqNo(SeqNo::kMask - 1));
  s.SetIsr(SeqNo(SeqNo::kMask - 2));
  for (int i = 0; i < 10; ++i) s.TakeNext();
  for (std::uint64_t raw : {SeqNo::kMask - 1, SeqNo::kMask, std::uint64_t{0}, std::uint64_t{1}}) {
    const Seq64 seq = s.UnwrapSeq(SeqNo(raw), true);
    const Seq64 ack = s.UnwrapAck(SeqNo(2), true);
    EXPECT_EQ(s.Check(PacketType::kAck, seq, ack, true), Verdict::kAccept) << raw;
    s.OnAccepted(PacketType::kAck, seq, ack);
  }
  EXPECT_EQ(s.gsr().Wrap(), SeqNo(1));
  EXPECT_EQ(s.gar().Wrap(), SeqNo(2));
  // Before the first number of the peer, just across the wrap.
  EXPECT_EQ(
      s.Check(PacketType::kData, s.UnwrapSeq(SeqNo(SeqNo::kMask - 3), true), std::nullopt, true),
      Verdict::kSyncPacket);
}

TEST(SequenceSpace, R4340_SEQ_09_ValidityTableAtEachBoundary) {
  // GSR 5999, SWL 5975, SWH 6074; GSS 1999, AWL 1900, AWH 1999, GAR 1950.
  SequenceSpace s = Make(1000, 1000);
  s.OnAccepted(PacketType::kAck, s.gsr(), Rx(1950));
  const auto at = [&](PacketType t, std::int64_t seq, std::optional<std::int64_t> ack) {
    return s.Check(t, Rx(seq), ack ? std::optional(Rx(*ack)) : std::nullopt, true);
  };
  for (PacketType t : {PacketType::kAck, PacketType::kDataAck, PacketType::kResponse}) {
    EXPECT_EQ(at(t, 5975, 1900), Verdict::kAccept);
    EXPECT_EQ(at(t, 6074, 1999), Verdict::kAccept);
    EXPECT_EQ(at(t, 5974, 1950), Verdict::kSyncPacket);
    EXPECT_EQ(at(t, 6075, 1950), Verdict::kSyncPacket);
    EXPECT_EQ(at(t, 6000, 1899), Verdict::kSyncPacket);
    EXPECT_EQ(at(t, 6000, 2000), Verdict::kSyncPacket);
  }
  for (PacketType t : {PacketType::kData, PacketType::kRequest}) {
    EXPECT_EQ(at(t, 5975, {}), Verdict::kAccept);
    EXPECT_EQ(at(t, 6074, {}), Verdict::kAccept);
    EXPECT_EQ(at(t, 5974, {}), Verdict::kSyncPacket);
    EXPECT_EQ(at(t, 6075, {}), Verdict::kSyncPacket);
  }
  for (PacketType t : {PacketType::kClose, PacketType::kCloseReq, PacketType::kReset}) {
    const Verdict bad = t == PacketType::kReset ? Verdict::kSyncGsr : Verdict::kSyncPacket;
    EXPECT_EQ(at(t, 6000, 1950), Verdict::kAccept);
    EXPECT_EQ(at(t, 6074, 1999), Verdict::kAccept);
    EXPECT_EQ(at(t, 5999, 1950), bad);
    EXPECT_EQ(at(t, 6075, 1950), bad);
    EXPECT_EQ(at(t, 6000, 1949), bad);
    EXPECT_EQ(at(t, 6000, 2000), bad);
  }
  for (PacketType t : {PacketType::kSync, PacketType::kSyncAck}) {
    EXPECT_EQ(at(t, 5975, 1900), Verdict::kAccept);
    EXPECT_EQ(at(t, 6074, 1999), Verdict::kAccept);
    EXPECT_EQ(at(t, 5974, 1950), Verdict::kDrop);
    EXPECT_EQ(at(t, 6000, 1899), Verdict::kDrop);
    EXPECT_EQ(at(t, 6000, 2000), Verdict::kDrop);
  }
}

TEST(SequenceSpace, R4340_SEQ_10_SyncBeyondTheWindowOnlyAfterSilence) {
  const SequenceSpace s = Make(10, 1000);
  const Seq64 far = s.swh() + 100000;
  EXPECT_EQ(s.Check(PacketType::kSync, far, s.gss(), true), Verdict::kDrop);
  EXPECT_EQ(s.Check(PacketType::kSync, far, s.gss(), false), Verdict::kAccept);
}

TEST(SequenceSpace, R4340_EVT_08_OlderPacketsNeverLowerGsrOrGar) {
  SequenceSpace s = Make(100, 100);
  s.OnAccepted(PacketType::kAck, Rx(5200), Rx(1080));
  s.OnAccepted(PacketType::kAck, Rx(5150), Rx(1040));
  EXPECT_EQ(s.gsr(), Rx(5200));
  EXPECT_EQ(s.gar(), Rx(1080));
  // A Sync moves GSR but not GAR, a SyncAck both.
  s.OnAccepted(PacketType::kSync, Rx(5201), Rx(1090));
  EXPECT_EQ(s.gar(), Rx(1080));
  s.OnAccepted(PacketType::kSyncAck, Rx(5202), Rx(1091));
  EXPECT_EQ(s.gsr(), Rx(5202));
  EXPECT_EQ(s.gar(), Rx(1091));
}

TEST(SequenceSpace, R4340_SN_01_ShortNumbersExtendAroundGsrAndGss) {
  SequenceSpace s;
  s.SetIss(SeqNo(0x1FFFFFE));
  for (int i = 0; i < 4; ++i) s.TakeNext();  // GSS 0x2000001
  s.SetIsr(SeqNo(0x1FFFFFF));
  EXPECT_EQ(s.UnwrapSeq(SeqNo(0), false).Wrap(), SeqNo(0x2000000));
  EXPECT_EQ(s.UnwrapAck(SeqNo(0xFFFFFE), false).Wrap(), SeqNo(0x1FFFFFE));
  EXPECT_EQ(s.UnwrapAck(SeqNo(1), false).Wrap(), SeqNo(0x2000001));
}

}  // namespace
}  // namespace dccp
