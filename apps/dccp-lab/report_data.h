// What a report is made from, and safe ways to read it: result files may be of another version,
// interrupted or edited by hand.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/dccp-lab/results.h"

namespace dccp::apps::lab {

// A result file and the name that it has in the report.
struct ReportSource {
  std::string name;
  Json document;
};

// Nothing where there is no such member, or where it is no finite number.
std::optional<double> NumberAt(const Json& object, const std::string& pointer);
// "" where there is no such member; numbers as text.
std::string TextAt(const Json& object, const char* member);
// The members of an object, or of nothing.
const Json& MemberOf(const Json& object, const char* member);

// The throughput equation's rate for a cell: those that have it were measured against it, those
// that have none by size.
std::optional<double> EquationOf(const Json& cell);

// Bytes of a cell's payload, or of its frames where it has those.
std::optional<double> SizeOf(const Json& cell);
const char* SizeName(const Json& cell);
// What a cell was to measure, in each run: the rate that was sent, or received.
std::vector<double> RatesOf(const Json& cell);
// The rates of a cell in the published measurement: by a router, by a bridge. Empty for none.
std::vector<double> PublishedRatesOf(const Json& cell);
// Six significant digits: nobody sees more, and they take room.
double Rounded(double value);

// Names for the cells that were measured by size: a chart for each topology and family, in it a
// series for each firewall, CCID and encapsulation. What is the same in all cells, or follows from
// the rest of the name, says nothing and is left out.
class SeriesNames {
 public:
  explicit SeriesNames(std::span<const ReportSource> sources);
  // "CCID 3, DCCP-UDP"
  std::string SeriesOf(const Json& cell) const;
  // "router, IPv6"; "" where all cells share their charts.
  std::string ChartOf(const Json& cell) const;

 private:
  std::vector<const char*> series_;
  std::vector<const char*> charts_;
};

// A unit for rates up to `bps`.
struct RateUnit {
  double scale = 1e-3;
  const char* name = "kbit/s";
};
RateUnit RateUnitFor(double bps);

}  // namespace dccp::apps::lab
