// Firewall rules that every forwarded packet passes and none matches.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "apps/dccp-lab/forward_plan.h"
#include "apps/dccp-lab/test_bed.h"

namespace dccp::apps::lab {

// What nft and iptables-restore read: `count` rules in the chain of forwarded packets, one after
// another, each of another source address that no host of the test bed has.
std::string NftRules(Between between, IpFamily family, std::size_t count);
std::string IptablesRules(IpFamily family, std::size_t count);

// The path of a program, by PATH and where system tools are; empty when it is not there.
std::string FindProgram(const std::string& name);

// Loads the rules into the host between. `scratch`: for the tool's output. False with `*error`,
// what is missing and what to do.
bool InstallRules(TestBed* bed, Between between, Firewall firewall, IpFamily family,
                  std::size_t count, const std::string& scratch, std::string* error);
// "nftables v1.0.6", "iptables v1.8.9 (legacy)": what InstallRules uses; empty without firewall.
std::string FirewallVersion(Firewall firewall, const std::string& scratch);

}  // namespace dccp::apps::lab
