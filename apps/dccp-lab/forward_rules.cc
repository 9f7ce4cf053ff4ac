#include "apps/dccp-lab/forward_rules.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "apps/common/text.h"
#include "apps/dccp-lab/child.h"

namespace dccp::apps::lab {

namespace {

constexpr Duration kLimit = std::chrono::seconds(60);

bool Never() { return false; }

// Class E and the addresses of documentation: nobody sends from them.
std::string Foreign(IpFamily family, std::size_t n) {
  return family == IpFamily::kV4
             ? fmt::format("240.{}.{}.{}", n >> 16 & 0xFF, n >> 8 & 0xFF, n & 0xFF)
             : fmt::format("2001:db8::{:x}:{:x}", n >> 16, n & 0xFFFF);
}

// Legacy iptables where it is: with nf_tables behind it the kernel would do what nft makes it do.
std::string IptablesProgram(IpFamily family, const char* rest) {
  const std::string base = family == IpFamily::kV4 ? "iptables" : "ip6tables";
  const std::string legacy = FindProgram(base + "-legacy" + rest);
  return legacy.empty() ? FindProgram(base + rest) : legacy;
}

// A bridge hands packets to iptables only where it is told to; otherwise that is no part of it.
bool LetIptablesSeeBridge(TestBed* bed, IpFamily family, bool see, std::string* error) {
  const std::string name = family == IpFamily::kV4 ? "bridge/bridge-nf-call-iptables"
                                                   : "bridge/bridge-nf-call-ip6tables";
  if (::access("/proc/sys/net/bridge", F_OK) != 0) {
    if (!see) return true;
    *error = "iptables sees no bridged packets: 'modprobe br_netfilter'";
    return false;
  }
  return bed->between().SetOption(name, see ? "1" : "0", error);
}

bool Load(TestBed* bed, const std::vector<std::string>& words, const std::string& scratch,
          std::string* error) {
  std::optional<Child> child = Child::Start(words, scratch + "/rules", error, bed->between().fd());
  if (!child) return false;
  const bool ended = child->Wait(kLimit, Never);
  if (ended && child->exit_code() == 0) return true;
  std::string said = ReadWholeFile(scratch + "/rules.err");
  said = said.substr(0, said.find('\n'));
  *error = fmt::format("{} cannot load rules: {}", words.front(),
                       !ended         ? "it does not end"
                       : said.empty() ? child->Complaint()
                                      : said);
  return false;
}

bool WriteRules(const std::string& path, const std::string& text, std::string* error) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file != nullptr) {
    Put(file, text);
    const bool good = std::ferror(file) == 0;
    if (std::fclose(file) == 0 && good) return true;
  }
  *error = fmt::format("cannot write {}: {}", path, ErrnoText());
  return false;
}

}  // namespace

std::string NftRules(Between between, IpFamily family, std::size_t count) {
  std::string out = fmt::format(
      "table {} lab {{\n chain forwarded {{\n  type filter hook forward priority 0; policy "
      "accept;\n",
      between == Between::kKernelBridge ? "bridge" : "inet");
  const char* const field = family == IpFamily::kV4 ? "ip" : "ip6";
  for (std::size_t n = 1; n <= count; ++n)
    out += fmt::format("  {} saddr {} drop\n", field, Foreign(family, n));
  return out + " }\n}\n";
}

std::string IptablesRules(IpFamily family, std::size_t count) {
  std::string out = "*filter\n:FORWARD ACCEPT [0:0]\n";
  for (std::size_t n = 1; n <= count; ++n)
    out += fmt::format("-A FORWARD -s {} -j DROP\n", Foreign(family, n));
  return out + "COMMIT\n";
}

std::string FindProgram(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders((path == nullptr ? std::string() : std::string(path)) +
                             ":/usr/local/sbin:/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

bool InstallRules(TestBed* bed, Between between, Firewall firewall, IpFamily family,
                  std::size_t count, const std::string& scratch, std::string* error) {
  if (between == Between::kKernelBridge &&
      !LetIptablesSeeBridge(bed, family, firewall == Firewall::kIptables, error))
    return false;
  if (firewall == Firewall::kNone) return true;
  const bool nft = firewall == Firewall::kNft;
  const std::string program = nft ? FindProgram("nft") : IptablesProgram(family, "-restore");
  if (program.empty()) {
    *error = nft ? "there is no nft: install nftables"
                 : "there is no iptables-restore: install iptables";
    return false;
  }
  const std::string file = scratch + "/rules.txt";
  if (!WriteRules(file, nft ? NftRules(between, family, count) : IptablesRules(family, count),
                  error))
    return false;
  return Load(
      bed,
      nft ? std::vector<std::string>{program, "-f", file} : std::vector<std::string>{program, file},
      scratch, error);
}

std::string FirewallVersion(Firewall firewall, const std::string& scratch) {
  if (firewall == Firewall::kNone) return "";
  const std::string program =
      firewall == Firewall::kNft ? FindProgram("nft") : IptablesProgram(IpFamily::kV4, "");
  std::string error;
  std::optional<Child> child = Child::Start({program, "--version"}, scratch + "/version", &error);
  if (!child || !child->Wait(kLimit, Never)) return "";
  const std::string said = child->Output();
  return said.substr(0, said.find('\n'));
}

}  // namespace dccp::apps::lab
