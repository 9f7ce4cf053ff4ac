// Against the packets of a Linux 6.1 kernel: tests/data/linux61_*.txt.
#include <fstream>
#include <map>
#include <sstream>

#include "tests/unit/conn/feature_test_util.h"

namespace dccp {
namespace {

using namespace feature_test;  // NOLINT(google-build-using-namespace)
using testing::IsSubsetOf;
using testing::UnorderedElementsAreArray;

struct Captured {
  std::string type;
  Seq64 seq;
  std::optional<Seq64> ack;
  std::vector<std::byte> options;
};

struct Handshake {
  std::vector<Captured> packets;  // Request, Response, then the client's first Ack
};

Seq64 Unwrapped(const std::string& decimal) {
  return Seq64::FromInitial(SeqNo(std::stoull(decimal)));
}

std::size_t HeaderBytes(const std::string& type) {
  if (type == "Request") return 20;
  if (type == "Response") return 28;
  return 24;
}

// The connections of a file that got as far as the client's first Ack.
std::vector<Handshake> ReadHandshakes(const std::string& file) {
  std::ifstream in(std::string(UDCCP_TEST_DATA_DIR) + "/" + file);
  EXPECT_TRUE(in.is_open()) << file;
  std::map<std::string, Handshake> flows;
  std::vector<Handshake> complete;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string type;
    std::string source;
    std::string destination;
    std::string seq;
    std::string ack;
    std::string header;
    fields >> type >> source >> destination >> seq >> ack >> header;
    const std::string from = header.substr(0, 4);
    const std::string to = header.substr(4, 4);
    const std::string key = type == "Response" ? to + from : from + to;
    Handshake& flow = flows[key];
    const std::size_t step = type == "Request" ? 0 : type == "Response" ? 1 : type == "Ack" ? 2 : 9;
    if (step == 0) flow = {};
    if (step != flow.packets.size()) continue;
    std::vector<std::byte> bytes = FromHex(header);
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(HeaderBytes(type)));
    flow.packets.push_back(
        {type, Unwrapped(seq), ack == "-" ? std::nullopt : std::optional(Unwrapped(ack)), bytes});
    if (flow.packets.size() == 3) complete.push_back(flow);
  }
  return complete;
}

std::vector<Handshake> AllHandshakes() {
  auto all = ReadHandshakes("linux61_wire_vectors.txt");
  for (auto& handshake : ReadHandshakes("linux61_more_vectors.txt")) all.push_back(handshake);
  return all;
}

std::vector<std::string> OfTypes(const std::vector<std::byte>& area, const std::string& l,
                                 const std::string& r) {
  std::vector<std::string> out;
  for (const std::string& option : FeatureOptions(area)) {
    const std::string bare = option.substr(0, 2) == "01" ? option.substr(2) : option;
    if (bare.substr(0, 2) == l || bare.substr(0, 2) == r) out.push_back(option);
  }
  return out;
}
std::vector<std::string> Confirms(const std::vector<std::byte>& area) {
  return OfTypes(area, "21", "23");
}
std::vector<std::string> Changes(const std::vector<std::byte>& area) {
  return OfTypes(area, "20", "22");
}

std::vector<std::string> Bare(std::vector<std::string> options) {
  for (std::string& option : options) {
    if (option.substr(0, 2) == "01") option = option.substr(2);
  }
  return options;
}

// Type, feature and value; the confirmer's own list cut off.
std::vector<std::string> WithoutLists(std::vector<std::string> confirms) {
  for (std::string& option : confirms) {
    const std::string feature = option.substr(4, 2);
    if (feature != "03" && feature != "05") option = option.substr(0, 2) + option.substr(4, 4);
  }
  return confirms;
}

std::vector<std::byte> Write(FeatureNegotiator& n, PacketType type, Seq64 seq,
                             std::optional<Seq64> ack) {
  std::vector<std::byte> buffer(400);
  OptionWriter writer(buffer);
  n.WriteOptions({type, seq, ack, At(seconds(1))}, writer);
  return {writer.bytes().begin(), writer.bytes().end()};
}

PreferenceList List(const std::string& option, std::size_t from) {
  const auto bytes = FromHex(option);
  return PreferenceList::From(std::span(bytes).subspan(from));
}

// Our server in the place of the Linux server, with the CCID lists that its Confirms show.
TEST(FeatureLinux, R4340_LNX_02_LNX_03_LNX_04_OurServerConfirmsAllThatALinuxClientAsks) {
  const auto handshakes = AllHandshakes();
  ASSERT_GE(handshakes.size(), 10u);
  for (const Handshake& h : handshakes) {
    const Captured& request = h.packets[0];
    const Captured& response = h.packets[1];
    Endpoint e(Role::kServer, Needs::kReal);
    for (const std::string& option : Confirms(response.options)) {
      if (option.substr(4, 2) != "01") continue;
      const Located at = option.substr(0, 2) == "21" ? kLocal : kRemote;
      ASSERT_TRUE(e.n.Configure({kCcid, at, List(option, 4), 0, false, false}));
    }
    e.n.Start(response.seq);
    e.n.OnPeerInitial(request.seq);
    EXPECT_EQ(Feed(e.n, {PacketType::kRequest, request.seq, std::nullopt}, request.options),
              std::nullopt);
    const auto ours = Write(e.n, PacketType::kResponse, response.seq, request.seq);
    EXPECT_EQ(Confirms(ours).size(), Changes(request.options).size());
    // Linux answers some Changes by a Change of its own instead (§6.6.6), and shows other lists.
    EXPECT_THAT(WithoutLists(Confirms(response.options)), IsSubsetOf(WithoutLists(Confirms(ours))));
    // We ask for no CCID feature that Linux would not ask for too.
    EXPECT_THAT(Bare(Changes(ours)), IsSubsetOf(Bare(Changes(response.options))));
  }
}

// Our client in the place of the Linux client, with the wishes that its Request shows.
TEST(FeatureLinux, R4340_LNX_05_OurClientConfirmsAllThatALinuxServerAsks) {
  for (const Handshake& h : AllHandshakes()) {
    const Captured& request = h.packets[0];
    const Captured& response = h.packets[1];
    const Captured& ack = h.packets[2];
    Endpoint e(Role::kClient, Needs::kReal);
    for (std::string option : Changes(request.options)) {
      const bool mandatory = option.substr(0, 2) == "01";
      if (mandatory) option = option.substr(2);
      const Located at = option.substr(0, 2) == "20" ? kLocal : kRemote;
      const auto feature = static_cast<FeatureNumber>(std::stoi(option.substr(4, 2), nullptr, 16));
      const std::uint64_t number = std::stoull(option.substr(6, 12), nullptr, 16);
      ASSERT_TRUE(e.n.Configure({feature, at, List(option, 3), number, mandatory})) << option;
    }
    e.n.Start(request.seq);
    const auto asked = Write(e.n, PacketType::kRequest, request.seq, std::nullopt);
    // A list without CCID 2 goes out with Mandatory (§10), which Linux leaves out.
    EXPECT_THAT(Bare(Changes(request.options)), IsSubsetOf(Bare(Changes(asked))));
    e.n.OnPeerInitial(response.seq);
    EXPECT_EQ(Feed(e.n, {PacketType::kResponse, response.seq, response.ack}, response.options),
              std::nullopt);
    const auto ours = Write(e.n, PacketType::kAck, ack.seq, response.seq);
    EXPECT_THAT(WithoutLists(Confirms(ours)),
                UnorderedElementsAreArray(WithoutLists(Confirms(ack.options))));
    // All that is left to ask for after CCID 3 was chosen is what Linux does not ask for.
    EXPECT_THAT(Changes(ours), testing::Each("2005050000"));
    EXPECT_EQ(e.n.AllStable(), Changes(ours).empty());
    EXPECT_EQ(Write(e.n, PacketType::kDataAck, ack.seq + 1, response.seq), ours);
  }
}

TEST(FeatureLinux, R4340_LNX_11_Bug_B13_NoCcidInCommon) {
  Endpoint e(Role::kClient, Needs::kReal);
  ASSERT_TRUE(e.n.Configure({kCcid, kLocal, {3}}));
  e.Start(Endpoint::Phase::kHandshake);
  // Mandatory, so that the answer is a Reset and no connection that cannot work.
  EXPECT_THAT(FeatureOptions(FromHex(e.Send(PacketType::kRequest))),
              testing::Contains("0120040103"));
}

}  // namespace
}  // namespace dccp
