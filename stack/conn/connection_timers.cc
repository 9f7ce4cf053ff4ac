// What time does to a connection, and what a change of state or feature entails.

#include <algorithm>

#include "stack/conn/connection_impl.h"

namespace dccp {
namespace {

constexpr Duration kCcidChangeInterval = std::chrono::minutes(1);  // RFC 4340 §10.5

}  // namespace

void Connection::Impl::HandleTimeout(TimePoint now) {
  while (state_ != State::kClosed && state_ != State::kTimeWait) {
    const std::optional<Timer> timer = timers_.PopExpired(now);
    if (!timer) break;
    OnTimer(*timer, now);
  }
  UpdateTimers();
}

void Connection::Impl::OnTimer(Timer timer, TimePoint now) {
  switch (timer) {
    case Timer::kRequest:
      if (handshake_.OnRequestTimer(now, timers_) == Handshake::Action::kRepeat) {
        SendRequest(now);
      } else {
        Fail(ClosedBy::kTimeout, {ResetCode::kAborted, {}}, now);
      }
      break;
    case Timer::kPartOpen:
      if (handshake_.OnPartOpenTimer(now, timers_) == Handshake::Action::kRepeat) {
        SendAck(now);
      } else {
        Fail(ClosedBy::kTimeout, {ResetCode::kAborted, {}}, now);
      }
      break;
    case Timer::kRespond:
      Fail(ClosedBy::kTimeout, {ResetCode::kAborted, {}}, now);
      break;
    case Timer::kClose:
      if (state_ == State::kOpen || state_ == State::kPartOpen) break;  // Transmit sees it is due
      if (closer_.OnTimer(now, timers_) == Closer::Action::kRepeat) {
        SendControl(closer_.type(), seq_.gsr(), {}, now);
      } else {
        Fail(ClosedBy::kTimeout, {ResetCode::kAborted, {}}, now);
      }
      break;
    case Timer::kFeature:
      features_.HandleTimeout(now);
      ApplyFeatureChanges(now);
      break;
    case Timer::kPacing:
      ccids_.OnPacingTimer(timers_);
      break;
    case Timer::kCcidSender:
      HandleRequests(ccids_.sender()->OnTimeout(now), now);
      ccids_.Unblock(timers_);
      TraceCc(now);
      break;
    case Timer::kCcidReceiver:
      acks_.Demand(ccids_.receiver()->OnTimeout(now));
      break;
    case Timer::kUserTimeout:
      OnUserTimeout(now);
      break;
    case Timer::kKeepAlive:
      KeepAlive(now);
      break;
    case Timer::kPathMtu:
      ProbeIfDue(now);
      break;
    case Timer::kCount:
      break;
  }
}

void Connection::Impl::OnUserTimeout(TimePoint now) {
  switch (liveness_.OnTimer(now)) {
    case Liveness::Action::kProbe:
      // Where the limit holds it back, Syncs enough have just left.
      if (state_ == State::kOpen) MaybeSync(seq_.gsr(), now);
      break;
    case Liveness::Action::kGiveUp:
      Fail(ClosedBy::kTimeout, {ResetCode::kAborted, {}}, now);
      break;
    case Liveness::Action::kNothing:
      break;
  }
}

// An empty datagram after a silence keeps translators on the path from forgetting us.
// RFC 5762 §4.1
void Connection::Impl::KeepAlive(TimePoint now) {
  if (state_ != State::kOpen || !send_queue_.empty() || now - last_sent_ < options_.keep_alive)
    return;
  // One attempt an interval, should it fail.
  keep_alive_base_ = now;
  // The application may be writing into the cell of a ReserveSend: this takes one of its own.
  Cell* cell = env_.slab->Allocate(kDataHeadroomBytes);
  if (cell == nullptr) return;
  cell->offset = kDataHeadroomBytes;
  if (!send_queue_.Push({cell, kNever, 0}, now)) env_.slab->Free(cell);
}

// Brings derived timers in line; called at the end of every entry point.
void Connection::Impl::UpdateTimers() {
  if (state_ == State::kClosed || state_ == State::kTimeWait) {
    timers_.CancelAll();
    return;
  }
  ccids_.UpdateTimers(timers_);
  const TimePoint feature = state_ >= State::kPartOpen ? features_.NextTimeout() : kNever;
  if (timers_.Get(Timer::kFeature) != feature) timers_.Set(Timer::kFeature, feature);
  const TimePoint probe = state_ == State::kOpen ? prober_.NextTimeout() : kNever;
  if (timers_.Get(Timer::kPathMtu) != probe) timers_.Set(Timer::kPathMtu, probe);
  if (liveness_.enabled() && state_ >= State::kPartOpen) {
    const TimePoint t = liveness_.Deadline();
    if (timers_.Get(Timer::kUserTimeout) != t) timers_.Set(Timer::kUserTimeout, t);
  }
  if (options_.keep_alive > Duration::zero()) {
    // What is queued keeps the path alive when it leaves.
    const bool idle = state_ == State::kOpen && send_queue_.empty();
    const TimePoint t = idle ? Later(last_sent_, keep_alive_base_) + options_.keep_alive : kNever;
    if (timers_.Get(Timer::kKeepAlive) != t) timers_.Set(Timer::kKeepAlive, t);
  }
}

// RFC 4340 gives Close, CloseReq and PARTOPEN four maximum segment lifetimes; an application that
// sets a shorter user timeout does not want to wait that long.
Duration Connection::Impl::GiveUpAfter() const {
  const Duration limit = 4 * env_.msl;
  return liveness_.enabled() ? std::min(limit, liveness_.timeout()) : limit;
}

void Connection::Impl::SetState(State state, TimePoint now) {
  if (state == state_) return;
  if (env_.trace != nullptr) env_.trace->OnState({id_, state_, state, now});
  state_ = state;
}

void Connection::Impl::EnterOpen(Seq64 osr, TimePoint now) {
  handshake_.Stop(timers_);
  seq_.SetOsr(osr);
  SetState(State::kOpen, now);
  features_.SetOpen(now);
  UpdateProbing(now);
  request_data_.clear();
}

void Connection::Impl::TearDown(State state, const CloseReason& reason, TimePoint now) {
  SetState(state, now);
  close_ = reason;
  if (unsent_at_close_ || !send_queue_.empty()) close_.clean = false;
  send_queue_.Clear();
  timers_.CancelAll();
  events_ |= kEventClosed;
}

// Ends the connection from this side with a Reset.
void Connection::Impl::Fail(ClosedBy by, const ResetReason& reason, TimePoint now) {
  // A client that gives up without an answer has nothing to acknowledge. RFC 4340 §8.1.1
  const Seq64 ack = seq_.has_isr() ? seq_.gsr() : Seq64();
  SendReset(reason, ack, now);
  CloseReason close;
  close.by = by;
  close.reset = reason;
  TearDown(State::kClosed, close, now);
}

CcidInit Connection::Impl::MakeCcidInit(bool sender, TimePoint now) const {
  // Both features that a CCID is told of are located at its HC-Sender. RFC 4340 §7.5.2, §11.3
  const Located at = sender ? Located::kLocal : Located::kRemote;
  CcidInit init;
  init.now = now;
  init.next_seq = seq_.PeekNext();
  init.path = {rtt_, path_mtu_.mps_bytes(), path_mtu_.pmtu()};
  init.sequence_window = features_.value(FeatureNumber::kSequenceWindow, at);
  init.ack_ratio = static_cast<std::uint32_t>(features_.value(FeatureNumber::kAckRatio, at));
  return init;
}

// A CCID object with the values in force of the features that it named.
bool Connection::Impl::StartSender(CcidId id, TimePoint now) {
  if (!ccids_.StartSender(id, MakeCcidInit(true, now))) return false;
  for (const CcidFeatureNeed& need : ccids_.sender_traits()->needs) {
    const Located at = need.at_sender ? Located::kLocal : Located::kRemote;
    ccids_.sender()->OnFeature(need.feature, features_.value(need.feature, at), need.at_sender);
  }
  ccids_.sender()->OnFeature(FeatureNumber::kSequenceWindow, seq_.remote_window(), false);
  // A change of the feature tells so later; its initial value, no vectors, would not.
  const bool vectors = features_.value(FeatureNumber::kSendAckVector, Located::kRemote) != 0;
  history_.set_coverage(vectors ? AckCoverage::kAckVector : AckCoverage::kNumberOnly);
  ccid_ready_ = false;
  return true;
}

bool Connection::Impl::StartReceiver(CcidId id, Seq64 last_received, TimePoint now) {
  CcidInit init = MakeCcidInit(false, now);
  init.last_received = last_received;
  if (!ccids_.StartReceiver(id, init)) return false;
  const CcidTraits& traits = *ccids_.receiver_traits();
  for (const CcidFeatureNeed& need : traits.needs) {
    const Located at = need.at_sender ? Located::kRemote : Located::kLocal;
    ccids_.receiver()->OnFeature(need.feature, features_.value(need.feature, at), !need.at_sender);
  }
  acks_.SetAlwaysElapsed(traits.always_elapsed_time);
  return true;
}

void Connection::Impl::StartCcids(Seq64 last_received, TimePoint now) {
  const auto tx = static_cast<CcidId>(features_.value(FeatureNumber::kCcid, Located::kLocal));
  const auto rx = static_cast<CcidId>(features_.value(FeatureNumber::kCcid, Located::kRemote));
  // The negotiator only agrees to registered CCIDs, but for the initial one.
  if (!StartSender(tx, now) || !StartReceiver(rx, last_received, now)) {
    Fail(ClosedBy::kProtocol, {ResetCode::kOptionError, {}}, now);
    return;
  }
  if (path_mtu_.SetCcmps(ccids_.sender_traits()->max_payload_bytes)) OnMpsChanged(now);
}

void Connection::Impl::ApplyFeatureChanges(TimePoint now) {
  while (const auto change = features_.PollChange()) {
    if (env_.trace != nullptr) {
      env_.trace->OnFeature(
          {id_, change->feature,
           change->at == Located::kLocal ? FeatureLocation::kLocal : FeatureLocation::kRemote,
           change->value, now});
    }
    if (change->outcome == FeatureOutcome::kChanged) ApplyFeature(*change, now);
  }
}

void Connection::Impl::ApplyFeature(const FeatureChange& change, TimePoint now) {
  const bool local = change.at == Located::kLocal;
  switch (change.feature) {
    case FeatureNumber::kSequenceWindow:
      local ? seq_.SetLocalWindow(change.value) : seq_.SetRemoteWindow(change.value);
      break;
    case FeatureNumber::kSendAckVector:
      if (local) {
        acks_.SetSendVector(change.value != 0);
      } else {
        history_.set_coverage(change.value != 0 ? AckCoverage::kAckVector
                                                : AckCoverage::kNumberOnly);
        UpdateProbing(now);
      }
      break;
    case FeatureNumber::kEcnIncapable:
      if (!local) ecn_out_ = options_.ecn && change.value == 0 && !conduct_.without_ect();
      break;
    case FeatureNumber::kSendNdpCount:
      (local ? send_ndp_ : peer_ndp_) = change.value != 0;
      UpdateProbing(now);
      break;
    case FeatureNumber::kCcid:
      // A change in mid-connection starts the congestion state afresh. §10.5
      if (ccids_.sender() == nullptr) return;
      if (local) {
        StartSender(static_cast<CcidId>(change.value), now);
        // A peer that asks for another CCID again and again would have us evade congestion
        // control. The second change within a minute costs a pause. §10.5
        if (now < next_free_ccid_change_) ccids_.Hold(next_free_ccid_change_, timers_);
        next_free_ccid_change_ = Later(now, next_free_ccid_change_) + kCcidChangeInterval;
      } else {
        StartReceiver(static_cast<CcidId>(change.value), acks_.greatest(), now);
      }
      return;
    default:
      break;
  }
  if (ccids_.sender() == nullptr) return;
  // The peer's window limits which of its acknowledgements we accept: the sender paces them by it.
  if (change.feature == FeatureNumber::kSequenceWindow && !local)
    ccids_.sender()->OnFeature(change.feature, change.value, local);
  // Of a half-connection's features those below 192 that the CCIDs care for lie at the HC-Sender,
  // but Send Ack Vector and 192-255 lie at the HC-Receiver. §10.3
  const bool at_receiver = change.feature == FeatureNumber::kSendAckVector ||
                           static_cast<std::uint8_t>(change.feature) >= 192;
  if (local != at_receiver) {
    ccids_.sender()->OnFeature(change.feature, change.value, local);
    ccids_.Unblock(timers_);
  } else {
    ccids_.receiver()->OnFeature(change.feature, change.value, local);
  }
}

void Connection::Impl::HandleRequests(const CcidRequests& requests, TimePoint now) {
  for (std::size_t i = 0; i < requests.feature_count; ++i) {
    // A refusal means that the feature is under negotiation already; the CCID will ask again.
    static_cast<void>(
        features_.ChangeLocalNn(requests.features[i].feature, requests.features[i].value));
  }
  if (requests.send_ack) want_ack_ = true;
  if (requests.abandon_in_flight) {
    history_.AbandonInFlight();
    prober_.OnTimeout(now);
  }
  if (requests.reset) Fail(ClosedBy::kProtocol, *requests.reset, now);
}

void Connection::Impl::TraceCc(TimePoint now) const {
  if (env_.trace == nullptr) return;
  const SenderStats s = ccids_.sender()->Stats();
  CcEvent event = {};
  event.conn = id_;
  event.time = now;
  event.ccid = ccids_.sender_traits()->id;
  event.cwnd_packets = static_cast<std::uint32_t>(s.cwnd_packets);
  event.pipe_packets = s.pipe_packets;
  event.ssthresh_packets = static_cast<std::uint32_t>(std::min(s.ssthresh_packets, 4294967295.0));
  event.allowed_rate_bytes_per_s = static_cast<std::uint64_t>(s.x_bytes_per_second);
  event.loss_event_rate = s.loss_event_rate;
  event.srtt = s.srtt;
  event.rto = s.rto;
  event.lost_packets = counters_.data_packets_lost;
  event.marked_packets = counters_.data_packets_marked;
  event.loss_events = s.loss_events;
  event.timeouts = s.timeouts;
  env_.trace->OnCc(event);
}

}  // namespace dccp
