// Every file of tests/conformance/scripts is a test of its own, named as the file. README.md in
// this folder tells how to write one.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tests/support/packet_script.h"

namespace dccp::peer {
namespace {

using ::testing::HasSubstr;

class ScriptFile : public ::testing::Test {
 public:
  explicit ScriptFile(std::string path) : path_(std::move(path)) {}

  void TestBody() override {
    std::ifstream in(path_);
    ASSERT_TRUE(in.is_open()) << path_;
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    try {
      const PacketScript script = ParsePacketScript(path_, text);
      PacketScriptRunner(script).Run();
    } catch (const ScriptError& error) {
      FAIL() << error.what();
    }
  }

 private:
  const std::string path_;
};

bool RegisterScripts() {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(UDCCP_SCRIPT_DIR, error))
    if (entry.path().extension() == ".dccp") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  // Without its files the test must fail, not vanish.
  if (paths.empty()) paths.emplace_back(UDCCP_SCRIPT_DIR "/NoScripts.dccp");
  for (const std::filesystem::path& path : paths) {
    ::testing::RegisterTest("PacketScript", path.stem().c_str(), nullptr, nullptr, path.c_str(), 1,
                            [path]() -> ::testing::Test* { return new ScriptFile(path.string()); });
  }
  return true;
}
const bool kRegistered = RegisterScripts();

// What a script that must fail says.
std::string FailureOf(std::string_view text) {
  try {
    const PacketScript script = ParsePacketScript("x.dccp", text);
    PacketScriptRunner(script).Run();
  } catch (const ScriptError& error) {
    return error.what();
  }
  return "it passed";
}

TEST(PacketScriptFormat, FaultsAreToldWithFileAndLine) {
  EXPECT_THAT(FailureOf(""), HasSubstr("the script has no step"));
  EXPECT_EQ(FailureOf("listen\n\n> Reqest\n"), "x.dccp:3: 'Reqest' is no packet type");
  EXPECT_EQ(FailureOf("lisen"), "x.dccp:1: 'lisen' is neither >, < nor a command");
  EXPECT_EQ(FailureOf("+0.1"), "x.dccp:1: nothing follows the time");
  EXPECT_EQ(FailureOf("+0.1x listen"), "x.dccp:1: '0.1x' is no time in seconds");
  EXPECT_EQ(FailureOf("> Ack seq=9999999999999999"),
            "x.dccp:1: '9999999999999999' is no number from 0 to 281474976710655");
  EXPECT_EQ(FailureOf("> Ack [NdpCount 1"), "x.dccp:1: the line ends before its ]");
  EXPECT_THAT(FailureOf("> Ack [ChangeL Ccid 2]"), HasSubstr("is no feature: CCID AllowShort"));
  EXPECT_THAT(FailureOf("> Ack [NdpCuont 1]"), HasSubstr("'NdpCuont' is no option"));
  EXPECT_THAT(FailureOf("> Data ack=1"), HasSubstr("has no Acknowledgement Number"));
  EXPECT_THAT(FailureOf("> Ack ttl=1"), HasSubstr("'ttl' is no field"));
  EXPECT_THAT(FailureOf("> Ack 7"), HasSubstr("neither FIELD=VALUE nor [OPTIONS]"));
  EXPECT_THAT(FailureOf("send"), HasSubstr("wrong number of words after 'send'"));
  EXPECT_THAT(FailureOf("listen\nset iss 1"), HasSubstr("x.dccp:2: set comes before"));
  EXPECT_THAT(FailureOf("set isn 1"), HasSubstr("'isn' is nothing that can be set"));
  EXPECT_THAT(FailureOf("state OPNE"), HasSubstr("'OPNE' is no state"));
}

TEST(PacketScriptFormat, WhatTheEndpointDoesOtherwiseIsTold) {
  EXPECT_THAT(FailureOf("listen\n> Request seq=1\n"), HasSubstr("sent what nothing expects"));
  EXPECT_THAT(FailureOf("listen\n< Response"),
              HasSubstr("x.dccp:2: nothing was sent where a Resp"));
  EXPECT_THAT(FailureOf("reach OPEN client\n> Sync\n< Sync"),
              HasSubstr("x.dccp:3: the packet is not the expected one:\n  the type is SyncAck"));
  EXPECT_THAT(FailureOf("reach OPEN client\n> Sync as=s\n< SyncAck ack=s+1"),
              HasSubstr("ack is 5002, not 5003"));
  EXPECT_THAT(FailureOf("reach OPEN client\n> Sync\n< SyncAck [NdpCount 1]"),
              HasSubstr("lacks NDP Count(37)[1]"));
  EXPECT_THAT(FailureOf("reach REQUEST\n+0.9 < Request"), HasSubstr("nothing was sent"));
  EXPECT_THAT(FailureOf("reach REQUEST\n+1.1 < Request"), HasSubstr("it was sent at 1.0"));
  EXPECT_THAT(FailureOf("reach REQUEST\nexpect nothing for 1.1"), HasSubstr("nothing expects"));
  EXPECT_THAT(FailureOf("+1 listen\n0.5 ignore"), HasSubstr("it is 1.0"));
  EXPECT_THAT(FailureOf("listen\n> Ack ack=foo"), HasSubstr("no number has the name 'foo'"));
  EXPECT_THAT(FailureOf("reach OPEN server\nread \"x\""), HasSubstr("what waits to be read is {}"));
  EXPECT_THAT(FailureOf("reach OPEN server\nstate CLOSED"), HasSubstr("the state is OPEN"));
  EXPECT_THAT(FailureOf("reach OPEN server\nclosed clean"), HasSubstr("not over but in OPEN"));
}

}  // namespace
}  // namespace dccp::peer
