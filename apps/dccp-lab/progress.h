// How far a plan is, and an end when the user wants one.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace dccp::apps::lab {

// The first SIGINT or SIGTERM is remembered, a second one ends the process.
void CatchInterrupts();
bool Interrupted();

// One line on the standard error: run so many of so many, what runs, the time left by what the runs
// took so far. On a terminal the line is written over.
class Progress {
 public:
  // `expected_seconds`: of one run, for as long as none has ended.
  Progress(std::size_t runs, double expected_seconds);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Begin(const std::string& what);
  void End() { ++done_; }
  // Before something else is printed.
  void Clear();

 private:
  std::size_t runs_;
  double expected_seconds_;
  double start_;
  std::size_t done_ = 0;
  bool terminal_;
  bool shown_ = false;
};

// A line on the standard error that is written over; where that is no terminal, a new line now and
// then.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { Clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void Show(const std::string& text);
  void Clear();

 private:
  bool terminal_;
  bool shown_ = false;
  double last_ = -1e9;
};

// "1 h 02 min", "3 min 20 s", "12 s"
std::string TimeText(double seconds);

}  // namespace dccp::apps::lab
