#include "stack/conn/ack_vector_buffer.h"

#include <algorithm>
#include <array>
#include <bit>

#include "stack/base/check.h"

namespace dccp {

namespace {

constexpr std::int64_t kCellPackets = kMaxPacketsPerAckCell;
constexpr auto kCellsPerOption = static_cast<std::int64_t>(kMaxAckCellsPerOption);
constexpr std::int64_t kOptionHeaderBytes = 2;
constexpr std::int64_t kNonceBits = 64;

constexpr std::int64_t CellsFor(std::int64_t packets) {
  return (packets + kCellPackets - 1) / kCellPackets;
}

constexpr std::int64_t BytesFor(std::int64_t cells) {
  return cells + kOptionHeaderBytes * ((cells + kCellsPerOption - 1) / kCellsPerOption);
}

// How many cells fit into `bytes`, option headers paid.
constexpr std::int64_t CellsIn(std::size_t bytes) {
  constexpr std::int64_t kFull = kCellsPerOption + kOptionHeaderBytes;
  const auto room = static_cast<std::int64_t>(bytes);
  const std::int64_t rest = room % kFull - kOptionHeaderBytes;
  return room / kFull * kCellsPerOption + std::max<std::int64_t>(rest, 0);
}

// Parity of the bits from position `low` up to but not including `high`.
unsigned Parity(std::uint64_t bits, std::int64_t low, std::int64_t high) {
  if (low >= kNonceBits) return 0;
  if (high < kNonceBits) bits &= (std::uint64_t{1} << high) - 1;
  return static_cast<unsigned>(std::popcount(bits >> low)) & 1u;
}

}  // namespace

AckVectorBuffer::AckVectorBuffer(std::size_t max_runs) : max_runs_(max_runs), ring_(16) {
  DCCP_CHECK(max_runs >= 4);
}

void AckVectorBuffer::Start(Seq64 isr) {
  size_ = 0;
  remembered_ = 0;
  greatest_ = newest_data_ = isr - 1;
  window_start_ = isr;
  whole_valid_ = false;
  sent_acks_.clear();
}

RecordResult AckVectorBuffer::Record(Seq64 seq, Ecn ecn, PacketType type) {
  const Run one = {ecn == Ecn::kEct1 ? 1u : 0u, 1,
                   ecn == Ecn::kCe ? AckState::kMarked : AckState::kReceived};
  if (seq <= greatest_) {
    if (seq < oldest()) return RecordResult::kTooOld;
    const RecordResult result = RecordLate(seq, one);
    if (result != RecordResult::kNew) return result;
  } else {
    const std::int64_t missing = seq - greatest_ - 1;
    if (missing > 0) PushFront({0, missing, AckState::kNotReceived});
    PushFront(one);
  }
  if (IsDataPacket(type)) newest_data_ = std::max(newest_data_, seq);
  return RecordResult::kNew;
}

bool AckVectorBuffer::Received(Seq64 seq) const {
  if (seq > greatest_) return false;
  if (seq < oldest()) return true;
  std::int64_t newer = 0;
  return At(Find(seq, &newer)).state != AckState::kNotReceived;
}

RecordResult AckVectorBuffer::RecordLate(Seq64 seq, const Run& one) {
  std::int64_t newer = 0;
  const std::size_t i = Find(seq, &newer);
  if (At(i).state != AckState::kNotReceived) return RecordResult::kDuplicate;
  const std::int64_t older = At(i).length - newer - 1;
  const std::size_t extra = (newer > 0 ? 1u : 0u) + (older > 0 ? 1u : 0u);
  while (size_ + extra > max_runs_) {
    if (i + 1 == size_) return RecordResult::kTooOld;
    DropOldest();
  }
  PullBack(seq);
  whole_valid_ = false;
  ShiftNewer(i, extra);
  std::size_t at = i;
  if (newer > 0) At(at++) = {0, newer, AckState::kNotReceived};
  At(at) = one;
  if (older > 0) At(at + 1) = {0, older, AckState::kNotReceived};
  JoinWithOlder(at);
  if (at > 0) JoinWithOlder(at - 1);
  return RecordResult::kNew;
}

// An acknowledgement already sent said that `seq` was missing: it must not, when it is acknowledged
// itself, take `seq` out of the window. RFC 4340 Appendix A.3
void AckVectorBuffer::PullBack(Seq64 seq) {
  window_start_ = std::min(window_start_, seq);
  for (std::size_t i = sent_acks_.size(); i > 0 && sent_acks_[i - 1].to >= seq; --i) {
    sent_acks_[i - 1].to = seq - 1;
  }
}

std::size_t AckVectorBuffer::Find(Seq64 seq, std::int64_t* newer) const {
  std::int64_t distance = greatest_ - seq;
  std::size_t i = 0;
  while (distance >= At(i).length) distance -= At(i++).length;
  *newer = distance;
  return i;
}

void AckVectorBuffer::PushFront(const Run& run) {
  const bool joins = size_ > 0 && Joinable(run, At(0));
  CountPushed(run, joins);
  greatest_ = greatest_ + run.length;
  remembered_ += run.length;
  if (joins) {
    Join(run, At(0));
    return;
  }
  if (size_ == max_runs_) DropOldest();
  ShiftNewer(0, 1);
  At(0) = run;
}

// Keeps whole_ up to date with a run that is about to be pushed.
void AckVectorBuffer::CountPushed(const Run& run, bool joins) {
  if (!whole_valid_) return;
  const std::int64_t window = greatest_ - window_start_ + 1;
  // An empty window reports the greatest packet once more, which ends here.
  if (window == 0) whole_ = {};
  // Missing packets at the old end of the window need no cells.
  if (run.state == AckState::kNotReceived && whole_.cells == 0) return;
  const std::int64_t joined = joins ? std::min(At(0).length, window) : 0;
  whole_.cells += CellsFor(joined + run.length) - CellsFor(joined);
  whole_.packets += run.length;
}

void AckVectorBuffer::DropOldest() {
  whole_valid_ = false;
  remembered_ -= At(--size_).length;
  if (window_start_ < oldest()) {
    overflowed_ += static_cast<std::uint64_t>(oldest() - window_start_);
    window_start_ = oldest();
  }
}

// Opens `extra` places before run `i`, whose newer neighbours move away from it.
void AckVectorBuffer::ShiftNewer(std::size_t i, std::size_t extra) {
  if (size_ + extra > ring_.size()) {
    std::vector<Run> larger(ring_.size() * 2);
    for (std::size_t k = 0; k < size_; ++k) larger[k] = At(k);
    ring_.swap(larger);
    head_ = 0;
  }
  head_ = (head_ - extra) & (ring_.size() - 1);
  size_ += extra;
  for (std::size_t k = 0; extra > 0 && k < i; ++k) At(k) = At(k + extra);
}

void AckVectorBuffer::Remove(std::size_t i) {
  for (std::size_t k = i; k > 0; --k) At(k) = At(k - 1);
  head_ = (head_ + 1) & (ring_.size() - 1);
  --size_;
}

bool AckVectorBuffer::Joinable(const Run& newer, const Run& older) {
  if (newer.state != older.state) return false;
  if (newer.nonces == 0) return true;
  return older.length < kNonceBits &&
         (newer.nonces << older.length) >> older.length == newer.nonces;
}

void AckVectorBuffer::Join(const Run& newer, Run& older) {
  if (newer.nonces != 0) older.nonces |= newer.nonces << older.length;
  older.length += newer.length;
}

void AckVectorBuffer::JoinWithOlder(std::size_t i) {
  if (i + 1 >= size_ || !Joinable(At(i), At(i + 1))) return;
  Join(At(i), At(i + 1));
  Remove(i);
}

// What `max_cells` cells can report of the window. Missing packets at its old end need no cells:
// what no Ack Vector covers counts as not received. RFC 4340 §11.4
AckVectorBuffer::Coverage AckVectorBuffer::Cover(std::int64_t max_cells) const {
  std::int64_t left = greatest_ - std::min(window_start_, greatest_) + 1;
  Coverage all;
  Coverage useful;
  for (std::size_t i = 0; i < size_ && left > 0 && all.cells < max_cells; ++i) {
    const std::int64_t packets = std::min(At(i).length, left);
    const std::int64_t cells = std::min(CellsFor(packets), max_cells - all.cells);
    all.cells += cells;
    all.packets += std::min(packets, cells * kCellPackets);
    left -= packets;
    if (At(i).state != AckState::kNotReceived) useful = all;
  }
  return useful;
}

const AckVectorBuffer::Coverage& AckVectorBuffer::Whole() const {
  if (!whole_valid_) {
    whole_ = Cover(INT64_MAX);
    whole_valid_ = true;
  }
  return whole_;
}

std::size_t AckVectorBuffer::EncodedBytes() const {
  return static_cast<std::size_t>(BytesFor(Whole().cells));
}

// Fills `cells` from the cursor on with at most *packets packets; returns their Nonce Echo.
unsigned AckVectorBuffer::FillOption(Cursor& cursor, std::int64_t* packets,
                                     std::span<std::byte> cells) const {
  unsigned nonce_echo = 0;
  for (std::byte& cell : cells) {
    const Run& run = At(cursor.run);
    const std::int64_t high = run.length - cursor.used;
    const std::int64_t n = std::min({kCellPackets, high, *packets});
    cell = EncodeAckCell({run.state, static_cast<std::uint8_t>(n - 1)});
    if (run.state == AckState::kReceived) nonce_echo ^= Parity(run.nonces, high - n, high);
    *packets -= n;
    cursor.used += n;
    if (cursor.used == run.length) cursor = {cursor.run + 1, 0};
  }
  return nonce_echo;
}

std::size_t AckVectorBuffer::Write(OptionWriter& out, Seq64 our_seq) {
  const std::size_t before = out.size();
  const Coverage whole = Whole();
  const std::int64_t room = CellsIn(out.remaining());
  const Coverage coverage = whole.cells <= room ? whole : Cover(room);
  if (coverage.cells == 0) return 0;
  Cursor cursor;
  std::int64_t packets = coverage.packets;
  for (std::int64_t left = coverage.cells; left > 0;) {
    std::array<std::byte, kMaxAckCellsPerOption> cells;
    const std::int64_t n = std::min(left, kCellsPerOption);
    const auto option = std::span(cells).first(static_cast<std::size_t>(n));
    const unsigned nonce_echo = FillOption(cursor, &packets, option);
    if (!out.Add(AckVectorType(nonce_echo), option)) break;
    left -= n;
  }
  const bool complete = coverage.cells == whole.cells;
  Remember(our_seq, complete ? window_start_ : greatest_ - coverage.packets + 1);
  return out.size() - before;
}

void AckVectorBuffer::NoteAckSent(Seq64 our_seq) {
  if (size_ > 0) Remember(our_seq, window_start_);
}

void AckVectorBuffer::Remember(Seq64 our_seq, Seq64 from) {
  if (!sent_acks_.empty() && our_seq <= sent_acks_.back().our_seq) return;
  if (sent_acks_.full()) {
    // Every other record goes: a later acknowledgement reports all that an earlier one did, so
    // the record before a missing one serves in its place.
    for (std::size_t i = 1; i < kMaxSentAcks; i += 2) sent_acks_[i / 2] = sent_acks_[i];
    while (sent_acks_.size() > kMaxSentAcks / 2) sent_acks_.pop_back();
  }
  static_cast<void>(sent_acks_.push_back({our_seq, from, greatest_}));
}

void AckVectorBuffer::OnAckOfAck(Seq64 our_seq) {
  std::size_t known = 0;
  while (known < sent_acks_.size() && sent_acks_[known].our_seq <= our_seq) ++known;
  if (known == 0) return;
  const SentAck ack = sent_acks_[known - 1];
  sent_acks_.pop_front(known);
  if (ack.to < window_start_) return;
  if (ack.from > window_start_) {
    // It lacked the old end for want of option space. A packet of its own may still report that,
    // unless the window has become too long for any packet.
    if (EncodedBytes() <= OptionWriter::kMaxBytes) return;
    overflowed_ += static_cast<std::uint64_t>(ack.from - window_start_);
  }
  window_start_ = ack.to + 1;
  whole_valid_ = false;
  ForgetHistory();
}

void AckVectorBuffer::ForgetHistory() {
  std::int64_t left = greatest_ - window_start_ + 1;
  std::size_t in_window = 0;
  while (left > 0) left -= At(in_window++).length;
  while (size_ > in_window + kHistoryRuns) DropOldest();
}

}  // namespace dccp
