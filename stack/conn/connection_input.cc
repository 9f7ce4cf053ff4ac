// What a received packet does to a connection: RFC 4340 §8.5 from step 4 on.

#include <cstring>

#include "stack/conn/connection_impl.h"
#include "stack/conn/steps.h"
#include "stack/wire/crc32c.h"
#include "stack/wire/option_codec.h"

namespace dccp {
namespace {

ResetReason PacketError(PacketType type) {
  return {ResetCode::kPacketError, {static_cast<std::uint8_t>(type), 0, 0}};
}

}  // namespace

std::optional<ResetReason> Connection::Impl::StartServer(const PacketView& request, Ecn ecn,
                                                         TimePoint now) {
  liveness_.OnStart(now);
  seq_.SetIsr(request.seq());
  features_.OnPeerInitial(seq_.isr());
  acks_.Start(seq_.isr());
  reverse_.Start(seq_.isr());
  SetState(State::kRespond, now);
  handshake_.StartRespond(now, env_.msl, timers_);
  const Arrived in{request, PacketType::kRequest, seq_.isr(), std::nullopt, ecn, now};
  IncomingOptions options;
  if (auto fault = ProcessOptions(in, &options)) return fault;
  ProcessFurther(in, options);
  UpdateTimers();
  return std::nullopt;
}

std::optional<ResetReason> Connection::Impl::DraftResponse(const PacketView& request, Ecn ecn,
                                                           RequestData data, TimePoint now,
                                                           OptionWriter& options) {
  // As if another Request had brought data before.
  handshake_data_delivered_ = data == RequestData::kRefuse;
  draft_ = &options;
  const auto fault = StartServer(request, ecn, now);
  draft_ = nullptr;
  return fault;
}

void Connection::Impl::OnPacket(const PacketView& packet, Ecn ecn, TimePoint now) {
  if (state_ == State::kClosed || state_ == State::kTimeWait) return;
  Arrived in{packet, packet.type(), Seq64(), std::nullopt, env_.reads_ecn ? ecn : Ecn::kNotEct,
             now};
  // Step 6's first test; it comes before step 4 because §7.6.1 says to ignore such packets always.
  if (!packet.extended() &&
      features_.value(FeatureNumber::kAllowShortSeqnos, Located::kRemote) == 0) {
    TraceDrop(in, DropReason::kShortSeqnosNotNegotiated);
    return;
  }
  in.seq = seq_.UnwrapSeq(packet.seq(), packet.extended());
  if (packet.has_ack()) in.ack = seq_.UnwrapAck(packet.ack(), packet.extended());
  const bool accepted = state_ == State::kRequest ? AcceptInRequest(in) : AcceptSequence(in);
  if (accepted) ProcessAccepted(in);
  UpdateTimers();
}

// Step 4.
bool Connection::Impl::AcceptInRequest(const Arrived& in) {
  const bool ack_ok = in.ack && seq_.AckInWindow(*in.ack);
  switch (CheckInRequest(in.type, ack_ok)) {
    case RequestVerdict::kAccept:
      break;
    case RequestVerdict::kReset:
      TraceDrop(in, DropReason::kUnexpectedType);
      // As often as Syncs, so that forged packets cannot draw a stream of Resets.
      if (sync_limiter_.Allow(in.now)) SendReset(PacketError(in.type), in.seq, in.now);
      return false;
    case RequestVerdict::kDrop:
      TraceDrop(in, DropReason::kSequenceInvalid);
      return false;
  }
  seq_.SetIsr(in.packet.seq());
  features_.OnPeerInitial(seq_.isr());
  acks_.Start(seq_.isr());
  reverse_.Start(seq_.isr());
  seq_.OnAccepted(in.type, in.seq, in.ack);
  liveness_.OnValidPacket(in.now);
  return true;
}

// Steps 5 to 7, and the rule that a packet is processed once: a duplicate has nothing new to say.
bool Connection::Impl::AcceptSequence(const Arrived& in) {
  const bool active = liveness_.ActiveWithin(3 * RttOr(rtt_), in.now);
  const SequenceSpace::Verdict verdict = seq_.Check(in.type, in.seq, in.ack, active);
  if (verdict != SequenceSpace::Verdict::kAccept) {
    ++counters_.sequence_invalid;
    TraceDrop(in, DropReason::kSequenceInvalid);
    // Deviation: §7.5.4 answers with a Sync, but a client that repeats its Request is in REQUEST,
    // where §8.5 step 4 has it answer a Sync with a Reset: a Request overtaken by its own
    // repetition would then end the connection. It is dropped, as a late copy of what was answered
    // already.
    const bool overtaken = state_ == State::kRespond && in.type == PacketType::kRequest;
    if (verdict == SequenceSpace::Verdict::kSyncPacket && !overtaken) MaybeSync(in.seq, in.now);
    if (verdict == SequenceSpace::Verdict::kSyncGsr) {
      const Seq64 sync = seq_.PeekNext();
      MaybeSync(seq_.gsr(), in.now);
      if (seq_.gss() == sync) challenge_ = {in.packet.reset_reason(), sync};
    }
    return false;
  }
  if (acks_.Received(in.seq)) {
    ++counters_.duplicates;
    TraceDrop(in, DropReason::kDuplicate);
    // Each valid Sync is answered, a copy too: its SyncAck may have been lost. §5.7
    if (in.type == PacketType::kSync) SendSync(PacketType::kSyncAck, in.seq, in.now);
    return false;
  }
  liveness_.OnValidPacket(in.now);
  // The pseudocode raises GSR before this test, but GSR and GAR are of acknowledgeable packets
  // (§7.1, §7.4), which reach step 8, and an Acknowledgement Number must not name any other.
  if (IsUnexpectedType(role_, state_, in.type, in.seq, seq_.osr())) {
    TraceDrop(in, DropReason::kUnexpectedType);
    MaybeSync(in.seq, in.now);
    return false;
  }
  seq_.OnAccepted(in.type, in.seq, in.ack);
  return true;
}

// Step 8 and what follows.
void Connection::Impl::ProcessAccepted(const Arrived& in) {
  IncomingOptions options;
  auto fault = ProcessOptions(in, &options);
  if (!fault) fault = TakeCookies(in, options);
  if (fault) {
    TraceDrop(in, DropReason::kOptionError);
    Fail(ClosedBy::kProtocol, *fault, in.now);
    return;
  }
  ProcessFurther(in, options);
}

// The packet is acknowledgeable from here on. §7.4
void Connection::Impl::ProcessFurther(const Arrived& in, const IncomingOptions& options) {
  if (options_.short_seqnos) short_policy_.OnReceived(in.now);
  const Seq64 before = acks_.greatest();
  const bool in_order = acks_.Record(in.seq, in.ecn, in.type, in.now);
  reverse_.OnPacket(in.seq, in.type, in.ecn,
                    peer_ndp_ ? std::optional(options.ndp.value_or(0)) : std::nullopt);
  // The half-connections' CCIDs are settled by the packet that completes the negotiation: they must
  // see it already.
  if (ccids_.sender() == nullptr &&
      (state_ == State::kRequest || OpensConnection(state_, in.type)) &&
      in.type != PacketType::kReset)
    StartCcids(before, in.now);
  // A Sync's Acknowledgement Number acknowledges nothing. §5.7
  if (in.ack && in.type != PacketType::kSync) ProcessAck(in, options);
  if (state_ == State::kClosed) return;
  if (in.type == PacketType::kReset) {
    OnReset(in);  // step 9
    return;
  }
  // Step 16 comes before the answers, so that a Response can report what it dropped. §8.1.3
  if (IsDataPacket(in.type)) {
    Deliver(in, options);
  } else if (options.data_checksum && Crc32c(in.packet.payload()) != *options.data_checksum) {
    acks_.RecordDrop(in.seq, DropCode::kCorrupt);
  }
  AdvanceState(in);
  if (state_ == State::kClosed) return;
  if (!TellReceiver(in, options, in_order)) return;
  if (in.type == PacketType::kSync) {  // step 15
    ++counters_.syncs_received;
    SendSync(PacketType::kSyncAck, in.seq, in.now);
  }
  FlushAck(in.now);
}

std::optional<ResetReason> Connection::Impl::ProcessOptions(const Arrived& in,
                                                            IncomingOptions* options) {
  ++counters_.packets_received;
  const FeatureNegotiator::Received received{in.type, in.seq, in.ack};
  const OptionScanContext context{received, ccids_.sender_traits(), ccids_.receiver_traits()};
  const auto fault = ScanOptions(in.packet, context, features_, options);
  // A Reset is obeyed whatever its options are. §5.6
  if (fault && in.type != PacketType::kReset) return fault;
  features_.EndPacket(received);
  ApplyFeatureChanges(in.now);
  if (options->timestamp) timestamps_.OnTimestamp(options->timestamp->ticks(), in.seq, in.now);
  if (options->echo && rtt_ == Duration::zero()) {
    const auto sample = timestamps_.OnEcho(options->echo->timestamp.ticks(),
                                           options->echo->elapsed.ToDuration(), in.now);
    if (sample) rtt_ = *sample;
  }
  return std::nullopt;
}

// A client's cookies are those of the Response that it acknowledges, until the server shows that it
// got one of them: what opens PARTOPEN. §8.1.4
std::optional<ResetReason> Connection::Impl::TakeCookies(const Arrived& in,
                                                         const IncomingOptions& options) {
  if (OpensConnection(State::kPartOpen, in.type)) cookies_.Stop();
  const bool wanted = state_ <= State::kPartOpen || !cookies_.empty();
  if (in.type != PacketType::kResponse || !wanted) return std::nullopt;
  const auto cookies = options.init_cookies.view();
  const std::size_t room = OptionRoom(PacketType::kAck, 0, CookieEcho::kMaxBytes);
  if (cookies_.OnResponse(in.seq, cookies, room)) return std::nullopt;
  // A connection that cannot be completed: better to say so now than to be called a forger later.
  return OptionReset(ResetCode::kOptionError, OptionType::kInitCookie, cookies.front());
}

void Connection::Impl::ProcessAck(const Arrived& in, const IncomingOptions& options) {
  const std::optional<Duration> elapsed =
      options.elapsed ? std::optional(options.elapsed->ToDuration()) : std::nullopt;
  const Digest digest = history_.OnAck({*in.ack, in.now, elapsed, options.ack_vectors.view()});
  if (digest.invalid_ackno) return;
  if (in.type == PacketType::kAck) ++counters_.acks_received;
  if (digest.newest_acked_ack) {
    acks_.OnAckOfAck(*digest.newest_acked_ack);
    elicitor_.OnAckOfAck();
    if (ccids_.receiver() != nullptr)
      ccids_.receiver()->OnAckOfAck(acks_.AllAcknowledged(), in.now);
  }
  // A round trip of nothing, which virtual time allows, measures nothing for timers.
  if (digest.rtt && *digest.rtt > Duration::zero()) {
    rtt_ = rtt_ == Duration::zero() ? *digest.rtt : (7 * rtt_ + *digest.rtt) / 8;
    features_.SetRtt(rtt_);
  }
  counters_.data_packets_lost += digest.lost_data_packets;
  counters_.data_packets_marked += digest.marked_data_packets;
  prober_.OnFates(digest.runs, in.now);
  if (in.type == PacketType::kSyncAck) prober_.OnSyncAck(*in.ack, in.now);
  AdoptProbedMtu(in.now);
  const NonceVerdict nonce = JudgePeer(digest, elapsed, in);
  if (ccids_.sender() == nullptr || state_ == State::kClosed) return;

  const ReverseLossDetector::Counts reverse = reverse_.Take();
  Feedback feedback;
  feedback.now = in.now;
  feedback.acked = *in.ack;
  feedback.ack_vector = !options.ack_vectors.empty();
  feedback.runs = digest.runs;
  feedback.received_data_packets = digest.received_data_packets;
  feedback.received_data_bytes = digest.received_data_bytes;
  feedback.marked_data_packets = digest.marked_data_packets;
  feedback.lost_data_packets = digest.lost_data_packets;
  feedback.in_flight_data_packets = digest.in_flight_data_packets;
  feedback.reverse_lost = reverse.lost;
  feedback.reverse_marked = reverse.marked;
  feedback.slow_receiver = options.slow_receiver;
  if (!options.data_dropped.empty())
    feedback.data_dropped = drop_reports_.Digest(options.data_dropped.view(), *in.ack, history_);
  feedback.nonce = nonce;
  feedback.elapsed = elapsed;
  feedback.rtt = digest.rtt;
  feedback.rate = digest.rate;
  feedback.options = options.to_sender.view();
  const CcidRequests requests = ccids_.sender()->OnFeedback(feedback);
  ccids_.Unblock(timers_);
  OnDataDropped(feedback.data_dropped, in.now);
  TraceCc(in.now);
  HandleRequests(requests, in.now);
}

// What a Drop Code means beside congestion control. §11.7.2
void Connection::Impl::OnDataDropped(std::span<const DataDroppedRun> news, TimePoint now) {
  for (const DataDroppedRun& run : news) {
    if (run.code == DropCode::kAppNotListening && !peer_stopped_) {
      peer_stopped_ = true;
      send_queue_.Clear();
      events_ |= kEventPeerStopped;
    } else if (run.code == DropCode::kProtocolConstraints) {
      // Such a constraint, a negotiation for example, takes a round trip to go away.
      ccids_.Hold(now + RttOr(rtt_), timers_);
    }
  }
}

void Connection::Impl::OnReset(const Arrived& in) {
  CloseReason reason;
  reason.reset = in.packet.reset_reason();
  reason.reset_received = true;
  // A peer without our state gave its reason in a Reset that was not valid; our Sync then told it
  // the numbers, and the Reset that it sent to that one only says that there is no connection.
  // §7.5.4
  if (reason.reset.code == ResetCode::kNoConnection && challenge_ && in.ack == challenge_->sync)
    reason.reset = challenge_->reset;
  const bool we_close = (state_ == State::kClosing || state_ == State::kCloseReq);
  // A peer that has already forgotten the connection answers a repeated Close with "No Connection":
  // its Reset(Closed) was lost. That is a clean end too.
  reason.clean = reason.reset.code == ResetCode::kClosed ||
                 (we_close && reason.reset.code == ResetCode::kNoConnection);
  reason.by = we_close && !peer_closes_ ? ClosedBy::kLocal : ClosedBy::kRemote;
  TearDown(State::kTimeWait, reason, in.now);
}

// Steps 10 to 14.
void Connection::Impl::AdvanceState(const Arrived& in) {
  switch (state_) {
    case State::kRequest:  // step 10: a Response
      SetState(State::kPartOpen, in.now);
      handshake_.StartPartOpen(in.now, GiveUpAfter(), timers_);
      events_ |= kEventConnected | kEventWritable;
      acks_.RequireNow();
      break;
    case State::kRespond:  // step 11
      if (in.type == PacketType::kRequest) {
        SendResponse(in.now);
        return;
      }
      EnterOpen(in.seq, in.now);
      events_ |= kEventConnected | kEventWritable;
      // The client stays in PARTOPEN until something arrives; a server without data must not leave
      // it there.
      acks_.RequireNow();
      break;
    case State::kPartOpen:  // step 12
      if (in.type == PacketType::kResponse) {
        acks_.RequireNow();
      } else if (OpensConnection(state_, in.type)) {
        EnterOpen(in.seq, in.now);
      }
      break;
    case State::kOpen:
      if (role_ == Role::kServer && opening_.OnReceived(in.type, in.ack)) acks_.RequireNow();
      break;
    default:
      break;
  }
  if (in.type == PacketType::kCloseReq && state_ < State::kCloseReq) {  // step 13
    if (!closer_.requested()) peer_closes_ = true;
    StartClose(PacketType::kClose, in.now);
  } else if (in.type == PacketType::kClose) {  // step 14
    CloseReason reason;
    const bool we_close = state_ == State::kClosing || state_ == State::kCloseReq;
    reason.by = we_close && !peer_closes_ ? ClosedBy::kLocal : ClosedBy::kRemote;
    reason.clean = true;
    reason.reset = {ResetCode::kClosed, {}};
    SendReset(reason.reset, seq_.gsr(), in.now);
    TearDown(State::kClosed, reason, in.now);
  }
}

bool Connection::Impl::TellReceiver(const Arrived& in, const IncomingOptions& options,
                                    bool in_order) {
  if (ccids_.receiver() == nullptr) return true;
  const std::size_t payload = in.packet.payload().size();
  ArrivedRun run;
  run.first = in.seq;
  run.packets = 1;
  run.payload_bytes = IsDataPacket(in.type) ? payload : 0;
  run.data = in.type == PacketType::kData || in.type == PacketType::kDataAck ||
             (IsDataPacket(in.type) && payload != 0);
  run.in_order = in_order;
  run.ccval = in.packet.ccval();
  run.ecn = in.ecn;
  run.ndp = options.ndp;
  run.arrival = in.now;
  run.options = options.to_receiver.view();
  const ReceiverVerdict verdict = ccids_.receiver()->OnPackets(run);
  if (verdict.reset) {
    Fail(ClosedBy::kProtocol, *verdict.reset, in.now);
    return false;
  }
  acks_.Demand(verdict.ack);
  return true;
}

// Step 16. What is not delivered although the network brought it is reported by Data Dropped: it is
// no congestion. §11.7
void Connection::Impl::Deliver(const Arrived& in, const IncomingOptions& options) {
  const std::span<const std::byte> payload = in.packet.payload();
  // Who cannot see ECN marks takes no data before the peer has agreed to send none. §12.1
  if (!env_.reads_ecn && features_.value(FeatureNumber::kEcnIncapable, Located::kLocal) == 0) {
    if (in.type == PacketType::kData || in.type == PacketType::kDataAck || !payload.empty())
      acks_.RecordDrop(in.seq, DropCode::kProtocolConstraints);
    return;
  }
  if (in.type == PacketType::kRequest || in.type == PacketType::kResponse) {
    if (payload.empty()) return;
    if (std::exchange(handshake_data_delivered_, true)) {
      acks_.RecordDrop(in.seq, DropCode::kProtocolConstraints);
      return;
    }
  }
  const std::uint8_t cscov = in.packet.cscov();
  const std::uint64_t least = features_.value(FeatureNumber::kMinChecksumCoverage, Located::kLocal);
  if (cscov != 0 && (least == 0 || cscov < least)) {
    acks_.RecordDrop(in.seq, DropCode::kProtocolConstraints);
    TraceDrop(in, DropReason::kTooLittleCoverage);
    return;
  }
  if (reading_stopped_) {
    acks_.RecordDrop(in.seq, DropCode::kAppNotListening);
    TraceDrop(in, DropReason::kNotListening);
    return;
  }
  const bool corrupt = options.data_checksum && Crc32c(payload) != *options.data_checksum;
  if (corrupt && !options_.deliver_corrupt) {
    acks_.RecordDrop(in.seq, DropCode::kCorrupt);
    TraceDrop(in, DropReason::kDataCorrupt);
    return;
  }
  const auto bytes = static_cast<std::uint32_t>(payload.size());
  Cell* cell = recv_queue_.HasRoom(bytes) && !MemoryShort() ? env_.slab->Allocate(bytes) : nullptr;
  if (cell == nullptr) {
    ++counters_.receive_overflows;
    acks_.RecordDrop(in.seq, DropCode::kReceiveBuffer);
    TraceDrop(in, DropReason::kReceiveQueueFull);
    return;
  }
  if (bytes != 0) std::memcpy(cell->data, payload.data(), bytes);
  cell->length = bytes;
  recv_queue_.Push({cell, in.seq, in.now, corrupt});
  if (corrupt) acks_.RecordDrop(in.seq, DropCode::kDeliveredCorrupt);
  ++counters_.data_packets_received;
  counters_.data_bytes_received += bytes;
  events_ |= kEventReadable;
}

void Connection::Impl::FlushAck(TimePoint now) {
  // Data that may leave now carries the acknowledgement: it is built by the next Transmit.
  if (acks_.due() && !DataMayGo()) SendAck(now);
}

void Connection::Impl::TraceDrop(const Arrived& in, DropReason reason) const {
  if (env_.drops != nullptr) ++(*env_.drops)[static_cast<std::size_t>(reason)];
  if (env_.trace == nullptr) return;
  env_.trace->OnDrop(
      {id_, reason, in.now, tuple_.path, env_.encapsulation, in.packet.bytes(), in.ecn});
}

}  // namespace dccp
