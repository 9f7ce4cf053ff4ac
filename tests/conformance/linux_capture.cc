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
  const PacketView view = View(out.bytes);
  out.type = view.type();
  out.seq = view.seq().value();
  if (view.has_ack()) out.ack = view.ack().value();
  out.cscov = view.cscov();
  out.has_data = !view.payload().empty();
  return out;
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
