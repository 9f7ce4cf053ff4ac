#include "apps/dccp-lab/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>

#include "apps/common/text.h"
#include "apps/common/tool.h"

namespace dccp::apps::lab {

namespace {

// Between lines where they are not written over.
constexpr double kQuiet = 15;

volatile std::sig_atomic_t interrupted = 0;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (interrupted != 0) _exit(kExitFailed);
    interrupted = 1;
  };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return interrupted != 0; }

Progress::Progress(std::size_t runs, double expected_seconds)
    : runs_(runs),
      expected_seconds_(expected_seconds),
      start_(Now()),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Clear(); }

void Progress::Begin(const std::string& what) {
  const double a_run =
      done_ == 0 ? expected_seconds_ : (Now() - start_) / static_cast<double>(done_);
  const std::string line = fmt::format("run {} of {}: {}, {} left", done_ + 1, runs_, what,
                                       TimeText(a_run * static_cast<double>(runs_ - done_)));
  Put(stderr, terminal_ ? "\r\x1b[K" + line : line + "\n");
  std::fflush(stderr);
  shown_ = terminal_;
}

void Progress::Clear() {
  if (!shown_) return;
  Put(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

StatusLine::StatusLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void StatusLine::Show(const std::string& text) {
  if (!terminal_ && Now() - last_ < kQuiet) return;
  last_ = Now();
  Put(stderr, terminal_ ? "\r\x1b[K" + text : text + "\n");
  std::fflush(stderr);
  shown_ = terminal_;
}

void StatusLine::Clear() {
  if (!shown_) return;
  Put(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string TimeText(double seconds) {
  const long s = std::lround(seconds);
  if (s >= 3600) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  if (s >= 60) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} s", s);
}

}  // namespace dccp::apps::lab
