// A server's knowledge of whether its client has left PARTOPEN. RFC 4340 §8.1.5
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "dccp/seqno.h"
#include "dccp/types.h"

namespace dccp {

// A client leaves PARTOPEN on any packet but a Response, a Reset or a Sync (§8.5 step 12), and
// until then repeats its Ack. So a server without data has to send something, and again when that
// was lost: while an Ack of the client acknowledges nothing that opens it.
class Opening {
 public:
  bool confirmed() const { return confirmed_; }

  // The server, being OPEN, sent this.
  void OnSent(PacketType type, Seq64 seq) {
    if (confirmed_) return;
    if (type == PacketType::kSync) {
      syncs_[next_sync_] = seq;
      next_sync_ = (next_sync_ + 1) % syncs_.size();
    } else if (!first_) {
      first_ = seq;
    }
  }

  // The client sent this. True: it may still be in PARTOPEN and wants another Ack.
  bool OnReceived(PacketType type, std::optional<Seq64> ack) {
    if (confirmed_) return false;
    // Data without an acknowledgement leaves only from an OPEN client.
    const bool opened =
        type == PacketType::kData || (first_ && ack && *ack >= *first_ && !IsSync(*ack));
    if (opened) confirmed_ = true;
    return !opened && type == PacketType::kAck;
  }

 private:
  bool IsSync(Seq64 seq) const {
    return std::find(syncs_.begin(), syncs_.end(), seq) != syncs_.end();
  }

  bool confirmed_ = false;
  std::optional<Seq64> first_;       // the first packet that opens the client
  std::array<Seq64, 8> syncs_ = {};  // the latest Syncs, which do not
  std::size_t next_sync_ = 0;
};

}  // namespace dccp
