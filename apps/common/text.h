// Numbers and addresses for people.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "dccp/types.h"

namespace dccp::apps {

std::string AddressText(const IpAddress& address);
// "10.0.0.1:5001", "[fe80::1%eth0]:5001"
std::string AddressAndPort(const IpAddress& address, std::uint16_t port);

// "1.25 GBytes": powers of 1024, as iperf3 counts transfers.
std::string BytesText(double bytes);
// "9.41 Gbits/sec": powers of 1000, as iperf3 counts rates.
std::string RateText(double bits_per_second);

// Writes it all or sets the file's error flag; never throws.
void Put(std::FILE* file, std::string_view text);
// Hands what was put to the system; false if any of it could not be written, now or earlier.
bool Flush(std::FILE* file);
// Why the first write that failed did: later calls have long overwritten errno when one asks.
std::string WriteErrorText();

// The text of errno, or of `error`.
std::string ErrnoText();
std::string ErrnoText(int error);

}  // namespace dccp::apps
