#include "apps/dccp-lab/network_namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <thread>

#include "apps/common/text.h"

namespace dccp::apps::lab {

namespace {

bool WriteTo(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd.valid() &&
         ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// On a thread of its own, for a thread that has left its network may not find back. 0 or an errno.
int TryOnThread(const std::function<bool()>& work) {
  int fault = 0;
  std::thread([&] { fault = work() ? 0 : errno; }).join();
  return fault;
}

// 0 or an errno. Asked in a child: a process whose thread has just ended counts for a while as one
// with threads, which may not move into a user namespace.
int TryToLeave() {
  const pid_t pid = ::fork();
  if (pid == 0) _exit(::unshare(CLONE_NEWNET) == 0 ? 0 : errno);
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return pid < 0 ? errno : WEXITSTATUS(status);
}

bool BecomeRootInside() {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  return ::unshare(CLONE_NEWUSER) == 0 && WriteTo("/proc/self/setgroups", "deny") &&
         WriteTo("/proc/self/uid_map", fmt::format("0 {} 1", user)) &&
         WriteTo("/proc/self/gid_map", fmt::format("0 {} 1", group));
}

}  // namespace

bool MayMakeNetworks(std::string* error) {
  int fault = TryToLeave();
  if (fault == EPERM) {
    if (BecomeRootInside()) fault = TryToLeave();
    if (fault != 0) {
      *error =
          "no network namespaces for this user: run as root, or allow user namespaces with "
          "'sysctl -w kernel.unprivileged_userns_clone=1' or 'user.max_user_namespaces=10000'";
      return false;
    }
  }
  if (fault == 0) return true;
  *error = fmt::format("cannot make a network namespace: {}{}", ErrnoText(fault),
                       fault == EINVAL ? " (the kernel needs CONFIG_NET_NS)" : "");
  return false;
}

std::optional<NetworkNamespace> NetworkNamespace::Create(std::string* error) {
  UniqueFd fd;
  std::optional<Netlink> netlink;
  std::string reason;
  const int fault = TryOnThread([&] {
    if (::unshare(CLONE_NEWNET) != 0) return false;
    fd = UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (fd.valid()) netlink = Netlink::Open(&reason);
    return fd.valid();
  });
  if (fault == 0 && netlink && netlink->Up("lo", error))
    return NetworkNamespace(std::move(fd), std::move(*netlink));
  if (!reason.empty()) *error = reason;
  if (fault != 0) *error = fmt::format("cannot make a network namespace: {}", ErrnoText(fault));
  return std::nullopt;
}

bool NetworkNamespace::Inside(const std::function<void()>& work) const {
  return TryOnThread([&] {
           if (::setns(fd_.get(), CLONE_NEWNET) != 0) return false;
           work();
           return true;
         }) == 0;
}

bool NetworkNamespace::SetOption(const std::string& name, const std::string& value,
                                 std::string* error) const {
  int fault = 0;
  const bool entered = Inside([&] {
    if (!WriteTo("/proc/sys/net/" + name, value)) fault = errno;
  });
  if (entered && fault == 0) return true;
  *error = fmt::format("cannot set net.{} to {}: {}", name, value,
                       entered ? ErrnoText(fault) : "the namespace cannot be entered");
  return false;
}

}  // namespace dccp::apps::lab
