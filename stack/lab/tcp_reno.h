// A model of TCP, to compete with. RFC 5681, RFC 6675, RFC 6298
#pragma once

#include <cstdint>
#include <deque>
#include <set>

#include "ccid/common/rtt_estimator.h"
#include "stack/sim/sim_packet.h"
#include "stack/sim/simulator.h"

namespace dccp::lab {

// A TCP that has always data to send, with the congestion control of Reno and loss recovery by
// selective acknowledgements; in packets of one size, without a handshake or an end. Its numbers
// count packets. A packet is lost when one that was sent three later has arrived: the paths of the
// simulation keep order. The receiver acknowledges every second packet, and each that is out of
// order at once.
class TcpFlow {
 public:
  TcpFlow(Simulator& simulator, PacketPool& pool, const IpAddress& from, const IpAddress& to,
          std::size_t payload_bytes);
  TcpFlow(const TcpFlow&) = delete;
  TcpFlow& operator=(const TcpFlow&) = delete;

  PacketSink& sender() { return sender_; }
  PacketSink& receiver() { return receiver_; }
  // Where the data leaves, and where the acknowledgements do.
  void SetUplinks(PacketSink& data, PacketSink& acks);
  void Start() { sender_.SendAll(); }

  std::uint64_t received_bytes() const { return receiver_.packets() * payload_bytes_; }
  double cwnd_packets() const { return sender_.cwnd(); }
  std::uint64_t halvings() const { return sender_.halvings(); }
  std::uint64_t timeouts() const { return sender_.timeouts(); }

 private:
  // What both directions carry; the rest of a packet is filling.
  struct Segment {
    std::uint64_t seq = 0;   // data: its number; acknowledgement: of the packet that drew it
    std::uint64_t next = 0;  // acknowledgement: the least number that is missing
    TimePoint stamp;         // when the data packet was sent
  };

  // Makes packets of segments and sends them.
  struct Port {
    PacketPool& pool;
    Path path;
    std::size_t bytes;  // from the TCP header on
    PacketSink* uplink = nullptr;

    void Send(const Segment& segment);
    static Segment Parse(const SimPacket& packet);
  };

  class Sender final : public PacketSink, public SimActor {
   public:
    Sender(Simulator& simulator, const Port& port) : simulator_(simulator), port_(port) {}

    void Accept(PacketPtr packet) override;
    void OnSimEvent(std::uint64_t cookie) override;
    void SendAll();
    void SetUplink(PacketSink& uplink) { port_.uplink = &uplink; }
    double cwnd() const { return cwnd_; }
    std::uint64_t halvings() const { return halvings_; }
    std::uint64_t timeouts() const { return timeouts_; }

   private:
    enum class State : std::uint8_t { kInFlight, kArrived, kLost };

    std::uint64_t next() const { return una_ + window_.size(); }
    bool recovering() const { return una_ < recovery_point_; }
    void MarkArrived(std::uint64_t seq);
    void MarkLost();
    std::uint64_t Advance(std::uint64_t next);
    void Grow(std::uint64_t acked);
    void OnTimeout();
    void SendOne(std::uint64_t seq);
    void ArmTimer();

    Simulator& simulator_;
    Port port_;
    std::uint64_t una_ = 0;           // the oldest that is not known to have arrived in order
    std::deque<State> window_;        // of the packets from una_ on
    std::uint64_t lost_until_ = 0;    // below: judged. Retransmissions are not judged again
    std::uint64_t most_arrived_ = 0;  // one beyond the greatest number that arrived
    std::uint64_t resend_from_ = 0;   // no packet below waits to be sent again
    std::uint64_t pipe_ = 0;
    double cwnd_ = 4;
    double ssthresh_ = 1e9;
    std::uint64_t acked_ = 0;           // since the window grew last
    std::uint64_t recovery_point_ = 0;  // losses below belong to the last reaction
    bool after_timeout_ = false;        // the recovery is a slow start
    RttEstimator rtt_;
    TimePoint deadline_ = kNever;
    std::uint64_t timer_ = 0;
    std::uint64_t halvings_ = 0;
    std::uint64_t timeouts_ = 0;
  };

  class Receiver final : public PacketSink, public SimActor {
   public:
    Receiver(Simulator& simulator, const Port& port) : simulator_(simulator), port_(port) {}

    void Accept(PacketPtr packet) override;
    void OnSimEvent(std::uint64_t cookie) override;
    void SetUplink(PacketSink& uplink) { port_.uplink = &uplink; }
    std::uint64_t packets() const { return packets_; }

   private:
    void Acknowledge(const Segment& data);

    Simulator& simulator_;
    Port port_;
    std::uint64_t next_ = 0;
    std::set<std::uint64_t> beyond_;
    std::uint64_t packets_ = 0;  // without copies
    bool waiting_ = false;       // one packet is not acknowledged yet,
    Segment unacked_;            // this
    std::uint64_t timer_ = 0;
  };

  std::size_t payload_bytes_;
  Sender sender_;
  Receiver receiver_;
};

}  // namespace dccp::lab
