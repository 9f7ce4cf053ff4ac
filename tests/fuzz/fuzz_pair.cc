// Two endpoints over a hostile link that drops, repeats, reorders, damages, refuses and invents
// packets as bytes choose. Node judges every step of both. Unless packets were damaged or invented,
// what is read was sent, and is read once. At the end every connection must end, on a perfect link
// by itself.

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "stack/wire/packet_view.h"
#include "tests/fuzz/fuzz_node.h"
#include "tests/fuzz/packet_maker.h"

namespace dccp::fuzz {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint16_t kPort = 5001;
constexpr int kMaxSteps = 200;
constexpr std::size_t kMaxUnderWay = 64;
constexpr Duration kFlight = milliseconds(10);

Path Reverse(const Path& path) {
  return {path.remote, path.local, path.remote_udp_port, path.local_udp_port};
}

NodeConfig MakeConfig(unsigned flags, std::uint64_t seed) {
  NodeConfig config;
  config.seed = seed;
  if ((flags & 1) != 0) config.encapsulation = Encapsulation::kNative;
  config.reads_ecn = (flags & 2) == 0;
  config.memory_bytes = 1u << 20;
  config.cookies = (flags & 8) != 0;
  return config;
}

class Link {
 public:
  Link(FuzzInput& input, unsigned flags)
      : input_(input),
        encapsulation_(MakeConfig(flags, 1).encapsulation),
        client_(MakeConfig(flags, 1)),
        server_(MakeConfig(flags, 2)) {
    path_.local.bytes = {192, 0, 2, 1};
    path_.remote.bytes = {192, 0, 2, 2};
    if (encapsulation_ == Encapsulation::kUdp)
      path_.local_udp_port = path_.remote_udp_port = kDefaultUdpPort;
    ListenParams listen;
    listen.port = kPort;
    listen.options = MakeOptions(input_);
    server_.Listen(listen);
    Connect();
  }

  void Run() {
    for (int step = 0; step < kMaxSteps && !input_.empty(); ++step) {
      Step();
      Collect();
    }
    if (input_.Bool()) Finish();
    client_.AbortAll(now_);
    server_.AbortAll(now_);
  }

 private:
  struct UnderWay {
    bool to_server;
    Outgoing packet;
  };

  Node& node(bool server) { return server ? server_ : client_; }

  void Step() {
    const std::uint8_t op = input_.Byte();
    switch (op & 15) {
      case 0:
      case 1:
      case 2:
      case 3:
        return DeliverAll();
      case 4:
        return Deliver(input_.Byte(), Keep::kNo);
      case 5:
        if ((op & 32) != 0) return DeliverRun();
        return Deliver(input_.Byte(), Keep::kYes);
      case 6:
        return Drop(input_.Byte());
      case 7:
        return Damage(input_.Byte());
      case 8:
        if ((op & 32) != 0) return Complain(input_.Byte());
        return Invent((op & 16) != 0);
      case 9:
        return Pass(milliseconds(1 + input_.Byte()));
      case 10:
        return Pass(milliseconds(100) * (1 + input_.Below(100)));
      case 11:
        return Connect();
      default:
        return node((op & 16) != 0).Call(input_, now_);
    }
  }

  void Connect() {
    ConnectParams params;
    params.path = path_;
    params.remote_port = kPort;
    params.options = MakeOptions(input_);
    const std::vector<std::byte> data(input_.Byte(), std::byte{1});
    params.request_data = data;
    client_.Connect(params, now_);
    Collect();
  }

  void Collect() {
    for (bool server : {false, true}) {
      for (Outgoing& packet : node(server).TakeSent()) {
        // A full link loses what comes.
        if (link_.size() < kMaxUnderWay) link_.push_back({!server, std::move(packet)});
      }
      for (std::vector<std::byte>& datagram : node(server).TakeRead()) {
        if (forged_) continue;
        Expect(node(!server).HasSent(datagram), "what is read was sent");
        Expect(read_.insert(std::move(datagram)).second, "a datagram arrives once");
      }
    }
  }

  enum class Keep { kNo, kYes };
  void Deliver(std::size_t which, Keep keep) {
    if (link_.empty()) return;
    const std::size_t index = which % link_.size();
    const UnderWay copy = link_[index];
    if (keep == Keep::kNo) link_.erase(link_.begin() + static_cast<std::ptrdiff_t>(index));
    node(copy.to_server)
        .Receive(copy.packet.bytes, Reverse(copy.packet.path), copy.packet.ecn, now_);
  }

  // The packets at the head of the link that go one way and are equally long arrive as one run.
  void DeliverRun() {
    if (link_.empty()) return;
    const UnderWay head = link_.front();
    const std::size_t segment = head.packet.bytes.size();
    const auto fits = [&](const UnderWay& u) {
      return u.to_server == head.to_server && u.packet.bytes.size() == segment &&
             u.packet.ecn == head.packet.ecn && u.packet.path == head.packet.path;
    };
    const auto end = std::ranges::find_if_not(link_, fits);
    std::vector<std::byte> run;
    for (auto it = link_.begin(); it != end; ++it)
      run.insert(run.end(), it->packet.bytes.begin(), it->packet.bytes.end());
    link_.erase(link_.begin(), end);
    node(head.to_server)
        .Receive(run, Reverse(head.packet.path), head.packet.ecn, now_,
                 static_cast<std::uint32_t>(segment));
  }

  // A router refuses a packet under way, and tells its sender.
  void Complain(std::size_t which) {
    if (link_.empty()) return;
    const UnderWay refused = link_[which % link_.size()];
    Drop(which);
    std::vector<std::byte> quoted = refused.packet.bytes;
    quoted.resize(std::min<std::size_t>(quoted.size(), input_.Byte()));
    const IcmpError error = {static_cast<IcmpKind>(input_.Below(8)),
                             static_cast<std::uint32_t>(input_.Integer(2)), refused.packet.path,
                             quoted};
    node(!refused.to_server).Icmp(error, now_);
  }

  // What is under way now arrives in order, and time passes.
  void DeliverAll() {
    now_ += kFlight;
    for (std::size_t n = link_.size(); n > 0; --n) Deliver(0, Keep::kNo);
    client_.RunUntil(now_);
    server_.RunUntil(now_);
  }

  void Drop(std::size_t which) {
    if (!link_.empty())
      link_.erase(link_.begin() + static_cast<std::ptrdiff_t>(which % link_.size()));
  }

  // Changes a byte or the ECN field of a packet under way, or cuts it.
  void Damage(std::size_t which) {
    if (link_.empty()) return;
    Outgoing& packet = link_[which % link_.size()].packet;
    const unsigned how = input_.Below(4);
    forged_ |= how != 0;
    if (how == 0) {
      packet.ecn = Ecn::kCe;
    } else if (how == 1) {
      packet.bytes.resize(std::min<std::size_t>(packet.bytes.size(), input_.Byte()));
    } else if (!packet.bytes.empty()) {
      packet.bytes[input_.Byte() % packet.bytes.size()] ^= std::byte{input_.Byte()};
    }
  }

  // Somebody forges a packet of a connection that is under way, knowing its numbers.
  void Invent(bool to_server) {
    const auto model = std::ranges::find(link_, to_server, &UnderWay::to_server);
    if (model == link_.end()) return;
    PacketView view;
    if (PacketView::Parse(model->packet.bytes, &view) != ParseError::kNone) return;
    Flow flow;
    flow.path = Reverse(model->packet.path);
    flow.endpoint_port = view.destination_port();
    flow.port = view.source_port();
    flow.next = view.seq().value();
    flow.gss = view.ack().value();
    forged_ = true;
    Outgoing forged = {MakePacket(input_, flow, encapsulation_), model->packet.path, Ecn::kEct0};
    if (link_.size() < kMaxUnderWay) link_.push_back({to_server, std::move(forged)});
  }

  void Pass(Duration d) {
    now_ += d;
    client_.RunUntil(now_);
    server_.RunUntil(now_);
  }

  bool Active() {
    return client_.endpoint().ActiveConnections() != 0 ||
           server_.endpoint().ActiveConnections() != 0;
  }

  // The link turns perfect, and both applications close.
  void Finish() {
    client_.CloseAll(now_);
    server_.CloseAll(now_);
    for (int round = 0; round < 20'000 && Active(); ++round) {
      Collect();
      if (link_.empty()) {
        const TimePoint next = Earlier(client_.NextTimeout(), server_.NextTimeout());
        Expect(next != kNever, "a connection that waits has a timer");
        now_ = Later(now_, next);
      }
      DeliverAll();
    }
    Expect(!Active(), "connections that both ends close end");
  }

  FuzzInput& input_;
  const Encapsulation encapsulation_;
  Path path_;
  Node client_;
  Node server_;
  std::vector<UnderWay> link_;
  std::set<std::vector<std::byte>> read_;
  bool forged_ = false;  // the link has altered or made packets
  TimePoint now_ = TimePoint(seconds(100));
};

}  // namespace
}  // namespace dccp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dccp::fuzz::FuzzInput input(data, size);
  dccp::fuzz::Link(input, input.Byte()).Run();
  return 0;
}
