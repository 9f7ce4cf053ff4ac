// Two negotiators over a channel that loses, repeats and reorders. RFC 4340 §6.3, §6.6
//
// Bytes choose the configuration of both, then steps. Whenever all features are stable on both
// sides and nothing is under way both must agree on every value; once the channel is perfect they
// must become stable. Every list holds one common value, so that no Reset is right.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "stack/conn/feature_negotiator.h"
#include "stack/wire/option_reader.h"
#include "tests/fuzz/fuzz_input.h"

namespace dccp::fuzz {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using enum FeatureNumber;

constexpr std::array kSpFeatures = {kCcid, kAllowShortSeqnos, kSendNdpCount, kMinChecksumCoverage,
                                    kCheckDataChecksum};
constexpr std::size_t kMaxUnderWay = 12;

struct Flight {
  FeatureNegotiator::Received packet;
  std::vector<std::byte> options;
};

class Pair {
 public:
  explicit Pair(FuzzInput& input) : input_(input) {
    for (std::size_t side : {0u, 1u}) {
      side_[side].n.emplace(side == 0 ? Role::kClient : Role::kServer);
      for (unsigned id : {2u, 3u, 4u, 5u})
        Expect(side_[side].n->RegisterCcid(static_cast<CcidId>(id), {}), "there is room");
      Configure(*side_[side].n);
      side_[side].sent = Seq64((std::int64_t{1} << 48) + static_cast<std::int64_t>(side) * 9000);
    }
    for (std::size_t side : {0u, 1u}) {
      Side& self = side_[side];
      self.n->Start(self.sent);
      self.received = side_[1 - side].sent;
      self.n->OnPeerInitial(self.received);
      if (input_.Bool()) self.n->SetOpen(now_);
    }
  }

  void Step() {
    const std::uint8_t op = input_.Byte();
    const std::size_t side = op >> 7;
    switch (op & 7) {
      case 0:
        return Send(side, (op & 8) != 0 ? PacketType::kData : PacketType::kAck, input_.Byte());
      case 1:
        return Deliver(side, 0, Keep::kNo);
      case 2:
        return Deliver(side, input_.Byte(), Keep::kNo);
      case 3:
        return Deliver(side, input_.Byte(), Keep::kYes);
      case 4:
        if (!side_[side].inbound.empty()) side_[side].inbound.erase(side_[side].inbound.begin());
        return;
      case 5:
        now_ += milliseconds(10) * (1 + input_.Below(100));
        return side_[side].n->HandleTimeout(now_);
      case 6:
        return Wish(*side_[side].n);
      default:
        return side_[side].n->SetOpen(now_);
    }
  }

  void ExpectAgreementIfSettled() const {
    if (!Stable() || !side_[0].inbound.empty() || !side_[1].inbound.empty()) return;
    for (unsigned f = 1; f <= 9; ++f) {
      for (Located at : {Located::kLocal, Located::kRemote}) {
        const auto feature = static_cast<FeatureNumber>(f);
        Expect(side_[0].n->value(feature, at) == side_[1].n->value(feature, Opposite(at)),
               "both ends agree once all is stable");
      }
    }
  }

  // The channel turns perfect.
  void Drain() {
    for (std::size_t side : {0u, 1u}) side_[side].n->SetOpen(now_);
    for (int round = 0; round < 400 && !(Stable() && round > 0); ++round) {
      now_ += seconds(1);
      for (std::size_t side : {0u, 1u}) {
        side_[side].n->HandleTimeout(now_);
        Send(side, PacketType::kAck, 255);
        while (!side_[1 - side].inbound.empty()) Deliver(1 - side, 0, Keep::kNo);
      }
    }
    while (!side_[0].inbound.empty()) Deliver(0, 0, Keep::kNo);
    Expect(Stable(), "over a perfect channel every negotiation ends");
  }

 private:
  enum class Keep { kNo, kYes };
  struct Side {
    std::optional<FeatureNegotiator> n;
    std::vector<Flight> inbound;
    Seq64 sent;
    Seq64 received;
  };

  bool Stable() const { return side_[0].n->AllStable() && side_[1].n->AllStable(); }

  PreferenceList List(FeatureNumber feature) {
    PreferenceList list;
    const unsigned base = feature == kCcid ? 2 : 0;
    const unsigned span = feature == kCcid ? 4 : feature == kMinChecksumCoverage ? 5 : 2;
    for (unsigned n = input_.Below(4); n > 0; --n)
      list.Add(static_cast<std::uint8_t>(base + input_.Below(span)));
    list.Add(static_cast<std::uint8_t>(base));
    return list;
  }

  void Configure(FeatureNegotiator& n) {
    for (FeatureNumber feature : kSpFeatures) {
      for (Located at : {Located::kLocal, Located::kRemote}) {
        const std::uint8_t choice = input_.Byte();
        if (choice % 3 == 0) continue;
        FeatureConfig config = {feature, at, List(feature)};
        config.propose = (choice & 0x10) != 0;
        config.mandatory = (choice & 0x20) != 0;
        Expect(n.Configure(config).ok(), "the wish is a legal one");
      }
    }
  }

  void Wish(FeatureNegotiator& n) {
    const std::uint8_t choice = input_.Byte();
    if ((choice & 1) != 0) {
      const FeatureNumber feature = (choice & 2) != 0 ? kSequenceWindow : kAckRatio;
      Expect(n.ChangeLocalNn(feature, 32 + input_.Byte()).ok(), "the value is a legal one");
      return;
    }
    const FeatureNumber feature = kSpFeatures[(choice >> 2) % kSpFeatures.size()];
    const Located at = (choice & 2) != 0 ? Located::kLocal : Located::kRemote;
    Expect(n.ChangePreference(feature, at, List(feature)).ok(), "the list is a legal one");
  }

  void Send(std::size_t side, PacketType type, std::size_t room) {
    Side& self = side_[side];
    if (side_[1 - side].inbound.size() >= kMaxUnderWay) return;
    std::vector<std::byte> buffer(20 + room);
    OptionWriter writer(buffer);
    const Seq64 seq = ++self.sent;
    const auto ack = HasAckNumber(type) ? std::optional(self.received) : std::nullopt;
    self.n->WriteOptions({type, seq, ack, now_}, writer);
    const auto bytes = writer.bytes();
    side_[1 - side].inbound.push_back({{type, seq, ack}, {bytes.begin(), bytes.end()}});
  }

  void Deliver(std::size_t side, std::size_t which, Keep keep) {
    Side& self = side_[side];
    if (self.inbound.empty()) return;
    const std::size_t index = which % self.inbound.size();
    const Flight flight = self.inbound[index];
    if (keep == Keep::kNo)
      self.inbound.erase(self.inbound.begin() + static_cast<std::ptrdiff_t>(index));
    self.received = std::max(self.received, flight.packet.seq);
    OptionReader reader(flight.options);
    bool mandatory = false;
    for (OptionView option; reader.Next(&option);) {
      if (option.type == OptionType::kMandatory) {
        mandatory = true;
        continue;
      }
      const auto feature = DecodeFeatureOption(option);
      Expect(feature.has_value(), "a negotiator writes feature options");
      Expect(!self.n->OnOption(flight.packet, *feature, mandatory),
             "ends that share a value reset nothing");
      mandatory = false;
    }
    self.n->EndPacket(flight.packet);
    while (self.n->PollChange()) {
    }
  }

  FuzzInput& input_;
  std::array<Side, 2> side_;
  TimePoint now_ = TimePoint(seconds(1));
};

}  // namespace
}  // namespace dccp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dccp::fuzz::FuzzInput input(data, size);
  dccp::fuzz::Pair pair(input);
  for (int step = 0; step < 400 && !input.empty(); ++step) {
    pair.Step();
    pair.ExpectAgreementIfSettled();
  }
  pair.Drain();
  pair.ExpectAgreementIfSettled();
  return 0;
}
