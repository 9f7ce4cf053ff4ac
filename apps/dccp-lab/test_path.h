// What a measurement wants of a test bed before it begins.
#pragma once

#include <functional>
#include <string>

#include "apps/dccp-lab/test_bed.h"
#include "dccp/time.h"

namespace dccp::apps::lab {

// Gives both cables of a bed an MTU. False with `*error` filled.
bool SetMtu(TestBed* bed, int bytes, std::string* error);

// Until a datagram went from sender to receiver and back, so that no first packet waits for the
// neighbours to be found. False with `*error` where none did within `limit`, or `stop` said so.
bool WaitForPath(TestBed* bed, IpFamily family, Duration limit, const std::function<bool()>& stop,
                 std::string* error);

}  // namespace dccp::apps::lab
