// Protocol tests as text: "packet in, packet out, at time t". tests/conformance/README.md tells the
// format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/wire_peer.h"

namespace dccp::peer {

// A fault in a script or of the endpoint it tests. what() reads "file:line: message".
class ScriptError : public std::runtime_error {
 public:
  ScriptError(const std::string& file, int line, const std::string& message)
      : std::runtime_error(file + ":" + std::to_string(line) + ": " + message) {}
};

// A sequence number as a script names it: `name` plus `offset`; without a name, `offset` itself.
struct ScriptNumber {
  std::string name;
  std::int64_t offset = 0;
};

// One entry of a packet's [...].
struct ScriptOption {
  WireOption option = {};
  bool any_data = false;     // expected with more or other data after these
  bool absent = false;       // expected not to be there
  bool confirm_all = false;  // the Confirms that accept the last expected packet's Changes
};

// A packet to inject, or what is expected of one. Fields not set have a default, or are free.
struct ScriptPacket {
  PacketType type = PacketType::kData;
  std::optional<ScriptNumber> seq;
  std::optional<ScriptNumber> ack;
  std::string label;  // the name that its sequence number gets
  std::optional<std::uint32_t> service;
  std::optional<std::uint8_t> code;
  std::optional<Octets> reason;
  std::optional<std::string> payload;
  std::optional<std::uint8_t> ccval;
  std::optional<std::uint8_t> cscov;
  std::optional<Ecn> ecn;
  bool short_numbers = false;
  std::vector<ScriptOption> options;
};

enum class ScriptVerb : std::uint8_t {
  kInject,         // > packet
  kExpect,         // < packet
  kExpectNothing,  // expect nothing for SECONDS
  kIgnore,
  kListen,
  kConnect,
  kReach,  // reach STATE [client|server]
  kSend,
  kRead,  // `text` empty: nothing to read
  kClose,
  kAbort,
  kState,
  kClosed,  // closed clean|unclean
};

struct ScriptStep {
  int line = 0;
  bool absolute = false;  // `time` counts from the script's begin, else from the step before
  Duration time = Duration::zero();
  ScriptVerb verb = ScriptVerb::kIgnore;
  ScriptPacket packet;
  std::optional<std::string> text;
  Duration span = Duration::zero();
  State state = State::kClosed;
  Role role = Role::kClient;
  std::uint8_t code = 0;
  bool clean = false;
};

struct PacketScript {
  std::string file;
  WirePeerConfig config;
  std::vector<ScriptStep> steps;
};

// Throws ScriptError. `file` is for messages only.
PacketScript ParsePacketScript(const std::string& file, std::string_view text);

// Plays one script against one endpoint. Strict: what the endpoint sends and the script does not
// expect is a failure, and so is a packet at another time than the script's, to the millisecond.
class PacketScriptRunner {
 public:
  explicit PacketScriptRunner(const PacketScript& script);

  // Throws ScriptError at the first step that fails.
  void Run();

 private:
  void RunStep(const ScriptStep& step);
  void PassTime(const ScriptStep& step);
  void Act(const ScriptStep& step);
  void Reach(const ScriptStep& step);
  void Inject(const ScriptStep& step);
  void Expect(const ScriptStep& step);
  void ExpectQuiet(const ScriptStep& step);
  void CheckClosed(const ScriptStep& step);
  // What differs between the packet and the step; empty: nothing.
  std::string Differences(const ScriptStep& step, const SentPacket& packet) const;
  std::string OptionDifferences(const ScriptStep& step, const SentPacket& packet) const;
  std::uint64_t Resolve(const ScriptStep& step, const ScriptNumber& number) const;
  void Collect();
  [[noreturn]] void Fail(const ScriptStep& step, const std::string& message) const;

  const PacketScript& script_;
  WirePeer peer_;
  TimePoint begin_;
  std::vector<SentPacket> sent_;  // not expected yet
  std::optional<SentPacket> last_expected_;
  std::map<std::string, std::uint64_t> names_;
};

}  // namespace dccp::peer
