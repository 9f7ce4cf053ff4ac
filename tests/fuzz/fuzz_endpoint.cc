// One endpoint against everything: bytes choose its options, API calls, time steps, and packets,
// raw and structured, from its peers and from a stranger. Node judges every step.

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "stack/wire/packet_view.h"
#include "tests/fuzz/fuzz_node.h"
#include "tests/fuzz/packet_maker.h"

namespace dccp::fuzz {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint16_t kPort = 5001;
constexpr int kMaxSteps = 150;

NodeConfig MakeConfig(unsigned flags) {
  NodeConfig config;
  if ((flags & 1) != 0) config.encapsulation = Encapsulation::kNative;
  config.reads_ecn = (flags & 2) == 0;
  config.memory_bytes = (flags & 4) != 0 ? 64u << 10 : 1u << 20;
  config.cookies = (flags & 8) != 0;
  return config;
}

class Attack {
 public:
  explicit Attack(FuzzInput& input)
      : input_(input), config_(MakeConfig(input.Byte())), node_(config_) {
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      Flow& flow = flows_[i];
      flow.path.local.bytes = {192, 0, 2, 1};
      // The third is a stranger.
      flow.path.remote.bytes = {192, 0, 2, static_cast<std::uint8_t>(i < 2 ? 2 : 99)};
      if (config_.encapsulation == Encapsulation::kUdp) {
        flow.path.local_udp_port = kDefaultUdpPort;
        flow.path.remote_udp_port = 40000;
      }
      flow.endpoint_port = kPort;
      flow.port = static_cast<std::uint16_t>(50000 + i);
    }
    ListenParams listen;
    listen.port = kPort;
    listen.backlog = 4;
    listen.options = MakeOptions(input_);
    node_.Listen(listen);
  }

  void Run() {
    for (int step = 0; step < kMaxSteps && !input_.empty(); ++step) {
      Step();
      Collect();
    }
    if (input_.Bool()) node_.CloseAll(now_);
    node_.AbortAll(now_);
  }

 private:
  void Step() {
    const std::uint8_t op = input_.Byte();
    Flow& flow = flows_[(op >> 4) % flows_.size()];
    switch (op & 15) {
      case 0:
      case 1:
      case 2:
        return Inject(MakePacket(input_, flow, config_.encapsulation), flow);
      case 3:
      case 4:
      case 5:
        return Reply(flow);
      case 6:
        return Inject(input_.Bytes(input_.Byte()), flow);
      case 7: {
        HandOver(flow, input_.Byte());
        return;
      }
      case 8:
        now_ += milliseconds(1 + input_.Byte());
        return node_.RunUntil(now_);
      case 9:
        now_ += milliseconds(100) * (1 + input_.Below(100));
        return node_.RunUntil(now_);
      case 10:
        return Icmp(flow);
      case 11:
        return Connect(flow);
      default:
        return node_.Call(input_, now_);
    }
  }

  void Inject(const std::vector<std::byte>& bytes, const Flow& flow) {
    node_.Receive(bytes, flow.path, static_cast<Ecn>(input_.Below(4)), now_);
  }

  void Reply(Flow& flow) {
    const std::vector<std::byte> bytes = MakeReply(flow, config_.encapsulation);
    if (!bytes.empty()) Inject(bytes, flow);
  }

  // The same packet several times, one by one or as segments of a run, cut right or wrong.
  void HandOver(Flow& flow, unsigned times) {
    const std::vector<std::byte> bytes = MakePacket(input_, flow, config_.encapsulation);
    const unsigned count = 1 + times % 16;
    if ((times & 0x30) == 0) {
      for (unsigned i = 0; i < count; ++i) Inject(bytes, flow);
      return;
    }
    std::vector<std::byte> run;
    for (unsigned i = 0; i < count; ++i) run.insert(run.end(), bytes.begin(), bytes.end());
    const std::size_t cut = (times & 0x40) != 0 ? input_.Integer(2) : bytes.size();
    node_.Receive(run, flow.path, static_cast<Ecn>(input_.Below(4)), now_,
                  static_cast<std::uint32_t>(cut));
  }

  void Icmp(const Flow& flow) {
    std::vector<std::byte> quoted = flow.last;
    quoted.resize(std::min<std::size_t>(quoted.size(), input_.Byte()));
    const IcmpError error = {static_cast<IcmpKind>(input_.Below(8)),
                             static_cast<std::uint32_t>(input_.Integer(2)), flow.path, quoted};
    node_.Icmp(error, now_);
  }

  void Connect(const Flow& flow) {
    ConnectParams params;
    params.path = flow.path;
    params.local_port = kPort;
    params.remote_port = flow.port;
    params.options = MakeOptions(input_);
    const std::vector<std::byte> data(input_.Byte(), std::byte{1});
    params.request_data = data;
    node_.Connect(params, now_);
  }

  // Every flow learns what the endpoint said to it.
  void Collect() {
    for (Outgoing& packet : node_.TakeSent()) {
      PacketView view;
      if (PacketView::Parse(packet.bytes, &view) != ParseError::kNone) continue;
      for (Flow& flow : flows_) {
        if (!(flow.path == packet.path) || flow.port != view.destination_port()) continue;
        if (view.extended())
          flow.gss = view.seq().value();
        else
          flow.gss = (flow.gss & ~std::uint64_t{0xFFFFFF}) | view.seq().low24();
        flow.last = packet.bytes;
      }
    }
  }

  FuzzInput& input_;
  const NodeConfig config_;
  Node node_;
  std::array<Flow, 3> flows_;
  TimePoint now_ = TimePoint(seconds(100));
};

}  // namespace
}  // namespace dccp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dccp::fuzz::FuzzInput input(data, size);
  dccp::fuzz::Attack(input).Run();
  return 0;
}
