#include "stack/conn/incoming_options.h"

#include <algorithm>

#include "stack/wire/feature_codec.h"
#include "stack/wire/option_reader.h"
#include "stack/wire/option_rules.h"

namespace dccp {
namespace {

bool Understands(const CcidTraits* ccid, OptionType type) {
  return ccid != nullptr &&
         std::find(ccid->options.begin(), ccid->options.end(), type) != ccid->options.end();
}

template <typename T>
bool Take(std::optional<T> decoded, std::optional<T>* out) {
  if (decoded) *out = decoded;
  return decoded.has_value();
}

// Everything but Mandatory and the feature options. False: not understood or invalid, that is,
// ignored, or a fault where Mandatory came before.
bool TakeOption(const OptionView& option, bool mandatory, const OptionScanContext& context,
                IncomingOptions* out) {
  if (IsSenderCcidOption(option.type)) {
    if (!Understands(context.receiver, option.type)) return false;
    out->to_receiver.Add({option.type, mandatory, option.data});
    return true;
  }
  if (IsReceiverCcidOption(option.type)) {
    if (!Understands(context.sender, option.type)) return false;
    out->to_sender.Add({option.type, mandatory, option.data});
    return true;
  }
  switch (option.type) {
    case OptionType::kSlowReceiver:
      out->slow_receiver = true;
      return true;
    case OptionType::kNdpCount:
      return Take(DecodeNdpCount(option.data), &out->ndp);
    case OptionType::kAckVectorNonce0:
    case OptionType::kAckVectorNonce1:
      out->ack_vectors.Add({option.data, option.type == OptionType::kAckVectorNonce1});
      return true;
    case OptionType::kInitCookie:
      // Understood everywhere, and ignored by all but a client that is not OPEN. §8.1.4
      out->init_cookies.Add(option.data);
      return true;
    case OptionType::kDataDropped:
      out->data_dropped.Add(option.data);
      return true;
    case OptionType::kTimestamp:
      return Take(DecodeTimestamp(option.data), &out->timestamp);
    case OptionType::kTimestampEcho:
      return Take(DecodeTimestampEcho(option.data), &out->echo);
    case OptionType::kElapsedTime:
      return Take(DecodeElapsedTime(option.data), &out->elapsed);
    case OptionType::kDataChecksum:
      return Take(DecodeDataChecksum(option.data), &out->data_checksum);
    default:
      return false;
  }
}

}  // namespace

std::optional<ResetReason> ScanOptions(const PacketView& packet, const OptionScanContext& context,
                                       FeatureNegotiator& features, IncomingOptions* out) {
  if (packet.options().empty()) return std::nullopt;
  const PacketType type = packet.type();
  OptionReader reader(packet.options());
  OptionView option;
  bool mandatory = false;
  while (reader.Next(&option)) {
    // "Mandatory, Padding" is two Paddings. §5.8.1
    if (reader.padding_skipped()) mandatory = false;
    if (option.type == OptionType::kMandatory) {
      // On a Data packet nothing may have a serious effect: there Mandatory means nothing. §5.8.2
      if (type == PacketType::kData) continue;
      if (mandatory) return OptionReset(ResetCode::kOptionError, option.type, {});
      mandatory = true;
      continue;
    }
    const bool was_mandatory = mandatory;
    mandatory = false;
    if (!OptionPermitted(option.type, type)) {
      if (was_mandatory) return OptionReset(ResetCode::kMandatoryError, option.type, option.data);
      continue;
    }
    if (IsFeatureOption(option.type)) {
      // A length of 2 names no feature at all: only that option is nonsense. §5.8
      const auto feature = DecodeFeatureOption(option);
      if (!feature) {
        if (was_mandatory) return OptionReset(ResetCode::kMandatoryError, option.type, option.data);
        continue;
      }
      if (auto fault = features.OnOption(context.packet, *feature, was_mandatory)) return fault;
      continue;
    }
    if (!TakeOption(option, was_mandatory, context, out) && was_mandatory)
      return OptionReset(ResetCode::kMandatoryError, option.type, option.data);
  }
  if (!mandatory || reader.padding_skipped()) return std::nullopt;
  // The RFC does not say what Mandatory before an option of nonsensical length means; that option
  // was not processed, which is what Mandatory forbids. §5.8.2
  if (reader.malformed())
    return OptionReset(ResetCode::kMandatoryError, reader.malformed_type(),
                       reader.malformed_data());
  return OptionReset(ResetCode::kOptionError, OptionType::kMandatory, {});
}

}  // namespace dccp
