#include "apps/dccp-lab/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "stack/lab/statistics.h"

namespace dccp::apps::lab {

Comparison Compare(std::span<const double> first, std::span<const double> second) {
  const dccp::lab::Estimate a = dccp::lab::EstimateOf(first);
  const dccp::lab::Estimate b = dccp::lab::EstimateOf(second);
  Comparison out;
  out.first = a.mean;
  out.second = b.mean;
  out.difference = b.mean - a.mean;
  if (first.size() < 2 || second.size() < 2) return out;
  const auto na = static_cast<double>(first.size());
  const auto nb = static_cast<double>(second.size());
  const double va = a.sd * a.sd / na;
  const double vb = b.sd * b.sd / nb;
  if (va + vb > 0) {
    out.degrees = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
    // Rounded down: the interval is rather too wide.
    out.half_width = dccp::lab::StudentT975(static_cast<std::size_t>(std::floor(out.degrees))) *
                     std::sqrt(va + vb);
  } else {
    out.degrees = na + nb - 2;
  }
  out.verdict = std::abs(out.difference) <= out.half_width ? Comparison::Verdict::kNoDifference
                : out.difference > 0                       ? Comparison::Verdict::kGreater
                                                           : Comparison::Verdict::kLess;
  return out;
}

std::string ComparedRow::verdict() const {
  switch (comparison.verdict) {
    case Comparison::Verdict::kNoDifference:
      return "no significant difference";
    case Comparison::Verdict::kTooFewRuns:
      return "fewer than two runs: no verdict";
    case Comparison::Verdict::kGreater:
      return more_is_better ? "faster" : "slower";
    case Comparison::Verdict::kLess:
      return more_is_better ? "slower" : "faster";
  }
  return "?";
}

std::vector<ComparedRow> CompareResults(const Json& first, const Json& second) {
  struct Figure {
    const char* name;
    const Json::json_pointer& pointer;
    bool more_is_better;
    double scale;
  };
  std::vector<ComparedRow> rows;
  for (const Json& cell : first["cells"]) {
    const bool sent = &MeasureOf(cell) == &kSentBps;
    const Figure figures[] = {
        {sent ? "sent, kbit/s" : "throughput, Mbit/s", MeasureOf(cell), true, sent ? 1e-3 : 1e-6},
        {"blast, Mbit/s", kBlastBps, true, 1e-6},
        {"sender, us/packet", kSenderUs, false, 1},
        {"receiver, us/packet", kReceiverUs, false, 1}};
    for (const Json& other : second["cells"]) {
      if (other["id"] != cell["id"]) continue;
      for (const Figure& figure : figures) {
        const std::vector<double> a = FiguresOf(cell, figure.pointer);
        const std::vector<double> b = FiguresOf(other, figure.pointer);
        if (a.empty() || b.empty()) continue;
        rows.push_back({cell["id"].get<std::string>(), figure.name, figure.more_is_better,
                        figure.scale, Compare(a, b)});
      }
    }
  }
  return rows;
}

std::string RowText(const ComparedRow& row) {
  const Comparison& c = row.comparison;
  const double percent = c.first != 0 ? 100 / c.first : 0;
  std::string change = fmt::format("{:+8.2f} %", c.difference * percent);
  if (c.verdict != Comparison::Verdict::kTooFewRuns)
    change += fmt::format(" +- {:.2f}", std::abs(c.half_width * percent));
  return fmt::format("{:<30} {:<20} {:>12.3f} {:>12.3f} {:<20} {}\n", row.id, row.figure,
                     c.first * row.scale, c.second * row.scale, change, row.verdict());
}

Json RowToJson(const ComparedRow& row) {
  const Comparison& c = row.comparison;
  const bool tested = c.verdict != Comparison::Verdict::kTooFewRuns;
  return {{"id", row.id},
          {"figure", row.figure},
          {"first", c.first * row.scale},
          {"second", c.second * row.scale},
          {"difference", c.difference * row.scale},
          {"ci95", tested ? Json(c.half_width * row.scale) : Json(nullptr)},
          {"degrees_of_freedom", tested ? Json(c.degrees) : Json(nullptr)},
          {"verdict", row.verdict()}};
}

}  // namespace dccp::apps::lab
