#include "apps/common/capture_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

namespace dccp::apps {

namespace {

constexpr std::uint32_t kPcapMicros = 0xA1B2C3D4u;
constexpr std::uint32_t kPcapNanos = 0xA1B23C4Du;
constexpr std::uint32_t kSectionHeader = 0x0A0D0D0Au;
constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4Du;
constexpr std::uint32_t kInterfaceBlock = 1;
constexpr std::uint32_t kObsoletePacketBlock = 2;
constexpr std::uint32_t kSimplePacketBlock = 3;
constexpr std::uint32_t kEnhancedPacketBlock = 6;
constexpr std::uint32_t kMaxBlockBytes = 16u << 20;  // a longer one is a broken length field

constexpr std::uint16_t kOptionResolution = 9;
constexpr std::uint16_t kOptionOffset = 14;

}  // namespace

std::unique_ptr<CaptureFile> CaptureFile::Open(const std::string& path, std::string* error) {
  const bool standard_input = path == "-";
  std::FILE* file = standard_input ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    *error = fmt::format("cannot open {}: {}", path, std::strerror(errno));
    return nullptr;
  }
  std::unique_ptr<CaptureFile> capture(new CaptureFile(file, !standard_input));
  if (!capture->ReadMagic(error)) {
    *error = fmt::format("{}: {}", standard_input ? "standard input" : path, *error);
    return nullptr;
  }
  return capture;
}

CaptureFile::~CaptureFile() {
  if (owned_) std::fclose(file_);
}

bool CaptureFile::Fill(std::size_t at, std::size_t n) {
  if (buffer_.size() < at + n) buffer_.resize(at + n);
  const std::size_t got = std::fread(buffer_.data() + at, 1, n, file_);
  offset_ += got;
  return got == n;
}

std::uint16_t CaptureFile::Get16(std::size_t at) const {
  std::uint16_t v = 0;
  std::memcpy(&v, buffer_.data() + at, sizeof v);
  return swapped_ ? __builtin_bswap16(v) : v;
}

std::uint32_t CaptureFile::Get32(std::size_t at) const {
  std::uint32_t v = 0;
  std::memcpy(&v, buffer_.data() + at, sizeof v);
  return swapped_ ? __builtin_bswap32(v) : v;
}

CaptureFile::Status CaptureFile::Broken(std::string why) {
  failed_ = true;
  if (std::ferror(file_) != 0) why = "cannot be read";
  error_ = fmt::format("{} (at byte {}, after frame {})", why, offset_, frames_);
  return Status::kBroken;
}

bool CaptureFile::ReadMagic(std::string* error) {
  if (!Fill(0, 4)) {
    *error = offset_ == 0 ? "is empty" : "is too short to be a capture";
    return false;
  }
  const std::uint32_t magic = Get32(0);
  if (magic == kSectionHeader) {
    pcapng_ = true;
    if (ReadSection()) return true;
    *error = error_;
    return false;
  }
  for (const std::uint32_t known : {kPcapMicros, kPcapNanos}) {
    if (magic != known && magic != __builtin_bswap32(known)) continue;
    swapped_ = magic != known;
    if (ReadPcapHeader(known)) return true;
    *error = error_;
    return false;
  }
  *error = (magic & 0xFFFFu) == 0x8B1Fu ? "is compressed with gzip; unpack it first"
                                        : "is no pcap or pcapng file";
  return false;
}

bool CaptureFile::ReadPcapHeader(std::uint32_t magic) {
  if (!Fill(4, 20)) {
    error_ = "ends inside the file header";
    return false;
  }
  Interface interface;
  interface.link_type = Get32(20) & 0xFFFFu;
  interface.ticks_per_second = magic == kPcapNanos ? 1'000'000'000 : 1'000'000;
  interfaces_.push_back(interface);
  return true;
}

CaptureFile::Status CaptureFile::Next(CapturedFrame* frame) {
  if (failed_) return Status::kBroken;
  return pcapng_ ? NextPcapng(frame) : NextPcap(frame);
}

CaptureFile::Status CaptureFile::NextPcap(CapturedFrame* frame) {
  const std::uint64_t before = offset_;
  if (!Fill(0, 16)) {
    if (offset_ == before && std::feof(file_) != 0) return Status::kEnd;
    return Broken("ends inside a record header");
  }
  const std::uint32_t captured = Get32(8);
  if (captured > kMaxBlockBytes) return Broken("has a record of impossible length");
  const Interface& interface = interfaces_[0];
  frame->time_ns = std::int64_t{Get32(0)} * 1'000'000'000 +
                   std::int64_t{Get32(4)} *
                       static_cast<std::int64_t>(1'000'000'000 / interface.ticks_per_second);
  frame->original_bytes = Get32(12);
  frame->link_type = interface.link_type;
  if (!Fill(16, captured)) return Broken("ends inside a frame");
  frame->bytes = std::span(buffer_).subspan(16, captured);
  frame->number = ++frames_;
  return Status::kFrame;
}

// The section header's type is in the buffer already.
bool CaptureFile::ReadSection() {
  if (!Fill(4, 8)) {
    error_ = "ends inside the section header";
    return false;
  }
  swapped_ = false;
  if (Get32(8) != kByteOrderMagic) swapped_ = true;
  const std::uint32_t length = Get32(4);
  if (Get32(8) != kByteOrderMagic || length < 28 || length > kMaxBlockBytes || length % 4 != 0) {
    error_ = "has a broken section header";
    return false;
  }
  if (!Fill(12, length - 12)) {
    error_ = "ends inside the section header";
    return false;
  }
  interfaces_.clear();
  return true;
}

// Leaves the whole block in the buffer.
CaptureFile::Status CaptureFile::ReadBlock(std::uint32_t* type) {
  const std::uint64_t before = offset_;
  if (!Fill(0, 4)) {
    if (offset_ == before && std::feof(file_) != 0) return Status::kEnd;
    return Broken("ends inside a block");
  }
  *type = Get32(0);
  if (*type == kSectionHeader) return ReadSection() ? Status::kFrame : Broken(error_);
  if (!Fill(4, 4)) return Broken("ends inside a block");
  const std::uint32_t length = Get32(4);
  if (length < 12 || length % 4 != 0 || length > kMaxBlockBytes)
    return Broken("has a block of impossible length");
  if (!Fill(8, length - 8)) return Broken("ends inside a block");
  if (Get32(length - 4) != length) return Broken("has a block whose two lengths differ");
  buffer_.resize(length);
  return Status::kFrame;
}

CaptureFile::Status CaptureFile::NextPcapng(CapturedFrame* frame) {
  for (;;) {
    std::uint32_t type = 0;
    const Status status = ReadBlock(&type);
    if (status != Status::kFrame) return status;
    if (type == kInterfaceBlock) {
      if (!AddInterface()) return Broken("has a broken interface block");
    } else if (type == kEnhancedPacketBlock || type == kSimplePacketBlock ||
               type == kObsoletePacketBlock) {
      if (!TakePacket(type, frame)) return Broken("has a broken packet block");
      frame->number = ++frames_;
      return Status::kFrame;
    }
  }
}

bool CaptureFile::AddInterface() {
  if (buffer_.size() < 20) return false;
  Interface interface;
  interface.link_type = Get16(8);
  interface.snap_bytes = Get32(12);
  ReadInterfaceOptions(16, &interface);
  interfaces_.push_back(interface);
  return true;
}

void CaptureFile::ReadInterfaceOptions(std::size_t at, Interface* interface) const {
  const std::size_t end = buffer_.size() - 4;
  while (at + 4 <= end) {
    const std::uint16_t code = Get16(at);
    const std::size_t length = Get16(at + 2);
    if (code == 0 || at + 4 + length > end) return;
    if (code == kOptionResolution && length >= 1) {
      const auto v = std::to_integer<unsigned>(buffer_[at + 4]);
      const unsigned power = std::min(v & 0x7Fu, (v & 0x80u) != 0 ? 62u : 18u);
      std::uint64_t ticks = 1;
      for (unsigned i = 0; i < power; ++i) ticks *= (v & 0x80u) != 0 ? 2 : 10;
      interface->ticks_per_second = ticks;
    } else if (code == kOptionOffset && length == 8) {
      std::uint64_t v = 0;
      std::memcpy(&v, buffer_.data() + at + 4, sizeof v);
      interface->offset_s = static_cast<std::int64_t>(swapped_ ? __builtin_bswap64(v) : v);
    }
    at += 4 + (length + 3) / 4 * 4;
  }
}

bool CaptureFile::TakePacket(std::uint32_t type, CapturedFrame* frame) {
  const std::size_t block_bytes = buffer_.size();
  const bool simple = type == kSimplePacketBlock;
  const std::size_t header = simple ? 12 : 28;
  if (block_bytes < header + 4) return false;
  const std::uint32_t index = simple ? 0 : (type == kObsoletePacketBlock ? Get16(8) : Get32(8));
  if (index >= interfaces_.size()) return false;
  const Interface& interface = interfaces_[index];
  std::size_t captured = 0;
  if (simple) {
    frame->original_bytes = Get32(8);
    captured = std::min<std::size_t>(frame->original_bytes, block_bytes - header - 4);
    if (interface.snap_bytes != 0) captured = std::min<std::size_t>(captured, interface.snap_bytes);
    frame->time_ns = 0;
  } else {
    captured = Get32(20);
    frame->original_bytes = Get32(24);
    if (!SetTime(interface, (std::uint64_t{Get32(12)} << 32) | Get32(16), frame)) return false;
  }
  if (captured > block_bytes - header - 4) return false;
  frame->link_type = interface.link_type;
  frame->bytes = std::span(buffer_).subspan(header, captured);
  return true;
}

bool CaptureFile::SetTime(const Interface& interface, std::uint64_t ticks, CapturedFrame* frame) {
  const std::uint64_t per_second = interface.ticks_per_second;
  const std::uint64_t seconds = ticks / per_second;
  const double fraction = static_cast<double>(ticks % per_second) / static_cast<double>(per_second);
  // Keeps clear of overflow: 2^33 seconds are beyond the year 2200.
  if (seconds > (std::uint64_t{1} << 33)) return false;
  frame->time_ns = (static_cast<std::int64_t>(seconds) + interface.offset_s) * 1'000'000'000 +
                   std::llround(fraction * 1e9);
  return true;
}

}  // namespace dccp::apps
