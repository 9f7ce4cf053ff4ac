// The highest rate that passes. RFC 2544 §26.1
#pragma once

#include <cstddef>
#include <optional>

namespace dccp::apps::lab {

// A binary search between zero and a rate that has failed, until the highest rate that passed and
// the lowest that failed are `resolution` apart, as a part of the latter, or after `most` trials.
class RateSearch {
 public:
  RateSearch(double failed, double resolution, std::size_t most)
      : failed_(failed), resolution_(resolution), left_(most) {}

  // What to try next; nothing once the search is over.
  std::optional<double> Next() const;
  // How the trial of Next() went.
  void Report(bool passed);

  // 0 where none has.
  double highest_passed() const { return passed_; }
  double lowest_failed() const { return failed_; }

 private:
  double passed_ = 0;
  double failed_;
  double resolution_;
  std::size_t left_;
};

// Whether a trial passes: so few packets were lost, some arrived, and the sender did offer
// the rate.
struct TrialOutcome {
  double offered_per_second = 0;  // 0: as fast as it goes
  double sent_per_second = 0;
  double received_per_second = 0;
  double lost = 0;  // a part of those sent
};
bool Passes(const TrialOutcome& trial, double max_loss);

}  // namespace dccp::apps::lab
