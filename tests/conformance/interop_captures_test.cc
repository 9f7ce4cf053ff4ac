// Replays interop/captures: connections that this stack had with Linux 6.1.192, our end replaced by
// an endpoint that starts with the same sequence number. Linux's packets come in their order, at
// their times, byte for byte but for the ports and the Acknowledgement Number.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "dccp/ccid2.h"
#include "dccp/ccid3.h"
#include "tests/conformance/linux_capture.h"

namespace dccp::peer {
namespace {

const CcidRegistry& BothCcids() {
  static const Ccid2Factory ccid2;
  static const Ccid3Factory ccid3;
  static const CcidRegistry registry = [] {
    CcidRegistry r;
    r.Add(ccid2);
    r.Add(ccid3);
    return r;
  }();
  return registry;
}

// role.family.ccid.data.ending.path; those without a common CCID have neither data nor ending.
struct Cell {
  explicit Cell(const std::filesystem::path& path) : file(path.string()) {
    std::string name = path.stem().string();
    for (std::size_t at = 0; at != std::string::npos;) {
      at = name.find('.');
      words.push_back(name.substr(0, at));
      name = at == std::string::npos ? "" : name.substr(at + 1);
    }
  }
  bool we_are_client() const { return words[0] == "stack-to-kernel"; }
  bool refused() const { return words.size() == 4; }
  const std::string& ending() const { return words[4]; }
  const std::string& path() const { return words.back(); }
  std::vector<CcidId> ccids() const {
    const std::string& ccid = words[2];
    if (ccid == "2") return {CcidId::k2};
    if (ccid == "3") return {CcidId::k3};
    const bool two = ccid.ends_with("2");
    if (refused()) return {two == we_are_client() ? CcidId::k2 : CcidId::k3};
    const CcidId mine = two == we_are_client() ? CcidId::k3 : CcidId::k2;
    return {mine, mine == CcidId::k2 ? CcidId::k3 : CcidId::k2};
  }
  CcidId agreed() const { return words[2].ends_with("2") ? CcidId::k2 : CcidId::k3; }

  std::string file;
  std::vector<std::string> words;
};

std::vector<Cell> Cells() {
  std::vector<Cell> cells;
  const std::filesystem::path folder =
      std::filesystem::path(UDCCP_TEST_DATA_DIR) / "../../interop/captures";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".pcap") cells.emplace_back(entry.path());
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return a.file < b.file; });
  return cells;
}

void PrintTo(const Cell& cell, std::ostream* out) { *out << cell.file; }

std::string NameOf(const ::testing::TestParamInfo<Cell>& info) {
  std::string name = std::filesystem::path(info.param.file).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// Owns the endpoint of today and plays a capture to it.
class InteropCaptures : public ::testing::TestWithParam<Cell> {
 protected:
  InteropCaptures() : cell_(GetParam()), packets_(InteropCapture(cell_.file)) {
    WirePeerConfig config = cell_.we_are_client() ? AsClientOf(packets_) : ServerConfig();
    config.options.tx_ccids = config.options.rx_ccids = cell_.ccids();
    if (cell_.path() == "reorder") config.options.sequence_window = 1000;
    config.adjust = [](EndpointConfig& endpoint) { endpoint.registry = &BothCcids(); };
    peer_ = std::make_unique<WirePeer>(config);
  }

  // Where we refused there was no Response to take the number from.
  WirePeerConfig ServerConfig() const {
    if (!cell_.refused()) return AsServerOf(packets_);
    WirePeerConfig config;
    config.service_codes = AsClientOf(packets_).service_codes;
    return config;
  }

  bool Ours(const LinuxPacket& packet) const { return packet.from_client == cell_.we_are_client(); }

  // Does what our application and stack did then.
  void Repeat(const LinuxPacket& packet) {
    const auto type = packet.type;
    if (packet.has_data) {
      EXPECT_TRUE(peer_->Send(std::string(60, 'x')).ok());
    }
    if ((type == PacketType::kClose || type == PacketType::kCloseReq) && !closed_) {
      closed_ = true;
      peer_->Close().ok();  // refused where it answers Linux's own
    }
    if (type == PacketType::kReset && cell_.ending().starts_with("abort-") &&
        peer_->state() == State::kOpen) {
      EXPECT_TRUE(peer_->Abort().ok());
    }
  }

  void Inject(const LinuxPacket& packet) {
    const bool shifts = packet.ack.has_value() && packet.type != PacketType::kResponse;
    peer_->InjectRaw(shifts ? ToWirePeer(packet, peer_->gss()) : ToWirePeer(packet));
    if (packet.has_data) data_.insert(packet.seq);
    if (!seen_.insert(packet.seq).second) ++copies_;
    read_ += peer_->Read().size();
  }

  void Play() {
    const TimePoint begin = peer_->now();
    if (cell_.we_are_client())
      peer_->Connect();
    else
      peer_->Listen();
    for (const LinuxPacket& packet : packets_) {
      if (begin + packet.at > peer_->now()) peer_->Advance(begin + packet.at - peer_->now());
      if (!Ours(packet))
        Inject(packet);
      else if (!cell_.refused())
        Repeat(packet);
    }
  }

  const Cell cell_;
  const std::vector<LinuxPacket> packets_;
  std::unique_ptr<WirePeer> peer_;
  bool closed_ = false;
  std::set<std::uint64_t> seen_;  // numbers of Linux's packets
  std::set<std::uint64_t> data_;  // those of its datagrams
  std::size_t copies_ = 0;        // that the network made
  std::size_t read_ = 0;
};

TEST_P(InteropCaptures, R4340_LNX_01_LNX_21_LNX_22_EveryDatagramIsReadAndTheEndIsTheSame) {
  ASSERT_GE(cell_.words.size(), 4u);
  Play();
  if (cell_.refused()) {
    EXPECT_EQ(read_, 0u);
    EXPECT_NE(peer_->state(), State::kOpen);
    return;
  }
  const ConnectionInfo info = peer_->Info();
  EXPECT_EQ(info.tx_ccid, cell_.agreed());
  EXPECT_EQ(info.rx_ccid, cell_.agreed());
  EXPECT_EQ(read_, data_.size());
  EXPECT_EQ(peer_->Dropped(DropReason::kDuplicate), copies_);
  EXPECT_EQ(peer_->DroppedInAll(), copies_);
  EXPECT_EQ(info.counters.sequence_invalid, 0u);
  EXPECT_EQ(info.counters.false_acks, 0u);
  const std::string& ending = cell_.ending();
  if (ending == "vanish") {
    EXPECT_EQ(peer_->state(), State::kOpen);
  } else if (ending.starts_with("abort-")) {
    const bool by_us = (ending == "abort-client") == cell_.we_are_client();
    EXPECT_EQ(info.close.by, by_us ? ClosedBy::kLocal : ClosedBy::kRemote);
    EXPECT_EQ(info.close.reset.code, ResetCode::kAborted);
    EXPECT_EQ(info.close.reset_received, !by_us);
  } else {
    EXPECT_TRUE(peer_->state() == State::kClosed || peer_->state() == State::kTimeWait)
        << ToString(peer_->state());
    EXPECT_TRUE(info.close.clean);
    EXPECT_EQ(info.close.reset.code, ResetCode::kClosed);
  }
}

INSTANTIATE_TEST_SUITE_P(Linux, InteropCaptures, ::testing::ValuesIn(Cells()), NameOf);

}  // namespace
}  // namespace dccp::peer
