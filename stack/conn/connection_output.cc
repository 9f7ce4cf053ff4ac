// Building packets: which type leaves, with what options, and when.

#include <algorithm>

#include "stack/conn/connection_impl.h"
#include "stack/wire/checksum.h"
#include "stack/wire/crc32c.h"
#include "stack/wire/option_codec.h"

namespace dccp {
namespace {

// Option space of a packet that carries no data, at most: header and options stay below any MTU
// worth the name, however long the Ack Vector is.
constexpr std::size_t kControlOptionBytes = 992;

using OptionBuffer = std::array<std::byte, OptionWriter::kMaxBytes>;

}  // namespace

// Option bytes that fit between a fixed header and the payload within the path MTU, in whole words.
std::size_t Connection::Impl::OptionRoom(PacketType type, std::uint32_t payload_bytes,
                                         std::size_t most) const {
  const std::size_t fixed = FixedHeaderBytes(type, true);
  const std::size_t room = path_mtu_.RoomForHeaders(payload_bytes);
  return room <= fixed ? 0 : std::min(most, room - fixed) / 4 * 4;
}

// The same for a packet with data, whose header lies in the headroom of the data's cell.
std::size_t Connection::Impl::DataOptionRoom(std::uint32_t payload_bytes) const {
  return OptionRoom(PacketType::kDataAck, payload_bytes,
                    kDataHeadroomBytes - FixedHeaderBytes(PacketType::kDataAck, true));
}

HeaderFields Connection::Impl::Fields(PacketType type, Seq64 seq, Seq64 ack) const {
  HeaderFields fields;
  fields.type = type;
  fields.seq = seq.Wrap();
  if (HasAckNumber(type)) fields.ack = ack.Wrap();
  fields.extended = !ShortSeqnos(type);
  fields.service_code = service_code_;
  return fields;
}

bool Connection::Impl::ShortSeqnos(PacketType type) const {
  return options_.short_seqnos && state_ == State::kOpen && MayUseShortSeqno(type) &&
         features_.value(FeatureNumber::kAllowShortSeqnos, Located::kLocal) != 0 &&
         short_policy_.Allows(seq_.local_window(), seq_.remote_window());
}

// Only what is sent once both ends have spoken of ECN is marked: packets of the handshake and
// Resets must get through boxes that dislike the field.
//
// Deviation: §12.2 has every sender set ECN Nonces, that is, ECT(1) at random. RFC 8311 §3 made the
// nonce historic, and ECT(1) now asks a router for low-latency treatment that CCIDs as we know them
// must not get (RFC 9331): so it is done on request only. Echoes are right in any case.
Ecn Connection::Impl::EcnFor(PacketType type) const {
  const bool handshake =
      type == PacketType::kRequest || type == PacketType::kResponse || type == PacketType::kReset;
  // From the very packet on that confirms the peer's wish: its Confirm is written by now.
  const bool incapable = features_.value(FeatureNumber::kEcnIncapable, Located::kRemote) != 0;
  if (!ecn_out_ || incapable || handshake) return Ecn::kNotEct;
  return options_.ecn_nonce && nonces_.current() ? Ecn::kEct1 : Ecn::kEct0;
}

void Connection::Impl::AfterSent(PacketType type, Seq64 seq, std::uint32_t payload_bytes, bool data,
                                 bool carries_ack, TimePoint now) {
  const bool app_limited = send_queue_.empty();
  const Ecn ecn = EcnFor(type);
  history_.OnSent(
      {seq, now, type, payload_bytes, data, app_limited, carries_ack, ecn == Ecn::kEct1});
  if (options_.ecn_nonce && ecn != Ecn::kNotEct) nonces_.Advance(*env_.random);
  ndp_.OnSent(type);
  ++counters_.packets_sent;
  if (data) {
    ++counters_.data_packets_sent;
    counters_.data_bytes_sent += payload_bytes;
  }
  last_sent_ = now;
  if (options_.short_seqnos) short_policy_.OnSent(now);
  if (ccids_.sender() != nullptr)
    ccids_.sender()->OnSent({seq, 1, payload_bytes, data, app_limited, now});
  if (state_ == State::kPartOpen) handshake_.OnPartOpenSent(now, timers_);
  if (state_ == State::kOpen) opening_.OnSent(type, seq);
}

void Connection::Impl::SendRequest(TimePoint now) {
  const Seq64 seq = seq_.TakeNext();
  const auto bytes = static_cast<std::uint32_t>(request_data_.size());
  OptionBuffer buffer;
  OptionWriter options(std::span<std::byte>(buffer).first(
      OptionRoom(PacketType::kRequest, bytes, kControlOptionBytes)));
  features_.WriteOptions({PacketType::kRequest, seq, std::nullopt, now}, options);
  timestamps_.WriteTimestamp(options, now);
  options.Pad();
  assembler_.Send(Fields(PacketType::kRequest, seq, Seq64()), options.bytes(), request_data_,
                  EcnFor(PacketType::kRequest), now);
  AfterSent(PacketType::kRequest, seq, bytes, bytes != 0, false, now);
}

// Answers the newest Request; never repeated by timer. §8.1.3
void Connection::Impl::SendResponse(TimePoint now) {
  const Seq64 seq = seq_.TakeNext();
  if (draft_ != nullptr) {
    WriteResponseOptions(seq, now, *draft_);
  } else {
    OptionBuffer buffer;
    OptionWriter options(std::span<std::byte>(buffer).first(
        OptionRoom(PacketType::kResponse, 0, kControlOptionBytes)));
    WriteResponseOptions(seq, now, options);
    options.Pad();
    assembler_.Send(Fields(PacketType::kResponse, seq, seq_.gsr()), options.bytes(), {},
                    EcnFor(PacketType::kResponse), now);
  }
  acks_.OnSent();
  AfterSent(PacketType::kResponse, seq, 0, false, true, now);
  ApplyFeatureChanges(now);
}

void Connection::Impl::WriteResponseOptions(Seq64 seq, TimePoint now, OptionWriter& options) {
  features_.WriteOptions({PacketType::kResponse, seq, seq_.gsr(), now}, options);
  timestamps_.WriteEcho(options, now);
  timestamps_.WriteTimestamp(options, now);
  acks_.WriteOptions(seq, now, options);
}

// What an acknowledgement of GSR carries, on whatever type.
void Connection::Impl::WriteAckOptions(PacketType type, Seq64 seq, std::uint32_t payload_bytes,
                                       TimePoint now, OptionWriter& options) {
  if (ccids_.receiver() != nullptr)
    ccids_.receiver()->OnBuildAck({type, seq, payload_bytes, now}, options);
  features_.WriteOptions({type, seq, seq_.gsr(), now}, options);
  timestamps_.WriteEcho(options, now);
  if (slow_receiver_) AddSlowReceiver(options);
  acks_.WriteOptions(seq, now, options);
}

bool Connection::Impl::SendAck(TimePoint now) {
  if (!assembler_.Ready()) return false;
  if (!SendControl(PacketType::kAck, seq_.gsr(), {}, now)) return false;
  ElicitAckOfAck(now);
  return true;
}

void Connection::Impl::SendSync(PacketType type, Seq64 ack, TimePoint now) {
  SendControl(type, ack, {}, now);
  ++counters_.syncs_sent;
}

void Connection::Impl::MaybeSync(Seq64 ack, TimePoint now) {
  if (sync_limiter_.Allow(now)) SendSync(PacketType::kSync, ack, now);
}

void Connection::Impl::SendReset(const ResetReason& reason, Seq64 ack, TimePoint now) {
  SendControl(PacketType::kReset, ack, reason, now);
}

// A packet without data. Where the transmit ring is full it is lost, as if the network had dropped
// it: each of them is repeated by a timer or drawn again by the peer.
bool Connection::Impl::SendControl(PacketType type, Seq64 ack, const ResetReason& reset,
                                   TimePoint now) {
  const Seq64 seq = seq_.TakeNext();
  // Syncs acknowledge some packet, not the state of the window: no Ack Vector. Nor on the Reset
  // that answers a packet whose options were not processed: it would have to begin there. §11.4
  const bool acks_window = seq_.has_isr() && type != PacketType::kSync &&
                           type != PacketType::kSyncAck && ack == acks_.greatest();
  // But a SyncAck may happen to acknowledge the greatest packet; then it is what a peer wants that
  // asks for an acknowledgement of its acknowledgements. §11.2
  const bool answers_window =
      type == PacketType::kSyncAck && state_ == State::kOpen && ack == acks_.greatest();
  OptionBuffer buffer;
  OptionWriter options(
      std::span<std::byte>(buffer).first(OptionRoom(type, 0, kControlOptionBytes)));
  cookies_.Write(options);
  if (send_ndp_ && ndp_.next() > 0) AddNdpCount(options, ndp_.next());
  if (acks_window) {
    WriteAckOptions(type, seq, 0, now, options);
  } else {
    timestamps_.WriteEcho(options, now);
    if (answers_window) acks_.WriteOptions(seq, now, options);
  }
  if ((type == PacketType::kSync || type == PacketType::kSyncAck) && ccids_.sender() != nullptr)
    ccids_.sender()->OnBuildSync({type, seq, 0, now}, options);
  options.Pad();
  HeaderFields fields = Fields(type, seq, ack);
  fields.reset = reset;
  const bool sent = assembler_.Send(fields, options.bytes(), {}, EcnFor(type), now);
  if (acks_window) acks_.OnSent();
  if (type == PacketType::kAck) {
    ++counters_.acks_sent;
    want_ack_ = false;
  }
  AfterSent(type, seq, 0, false, acks_window || answers_window, now);
  ApplyFeatureChanges(now);
  return sent;
}

// Close or CloseReq for the first time. What is still queued will not be sent. §8.3
void Connection::Impl::StartClose(PacketType type, TimePoint now) {
  unsent_at_close_ = !send_queue_.empty();
  send_queue_.Clear();
  SetState(type == PacketType::kCloseReq ? State::kCloseReq : State::kClosing, now);
  handshake_.Stop(timers_);
  closer_.Start(type, now, RttOr(rtt_), GiveUpAfter(), timers_);
  SendControl(type, seq_.gsr(), {}, now);
}

// The sender CCID has all that it needs of the peer. RFC 4341 §4
bool Connection::Impl::CcidReady() const {
  if (ccids_.sender() == nullptr) return false;
  if (ccid_ready_) return true;
  for (const CcidFeatureNeed& need : ccids_.sender_traits()->needs) {
    const Located at = need.at_sender ? Located::kLocal : Located::kRemote;
    if (need.mandatory && features_.value(need.feature, at) != need.value) return false;
  }
  ccid_ready_ = true;
  return true;
}

bool Connection::Impl::DataMayGo() const {
  return (state_ == State::kOpen || state_ == State::kPartOpen) && !send_queue_.empty() &&
         !ccids_.blocked() && CcidReady() &&
         (cookies_.empty() || FitsBesideCookies(send_queue_.front_bytes()));
}

// While Init Cookies ride along a packet carries less. A datagram that is too long for that waits
// for the round trip until the connection is OPEN, so that the maximum packet size need not shrink
// for so short a time.
bool Connection::Impl::FitsBesideCookies(std::uint32_t payload_bytes) const {
  constexpr std::size_t kBeside = 32;
  return cookies_.bytes() + kBeside <= DataOptionRoom(payload_bytes);
}

bool Connection::Impl::WantsTransmit(TimePoint now) const {
  if (state_ < State::kRespond || state_ == State::kTimeWait) return false;
  if (acks_.due() || want_ack_ || DataMayGo()) return true;
  if (state_ == State::kRespond) return false;
  return features_.HasPending(now) || (closer_.requested() && CloseIsDue(now));
}

// The wish to close can be fulfilled: the queue has drained, or may wait no longer.
bool Connection::Impl::CloseIsDue(TimePoint now) const {
  return (state_ == State::kOpen || state_ == State::kPartOpen) && closer_.requested() &&
         (send_queue_.empty() || closer_.DrainOver(now));
}

void Connection::Impl::Transmit(TimePoint now, std::uint32_t max_packets) {
  if (state_ < State::kRespond || state_ == State::kTimeWait) return;
  while (max_packets > 0 && DataMayGo() && assembler_.Ready()) {
    if (!SendData(now)) break;
    --max_packets;
  }
  // Room may have come without a packet leaving: expired datagrams, or too large ones.
  if (was_full_ && send_queue_.HasRoom(1)) {
    was_full_ = false;
    events_ |= kEventWritable;
  }
  if (CloseIsDue(now)) StartClose(closer_.first_packet(), now);
  const bool features_wait = state_ >= State::kPartOpen && features_.HasPending(now);
  if ((acks_.due() || want_ack_ || features_wait) && !DataMayGo()) SendAck(now);
  if (ccids_.sender() != nullptr && send_queue_.empty() && app_state_ == AppState::kBacklogged)
    SetAppState(AppState::kAppLimited, now);
  UpdateTimers();
}

// One datagram of the queue. False: nothing left now.
bool Connection::Impl::SendData(TimePoint now) {
  const SendItem* front = send_queue_.Front(now);
  if (front == nullptr) return false;
  const std::uint32_t bytes = front->cell->length;
  if (bytes > path_mtu_.mps_bytes()) {
    // Queued before the path shrank: it could only go out fragmented. §14.2
    send_queue_.DropFront();
    return true;
  }
  if (app_state_ != AppState::kBacklogged) SetAppState(AppState::kBacklogged, now);
  if (!ccids_.TakePermit(bytes, now, timers_)) return false;

  // An acknowledgement that leaves no room beside the data goes first, on its own. §11.2
  const std::size_t room = DataOptionRoom(bytes);
  constexpr std::size_t kOtherOptionBytes = 24;
  // The Confirms of the handshake, which a server may insist on seeing in full.
  constexpr std::size_t kPartOpenOptionBytes = 128;
  bool ack =
      state_ == State::kPartOpen || acks_.pending() || want_ack_ || features_.HasPending(now);
  const bool first_ack =
      state_ == State::kPartOpen && acks_.due() && room < kPartOpenOptionBytes + cookies_.bytes();
  if (first_ack && !SendAck(now)) return false;
  const std::size_t wanted = acks_.WantedBytes() + ccids_.receiver()->AckOptionBytes();
  if (ack && state_ == State::kOpen && wanted + kOtherOptionBytes > room) {
    if (!SendAck(now) || !assembler_.Ready()) return false;
    ack = false;
  }

  WithholdNumber(now);
  const Seq64 seq = seq_.TakeNext();
  OptionBuffer buffer;
  OptionWriter options(std::span<std::byte>(buffer).first(room));
  cookies_.Write(options);
  const PacketType planned = ack ? PacketType::kDataAck : PacketType::kData;
  const BuildDecision decision = ccids_.sender()->OnBuild({planned, seq, bytes, now}, options);
  if (decision.acknowledge && !ack) {
    // Where its options do not fit beside the data, an Ack does it.
    constexpr std::size_t kEchoBytes = 10;
    ack = options.bytes().size() + kEchoBytes + acks_.WantedBytes() <= room;
    want_ack_ = want_ack_ || !ack;
  }
  const PacketType type = ack ? PacketType::kDataAck : PacketType::kData;
  if (options_.data_checksum) AddDataChecksum(options, Crc32c(front->cell->bytes()));
  if (send_ndp_ && ndp_.next() > 0) AddNdpCount(options, ndp_.next());
  if (ack) {
    WriteAckOptions(type, seq, bytes, now, options);
  } else {
    timestamps_.WriteEcho(options, now);
  }
  options.Pad();

  HeaderFields fields = Fields(type, seq, seq_.gsr());
  fields.ccval = decision.ccval;
  const std::uint64_t least =
      features_.value(FeatureNumber::kMinChecksumCoverage, Located::kRemote);
  if (least > 0 && options_.checksum_coverage >= least)
    fields.cscov = FittingCoverage(options_.checksum_coverage, bytes);
  const SendItem item = send_queue_.Pop();
  const std::size_t header_bytes = FixedHeaderBytes(type, fields.extended) + options.bytes().size();
  assembler_.SendCell(fields, options.bytes(), item.cell, EcnFor(type), now);
  const auto lower_bytes = path_mtu_.LowerHeaderBytes() + static_cast<std::uint32_t>(header_bytes);
  prober_.OnDataSent(seq, lower_bytes + bytes, bytes, now);
  if (ack) {
    acks_.OnSent();
    want_ack_ = false;
  }
  AfterSent(type, seq, bytes, true, ack, now);
  if (ack) ApplyFeatureChanges(now);
  return true;
}

void Connection::Impl::SetAppState(AppState state, TimePoint now) {
  app_state_ = state;
  ccids_.sender()->OnAppState(state, now);
}

}  // namespace dccp
