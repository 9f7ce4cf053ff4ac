#include "apps/dccp-lab/test_bed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include "apps/dccp-lab/child.h"
#include "dccp/uv_driver.h"

namespace dccp::apps::lab {
namespace {

bool Never() { return false; }
constexpr Duration kLimit = std::chrono::seconds(30);

std::set<std::string> Interfaces() {
  std::set<std::string> names;
  struct if_nameindex* const all = ::if_nameindex();
  for (const auto* i = all; i != nullptr && i->if_index != 0; ++i) names.insert(i->if_name);
  ::if_freenameindex(all);
  return names;
}

ino_t NamespaceOf(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// Whether a process of this machine is in the network namespace.
bool Inhabited(ino_t ns) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    if (NamespaceOf(entry.path() / "ns/net") == ns) return true;
  return false;
}

// Root may, others where the kernel lets them; asked in a process that may move.
bool NetworksAllowed() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::string error;
    const bool may = MayMakeNetworks(&error);
    if (!may) std::fprintf(stderr, "%s\n", error.c_str());
    _exit(may ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0;
}

// In a process of its own, since it may move into a user namespace.
class TestBedTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!NetworksAllowed()) GTEST_SKIP() << "no network namespaces for this user";
    std::string name = testing::TempDir() + "test_bed_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    scratch_ = name;
  }
  void TearDown() override {
    if (!scratch_.empty()) std::filesystem::remove_all(scratch_);
  }
  std::string scratch_;
};

// The bed carries a packet from end to end: ping would be a dependency, a UDP datagram is not.
int Carry(TestBed* bed, IpFamily family) {
  IpAddress address;
  if (!ParseAddress(bed->receiver_address(family), &address)) return 10;
  const int domain = family == IpFamily::kV4 ? AF_INET : AF_INET6;
  sockaddr_storage to = {};
  socklen_t size = 0;
  if (family == IpFamily::kV4) {
    auto* const in = reinterpret_cast<sockaddr_in*>(&to);
    in->sin_family = AF_INET;
    in->sin_port = htons(9000);
    std::memcpy(&in->sin_addr, address.bytes.data(), 4);
    size = sizeof *in;
  } else {
    auto* const in = reinterpret_cast<sockaddr_in6*>(&to);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(9000);
    std::memcpy(&in->sin6_addr, address.bytes.data(), 16);
    size = sizeof *in;
  }
  UniqueFd receiver;
  UniqueFd sender;
  bool bound = false;
  bed->receiver().Inside([&] {
    receiver = UniqueFd(::socket(domain, SOCK_DGRAM, 0));
    bound = ::bind(receiver.get(), reinterpret_cast<sockaddr*>(&to), size) == 0;
  });
  bed->sender().Inside([&] { sender = UniqueFd(::socket(domain, SOCK_DGRAM, 0)); });
  if (!bound) return 11;
  if (::sendto(sender.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&to), size) != 1) return 12;
  pollfd wait = {receiver.get(), POLLIN, 0};
  return ::poll(&wait, 1, 10'000) == 1 ? 0 : 13;
}

int BuildAndCarry(Between between) {
  std::string error;
  const std::unique_ptr<TestBed> bed = TestBed::Build({between, false}, &error);
  if (bed == nullptr) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  const int v4 = Carry(bed.get(), IpFamily::kV4);
  return v4 != 0 || !bed->has_v6() ? v4 : Carry(bed.get(), IpFamily::kV6);
}

TEST_F(TestBedTest, TheKernelBridgesBothFamilies) {
  EXPECT_EXIT(_exit(BuildAndCarry(Between::kKernelBridge)), testing::ExitedWithCode(0), "");
}

TEST_F(TestBedTest, TheKernelRoutesBothFamilies) {
  EXPECT_EXIT(_exit(BuildAndCarry(Between::kKernelRouter)), testing::ExitedWithCode(0), "");
}

TEST_F(TestBedTest, NothingForwardsWhereTheEmulatorIsToRun) {
  const auto send = [] {
    std::string error;
    const std::unique_ptr<TestBed> bed = TestBed::Build({Between::kNetemRouter, true}, &error);
    if (bed == nullptr) return 1;
    std::string forwards = "?";
    bed->between().Inside([&] { forwards = ReadWholeFile("/proc/sys/net/ipv4/ip_forward"); });
    return forwards == "0\n" ? 0 : 2;
  };
  EXPECT_EXIT(_exit(send()), testing::ExitedWithCode(0), "");
}

// A lab with a program in each of its hosts is killed: no process, no namespace, no interface.
TEST_F(TestBedTest, AKilledLabLeavesNothingBehind) {
  const std::set<std::string> before = Interfaces();
  // Orphans come to this process, which sees how they end.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  int pipe_fds[2];
  ASSERT_EQ(::pipe(pipe_fds), 0);
  const pid_t lab = ::fork();
  if (lab == 0) {
    std::string error;
    const std::unique_ptr<TestBed> bed = TestBed::Build({Between::kKernelRouter, true}, &error);
    if (bed == nullptr) _exit(1);
    std::vector<Child> children;
    for (NetworkNamespace* host : {&bed->sender(), &bed->between(), &bed->receiver()}) {
      std::optional<Child> child =
          Child::Start({"/bin/sh", "-c", "echo ready; exec sleep 600"},
                       fmt::format("{}/{}", scratch_, children.size()), &error, host->fd());
      if (!child || !child->WaitForLine("ready", kLimit, Never)) _exit(2);
      const pid_t pid = child->pid();
      if (::write(pipe_fds[1], &pid, sizeof pid) != sizeof pid) _exit(3);
      children.push_back(std::move(*child));
    }
    ::pause();
    _exit(4);
  }
  ::close(pipe_fds[1]);
  std::vector<pid_t> pids(3);
  std::vector<ino_t> namespaces;
  for (pid_t& pid : pids) {
    ASSERT_EQ(::read(pipe_fds[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    namespaces.push_back(NamespaceOf(fmt::format("/proc/{}/ns/net", pid)));
    EXPECT_NE(namespaces.back(), NamespaceOf("/proc/self/ns/net"));
    EXPECT_TRUE(Inhabited(namespaces.back()));
  }
  EXPECT_EQ(Interfaces(), before);
  ::kill(lab, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(lab, &status, 0), lab);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (const pid_t pid : pids) {
    const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd wait = {handle.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&wait, 1, 30'000), 1) << "a program outlives the lab";
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGKILL);
  }
  for (const ino_t ns : namespaces) EXPECT_FALSE(Inhabited(ns));
  EXPECT_EQ(Interfaces(), before);
  ::close(pipe_fds[0]);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

// A namespace without processes ends with the descriptors of a killed lab: the only cable that
// leads into it vanishes from the far end.
TEST_F(TestBedTest, AnEmptyNamespaceEndsWithItsDescriptor) {
  const auto run = [] {
    std::string error;
    if (!MayMakeNetworks(&error)) return 1;
    std::optional<NetworkNamespace> near = NetworkNamespace::Create(&error);
    std::optional<NetworkNamespace> far = NetworkNamespace::Create(&error);
    if (!near || !far || !near->netlink().AddVeth("a0", "b0", far->fd(), &error)) return 2;
    const auto there = [&] {
      unsigned index = 0;
      near->Inside([&] { index = ::if_nametoindex("a0"); });
      return index != 0;
    };
    if (!there()) return 3;
    far.reset();
    // The kernel takes namespaces down in its own time.
    for (int i = 0; i < 3000 && there(); ++i) ::poll(nullptr, 0, 10);
    return there() ? 4 : 0;
  };
  EXPECT_EXIT(_exit(run()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace dccp::apps::lab
