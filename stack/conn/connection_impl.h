// The wiring of a connection: which part is asked what, when. Only stack/conn/connection*.cc
// include this.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "stack/conn/ack_elicitor.h"
#include "stack/conn/acknowledger.h"
#include "stack/conn/ccid_host.h"
#include "stack/conn/closer.h"
#include "stack/conn/connection.h"
#include "stack/conn/cookie_echo.h"
#include "stack/conn/drop_reports.h"
#include "stack/conn/feature_negotiator.h"
#include "stack/conn/handshake.h"
#include "stack/conn/incoming_options.h"
#include "stack/conn/liveness.h"
#include "stack/conn/misbehaviour_monitor.h"
#include "stack/conn/ndp_counter.h"
#include "stack/conn/nonce_source.h"
#include "stack/conn/odd_icmp.h"
#include "stack/conn/opening.h"
#include "stack/conn/packet_assembler.h"
#include "stack/conn/path_mtu.h"
#include "stack/conn/pmtu_prober.h"
#include "stack/conn/recv_queue.h"
#include "stack/conn/reverse_loss.h"
#include "stack/conn/send_queue.h"
#include "stack/conn/sent_history.h"
#include "stack/conn/sequence_space.h"
#include "stack/conn/short_seqno_policy.h"
#include "stack/conn/sync_limiter.h"
#include "stack/conn/timer_set.h"
#include "stack/conn/timestamps.h"

namespace dccp {

// Until there is an estimate of the path, round trips are counted with the default. RFC 4340 §3.4
inline Duration RttOr(Duration rtt) { return rtt > Duration::zero() ? rtt : kDefaultRtt; }

class Connection::Impl {
 public:
  Impl(const ConnectionEnv& env, const ConnectionInit& init);
  ~Impl();

  // connection.cc: set-up, the application's calls, state.
  Result<void> Configure();
  Result<void> ConfigureChecksums();
  void StartClient(std::span<const std::byte> request_data, TimePoint now);
  Result<std::span<std::byte>> ReserveSend(std::size_t bytes);
  Result<void> CommitSend(std::size_t bytes, const SendOptions& options);
  std::uint32_t SendRoom(std::size_t bytes) const;
  std::size_t Read(std::span<ReceivedDatagram> out);
  void StopReading();
  void SetSlowReceiver(bool slow);
  Result<void> Close(TimePoint now, Duration drain);
  Result<void> Abort(TimePoint now, ResetCode code);
  std::uint32_t TakeEvents() { return std::exchange(events_, 0); }
  bool HasEvents() const { return events_ != 0; }
  State state() const { return state_; }
  Role role() const { return role_; }
  ConnectionInfo Info() const;
  std::uint64_t Feature(FeatureNumber feature, bool located_here) const;

  // connection_input.cc: RFC 4340 §8.5.
  std::optional<ResetReason> StartServer(const PacketView& request, Ecn ecn, TimePoint now);
  std::optional<ResetReason> DraftResponse(const PacketView& request, Ecn ecn, RequestData data,
                                           TimePoint now, OptionWriter& options);
  void Refuse(const ResetReason& reason, TimePoint now) { Fail(ClosedBy::kProtocol, reason, now); }
  void OnPacket(const PacketView& packet, Ecn ecn, TimePoint now);

  // connection_output.cc: building packets.
  bool WantsTransmit(TimePoint now) const;
  void Transmit(TimePoint now, std::uint32_t max_packets);

  // connection_path.cc: the path below, and what becomes known of it.
  void OnIcmp(const IcmpError& error, TimePoint now);
  Result<void> PathChanged(std::uint32_t mtu_bytes, TimePoint now);
  Result<void> RediscoverMtu(TimePoint now);

  // connection_timers.cc: time, and what a change of state or feature entails.
  TimePoint NextTimeout() const { return timers_.Next(); }
  void HandleTimeout(TimePoint now);

 private:
  // A received packet with its unwrapped numbers.
  struct Arrived {
    const PacketView& packet;
    PacketType type;
    Seq64 seq;
    std::optional<Seq64> ack;
    Ecn ecn;
    TimePoint now;
  };

  // An invalid Reset and the number of the Sync that answered it. RFC 4340 §7.5.4
  struct Challenge {
    ResetReason reset;
    Seq64 sync;
  };

  // ---- input
  bool AcceptSequence(const Arrived& in);
  bool AcceptInRequest(const Arrived& in);
  // What an option demands that the connection be reset for.
  std::optional<ResetReason> ProcessOptions(const Arrived& in, IncomingOptions* options);
  std::optional<ResetReason> TakeCookies(const Arrived& in, const IncomingOptions& options);
  void ProcessAck(const Arrived& in, const IncomingOptions& options);
  void ProcessAccepted(const Arrived& in);
  void ProcessFurther(const Arrived& in, const IncomingOptions& options);
  void AdvanceState(const Arrived& in);
  bool TellReceiver(const Arrived& in, const IncomingOptions& options, bool in_order);
  void Deliver(const Arrived& in, const IncomingOptions& options);
  void OnReset(const Arrived& in);
  void FlushAck(TimePoint now);
  void TraceDrop(const Arrived& in, DropReason reason) const;

  // ---- output
  bool ShortSeqnos(PacketType type) const;
  void OnDataDropped(std::span<const DataDroppedRun> news, TimePoint now);
  HeaderFields Fields(PacketType type, Seq64 seq, Seq64 ack) const;
  Ecn EcnFor(PacketType type) const;
  void SendRequest(TimePoint now);
  void SendResponse(TimePoint now);
  void WriteResponseOptions(Seq64 seq, TimePoint now, OptionWriter& options);
  bool SendAck(TimePoint now);
  bool MemoryShort() const;
  void SendSync(PacketType type, Seq64 ack, TimePoint now);
  void MaybeSync(Seq64 ack, TimePoint now);
  void SendReset(const ResetReason& reason, Seq64 ack, TimePoint now);
  bool SendData(TimePoint now);
  bool DataMayGo() const;
  bool FitsBesideCookies(std::uint32_t payload_bytes) const;
  std::size_t OptionRoom(PacketType type, std::uint32_t payload_bytes, std::size_t most) const;
  std::size_t DataOptionRoom(std::uint32_t payload_bytes) const;
  bool CcidReady() const;
  bool CloseIsDue(TimePoint now) const;
  void SetAppState(AppState state, TimePoint now);
  void WriteAckOptions(PacketType type, Seq64 seq, std::uint32_t payload_bytes, TimePoint now,
                       OptionWriter& options);
  void AfterSent(PacketType type, Seq64 seq, std::uint32_t payload_bytes, bool data,
                 bool carries_ack, TimePoint now);
  bool SendControl(PacketType type, Seq64 ack, const ResetReason& reset, TimePoint now);
  void StartClose(PacketType type, TimePoint now);

  // ---- the path
  void OnTooBig(const IcmpError& error, Seq64 quoted, TimePoint now);
  void LowerMtu(std::uint32_t next_hop_mtu, TimePoint now);
  void OnOddTooBig(std::uint32_t mtu_bytes, TimePoint now);
  void UpdateProbing(TimePoint now);
  void ProbeIfDue(TimePoint now);
  void SendProbe(std::uint32_t ip_bytes, TimePoint now);
  void AdoptProbedMtu(TimePoint now);
  void OnMpsChanged(TimePoint now);

  // ---- conduct (connection_conduct.cc): whether the peer acknowledges what is true, and enough
  NonceVerdict JudgePeer(const Digest& digest, std::optional<Duration> elapsed, const Arrived& in);
  void WithholdNumber(TimePoint now);
  void ElicitAckOfAck(TimePoint now);

  // ---- timers and consequences
  void OnTimer(Timer timer, TimePoint now);
  void OnUserTimeout(TimePoint now);
  void KeepAlive(TimePoint now);
  void ApplyFeatureChanges(TimePoint now);
  void ApplyFeature(const FeatureChange& change, TimePoint now);
  void StartCcids(Seq64 last_received, TimePoint now);
  bool StartSender(CcidId id, TimePoint now);
  bool StartReceiver(CcidId id, Seq64 last_received, TimePoint now);
  CcidInit MakeCcidInit(bool sender, TimePoint now) const;
  void HandleRequests(const CcidRequests& requests, TimePoint now);
  void SetState(State state, TimePoint now);
  void TearDown(State state, const CloseReason& reason, TimePoint now);
  void Fail(ClosedBy by, const ResetReason& reason, TimePoint now);
  void EnterOpen(Seq64 osr, TimePoint now);
  void UpdateTimers();
  Duration GiveUpAfter() const;
  void TraceCc(TimePoint now) const;

  const ConnectionEnv env_;
  const Role role_;
  const ConnId id_;
  const FlowTuple tuple_;
  const ServiceCode service_code_;
  const ConnectionOptions options_;
  const SeqNo iss_;

  State state_ = State::kClosed;
  std::uint32_t events_ = 0;
  CloseReason close_;
  ConnectionCounters counters_;

  SequenceSpace seq_;
  FeatureNegotiator features_;
  Acknowledger acks_;
  SentHistory history_;
  ReverseLossDetector reverse_;
  NonceSource nonces_;
  MisbehaviourMonitor conduct_;  // of the peer
  AckElicitor elicitor_;
  CcidHost ccids_;
  SendQueue send_queue_;
  RecvQueue recv_queue_;
  TimerSet timers_;
  Handshake handshake_;
  Closer closer_;
  Liveness liveness_;
  PathMtu path_mtu_;
  PmtuProber prober_;
  OddIcmp odd_icmp_;
  Timestamps timestamps_;
  NdpCounter ndp_;
  SyncLimiter sync_limiter_;
  ShortSeqnoPolicy short_policy_;
  PacketAssembler assembler_;
  CookieEcho cookies_;  // client

  Duration rtt_ = Duration::zero();  // smoothed for timers; zero: no sample yet
  Cell* reserved_ = nullptr;         // of ReserveSend
  std::vector<Cell*> lent_;          // cells that the last Read gave out
  std::vector<std::byte> request_data_;
  bool handshake_data_delivered_ = false;  // RFC 4340 §8.1.3: at most one piece
  bool peer_closes_ = false;               // the peer asked to close first
  Opening opening_;                        // server
  OptionWriter* draft_ = nullptr;          // during DraftResponse: where the Response goes
  std::optional<Challenge> challenge_;     // the last
  bool ecn_out_ = true;                    // the peer reads ECN and we may mark
  bool send_ndp_ = false;                  // Send NDP Count/local
  bool peer_ndp_ = false;                  // Send NDP Count/remote
  bool unsent_at_close_ = false;           // datagrams were dropped when closing began
  mutable bool ccid_ready_ = false;        // cache of CcidReady
  AppState app_state_ = AppState::kIdle;
  DropReports drop_reports_;
  bool reading_stopped_ = false;  // StopReading()
  bool peer_stopped_ = false;     // Drop Code 1: the peer's application does not listen
  bool slow_receiver_ = false;    // SetSlowReceiver()
  bool want_ack_ = false;         // the sender CCID wants the peer's acks acknowledged
  bool was_full_ = false;         // Send failed for lack of room: kEventWritable is due
  TimePoint next_free_ccid_change_ = TimePoint::min();  // of the CCID for our data
  TimePoint keep_alive_base_;                           // the last attempt to keep alive
  TimePoint last_sent_;                                 // for keep-alive
};

}  // namespace dccp
