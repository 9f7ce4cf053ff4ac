#include "stack/io/os_random.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <vector>

namespace dccp {
namespace {

TEST(OsRandom, NeverRepeatsItself) {
  OsRandom random;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 5000; ++i) seen.insert(random.NextUint64());
  EXPECT_EQ(seen.size(), 5000u);
}

TEST(OsRandom, FillsAnySize) {
  OsRandom random;
  for (const std::size_t size : {0u, 1u, 4087u, 4088u, 4089u, 100000u}) {
    std::vector<std::byte> bytes(size + 1, std::byte{0xA5});
    random.Fill(std::span(bytes).first(size));
    EXPECT_EQ(bytes[size], std::byte{0xA5}) << size;
    if (size < 4000) continue;
    std::set<std::byte> values(bytes.begin(), bytes.end());
    EXPECT_EQ(values.size(), 256u) << size;
  }
}

TEST(OsRandom, AForkedChildSeesOtherBytes) {
  OsRandom random;
  random.NextUint64();  // the buffer is filled before the fork
  int pipe_fds[2];
  ASSERT_EQ(::pipe(pipe_fds), 0);
  const pid_t child = ::fork();
  const std::uint64_t mine = random.NextUint64();
  if (child == 0) {
    const ssize_t written = ::write(pipe_fds[1], &mine, sizeof(mine));
    ::_exit(written == static_cast<ssize_t>(sizeof(mine)) ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  std::uint64_t theirs = 0;
  ASSERT_EQ(::read(pipe_fds[0], &theirs, sizeof(theirs)), static_cast<ssize_t>(sizeof(theirs)));
  ::waitpid(child, nullptr, 0);
  ::close(pipe_fds[0]);
  ::close(pipe_fds[1]);
  EXPECT_NE(mine, theirs);
}

}  // namespace
}  // namespace dccp
