// The path below a connection: ICMP, its MTU, and its replacement by another. RFC 4340 §14

#include <array>

#include "stack/conn/connection_impl.h"
#include "stack/wire/icmp_quote.h"
#include "stack/wire/option_codec.h"

namespace dccp {

// §14.1: an error is believed when it quotes a packet that we have in flight.
void Connection::Impl::OnIcmp(const IcmpError& error, TimePoint now) {
  if (state_ == State::kClosed || state_ == State::kTimeWait) return;
  const auto quote = ParseIcmpQuote(error.quoted);
  if (!quote) return;
  const Seq64 least = state_ == State::kRequest ? seq_.iss() : seq_.awl();
  const Seq64 seq = quote->seq ? seq_.UnwrapAck(*quote->seq, quote->extended) : Seq64();
  const bool ours = quote->seq && seq >= least && seq <= seq_.gss();
  if (error.kind == IcmpKind::kTooBig) {
    ours ? OnTooBig(error, seq, now) : OnOddTooBig(error.mtu_bytes, now);
  } else if (ours && state_ == State::kRequest) {
    CloseReason reason;
    reason.by = ClosedBy::kUnreachable;
    reason.icmp = error.kind;
    TearDown(State::kClosed, reason, now);
  }
  UpdateTimers();
}

// The loss of the packet still counts as congestion: to excuse it §14.1 demands a look at the ECN
// field of the quoted IP header, which a driver need not have.
void Connection::Impl::OnTooBig(const IcmpError& error, Seq64 quoted, TimePoint now) {
  // Of a probe, which may be larger than what the path is known to carry.
  prober_.OnTooBig(quoted, error.mtu_bytes, now);
  LowerMtu(error.mtu_bytes, now);
}

void Connection::Impl::LowerMtu(std::uint32_t next_hop_mtu, TimePoint now) {
  const std::uint32_t before = path_mtu_.pmtu();
  const bool changed = path_mtu_.OnTooBig(next_hop_mtu);
  if (path_mtu_.pmtu() < before) prober_.OnLowered(path_mtu_.pmtu(), now);
  if (changed) OnMpsChanged(now);
}

// Deviation: §14.1 would have many odd messages obeyed when packets are lost as well; whoever
// forges them could wait for that. A probe tells the truth; without probing they are obeyed.
void Connection::Impl::OnOddTooBig(std::uint32_t mtu_bytes, TimePoint now) {
  if (!odd_icmp_.OnTooBig(counters_.data_packets_lost)) return;
  if (prober_.state() != PmtuProber::State::kDisabled) {
    prober_.Suspect(now);
  } else {
    LowerMtu(mtu_bytes, now);
  }
}

Result<void> Connection::Impl::PathChanged(std::uint32_t mtu_bytes, TimePoint now) {
  if (state_ == State::kClosed || state_ == State::kTimeWait) return Error::kNotConnected;
  const bool changed = path_mtu_.Restart(LimitedMtu(mtu_bytes, options_.max_packet_bytes));
  prober_.Restart(path_mtu_.interface_mtu(), true, now);
  rtt_ = Duration::zero();
  conduct_.OnPathChange();
  if (ccids_.sender() != nullptr) {
    ccids_.sender()->OnPathChange(now);
    ccids_.Unblock(timers_);
  }
  if (changed) OnMpsChanged(now);
  UpdateTimers();
  return {};
}

Result<void> Connection::Impl::RediscoverMtu(TimePoint now) {
  if (state_ == State::kClosed || state_ == State::kTimeWait) return Error::kNotConnected;
  const std::uint32_t before = path_mtu_.mps_bytes();
  if (!path_mtu_.Rediscover(now)) return Error::kBadState;
  prober_.Restart(path_mtu_.interface_mtu(), true, now);
  if (path_mtu_.mps_bytes() != before) OnMpsChanged(now);
  UpdateTimers();
  return {};
}

// Probing is for an open connection, and only where nobody takes a lost probe for lost data: we see
// that it was a Sync by the peer's Ack Vector; a peer that counts losses itself sees it by our NDP
// Count. RFC 8899 §3
void Connection::Impl::UpdateProbing(TimePoint now) {
  const bool harmless =
      features_.value(FeatureNumber::kSendAckVector, Located::kRemote) != 0 || send_ndp_;
  prober_.SetEnabled(options_.probe_path_mtu && !options_.allow_fragmentation && harmless &&
                         state_ == State::kOpen,
                     now);
}

void Connection::Impl::ProbeIfDue(TimePoint now) {
  if (state_ != State::kOpen) return;
  const std::optional<std::uint32_t> bytes = prober_.Due(now);
  AdoptProbedMtu(now);
  if (!bytes) return;
  if (assembler_.Ready() && sync_limiter_.AllowSpare(now)) {
    SendProbe(*bytes, now);
  } else {
    prober_.Postpone(now);
  }
}

// A Sync whose IP packet is `ip_bytes` long. Its data is to be ignored. §5.7, §14.1
void Connection::Impl::SendProbe(std::uint32_t ip_bytes, TimePoint now) {
  constexpr PacketType kType = PacketType::kSync;
  const Seq64 seq = seq_.TakeNext();
  std::array<std::byte, 32> buffer;
  OptionWriter options(buffer);
  if (send_ndp_ && ndp_.next() > 0) AddNdpCount(options, ndp_.next());
  timestamps_.WriteEcho(options, now);
  ccids_.sender()->OnBuildSync({kType, seq, 0, now}, options);
  options.Pad();
  const HeaderFields fields = Fields(kType, seq, seq_.gsr());
  const std::size_t used =
      path_mtu_.LowerHeaderBytes() + FixedHeaderBytes(kType, true) + options.bytes().size();
  const std::size_t padding = ip_bytes > used ? ip_bytes - used : 0;
  // Where no buffer is to be had it counts as lost: another follows.
  static_cast<void>(assembler_.SendPadded(fields, options.bytes(), padding, EcnFor(kType), now));
  ++counters_.syncs_sent;
  ++counters_.mtu_probes;
  AfterSent(kType, seq, 0, false, false, now);
  prober_.OnProbeSent(seq, now, rtt_);
}

// Brings the maximum packet size in line with what probing found.
void Connection::Impl::AdoptProbedMtu(TimePoint now) {
  const std::uint32_t mtu = prober_.mtu();
  if (mtu == path_mtu_.pmtu() || prober_.state() == PmtuProber::State::kDisabled) return;
  const bool changed =
      mtu > path_mtu_.pmtu() ? path_mtu_.OnProbeAcked(mtu) : path_mtu_.OnBlackHole(mtu);
  if (changed) OnMpsChanged(now);
}

void Connection::Impl::OnMpsChanged(TimePoint now) {
  events_ |= kEventMpsChanged;
  const PathInfo path{rtt_, path_mtu_.mps_bytes(), path_mtu_.pmtu()};
  if (ccids_.sender() != nullptr) ccids_.sender()->OnPathInfo(path, now);
  if (ccids_.receiver() != nullptr) ccids_.receiver()->OnPathInfo(path, now);
}

}  // namespace dccp
