#include "stack/sim/packet_log.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "stack/wire/packet_view.h"

namespace dccp {

namespace {

template <typename... Args>
std::string Format(const char* format, Args... args) {
  std::array<char, 256> buffer;
  const int n = std::snprintf(buffer.data(), buffer.size(), format, args...);
  return std::string(buffer.data(), std::min(static_cast<std::size_t>(n), buffer.size() - 1));
}

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

const char* ActionName(LinkAction::Kind kind) {
  switch (kind) {
    case LinkAction::Kind::kPass:
      return "";
    case LinkAction::Kind::kDrop:
      return " [test drops]";
    case LinkAction::Kind::kDuplicate:
      return " [test duplicates]";
    case LinkAction::Kind::kDelay:
      return " [test delays]";
    case LinkAction::Kind::kCorrupt:
      return " [test corrupts]";
    case LinkAction::Kind::kMark:
      return " [test marks]";
  }
  return "";
}

}  // namespace

std::string DescribePacket(std::span<const std::byte> bytes, std::size_t dccp_bytes) {
  PacketView view;
  const ParseError error = PacketView::Parse(bytes, &view);
  // The payload may be missing here, and with it what a partial coverage refers to.
  if (error != ParseError::kNone) return Format("(%s, %zu bytes)", ToString(error), dccp_bytes);
  std::string text = Format("%s seq=%" PRIu64, ToString(view.type()), view.seq().value());
  if (view.has_ack()) text += Format(" ack=%" PRIu64, view.ack().value());
  if (!view.extended()) text += " short";
  if (view.type() == PacketType::kReset) {
    const ResetReason reason = view.reset_reason();
    text += Format(" code=%s data=%u,%u,%u", ToString(reason.code), reason.data[0], reason.data[1],
                   reason.data[2]);
  }
  if (HasServiceCode(view.type()))
    text += Format(" service=%s", view.service_code().ToText().data());
  if (view.ccval() != 0) text += Format(" ccval=%u", view.ccval());
  if (!view.options().empty()) text += Format(" opts=%zu", view.options().size());
  const std::size_t data = dccp_bytes - view.header().size();
  if (data != 0) text += Format(" data=%zu", data);
  return text;
}

void PacketLog::OnOffered(const Link& link, const SimPacket& packet, const LinkAction& action,
                          const PathVerdict& verdict, TimePoint now) {
  if (records_.size() == capacity_) records_.pop_front();
  const std::size_t kept = std::min(packet.bytes.size(), kMaxHeaderBytes);
  records_.push_back(
      {now,
       &link,
       {packet.bytes.begin(), packet.bytes.begin() + static_cast<std::ptrdiff_t>(kept)},
       packet.bytes.size(),
       packet.ecn,
       action,
       verdict});
}

std::string PacketLog::Line(const Record& record) {
  std::string line =
      Format("%11.6f %-14s ", Seconds(record.at - Simulator::kStart), record.link->name().c_str());
  line += DescribePacket(record.header, record.dccp_bytes);
  if (record.ecn != Ecn::kNotEct) line += Format(" %s", ToString(record.ecn));
  line += ActionName(record.action.kind);
  if (record.action.kind == LinkAction::Kind::kDrop) return line;
  if (record.verdict.copies == 0) return line + Format(" [%s]", ToString(record.verdict.fate));
  for (std::size_t i = 0; i < record.verdict.copies; ++i)
    line += Format(" ->%.6f", Seconds(record.verdict.arrival[i] - Simulator::kStart));
  if (record.verdict.ecn == Ecn::kCe && record.ecn != Ecn::kCe) line += " [marked]";
  if (record.verdict.corrupt) line += " [corrupted]";
  return line;
}

std::string PacketLog::Text() const {
  std::string text;
  for (const Record& record : records_) text += Line(record) + "\n";
  return text;
}

}  // namespace dccp
