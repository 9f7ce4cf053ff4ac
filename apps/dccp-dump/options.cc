#include "apps/dccp-dump/options.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "stack/wire/ack_vector_codec.h"
#include "stack/wire/data_dropped_codec.h"
#include "stack/wire/feature_codec.h"
#include "stack/wire/integer_field.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/option_rules.h"

namespace dccp::apps {

namespace {

using Json = nlohmann::ordered_json;

// What an option says, in both forms at once. `good` is false where the data cannot be right.
struct Meaning {
  Json fields = Json::object();
  std::string text;
  bool good = true;
};

Meaning Bad() {
  Meaning m;
  m.good = false;
  return m;
}

std::string Hex(std::span<const std::byte> data) {
  std::string s;
  for (std::byte b : data) s += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return s;
}

double Milliseconds(TenMicros t) { return static_cast<double>(t.ticks()) / 100; }

Meaning DescribeFeature(const OptionView& option) {
  const std::optional<FeatureOptionView> feature = DecodeFeatureOption(option);
  if (!feature) return Bad();
  Meaning m;
  const auto number = static_cast<unsigned>(feature->feature);
  const std::string known = ToString(feature->feature);
  const std::string name = known == "?" ? fmt::format("feature {}", number) : known;
  m.fields["feature"] = number;
  m.fields["feature_name"] = name;
  if (const std::optional<std::uint64_t> v = DecodeNnValue(feature->feature, feature->value)) {
    m.fields["value"] = *v;
    m.text = fmt::format("{} {}", name, *v);
    return m;
  }
  if (NnValueBytes(feature->feature) != 0 && !feature->empty()) return Bad();
  if (feature->empty()) {
    m.fields["value"] = nullptr;
    m.text = fmt::format("{} (empty)", name);
    m.good = feature->is_confirm();
    return m;
  }
  std::vector<unsigned> list;
  for (std::byte b : feature->value) list.push_back(std::to_integer<unsigned>(b));
  if (feature->is_change()) {
    m.fields["preferences"] = list;
    m.text = fmt::format("{} {}", name, fmt::join(list, ","));
    return m;
  }
  m.fields["value"] = list[0];
  m.text = fmt::format("{} {}", name, list[0]);
  list.erase(list.begin());
  if (!list.empty()) {
    m.fields["preferences"] = list;
    m.text += fmt::format(" of {}", fmt::join(list, ","));
  }
  return m;
}

const char* StateName(AckState state) {
  switch (state) {
    case AckState::kReceived:
      return "received";
    case AckState::kMarked:
      return "marked";
    case AckState::kReserved:
      return "reserved";
    case AckState::kNotReceived:
      return "not received";
  }
  return "?";
}

Meaning DescribeAckVector(const OptionView& option) {
  Meaning m;
  m.fields["nonce_echo"] = NonceEcho(option.type);
  m.fields["runs"] = Json::array();
  AckVectorReader reader(option.data);
  AckVectorRun run;
  while (reader.Next(&run)) {
    m.fields["runs"].push_back({{"state", StateName(run.state)}, {"packets", run.packets}});
    m.text += fmt::format("{}{}{}", m.text.empty() ? "" : " ",
                          "+*?-"[static_cast<std::size_t>(run.state) & 3], run.packets);
  }
  return m;
}

Meaning DescribeDataDropped(const OptionView& option) {
  Meaning m;
  m.fields["blocks"] = Json::array();
  DataDroppedReader reader(option.data);
  DataDroppedBlock block;
  while (reader.Next(&block)) {
    Json entry = {{"packets", block.packets}};
    entry["drop_code"] = block.dropped ? Json(block.code) : Json(nullptr);
    m.fields["blocks"].push_back(std::move(entry));
    m.text += m.text.empty() ? "" : " ";
    m.text += block.dropped ? fmt::format("{} by code {}", block.packets, block.code)
                            : fmt::format("{} not", block.packets);
  }
  return m;
}

template <typename T>
Meaning Describe(const std::optional<T>& value, const char* field) {
  if (!value) return Bad();
  Meaning m;
  m.fields[field] = *value;
  m.text = fmt::format("{}", *value);
  return m;
}

Meaning DescribeTimestampEcho(const OptionView& option) {
  const std::optional<TimestampEcho> echo = DecodeTimestampEcho(option.data);
  if (!echo) return Bad();
  Meaning m;
  m.fields["ticks"] = echo->timestamp.ticks();
  m.fields["elapsed_ms"] = Milliseconds(echo->elapsed);
  m.text = fmt::format("{} after {} ms", echo->timestamp.ticks(), Milliseconds(echo->elapsed));
  return m;
}

// The inverse of p; 2^32 - 1 says that there was no loss. RFC 4342 §8.5
Meaning DescribeLossEventRate(std::uint64_t v) {
  Meaning m;
  const bool none = v == 0xFFFFFFFFu || v == 0;
  m.fields["inverse"] = v;
  m.fields["loss_event_rate"] = none ? 0.0 : 1.0 / static_cast<double>(v);
  m.text = none ? "0" : fmt::format("{:.4g}", 1.0 / static_cast<double>(v));
  return m;
}

// How many packets of each loss interval were lost or marked. RFC 5622 §8.7
Meaning DescribeDroppedPackets(const OptionView& option) {
  if (option.data.empty() || option.data.size() % 3 != 0) return Bad();
  Meaning m;
  m.fields["drop_counts"] = Json::array();
  for (std::size_t at = 0; at < option.data.size(); at += 3) {
    const std::uint64_t count = LoadInteger(option.data.subspan(at, 3));
    m.fields["drop_counts"].push_back(count);
    m.text += fmt::format("{}{}", m.text.empty() ? "" : " ", count);
  }
  return m;
}

// The sender's round trip; 0 and 0xFFFFFF are no number. RFC 6323 §3.2.1
Meaning DescribeRttEstimate(const OptionView& option) {
  if (option.data.empty() || option.data.size() > 3) return Bad();
  const std::uint64_t us = LoadInteger(option.data);
  const bool number = us != 0 && us != 0xFFFFFF;
  Meaning m;
  m.fields["rtt_us"] = number ? Json(us) : Json(nullptr);
  m.text = number ? fmt::format("{} us", us) : "unknown";
  return m;
}

// The options of CCID 3 and 4. RFC 4342 §8.5, §8.6, §8.3
Meaning DescribeTfrc(const OptionView& option) {
  Meaning m;
  const auto type = static_cast<unsigned>(option.type);
  if (type == 128) return DescribeRttEstimate(option);
  if (type == 195) return DescribeDroppedPackets(option);
  if (type == 193) {
    if (option.data.size() < 10 || (option.data.size() - 1) % 9 != 0) return Bad();
    m.fields["skip_length"] = std::to_integer<unsigned>(option.data[0]);
    m.fields["intervals"] = Json::array();
    for (std::size_t at = 1; at < option.data.size(); at += 9) {
      const std::uint64_t lossless = LoadInteger(option.data.subspan(at, 3));
      const std::uint64_t lossy = LoadInteger(option.data.subspan(at + 3, 3)) & 0x7FFFFFu;
      const std::uint64_t data = LoadInteger(option.data.subspan(at + 6, 3));
      m.fields["intervals"].push_back(
          {{"lossless_packets", lossless}, {"lossy_packets", lossy}, {"data_packets", data}});
      m.text += fmt::format("{}{}/{}/{}", m.text.empty() ? "" : " ", lossless, lossy, data);
    }
    return m;
  }
  if (option.data.size() != 4) return Bad();
  const std::uint64_t v = LoadInteger(option.data);
  if (type == 194) {
    m.fields["bytes_per_second"] = v;
    m.text = fmt::format("{} bytes/s", v);
    return m;
  }
  return DescribeLossEventRate(v);
}

bool IsTfrcOption(const OptionView& option, const DumpPacket& packet) {
  const auto tfrc = [](CcidId ccid) { return ccid == CcidId::k3 || ccid == CcidId::k4; };
  const auto type = static_cast<unsigned>(option.type);
  if (type == 128) return tfrc(packet.forward_ccid);
  if (type == 195) return packet.reverse_ccid == CcidId::k4;
  return type >= 192 && type <= 194 && tfrc(packet.reverse_ccid);
}

std::string OptionName(const OptionView& option, const DumpPacket& packet) {
  const auto type = static_cast<unsigned>(option.type);
  if (IsTfrcOption(option, packet)) {
    if (type == 128) return "Sender RTT Estimate";
    return std::array{"Loss Event Rate", "Loss Intervals", "Receive Rate",
                      "Dropped Packets"}[type - 192];
  }
  if (IsSenderCcidOption(option.type) || IsReceiverCcidOption(option.type))
    return fmt::format("CCID option {}", type);
  const std::string name = ToString(option.type);
  return name == "?" ? fmt::format("option {}", type) : name;
}

Meaning DescribeOption(const OptionView& option, const DumpPacket& packet) {
  if (IsTfrcOption(option, packet)) return DescribeTfrc(option);
  switch (option.type) {
    case OptionType::kMandatory:
    case OptionType::kSlowReceiver:
      return {};
    case OptionType::kChangeL:
    case OptionType::kConfirmL:
    case OptionType::kChangeR:
    case OptionType::kConfirmR:
      return DescribeFeature(option);
    case OptionType::kAckVectorNonce0:
    case OptionType::kAckVectorNonce1:
      return DescribeAckVector(option);
    case OptionType::kDataDropped:
      return DescribeDataDropped(option);
    case OptionType::kNdpCount:
      return Describe(DecodeNdpCount(option.data), "count");
    case OptionType::kDataChecksum:
      return Describe(DecodeDataChecksum(option.data), "crc32c");
    case OptionType::kTimestampEcho:
      return DescribeTimestampEcho(option);
    case OptionType::kTimestamp: {
      const std::optional<TenMicros> t = DecodeTimestamp(option.data);
      return Describe(t ? std::optional(t->ticks()) : std::nullopt, "ticks");
    }
    case OptionType::kElapsedTime: {
      const std::optional<TenMicros> t = DecodeElapsedTime(option.data);
      Meaning m = Describe(t ? std::optional(Milliseconds(*t)) : std::nullopt, "ms");
      if (m.good) m.text += " ms";
      return m;
    }
    default: {
      Meaning m;
      m.fields["data"] = Hex(option.data);
      m.text = Hex(option.data);
      return m;
    }
  }
}

}  // namespace

Json OptionsToJson(const DumpPacket& packet) {
  Json list = Json::array();
  OptionReader reader(packet.view.options());
  OptionView option;
  while (reader.Next(&option)) {
    Json entry = {{"type", static_cast<unsigned>(option.type)},
                  {"name", OptionName(option, packet)}};
    const Meaning meaning = DescribeOption(option, packet);
    if (meaning.good)
      entry.update(meaning.fields);
    else
      entry.update({{"malformed", true}, {"data", Hex(option.data)}});
    list.push_back(std::move(entry));
  }
  if (reader.malformed())
    list.push_back({{"type", static_cast<unsigned>(reader.malformed_type())},
                    {"name", ToString(reader.malformed_type())},
                    {"malformed", true},
                    {"data", Hex(reader.malformed_data())}});
  return list;
}

std::string OptionsToText(const DumpPacket& packet) {
  std::string text;
  OptionReader reader(packet.view.options());
  OptionView option;
  while (reader.Next(&option)) {
    const Meaning meaning = DescribeOption(option, packet);
    if (!text.empty()) text += "; ";
    text += OptionName(option, packet);
    if (!meaning.good)
      text += " MALFORMED " + Hex(option.data);
    else if (!meaning.text.empty())
      text += " " + meaning.text;
  }
  if (reader.malformed()) text += text.empty() ? "BROKEN OPTION" : "; BROKEN OPTION";
  return text;
}

void CheckOptions(const DumpPacket& packet, std::vector<std::string>* violations) {
  OptionReader reader(packet.view.options());
  OptionView option;
  bool after_mandatory = false;
  while (reader.Next(&option)) {
    const std::string name = OptionName(option, packet);
    if (after_mandatory && (reader.padding_skipped() || option.type == OptionType::kMandatory))
      violations->push_back("Mandatory applies to no option");
    if (!DescribeOption(option, packet).good)
      violations->push_back(fmt::format("option {} has a malformed value", name));
    if (!OptionPermitted(option.type, packet.view.type()))
      violations->push_back(fmt::format("option {} means nothing on a {} packet", name,
                                        ToString(packet.view.type())));
    after_mandatory = option.type == OptionType::kMandatory;
  }
  if (reader.malformed())
    violations->push_back(fmt::format("option {} has an impossible length",
                                      static_cast<unsigned>(reader.malformed_type())));
  else if (after_mandatory)
    violations->push_back("Mandatory applies to no option");
}

}  // namespace dccp::apps
