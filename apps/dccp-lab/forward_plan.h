// Forwarding by frame size: which cells there are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/dccp-lab/results.h"
#include "apps/dccp-lab/test_bed.h"
#include "dccp/types.h"

namespace dccp::apps::lab {

// Who looks at every packet on its way.
enum class Firewall { kNone, kNft, kIptables };
// What is sent: UDP alone, as a control; DCCP with CCID 2, in UDP or as IP protocol 33.
enum class Traffic { kPlain, kUdp, kNative };

const char* NameOf(Between between);
const char* NameOf(Firewall firewall);
const char* NameOf(Traffic traffic);

struct ForwardPlan {
  std::vector<std::size_t> sizes = {64, 128, 256, 512, 1024, 1280, 1518};  // RFC 2544 §9.1
  std::vector<Between> between = {Between::kKernelBridge, Between::kKernelRouter};
  std::vector<Firewall> firewalls = {Firewall::kNone, Firewall::kNft, Firewall::kIptables};
  std::vector<Traffic> traffic = {Traffic::kPlain, Traffic::kUdp};
  std::vector<IpFamily> families = {IpFamily::kV4};
  std::vector<std::string> only;  // parts of ids; empty: all cells
  std::size_t rules = 100;
  double max_loss = 0.001;
  double seconds = 1;  // of a trial
  double omit = 0.2;
  std::size_t repeat = 3;
};

struct ForwardCell {
  std::string id;  // "v4-bridge-none-plain-64", "v4-router-nft-udp-512"
  IpFamily family = IpFamily::kV4;
  Between between = Between::kKernelBridge;
  Firewall firewall = Firewall::kNone;
  Traffic traffic = Traffic::kPlain;
  std::size_t frame_bytes = 0;  // as on Ethernet, frame check sequence included
  std::size_t payload_bytes = 0;
};

// Headers of a frame: Ethernet with its frame check sequence, IP, UDP, DCCP-Data with long sequence
// numbers.
std::size_t HeaderBytes(IpFamily family, Traffic traffic);
// Nothing where the headers do not fit.
std::optional<std::size_t> PayloadOf(std::size_t frame_bytes, IpFamily family, Traffic traffic);

// `impossible` gets a line for each size that has no cell.
std::vector<ForwardCell> CellsOf(const ForwardPlan& plan, std::vector<std::string>* impossible);
// What has to be the same in a run that is resumed.
Json PlanToJson(const ForwardPlan& plan);
Json CellToJson(const ForwardPlan& plan, const ForwardCell& cell);

}  // namespace dccp::apps::lab
