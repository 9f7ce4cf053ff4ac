// Conversations with Linux 6.1.192 (tests/data/linux61_conversations.txt, interop/captures) and how
// a test plays its side of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dccp/time.h"
#include "dccp/types.h"
#include "tests/support/wire_peer.h"

namespace dccp::peer {

struct LinuxPacket {
  Duration at = Duration::zero();  // since the conversation's first packet
  bool from_client = false;
  PacketType type = PacketType::kData;
  std::uint64_t seq = 0;
  std::optional<std::uint64_t> ack;
  std::uint8_t cscov = 0;
  bool has_data = false;
  Bytes bytes;  // as captured; application data of no interest is zeros
};

// Every packet of a conversation, in order. An unknown name fails the test.
std::vector<LinuxPacket> LinuxConversation(const std::string& name);

// Every packet of a pcap file in interop/captures, in order.
std::vector<LinuxPacket> InteropCapture(const std::string& path);

// The first packet of this type from this end; fails the test where there is none.
const LinuxPacket& FirstOf(const std::vector<LinuxPacket>& packets, PacketType type,
                           bool from_client);

// The same packet between WirePeer's ports. In DCCP-UDP nothing else depends on them.
Bytes ToWirePeer(const LinuxPacket& packet);
// The same with another Acknowledgement Number: what the endpoint under test really sent.
Bytes ToWirePeer(const LinuxPacket& packet, std::uint64_t ack);

// As an endpoint's own packets are seen.
SentPacket Decoded(const LinuxPacket& packet);

// The data of its first option of this type; fails the test where there is none.
Octets OptionData(const LinuxPacket& packet, OptionType type);

// Listens or connects as the Linux end of the conversation did: its initial number, its service.
WirePeerConfig AsServerOf(const std::vector<LinuxPacket>& packets);
WirePeerConfig AsClientOf(const std::vector<LinuxPacket>& packets);

}  // namespace dccp::peer
