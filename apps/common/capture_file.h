// Reads pcap and pcapng capture files, of either byte order, from a file or a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dccp::apps {

// One captured frame; `bytes` stays valid until the next Next().
struct CapturedFrame {
  std::uint64_t number = 0;          // from 1, as Wireshark counts
  std::int64_t time_ns = 0;          // since 1970
  std::uint32_t link_type = 0;       // LINKTYPE_ number
  std::uint32_t original_bytes = 0;  // on the wire
  std::span<const std::byte> bytes;
};

// Owns the open file. What could be decoded before a fault in the file is delivered; then Next()
// says kBroken and error() why. Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
class CaptureFile {
 public:
  enum class Status { kFrame, kEnd, kBroken };

  // "-" is the standard input. Null with `*error` filled when it is no capture at all.
  static std::unique_ptr<CaptureFile> Open(const std::string& path, std::string* error);
  ~CaptureFile();
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;

  Status Next(CapturedFrame* frame);
  const std::string& error() const { return error_; }

 private:
  struct Interface {
    std::uint32_t link_type = 0;
    std::uint32_t snap_bytes = 0;
    std::uint64_t ticks_per_second = 1'000'000;
    std::int64_t offset_s = 0;
  };

  CaptureFile(std::FILE* file, bool owned) : file_(file), owned_(owned) {}

  bool ReadMagic(std::string* error);
  bool ReadPcapHeader(std::uint32_t magic);
  Status NextPcap(CapturedFrame* frame);
  Status NextPcapng(CapturedFrame* frame);
  bool ReadSection();
  Status ReadBlock(std::uint32_t* type);
  bool AddInterface();
  void ReadInterfaceOptions(std::size_t at, Interface* interface) const;
  bool TakePacket(std::uint32_t type, CapturedFrame* frame);
  bool SetTime(const Interface& interface, std::uint64_t ticks, CapturedFrame* frame);

  // Exactly `n` bytes into the buffer at `at`; false at the end of the file.
  bool Fill(std::size_t at, std::size_t n);
  std::uint16_t Get16(std::size_t at) const;
  std::uint32_t Get32(std::size_t at) const;
  Status Broken(std::string why);

  std::FILE* file_;
  bool owned_;
  bool pcapng_ = false;
  bool swapped_ = false;
  bool failed_ = false;
  std::uint64_t frames_ = 0;
  std::uint64_t offset_ = 0;  // in the file, for messages
  std::vector<Interface> interfaces_;
  std::vector<std::byte> buffer_;
  std::string error_;
};

}  // namespace dccp::apps
