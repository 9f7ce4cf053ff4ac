#include "apps/dccp-lab/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "apps/common/text.h"

namespace dccp::apps::lab {

namespace {

constexpr Duration kPoll = std::chrono::milliseconds(10);
constexpr int kNoNetwork = 126;

// In the child: only calls that are safe after fork.
[[noreturn]] void Become(char* const* arguments, const char* out, const char* err, pid_t lab,
                         int network_namespace) {
  if (network_namespace >= 0) {
    // Privileges of the program's file would cancel the signal of the lab's death.
    if (::setns(network_namespace, CLONE_NEWNET) != 0 ||
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      _exit(kNoNetwork);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != lab) _exit(127);
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null_fd = ::open("/dev/null", O_RDONLY);
  const int out_fd = ::open(out, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int err_fd = ::open(err, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (null_fd >= 0) ::dup2(null_fd, 0);
  if (out_fd >= 0) ::dup2(out_fd, 1);
  if (err_fd >= 0) ::dup2(err_fd, 2);
  ::execv(arguments[0], arguments);
  _exit(127);
}

}  // namespace

std::string ReadWholeFile(const std::string& path) {
  std::string text;
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return text;
  char buffer[4096];
  std::size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, got);
  std::fclose(file);
  return text;
}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    Kill();
    pid_ = std::exchange(other.pid_, -1);
    exit_code_ = other.exit_code_;
    program_ = std::move(other.program_);
    output_base_ = std::move(other.output_base_);
  }
  return *this;
}

std::optional<Child> Child::Start(const std::vector<std::string>& words,
                                  const std::string& output_base, std::string* error,
                                  int network_namespace) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string out = output_base + ".out";
  const std::string err = output_base + ".err";
  // What an earlier program of that name said is not this one's.
  std::remove(out.c_str());
  std::remove(err.c_str());
  const pid_t lab = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    *error = fmt::format("cannot start {}: {}", words.front(), ErrnoText());
    return std::nullopt;
  }
  if (pid == 0) Become(arguments.data(), out.c_str(), err.c_str(), lab, network_namespace);
  Child child;
  child.pid_ = pid;
  child.program_ = words.front().substr(words.front().find_last_of('/') + 1);
  child.output_base_ = output_base;
  return child;
}

bool Child::Reap(bool block) {
  if (pid_ <= 0) return true;
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, block ? 0 : WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  pid_ = -1;
  if (got > 0) exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

bool Child::Wait(Duration limit, const std::function<bool()>& stop) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!Reap(false)) {
    if (stop() || std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

bool Child::WaitForLine(const std::string& text, Duration limit,
                        const std::function<bool()>& stop) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    const std::string output = Output();
    if (output.starts_with(text) || output.find("\n" + text) != std::string::npos) return true;
    if (Reap(false) || stop() || std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPoll);
  }
}

Duration Child::CpuTime() const {
  clockid_t clock = 0;
  timespec time = {};
  if (pid_ <= 0 || ::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return Duration::zero();
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

void Child::Signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

void Child::Kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (!Reap(true)) {
  }
}

std::string Child::Output() const { return ReadWholeFile(output_base_ + ".out"); }

std::string Child::Complaint() const {
  const std::string text = ReadWholeFile(output_base_ + ".err");
  const std::string mark = program_ + ": ";
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (text.compare(at, mark.size(), mark) == 0)
      return text.substr(at + mark.size(), end - at - mark.size());
    at = end + 1;
  }
  if (exit_code_ == kNoNetwork) return "it cannot enter its network namespace";
  return exit_code_ == 127 ? "the program is not there" : "it said nothing";
}

}  // namespace dccp::apps::lab
