#include "tests/accuracy/plain_receiver.h"

#include <algorithm>

namespace dccp::accuracy {
namespace {

constexpr std::array<OptionType, 2> kOptions = {ccid3::kLossEventRate, ccid3::kReceiveRate};

Ccid3Options WithoutRttEstimate() {
  Ccid3Options options;
  options.send_rtt_estimate = false;
  return options;
}

}  // namespace

void PlainReceiver::OnBuildAck(const BuildInfo& info, OptionWriter& options) {
  const std::size_t before = options.size();
  inner_->OnBuildAck(info, options);
  std::array<std::byte, OptionWriter::kMaxBytes> copy;
  const std::span<const std::byte> bytes = options.bytes().subspan(before);
  std::copy(bytes.begin(), bytes.end(), copy.begin());
  std::span<const std::byte> rest = std::span(copy).first(bytes.size());
  options.Rewind(before);
  while (rest.size() >= 2) {
    const OptionType type{std::to_integer<std::uint8_t>(rest[0])};
    const std::size_t length = std::to_integer<std::size_t>(rest[1]);
    if (type != ccid3::kLossIntervals) options.Add(type, rest.subspan(2, length - 2));
    rest = rest.subspan(length);
  }
}

PlainReceiverFactory::PlainReceiverFactory()
    : inner_(WithoutRttEstimate()), traits_(inner_.traits()) {
  traits_.always_elapsed_time = false;
  traits_.options = kOptions;
}

}  // namespace dccp::accuracy
