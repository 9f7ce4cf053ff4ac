#include "tests/unit/wire/wire_testing.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "stack/wire/ack_vector_codec.h"
#include "stack/wire/crc32c.h"
#include "stack/wire/data_dropped_codec.h"
#include "stack/wire/feature_codec.h"
#include "stack/wire/icmp_quote.h"
#include "stack/wire/option_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/option_rules.h"

namespace dccp::wire_testing {
namespace {

[[noreturn]] void Die(std::string_view what) {
  std::cerr << what << '\n';
  std::abort();
}

unsigned Digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  Die("not a hexadecimal digit");
}

IpAddress AddressFromHex(std::string_view hex) {
  const Bytes bytes = FromHex(hex);
  IpAddress a;
  a.family = bytes.size() == 4 ? IpFamily::kV4 : IpFamily::kV6;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    a.bytes[i] = std::to_integer<std::uint8_t>(bytes[i]);
  return a;
}

class Digest {
 public:
  void Add(std::uint64_t v) { value_ = (value_ ^ v) * 0x100000001B3u + 1; }
  void Add(std::span<const std::byte> bytes) { Add(Crc32c(bytes)); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325u;
};

// Whether the option's decoder takes it; unknown types have none and count as taken.
bool DecodeOption(const OptionView& option, Digest* digest) {
  switch (option.type) {
    case OptionType::kNdpCount: {
      const auto v = DecodeNdpCount(option.data);
      digest->Add(v.value_or(0));
      return v.has_value();
    }
    case OptionType::kTimestamp: {
      const auto v = DecodeTimestamp(option.data);
      digest->Add(v.value_or(TenMicros()).ticks());
      return v.has_value();
    }
    case OptionType::kTimestampEcho: {
      const auto v = DecodeTimestampEcho(option.data);
      if (v.has_value()) digest->Add(v->timestamp.ticks() + v->elapsed.ticks());
      return v.has_value();
    }
    case OptionType::kElapsedTime: {
      const auto v = DecodeElapsedTime(option.data);
      digest->Add(v.value_or(TenMicros()).ticks());
      return v.has_value();
    }
    case OptionType::kDataChecksum: {
      const auto v = DecodeDataChecksum(option.data);
      digest->Add(v.value_or(0));
      return v.has_value();
    }
    case OptionType::kAckVectorNonce0:
    case OptionType::kAckVectorNonce1: {
      std::uint32_t packets = 0;
      AckVectorReader reader(option.data);
      for (AckVectorRun run; reader.Next(&run);) packets += run.packets;
      if (packets != AckVectorPackets(option.data)) Die("Ack Vector runs disagree with its length");
      return true;
    }
    case OptionType::kDataDropped: {
      DataDroppedReader reader(option.data);
      for (DataDroppedBlock block; reader.Next(&block);) digest->Add(block.packets);
      return true;
    }
    default:
      break;
  }
  if (!IsFeatureOption(option.type)) return true;
  const auto feature = DecodeFeatureOption(option);
  if (!feature.has_value()) return false;
  digest->Add(feature->value);
  digest->Add(DecodeNnValue(feature->feature, feature->value).value_or(0));
  return true;
}

}  // namespace

Bytes FromHex(std::string_view hex) {
  std::string digits(hex);
  digits.erase(std::remove(digits.begin(), digits.end(), ' '), digits.end());
  if (digits.size() % 2 != 0) Die("an odd number of hexadecimal digits");
  Bytes out;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    out.push_back(static_cast<std::byte>(Digit(digits[i]) << 4 | Digit(digits[i + 1])));
  return out;
}

std::string ToHex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::byte b : bytes) {
    out += kDigits[std::to_integer<unsigned>(b) >> 4];
    out += kDigits[std::to_integer<unsigned>(b) & 0xF];
  }
  return out;
}

Bytes ToBytes(std::initializer_list<unsigned> values) {
  Bytes out;
  for (unsigned v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

IpAddress V4(unsigned a, unsigned b, unsigned c, unsigned d) {
  IpAddress out;
  const unsigned parts[] = {a, b, c, d};
  std::transform(std::begin(parts), std::end(parts), out.bytes.begin(),
                 [](unsigned v) { return static_cast<std::uint8_t>(v); });
  return out;
}

IpAddress V6(std::string_view hex) { return AddressFromHex(hex); }

std::vector<CapturedPacket> ReadCapture(const std::string& file) {
  std::ifstream in(std::string(UDCCP_TEST_DATA_DIR) + "/" + file);
  if (!in) Die("cannot open " + file);
  std::vector<CapturedPacket> out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string source, destination, seq, ack, header, payload;
    CapturedPacket p;
    if (!(fields >> p.type >> source >> destination >> seq >> ack >> header >> payload))
      Die("bad line in " + file);
    p.source = AddressFromHex(source);
    p.destination = AddressFromHex(destination);
    p.seq = std::stoull(seq);
    if (ack != "-") p.ack = std::stoull(ack);
    p.header = FromHex(header);
    p.bytes = p.header;
    if (payload != "-") {
      const Bytes data = FromHex(payload);
      p.bytes.insert(p.bytes.end(), data.begin(), data.end());
    }
    out.push_back(std::move(p));
  }
  return out;
}

std::vector<CapturedPacket> AllCaptured() {
  std::vector<CapturedPacket> out = ReadCapture("linux61_wire_vectors.txt");
  for (CapturedPacket& p : ReadCapture("linux61_more_vectors.txt")) out.push_back(std::move(p));
  return out;
}

Decoded DecodeEverything(const PacketView& packet) {
  Decoded out;
  Digest digest;
  digest.Add(packet.bytes());
  digest.Add(std::uint64_t{packet.source_port()} + packet.destination_port() + packet.checksum());
  digest.Add(packet.seq().value() + packet.ack().value());
  digest.Add(packet.service_code().value());
  digest.Add(packet.reset_reason().data[2]);
  digest.Add(packet.bytes().first(packet.covered_bytes()));
  digest.Add(packet.payload());
  if (const auto quote = ParseIcmpQuote(packet.bytes())) digest.Add(quote->source_port);

  OptionReader reader(packet.options());
  for (OptionView option; reader.Next(&option);) {
    digest.Add(option.data);
    ++(DecodeOption(option, &digest) ? out.taken : out.refused)[option.type];
  }
  out.malformed = reader.malformed();
  if (out.malformed) {
    digest.Add(static_cast<std::uint64_t>(reader.malformed_type()));
    digest.Add(reader.malformed_data());
  }
  out.digest = digest.value();
  return out;
}

ParseError ParseExactly(std::span<const std::byte> bytes, Decoded* decoded) {
  const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  PacketView view;
  const ParseError error =
      PacketView::Parse({exact.get(), bytes.size()}, &view, {.allow_listen = true});
  if (error != ParseError::kNone) return error;
  Decoded all = DecodeEverything(view);
  if (decoded != nullptr) *decoded = std::move(all);
  return error;
}

}  // namespace dccp::wire_testing
