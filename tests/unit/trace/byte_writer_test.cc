#include "stack/trace/byte_writer.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

namespace dccp {
namespace {

TEST(FileWriter, WritesWhatItIsGiven) {
  const std::string path = testing::TempDir() + "file_writer_test";
  {
    FileWriter writer(path);
    ASSERT_TRUE(writer.ok());
    EXPECT_TRUE(writer.Write(std::string_view("one ")));
    EXPECT_TRUE(writer.Write(std::string_view("two")));
    EXPECT_TRUE(writer.Flush());
    std::ifstream in(path);
    const std::string read{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(read, "one two");
  }
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(FileWriter, TellsWhyItCouldNotOpen) {
  FileWriter writer("/nonexistent/file");
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(writer.error(), ENOENT);
  EXPECT_FALSE(writer.Write(std::string_view("x")));
  EXPECT_FALSE(writer.Flush());
}

TEST(FileWriter, AFullDiskIsReportedAtTheFlush) {
  FileWriter writer("/dev/full");
  ASSERT_TRUE(writer.ok());
  writer.Write(std::string_view("x"));
  EXPECT_FALSE(writer.Flush());
  EXPECT_EQ(writer.error(), ENOSPC);
  EXPECT_FALSE(writer.Write(std::string_view("y")));
}

}  // namespace
}  // namespace dccp
