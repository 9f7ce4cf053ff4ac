// Processor time of this process.
#pragma once

#include "dccp/time.h"

namespace dccp::apps {

// User and system time of all threads since the start.
Duration ProcessCpuTime();

}  // namespace dccp::apps
