#include "apps/dccp-netem/link_emulation.h"

#include <fmt/format.h>

#include <cstring>

#include "apps/dccp-netem/segments.h"

namespace dccp::apps::netem {

namespace {

// Batches that are read from one interface before the other has its turn.
constexpr int kBatchesARound = 4;

std::size_t IpBytes(std::span<const std::byte> frame, const FrameInfo& info) {
  return info.family ? info.ip_bytes : frame.size() - info.l3;
}

}  // namespace

LinkEmulation::LinkEmulation(const EmulationConfig& config)
    : Emulation(config, ends_[1], ends_[0]), ends_{{*this, 0}, {*this, 1}} {}

bool LinkEmulation::OpenLinks(const LinkNames& names, LinkSocket::Promiscuous promiscuous,
                              EventLoop& loop, std::string* error) {
  ends_[0].link = LinkSocket::Open(names.first, promiscuous, error);
  if (ends_[0].link == nullptr) return false;
  ends_[1].link = LinkSocket::Open(names.second, promiscuous, error);
  if (ends_[1].link == nullptr) return false;
  for (End& end : ends_)
    if (!loop.Watch(end.link->fd(), end, error)) return false;
  return true;
}

void LinkEmulation::Housekeeping(TimePoint) {
  for (const End& end : ends_)
    if (!end.link->Exists()) failure_ = fmt::format("the interface {} is gone", end.link->name());
}

void LinkEmulation::End::OnReadable(bool) { owner_.Read(side_); }

void LinkEmulation::End::Send(std::span<Packet* const> packets) {
  for (Packet* packet : packets) {
    packet->outcome = Outcome::kSent;
    const std::optional<FrameInfo> info = ReadFrame(packet->bytes());
    if (info && FrameEcn(packet->bytes(), *info) != packet->ecn)
      SetFrameEcn(packet->bytes(), *info, packet->ecn);
    owner_.Address(side_, packet);
  }
  link->Send(packets);
}

void LinkEmulation::End::OnTooBig(const Packet& packet, std::uint32_t mtu_bytes) {
  owner_.TooBig(1 - side_, packet, mtu_bytes);
}

void LinkEmulation::Read(std::size_t side) {
  for (int i = 0; i < kBatchesARound; ++i) {
    const std::span<const ReceivedFrame> frames = link(side).Receive();
    clock_.Read();
    for (const ReceivedFrame& frame : frames) Take(side, frame);
    if (!link(side).more()) return;
  }
}

void LinkEmulation::Take(std::size_t side, const ReceivedFrame& frame) {
  Direction& direction = side == 0 ? forward_direction() : reverse_direction();
  const TimePoint arrival = clock_.Of(frame.received);
  if (frame.segment_bytes != 0) {
    const Segments segments(frame.bytes, frame.segment_bytes);
    for (std::size_t i = 0; i < segments.count(); ++i) {
      Packet* const packet = direction.NewPacket(segments.bytes(i), segments.bytes(i));
      if (packet == nullptr) continue;
      segments.Write(i, packet->bytes());
      Enter(side, frame, packet, arrival);
    }
    if (segments.valid()) return;
  }
  Packet* const packet = direction.NewPacket(frame.bytes.size(), frame.bytes.size());
  if (packet == nullptr) return;
  std::memcpy(packet->data(), frame.bytes.data(), frame.bytes.size());
  packet->checksum_start = frame.checksum_start;
  packet->checksum_offset = frame.checksum_offset;
  Enter(side, frame, packet, arrival);
}

void LinkEmulation::Enter(std::size_t side, const ReceivedFrame& frame, Packet* packet,
                          TimePoint arrival) {
  Direction& direction = side == 0 ? forward_direction() : reverse_direction();
  const std::optional<FrameInfo> info = ReadFrame(packet->bytes());
  packet->may_fragment = false;
  if (!info || !Admit(side, frame, packet, *info)) {
    direction.Discard(packet);
    return;
  }
  packet->ip_bytes = static_cast<std::uint32_t>(IpBytes(packet->bytes(), *info));
  packet->ecn = FrameEcn(packet->bytes(), *info);
  packet->body_offset = info->l3 + info->ip_header_bytes;
  // What a checksum is to find must be in the packet before it is computed.
  if (packet->checksum_start != 0 && direction.config().corrupt > 0) {
    CompleteChecksum(packet->bytes(), *info, packet->checksum_start, packet->checksum_offset);
    packet->checksum_start = 0;
  }
  direction.Arrive(packet, arrival);
}

}  // namespace dccp::apps::netem
