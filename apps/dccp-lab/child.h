// Programs that the lab runs.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dccp/time.h"

namespace dccp::apps::lab {

// Owns a child process, its output in two files, and ends it when it goes. The child gets no signal
// of the terminal, so that an interrupt reaches the lab alone, and is killed when the lab is gone,
// however that ended.
class Child {
 public:
  Child() = default;
  Child(Child&& other) noexcept { *this = std::move(other); }
  Child& operator=(Child&& other) noexcept;
  ~Child() { Kill(); }

  // Its standard output goes to OUTPUT_BASE.out, its standard error to OUTPUT_BASE.err. With a
  // network namespace (a descriptor) it runs in that.
  static std::optional<Child> Start(const std::vector<std::string>& words,
                                    const std::string& output_base, std::string* error,
                                    int network_namespace = -1);

  // Until it has ended, or `stop` says so, or the time is over; polls. True: it has ended.
  bool Wait(Duration limit, const std::function<bool()>& stop);
  // Until its standard output has a line that begins with `text`; false when it ends before.
  bool WaitForLine(const std::string& text, Duration limit, const std::function<bool()>& stop);
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  int exit_code() const { return exit_code_; }
  // User and system time since it started; zero once it has ended.
  Duration CpuTime() const;
  void Signal(int number) const;
  std::string Output() const;
  // The first line that the program printed as its own on the standard error.
  std::string Complaint() const;

 private:
  void Kill();
  bool Reap(bool block);

  pid_t pid_ = -1;
  int exit_code_ = -1;
  std::string program_;
  std::string output_base_;
};

// The text of a file; empty where it cannot be read.
std::string ReadWholeFile(const std::string& path);

}  // namespace dccp::apps::lab
