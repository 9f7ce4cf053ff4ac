#include "tests/support/packet_script.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <sstream>
#include <utility>

#include "stack/wire/feature_codec.h"

namespace dccp::peer {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::pair<std::string_view, FeatureNumber>, 10> kFeatures = {{
    {"CCID", FeatureNumber::kCcid},
    {"AllowShortSeqnos", FeatureNumber::kAllowShortSeqnos},
    {"SequenceWindow", FeatureNumber::kSequenceWindow},
    {"EcnIncapable", FeatureNumber::kEcnIncapable},
    {"AckRatio", FeatureNumber::kAckRatio},
    {"SendAckVector", FeatureNumber::kSendAckVector},
    {"SendNdpCount", FeatureNumber::kSendNdpCount},
    {"MinChecksumCoverage", FeatureNumber::kMinChecksumCoverage},
    {"CheckDataChecksum", FeatureNumber::kCheckDataChecksum},
    {"SendLossEventRate", FeatureNumber::kSendLossEventRate},
}};

// `number_bytes`: the option holds one number of so many bytes; 0: bytes; 255: a feature.
struct OptionName {
  std::string_view name;
  OptionType type;
  std::uint8_t number_bytes;
};
constexpr std::uint8_t kIsFeature = 255;
constexpr std::array<OptionName, 14> kOptions = {{
    {"SlowReceiver", OptionType::kSlowReceiver, 0},
    {"ChangeL", OptionType::kChangeL, kIsFeature},
    {"ConfirmL", OptionType::kConfirmL, kIsFeature},
    {"ChangeR", OptionType::kChangeR, kIsFeature},
    {"ConfirmR", OptionType::kConfirmR, kIsFeature},
    {"InitCookie", OptionType::kInitCookie, 0},
    {"NdpCount", OptionType::kNdpCount, 1},
    {"AckVector0", OptionType::kAckVectorNonce0, 0},
    {"AckVector1", OptionType::kAckVectorNonce1, 0},
    {"DataDropped", OptionType::kDataDropped, 0},
    {"Timestamp", OptionType::kTimestamp, 4},
    {"TimestampEcho", OptionType::kTimestampEcho, 4},
    {"ElapsedTime", OptionType::kElapsedTime, 2},
    {"DataChecksum", OptionType::kDataChecksum, 4},
}};

constexpr std::array<std::pair<std::string_view, Ecn>, 4> kEcn = {
    {{"NotEct", Ecn::kNotEct}, {"Ect0", Ecn::kEct0}, {"Ect1", Ecn::kEct1}, {"Ce", Ecn::kCe}}};

// Reads one script line after another.
class Parser {
 public:
  Parser(std::string file, std::string_view text) : text_(text) { script_.file = std::move(file); }

  PacketScript Parse() {
    std::istringstream lines{std::string(text_)};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      const Words words = Split(line);
      if (!words.empty()) ParseLine(words);
    }
    if (script_.steps.empty()) Fail("the script has no step");
    return std::move(script_);
  }

 private:
  [[noreturn]] void Fail(const std::string& message) const {
    throw ScriptError(script_.file, line_, message);
  }

  // Words are separated by spaces; "..." and [...] are one word or a part of one, # ends the line.
  Words Split(const std::string& line) const {
    Words words;
    std::string word;
    char until = 0;
    for (const char c : line) {
      if (until == 0 && c == '#') break;
      if (until == 0 && (c == ' ' || c == '\t' || c == '\r')) {
        if (!word.empty()) words.push_back(std::exchange(word, {}));
        continue;
      }
      word += c;
      if (c == until) {
        until = 0;
      } else if (until == 0 && (c == '"' || c == '[')) {
        until = c == '"' ? '"' : ']';
      }
    }
    if (until != 0) Fail(std::string("the line ends before its ") + until);
    if (!word.empty()) words.push_back(word);
    return words;
  }

  std::uint64_t Number(const std::string& word, std::uint64_t max) const {
    std::string digits = word;
    std::erase(digits, '_');
    const bool hex = digits.starts_with("0x");
    const char* begin = digits.data() + (hex ? 2 : 0);
    const char* end = digits.data() + digits.size();
    std::uint64_t value = 0;
    const auto [rest, error] = std::from_chars(begin, end, value, hex ? 16 : 10);
    if (error != std::errc() || rest != end || value > max)
      Fail("'" + word + "' is no number from 0 to " + std::to_string(max));
    return value;
  }
  std::uint8_t Octet(const std::string& word) const {
    return static_cast<std::uint8_t>(Number(word, 255));
  }
  Duration Seconds(const std::string& word) const {
    std::size_t used = 0;
    double value = -1;
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0)
      value = std::stod(word, &used);
    if (value < 0 || used != word.size()) Fail("'" + word + "' is no time in seconds");
    return std::chrono::microseconds(std::llround(value * 1e6));
  }
  std::string Quoted(const std::string& word) const {
    if (word.size() < 2 || word.front() != '"' || word.back() != '"')
      Fail("'" + word + "' is no text in quotes");
    return word.substr(1, word.size() - 2);
  }
  // "text", or a number of bytes.
  std::string Payload(const std::string& word) const {
    if (word.starts_with('"')) return Quoted(word);
    return std::string(Number(word, 65535), 'x');
  }
  template <typename Table>
  auto Named(const Table& table, const std::string& word, const char* what) const {
    const auto* it =
        std::find_if(table.begin(), table.end(), [&](const auto& e) { return e.first == word; });
    if (it == table.end()) {
      std::string known;
      for (const auto& entry : table) known += ' ' + std::string(entry.first);
      Fail("'" + word + "' is no " + what + ":" + known);
    }
    return it->second;
  }

  // 1000, sent, sent+1, last-2
  ScriptNumber Sequence(const std::string& word) const {
    if (word.empty()) Fail("a number is missing");
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0)
      return {"", static_cast<std::int64_t>(Number(word, (std::uint64_t{1} << 48) - 1))};
    const std::size_t sign = word.find_first_of("+-");
    ScriptNumber number{word.substr(0, sign), 0};
    if (sign != std::string::npos) {
      number.offset = static_cast<std::int64_t>(Number(word.substr(sign + 1), 1u << 30));
      if (word[sign] == '-') number.offset = -number.offset;
    }
    return number;
  }

  std::uint32_t Service(const std::string& word) const {
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0)
      return static_cast<std::uint32_t>(Number(word, 0xFFFFFFFFu));
    const std::optional<ServiceCode> code = ServiceCode::Parse(word);
    if (!code) Fail("'" + word + "' is no Service Code");
    return code->value();
  }

  State StateNamed(const std::string& word) const {
    for (int i = 0; i <= static_cast<int>(State::kTimeWait); ++i)
      if (word == ToString(static_cast<State>(i))) return static_cast<State>(i);
    Fail("'" + word + "' is no state");
  }
  PacketType TypeNamed(const std::string& word) const {
    for (int i = 0; i <= static_cast<int>(PacketType::kSyncAck); ++i)
      if (word == ToString(static_cast<PacketType>(i))) return static_cast<PacketType>(i);
    Fail("'" + word + "' is no packet type");
  }

  static void AddNumber(std::uint64_t value, std::size_t bytes, Octets* out) {
    for (std::size_t i = bytes; i-- > 0;)
      out->push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void AddFeature(const Words& words, std::size_t at, Octets* out) const {
    if (at >= words.size()) Fail("the option names no feature");
    const FeatureNumber feature = std::isdigit(static_cast<unsigned char>(words[at][0])) != 0
                                      ? static_cast<FeatureNumber>(Octet(words[at]))
                                      : Named(kFeatures, words[at], "feature");
    out->push_back(static_cast<std::uint8_t>(feature));
    const std::size_t bytes = std::max<std::size_t>(NnValueBytes(feature), 1);
    for (std::size_t i = at + 1; i < words.size(); ++i) {
      const std::uint64_t max = (std::uint64_t{1} << (8 * bytes)) - 1;
      AddNumber(Number(words[i], max), bytes, out);
    }
  }

  // [!][Mandatory] NAME data... [...]
  ScriptOption Option(std::string text) const {
    ScriptOption out;
    const std::size_t bang = text.find_first_not_of(' ');
    if (bang != std::string::npos && text[bang] == '!') {
      out.absent = out.any_data = true;
      text[bang] = ' ';
    }
    Words words = Split(text);
    if (words == Words{"confirm", "all"}) return {.confirm_all = true};
    if (!words.empty() && words.back() == "...") {
      out.any_data = true;
      words.pop_back();
    }
    std::size_t at = 0;
    if (!words.empty() && words[0] == "Mandatory") {
      out.option.mandatory = true;
      ++at;
    }
    if (at >= words.size()) Fail("'" + text + "' names no option");
    OptionData(words, at, &out.option);
    return out;
  }
  void OptionData(const Words& words, std::size_t at, WireOption* out) const {
    if (words[at] == "Option") {
      if (at + 1 >= words.size()) Fail("Option needs a type");
      out->type = static_cast<OptionType>(Octet(words[at + 1]));
      for (std::size_t i = at + 2; i < words.size(); ++i) out->data.push_back(Octet(words[i]));
      return;
    }
    const auto* it = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const OptionName& o) { return o.name == words[at]; });
    if (it == kOptions.end()) Fail("'" + words[at] + "' is no option; any: Option TYPE BYTES...");
    out->type = it->type;
    if (it->number_bytes == kIsFeature) {
      AddFeature(words, at + 1, &out->data);
    } else if (it->number_bytes == 0) {
      for (std::size_t i = at + 1; i < words.size(); ++i) out->data.push_back(Octet(words[i]));
    } else if (at + 1 < words.size()) {
      if (at + 2 < words.size()) Fail("'" + words[at] + "' takes one number");
      const std::uint64_t max = (std::uint64_t{1} << (8 * it->number_bytes)) - 1;
      AddNumber(Number(words[at + 1], max), it->number_bytes, &out->data);
    }
  }
  void Options(const std::string& word, ScriptPacket* out) const {
    std::istringstream items(word.substr(1, word.size() - 2));
    for (std::string item; std::getline(items, item, ',');) out->options.push_back(Option(item));
  }

  void Field(const std::string& name, const std::string& value, ScriptPacket* out) const {
    if (name == "seq") {
      out->seq = Sequence(value);
    } else if (name == "ack") {
      if (!HasAckNumber(out->type)) Fail("this type has no Acknowledgement Number");
      out->ack = Sequence(value);
    } else if (name == "as") {
      out->label = value;
    } else if (name == "service") {
      out->service = Service(value);
    } else if (name == "code") {
      out->code = Octet(value);
    } else if (name == "reason") {
      Octets bytes;
      std::istringstream items(value);
      for (std::string item; std::getline(items, item, ',');) bytes.push_back(Octet(item));
      if (bytes.size() != 3) Fail("reason takes three bytes, such as 1,2,3");
      out->reason = bytes;
    } else if (name == "payload") {
      out->payload = Payload(value);
    } else if (name == "ccval") {
      out->ccval = static_cast<std::uint8_t>(Number(value, 15));
    } else if (name == "cscov") {
      out->cscov = static_cast<std::uint8_t>(Number(value, 15));
    } else if (name == "ecn") {
      out->ecn = Named(kEcn, value, "ECN field");
    } else {
      Fail("'" + name + "' is no field of a packet");
    }
  }
  ScriptPacket Packet(const Words& words, std::size_t at) const {
    if (at >= words.size()) Fail("a packet type is missing");
    ScriptPacket out;
    out.type = TypeNamed(words[at]);
    for (std::size_t i = at + 1; i < words.size(); ++i) {
      const std::string& word = words[i];
      const std::size_t equals = word.find('=');
      if (word.starts_with('[') && word.ends_with(']')) {
        Options(word, &out);
      } else if (word == "short") {
        out.short_numbers = true;
      } else if (equals != std::string::npos && equals + 1 < word.size()) {
        Field(word.substr(0, equals), word.substr(equals + 1), &out);
      } else {
        Fail("'" + word + "' is neither FIELD=VALUE nor [OPTIONS]");
      }
    }
    return out;
  }

  void ParseLine(const Words& words) {
    if (words[0] == "set") return Set(words);
    ScriptStep step;
    step.line = line_;
    std::size_t at = 0;
    const std::string& first = words[0];
    if (first[0] == '+' || std::isdigit(static_cast<unsigned char>(first[0])) != 0) {
      step.absolute = first[0] != '+';
      step.time = Seconds(first.substr(step.absolute ? 0 : 1));
      ++at;
    }
    if (at >= words.size()) Fail("nothing follows the time");
    Verb(words, at, &step);
    script_.steps.push_back(std::move(step));
  }

  void Verb(const Words& words, std::size_t at, ScriptStep* step) {
    const std::string verb = words[at];
    const Words args(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
    if (verb == ">" || verb == "<") {
      step->verb = verb == ">" ? ScriptVerb::kInject : ScriptVerb::kExpect;
      step->packet = Packet(words, at + 1);
      return;
    }
    struct Command {
      std::string_view name;
      ScriptVerb verb;
      std::size_t least, most;
    };
    constexpr std::array<Command, 11> kCommands = {{{"expect", ScriptVerb::kExpectNothing, 3, 3},
                                                    {"ignore", ScriptVerb::kIgnore, 0, 0},
                                                    {"listen", ScriptVerb::kListen, 0, 0},
                                                    {"connect", ScriptVerb::kConnect, 0, 0},
                                                    {"reach", ScriptVerb::kReach, 1, 2},
                                                    {"send", ScriptVerb::kSend, 1, 1},
                                                    {"read", ScriptVerb::kRead, 1, 1},
                                                    {"close", ScriptVerb::kClose, 0, 0},
                                                    {"abort", ScriptVerb::kAbort, 0, 1},
                                                    {"state", ScriptVerb::kState, 1, 1},
                                                    {"closed", ScriptVerb::kClosed, 1, 1}}};
    const auto* command = std::find_if(kCommands.begin(), kCommands.end(),
                                       [&](const Command& c) { return c.name == verb; });
    if (command == kCommands.end()) Fail("'" + verb + "' is neither >, < nor a command");
    if (args.size() < command->least || args.size() > command->most)
      Fail("wrong number of words after '" + verb + "'");
    step->verb = command->verb;
    Arguments(args, step);
  }

  void Arguments(const Words& args, ScriptStep* step) const {
    switch (step->verb) {
      case ScriptVerb::kExpectNothing:
        if (args[0] != "nothing" || args[1] != "for") Fail("say: expect nothing for SECONDS");
        step->span = Seconds(args[2]);
        break;
      case ScriptVerb::kReach:
        step->state = StateNamed(args[0]);
        step->role = step->state == State::kRespond ? Role::kServer : Role::kClient;
        if (args.size() == 2 && args[1] != "client" && args[1] != "server")
          Fail("'" + args[1] + "' is neither client nor server");
        if (args.size() == 2) step->role = args[1] == "server" ? Role::kServer : Role::kClient;
        break;
      case ScriptVerb::kSend:
        step->text = Payload(args[0]);
        break;
      case ScriptVerb::kRead:
        if (args[0] != "nothing") step->text = Payload(args[0]);
        break;
      case ScriptVerb::kAbort:
        step->code = args.empty() ? std::uint8_t{2} : Octet(args[0]);
        break;
      case ScriptVerb::kState:
        step->state = StateNamed(args[0]);
        break;
      case ScriptVerb::kClosed:
        if (args[0] != "clean" && args[0] != "unclean") Fail("say: closed clean, or unclean");
        step->clean = args[0] == "clean";
        break;
      default:
        break;
    }
  }

  void Set(const Words& words) {
    if (!script_.steps.empty()) Fail("set comes before the first step");
    if (words.size() != 3) Fail("say: set NAME VALUE");
    const std::string& name = words[1];
    const std::string& value = words[2];
    WirePeerConfig& config = script_.config;
    ConnectionOptions& options = config.options;
    if (name == "iss") {
      options.initial_sequence = SeqNo(Number(value, (std::uint64_t{1} << 48) - 1));
    } else if (name == "service") {
      config.service_codes = {ServiceCode(Service(value))};
    } else if (name == "request_data") {
      config.request_data = Quoted(value);
    } else if (name == "encapsulation") {
      if (value != "udp" && value != "native") Fail("encapsulation is udp or native");
      config.encapsulation = value == "udp" ? Encapsulation::kUdp : Encapsulation::kNative;
    } else if (name == "sequence_window") {
      options.sequence_window = Number(value, (std::uint64_t{1} << 46) - 1);
    } else if (name == "ack_ratio") {
      options.ack_ratio = static_cast<std::uint32_t>(Number(value, 65535));
    } else if (name == "user_timeout") {
      options.user_timeout = Seconds(value);
    } else if (name == "request_timeout") {
      options.request_timeout = Seconds(value);
    } else if (name == "server_timewait") {
      options.server_timewait = Number(value, 1) == 1;
    } else if (name == "send_ndp_count") {
      options.send_ndp_count = Number(value, 1) == 1;
    } else if (name == "short_seqnos") {
      options.short_seqnos = Number(value, 1) == 1;
    } else {
      Fail("'" + name + "' is nothing that can be set");
    }
  }

  std::string_view text_;
  PacketScript script_;
  int line_ = 0;
};

}  // namespace

PacketScript ParsePacketScript(const std::string& file, std::string_view text) {
  return Parser(file, text).Parse();
}

}  // namespace dccp::peer
