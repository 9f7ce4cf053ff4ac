// The parts of a report that are the same in all.
#pragma once

namespace dccp::apps::lab {

// report/report.css and report/report.js, put in by the build.
extern const char kReportStyle[];
extern const char kReportScript[];

}  // namespace dccp::apps::lab
