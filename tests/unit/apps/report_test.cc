#include "apps/common/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/common/remote_figures.h"
#include "apps/common/text.h"

namespace dccp::apps {
namespace {

using testing::HasSubstr;

TEST(Report, ScalesLikeIperf) {
  EXPECT_EQ(BytesText(1.5 * 1024 * 1024), "1.50 MBytes");
  EXPECT_EQ(BytesText(0), "0.00 Bytes");
  EXPECT_EQ(RateText(9.412e9), "9.41 Gbits/sec");
  EXPECT_EQ(RateText(999.9e6), "1000 Mbits/sec");
}

TEST(Report, WritesUnknownValuesAsNull) {
  const Json end = ToJson(EndReport());
  EXPECT_TRUE(end["sent"]["packets"].is_null());
  EXPECT_TRUE(end["received"]["lost_percent"].is_null());
  EXPECT_TRUE(end["close"]["by"].is_null());
  EXPECT_TRUE(end["ratio_to_equation"].is_null());
}

TEST(Report, DerivesRatesLossAndRatio) {
  EndReport end;
  end.seconds = 2;
  end.sent_packets = 1000;
  end.sent_bytes = 1'000'000;
  end.lost_packets = 10;
  end.equation_bps = 8e6;
  const Json json = ToJson(end);
  EXPECT_DOUBLE_EQ(json["sent"]["bits_per_second"].get<double>(), 4e6);
  EXPECT_DOUBLE_EQ(json["received"]["lost_percent"].get<double>(), 1.0);
  EXPECT_DOUBLE_EQ(json["ratio_to_equation"].get<double>(), 0.5);
}

TEST(Report, NamesTheWindowOrTheRate) {
  IntervalReport interval;
  EXPECT_TRUE(ToJson(interval).contains("cwnd_packets"));
  interval.x_bits_per_second = 1e6;
  EXPECT_TRUE(ToJson(interval).contains("x_bits_per_second"));
  EXPECT_FALSE(ToJson(interval).contains("cwnd_packets"));
}

TEST(Report, AddsConnectionsUp) {
  EndReport one;
  one.seconds = 2;
  one.sent_packets = 10;
  one.sent_bytes = 100;
  EndReport two = one;
  two.lost_packets = 3;
  const EndReport sum = Sum(std::vector{one, two});
  EXPECT_EQ(sum.sent_packets, 20u);
  EXPECT_EQ(sum.sent_bytes, 200u);
  EXPECT_EQ(sum.lost_packets, 3u);
  EXPECT_EQ(sum.received_packets, std::nullopt);
  EXPECT_EQ(sum.seconds, 2);
}

TEST(RemoteFigures, SurviveTheWay) {
  RemoteFigures f;
  f.packets = 7;
  f.bytes = 700;
  f.seconds = 1.5;
  f.out_of_order = 2;
  f.cpu_s = 0.5;
  f.cpu_span_s = 2;
  const auto back = FiguresFromJson(FiguresToJson(f));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->packets, 7u);
  EXPECT_EQ(back->out_of_order, 2u);
  EXPECT_EQ(back->jitter_ms, std::nullopt);
}

TEST(RemoteFigures, TakeNothingFromNonsense) {
  for (const char* text :
       {"7", "[]", "{}", R"({"ok":false})", R"({"ok":true})", R"({"ok":1,"packets":1,"bytes":1})",
        R"({"ok":true,"packets":"1","bytes":1})", R"({"ok":true,"packets":-1,"bytes":1})",
        R"({"ok":true,"packets":1e300,"bytes":1})"})
    EXPECT_FALSE(FiguresFromJson(nlohmann::json::parse(text)).has_value()) << text;
}

TEST(RemoteFigures, CompleteTheSendersReport) {
  EndReport end;
  end.seconds = 1;
  end.sent_packets = 100;
  end.sent_bytes = 1000;
  RemoteFigures remote;
  remote.packets = 95;
  remote.bytes = 950;
  remote.seconds = 1;
  remote.cpu_s = 0.25;
  remote.cpu_span_s = 1;
  AddRemote(remote, std::nullopt, {true, 100, 0}, &end);
  EXPECT_EQ(end.received_packets, 95u);
  EXPECT_EQ(end.lost_packets, 5u);
  EXPECT_DOUBLE_EQ(end.cpu_remote_percent.value_or(0), 25);
  EXPECT_THAT(EndText("1", end), HasSubstr("lost 5 (5%)"));
}

// 40 + 60 sent, 2 lost in the omitted part and 3 after it; the peer's figures for the end of the
// omission came when 5 more had arrived there.
TEST(RemoteFigures, TakeLossFromTotalsWhereAPartWasOmitted) {
  EndReport end;
  end.sent_packets = 60;
  RemoteFigures base;
  base.packets = 43;
  RemoteFigures last;
  last.packets = 95;
  AddRemote(last, base, {true, 100, 2}, &end);
  EXPECT_EQ(end.received_packets, 52u);
  EXPECT_EQ(end.lost_packets, 3u);
}

TEST(RemoteFigures, CompleteTheReportOfAReverseRun) {
  EndReport end;
  end.received_packets = 90;
  RemoteFigures remote;
  remote.packets = 100;
  remote.bytes = 1000;
  AddRemote(remote, std::nullopt, {false, 90, 0}, &end);
  EXPECT_EQ(end.sent_packets, 100u);
  EXPECT_EQ(end.lost_packets, 10u);
}

}  // namespace
}  // namespace dccp::apps
