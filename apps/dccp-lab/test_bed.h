// Sender, what is between, receiver: hosts that exist for as long as a measurement.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/dccp-lab/network_namespace.h"
#include "dccp/types.h"

namespace dccp::apps::lab {

// What stands between the two hosts. The kernel's own bridge or router; or a host that forwards
// nothing, where "dccp-netem bridge link1 link2" or "router" is to run.
enum class Between { kKernelBridge, kKernelRouter, kNetemBridge, kNetemRouter };

// Three network namespaces and the cables (veth) between them:
//
//   sender: host0 --- link1 :between: link2 --- host0 :receiver
//
// Nothing of it is seen outside, and nothing is left of it once this object, or the process in
// whatever way, has ended and with it the programs that were started in it (Child dies with the
// lab). Addresses are those of benchmarking: 198.18.0.0/15 (RFC 2544 appendix C.2.2) and
// 2001:2::/48 (RFC 5180 §8); two networks with a router, one with a bridge. IPv6 only where the
// kernel has it.
class TestBed {
 public:
  static constexpr const char* kHostLink = "host0";
  static constexpr const char* kLinks[2] = {"link1", "link2"};

  struct Options {
    Between between = Between::kKernelBridge;
    // False: the cables carry single packets, as a wire does, not what a socket gave to be cut.
    bool segments = true;
    std::uint32_t mtu = 1500;
  };
  // Null with `*error`, what is missing and what to do. The first call may move the process into a
  // user namespace: MayMakeNetworks().
  static std::unique_ptr<TestBed> Build(const Options& options, std::string* error);

  NetworkNamespace& sender() { return sender_; }
  NetworkNamespace& between() { return between_; }
  NetworkNamespace& receiver() { return receiver_; }
  bool has_v6() const { return has_v6_; }
  // As typed on a command line.
  std::string sender_address(IpFamily family) const;
  std::string receiver_address(IpFamily family) const;

 private:
  TestBed(Between kind, NetworkNamespace sender, NetworkNamespace between,
          NetworkNamespace receiver);
  bool Lay(const Options& options, std::string* error);
  bool Address(std::string* error);
  bool Bridge(std::string* error);
  bool Forward(std::string* error);

  bool routes() const { return kind_ == Between::kKernelRouter || kind_ == Between::kNetemRouter; }

  Between kind_;
  NetworkNamespace sender_;
  NetworkNamespace between_;
  NetworkNamespace receiver_;
  bool has_v6_;
};

}  // namespace dccp::apps::lab
