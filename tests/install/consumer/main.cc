// The smallest user of the installed package: it needs exported symbols of the base layer only.
#include <cstdio>
#include <cstring>

#include "dccp/result.h"
#include "dccp/service_code.h"
#include "dccp/trace.h"
#include "dccp/types.h"

namespace {

class Sink : public dccp::TraceSink {
 public:
  void OnState(const dccp::StateEvent& event) override { last = event.to; }
  dccp::State last = dccp::State::kClosed;
};

}  // namespace

int main() {
  Sink sink;
  sink.OnState({{}, dccp::State::kClosed, dccp::State::kOpen, dccp::TimePoint()});
  const auto code = dccp::ServiceCode::Parse("SC:fdpz");
  const bool good = code && code->value() == 1717858426u &&
                    std::strcmp(dccp::ToString(sink.last), "OPEN") == 0 &&
                    std::strcmp(dccp::ToString(dccp::DropReason::kTooShort), "too-short") == 0;
  std::printf("%s %s\n", code ? code->ToText().data() : "?", dccp::ToString(sink.last));
  return good ? 0 : 1;
}
