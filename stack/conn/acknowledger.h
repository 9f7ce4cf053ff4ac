// What this endpoint says about the packets it received. RFC 4340 §11
#pragma once

#include <cstddef>
#include <cstdint>

#include "dccp/ccid.h"
#include "dccp/option_writer.h"
#include "stack/conn/ack_vector_buffer.h"
#include "stack/conn/data_dropped_log.h"

namespace dccp {

// Owns the Ack Vector and Data Dropped memory and the state of "an acknowledgement is due".
// It writes the options of acknowledgements: Ack Vector where Send Ack Vector/local is 1, Data
// Dropped, Elapsed Time.
class Acknowledger {
 public:
  void Start(Seq64 isr) { vector_.Start(isr); }
  void SetSendVector(bool on) { send_vector_ = on; }

  bool Received(Seq64 seq) const { return vector_.Received(seq); }
  // The greatest acknowledgeable packet.
  Seq64 greatest() const { return vector_.greatest(); }
  // A packet became acknowledgeable. True when it came directly after the greatest one.
  bool Record(Seq64 seq, Ecn ecn, PacketType type, TimePoint now);
  void RecordDrop(Seq64 seq, DropCode code) { dropped_.Record(seq, code); }

  // The receiver CCID's wish.
  void Demand(const AckDemand& demand);
  bool due() const { return due_; }          // send one as soon as possible
  bool pending() const { return pending_; }  // data was received since the last one
  void RequireNow() { due_ = pending_ = true; }

  // Elapsed Time is on every acknowledgement, else only where one is late. RFC 4342 §8.2
  void SetAlwaysElapsed(bool on) { always_elapsed_ = on; }

  // Writes what an acknowledgement of greatest() numbered `our_seq` carries.
  void WriteOptions(Seq64 our_seq, TimePoint now, OptionWriter& out);
  // Bytes of option space that WriteOptions would like.
  std::size_t WantedBytes() const;
  // Of which for the Ack Vector.
  std::size_t VectorBytes() const { return send_vector_ ? vector_.EncodedBytes() : 0; }
  // The packet that WriteOptions was for left.
  void OnSent() { due_ = pending_ = false; }

  // The peer acknowledged our packet `our_seq`, the greatest that carried an acknowledgement.
  void OnAckOfAck(Seq64 our_seq);
  bool AllAcknowledged() const { return vector_.AllAcknowledged(); }

 private:
  // Below this the acknowledgement counts as immediate and needs no Elapsed Time.
  static constexpr Duration kPrompt = std::chrono::milliseconds(1);

  AckVectorBuffer vector_;
  DataDroppedLog dropped_;
  TimePoint greatest_arrival_;
  bool send_vector_ = false;
  bool always_elapsed_ = false;
  bool due_ = false;
  bool pending_ = false;
};

}  // namespace dccp
