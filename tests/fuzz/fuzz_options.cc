// Any bytes as the option areas of a few packets: ScanOptions with the negotiator behind it.
//
//   byte 0: bit 0 server, bit 1 open, bit 2 wishes, bit 3 CCIDs 2 and 3 rather than 2
//   then per packet: type, length of its area in 32-bit words, the area

#include <array>
#include <span>
#include <vector>

#include "dccp/ccid2.h"
#include "stack/conn/feature_negotiator.h"
#include "stack/conn/incoming_options.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/packet_writer.h"
#include "tests/fuzz/fuzz_input.h"

namespace dccp::fuzz {
namespace {

constexpr Seq64 kOurs(std::int64_t{1} << 48);
constexpr Seq64 kTheirs((std::int64_t{1} << 48) + 5000);

class Scanner {
 public:
  explicit Scanner(unsigned flags)
      : negotiator_((flags & 1) != 0 ? Role::kServer : Role::kClient), open_((flags & 2) != 0) {
    const CcidTraits& traits = ccid2_.traits();
    Expect(negotiator_.RegisterCcid(CcidId::k2, traits.needs), "there is room");
    if ((flags & 8) != 0) Expect(negotiator_.RegisterCcid(CcidId::k3, {}), "there is room");
    if ((flags & 4) != 0) {
      using enum FeatureNumber;
      Want({kSequenceWindow, Located::kLocal, {}, 500});
      Want({kCheckDataChecksum, Located::kRemote, {1}, 0, true});
      Want({kSendNdpCount, Located::kRemote, {1, 0}});
    }
    negotiator_.Start(kOurs);
    negotiator_.OnPeerInitial(kTheirs);
    if (open_) negotiator_.SetOpen(now_);
  }

  void Packet(PacketType type, std::span<const std::byte> area) {
    const bool extended = true;
    HeaderFields fields;
    fields.type = type;
    fields.extended = extended;
    std::vector<std::byte> bytes(FixedHeaderBytes(type, extended) + area.size());
    WriteHeader(fields, area, bytes);
    PacketView packet;
    Expect(PacketView::Parse(bytes, &packet) == ParseError::kNone, "a written header parses");
    OptionScanContext context;
    context.packet = {type, ++received_, {}};
    if (packet.has_ack()) context.packet.ack = sent_;
    context.sender = context.receiver = &ccid2_.traits();
    IncomingOptions options;
    const std::optional<ResetReason> fault = ScanOptions(packet, context, negotiator_, &options);
    if (fault) {
      Expect(fault->code == ResetCode::kOptionError || fault->code == ResetCode::kMandatoryError ||
                 fault->code == ResetCode::kAggressionPenalty,
             "options end a connection for two reasons");
      over_ = true;
      return;
    }
    negotiator_.EndPacket(context.packet);
    Answer();
  }

  bool over() const { return over_; }

 private:
  void Want(const FeatureConfig& config) {
    Expect(negotiator_.Configure(config).ok(), "the wish is a legal one");
  }

  void Answer() {
    now_ += std::chrono::milliseconds(150);
    negotiator_.HandleTimeout(now_);
    std::array<std::byte, 128> buffer;
    OptionWriter writer(buffer);
    negotiator_.WriteOptions({PacketType::kAck, ++sent_, received_, now_}, writer);
    OptionReader reader(writer.bytes());
    for (OptionView option; reader.Next(&option);)
      Expect(DecodeFeatureOption(option) || option.type == OptionType::kMandatory,
             "a negotiator writes feature options");
    Expect(!reader.malformed(), "answers are well-formed");
    for (int changes = 0; negotiator_.PollChange(); ++changes)
      Expect(changes < 64, "a negotiator runs out of news");
    CheckValues();
  }

  void CheckValues() const {
    for (unsigned f = 1; f <= 9; ++f) {
      const FeatureInfo& info = *FindFeature(static_cast<FeatureNumber>(f));
      for (Located at : {Located::kLocal, Located::kRemote}) {
        const std::uint64_t value = negotiator_.value(info.number, at);
        Expect(value >= info.min && value <= info.max, "a value in force is a legal one");
        if (info.number == FeatureNumber::kCcid)
          Expect(value == 2 || value == 3, "only a registered CCID is ever in force");
      }
    }
  }

  Ccid2Factory ccid2_;
  FeatureNegotiator negotiator_;
  bool open_;
  bool over_ = false;
  Seq64 sent_ = kOurs;
  Seq64 received_ = kTheirs;
  TimePoint now_ = TimePoint(std::chrono::seconds(1));
};

}  // namespace
}  // namespace dccp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dccp;  // NOLINT(google-build-using-namespace)
  fuzz::FuzzInput input(data, size);
  fuzz::Scanner scanner(input.Byte());
  for (int packets = 0; packets < 32 && !input.empty() && !scanner.over(); ++packets) {
    const auto type = static_cast<PacketType>(input.Below(10));
    std::vector<std::byte> area = input.Bytes(std::size_t{4} * input.Below(248));
    area.resize((area.size() + 3) / 4 * 4);
    scanner.Packet(type, area);
  }
  return 0;
}
