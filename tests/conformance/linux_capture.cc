#include "tests/conformance/linux_capture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "stack/base/byte_order.h"
#include "stack/wire/packet_view.h"
#include "tests/unit/wire/wire_testing.h"

namespace dccp::peer {
namespace {

PacketView View(const Bytes& bytes) {
  PacketView view;
  EXPECT_EQ(PacketView::Parse(bytes, &view), ParseError::kNone);
  return view;
}

void TakeHeader(LinuxPacket* out) {
  const PacketView view = View(out->bytes);
  out->type = view.type();
  out->seq = view.seq().value();
  if (view.has_ack()) out->ack = view.ack().value();
  out->cscov = view.cscov();
  out->has_data = !view.payload().empty();
}

LinuxPacket ParseLine(const std::string& line) {
  std::istringstream in(line);
  double seconds = 0;
  std::string direction;
  std::string header;
  std::string data;
  in >> seconds >> direction >> header >> data;
  EXPECT_FALSE(in.fail()) << line;
  LinuxPacket out;
  out.at = std::chrono::microseconds(std::llround(seconds * 1e6));
  out.from_client = direction == ">";
  out.bytes = wire_testing::FromHex(header);
  if (data.starts_with('+')) {
    out.bytes.resize(out.bytes.size() + std::stoul(data.substr(1)));
  } else if (data != "-") {
    const Bytes payload = wire_testing::FromHex(data);
    out.bytes.insert(out.bytes.end(), payload.begin(), payload.end());
  }
  TakeHeader(&out);
  return out;
}

std::uint32_t LittleEndian32(const char* p) {
  std::uint32_t v = 0;
  for (int i = 3; i >= 0; --i) v = v << 8 | static_cast<std::uint8_t>(p[i]);
  return v;
}

// The DCCP packet of an Ethernet frame, without what the frame was padded with.
Bytes DccpOf(const Bytes& frame) {
  const bool v4 = LoadBe16(&frame.at(12)) == 0x0800;
  const std::size_t begin = v4 ? 34 : 54;
  const std::size_t bytes = v4 ? LoadBe16(&frame.at(16)) - 20u : LoadBe16(&frame.at(18));
  EXPECT_LE(begin + bytes, frame.size());
  return Bytes(frame.begin() + static_cast<std::ptrdiff_t>(begin),
               frame.begin() + static_cast<std::ptrdiff_t>(begin + bytes));
}

WirePeerConfig ConfigOf(const std::vector<LinuxPacket>& packets, bool client) {
  const LinuxPacket& first =
      FirstOf(packets, client ? PacketType::kRequest : PacketType::kResponse, client);
  WirePeerConfig config;
  config.service_codes = {View(first.bytes).service_code()};
  config.options.initial_sequence = SeqNo(first.seq);
  return config;
}

}  // namespace

std::vector<LinuxPacket> InteropCapture(const std::string& path) {
  std::vector<LinuxPacket> out;
  std::ifstream file(path, std::ios::binary);
  char header[24] = {};
  EXPECT_TRUE(file.read(header, sizeof header)) << path;
  EXPECT_EQ(LittleEndian32(header), 0xA1B23C4Du) << path;  // nanoseconds
  std::uint16_t client_port = 0;
  Duration first = Duration::zero();
  for (char record[16]; file.read(record, sizeof record);) {
    Bytes frame(LittleEndian32(record + 8));
    file.read(reinterpret_cast<char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
    LinuxPacket packet;
    packet.bytes = DccpOf(frame);
    TakeHeader(&packet);
    const Duration at = std::chrono::seconds(LittleEndian32(record)) +
                        std::chrono::nanoseconds(LittleEndian32(record + 4));
    if (out.empty()) {
      EXPECT_EQ(packet.type, PacketType::kRequest) << path;
      client_port = View(packet.bytes).source_port();
      first = at;
    }
    packet.at = at - first;
    packet.from_client = View(packet.bytes).source_port() == client_port;
    out.push_back(packet);
  }
  EXPECT_FALSE(out.empty()) << path;
  return out;
}

std::vector<LinuxPacket> LinuxConversation(const std::string& name) {
  std::vector<LinuxPacket> out;
  std::ifstream file(std::string(UDCCP_TEST_DATA_DIR) + "/linux61_conversations.txt");
  bool wanted = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("conversation ")) {
      wanted = line.substr(13) == name;
    } else if (wanted) {
      out.push_back(ParseLine(line));
    }
  }
  EXPECT_FALSE(out.empty()) << "no conversation " << name;
  return out;
}

const LinuxPacket& FirstOf(const std::vector<LinuxPacket>& packets, PacketType type,
                           bool from_client) {
  for (const LinuxPacket& packet : packets) {
    if (packet.type == type && packet.from_client == from_client) return packet;
  }
  static const LinuxPacket kNone;
  ADD_FAILURE() << "no " << ToString(type);
  return kNone;
}

Bytes ToWirePeer(const LinuxPacket& packet) {
  Bytes bytes = packet.bytes;
  StoreBe16(bytes.data(), WirePeer::kPeerPort);
  StoreBe16(bytes.data() + 2, WirePeer::kEndpointPort);
  return bytes;
}

Bytes ToWirePeer(const LinuxPacket& packet, std::uint64_t ack) {
  constexpr std::size_t kAckOffset = 18;  // of long numbers. RFC 4340 §5.3
  Bytes bytes = ToWirePeer(packet);
  EXPECT_TRUE(packet.ack.has_value());
  StoreBe48(bytes.data() + kAckOffset, ack);
  return bytes;
}

SentPacket Decoded(const LinuxPacket& packet) {
  OutboundDatagram datagram;
  datagram.bytes = packet.bytes;
  // The checksum is not looked at: the conversations do not keep the addresses.
  return Decode(datagram, Encapsulation::kUdp, TimePoint());
}

Octets OptionData(const LinuxPacket& packet, OptionType type) {
  const SentPacket decoded = Decoded(packet);
  const WireOption* option = decoded.Find(type);
  EXPECT_NE(option, nullptr);
  return option == nullptr ? Octets() : option->data;
}

WirePeerConfig AsServerOf(const std::vector<LinuxPacket>& packets) {
  return ConfigOf(packets, false);
}
WirePeerConfig AsClientOf(const std::vector<LinuxPacket>& packets) {
  return ConfigOf(packets, true);
}

}  // namespace dccp::peer
