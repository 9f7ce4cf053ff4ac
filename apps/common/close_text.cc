#include "apps/common/close_text.h"

#include <fmt/format.h>

namespace dccp::apps {

namespace {

std::string ResetText(const ResetReason& reset) {
  return fmt::format("Reset {} ({})", static_cast<unsigned>(reset.code), ToString(reset.code));
}

std::string UnreachableText(const CloseReason& close, const ConnectionInfo& info,
                            const std::string& peer) {
  switch (close.icmp) {
    case IcmpKind::kPortUnreachable:
      return fmt::format(
          "connection refused by {}: nothing listens on UDP port {} (ICMP port "
          "unreachable)",
          peer, info.tuple.path.remote_udp_port);
    case IcmpKind::kProtocolUnreachable:
      return fmt::format("{} does not speak DCCP (ICMP protocol unreachable)", peer);
    case IcmpKind::kHostUnreachable:
      return fmt::format("no route to {} (ICMP host unreachable)", peer);
    case IcmpKind::kNetUnreachable:
      return fmt::format("no route to {} (ICMP network unreachable)", peer);
    case IcmpKind::kAdminProhibited:
      return fmt::format("{} cannot be reached: prohibited on the way (ICMP)", peer);
    default:
      return fmt::format("{} cannot be reached (ICMP)", peer);
  }
}

std::string RefusedText(const CloseReason& close, const ConnectionInfo& info,
                        const std::string& peer) {
  switch (close.reset.code) {
    case ResetCode::kNoConnection:
    case ResetCode::kConnectionRefused:
      return fmt::format("connection refused by {}: {}", peer, ResetText(close.reset));
    case ResetCode::kBadServiceCode:
      return fmt::format("{} does not offer the service {}: {}", peer,
                         info.service_code.ToText().data(), ResetText(close.reset));
    case ResetCode::kTooBusy:
      return fmt::format("{} takes no more connections: {}", peer, ResetText(close.reset));
    case ResetCode::kOptionError:
    case ResetCode::kMandatoryError:
      return fmt::format("{} does not accept option {} of the connection: {}", peer,
                         close.reset.data[0], ResetText(close.reset));
    default:
      return fmt::format("{} ended the connection before it was open: {}", peer,
                         ResetText(close.reset));
  }
}

}  // namespace

std::string CloseText(const CloseReason& close, const ConnectionInfo& info, const std::string& peer,
                      bool opened) {
  switch (close.by) {
    case ClosedBy::kUnreachable:
      return UnreachableText(close, info, peer);
    case ClosedBy::kTimeout:
      return opened ? fmt::format("connection to {} lost: the peer stopped answering", peer)
                    : fmt::format("no answer from {}", peer);
    case ClosedBy::kProtocol:
      return fmt::format("{} broke the protocol: answered with {}", peer, ResetText(close.reset));
    case ClosedBy::kRemote:
      if (!opened) return RefusedText(close, info, peer);
      return fmt::format("connection ended by {}: {}", peer, ResetText(close.reset));
    case ClosedBy::kLocal:
      return fmt::format("connection to {} ended here: {}", peer, ResetText(close.reset));
    case ClosedBy::kNobody:
      break;
  }
  return fmt::format("connection to {} is open", peer);
}

bool EndedByClose(const CloseReason& close) {
  if (close.by != ClosedBy::kLocal && close.by != ClosedBy::kRemote) return false;
  // A peer that has forgotten the connection already answers a repeated Close with Reset 3.
  const bool forgotten = close.by == ClosedBy::kLocal && close.reset_received &&
                         close.reset.code == ResetCode::kNoConnection;
  return close.clean || forgotten || close.reset.code == ResetCode::kClosed;
}

}  // namespace dccp::apps
