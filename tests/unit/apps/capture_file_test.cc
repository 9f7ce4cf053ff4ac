#include "apps/common/capture_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace dccp::apps {
namespace {

using Bytes = std::vector<unsigned char>;

void Append(Bytes* out, std::uint64_t v, std::size_t n, bool big) {
  for (std::size_t i = 0; i < n; ++i)
    out->push_back(static_cast<unsigned char>(v >> (8 * (big ? n - 1 - i : i))));
}

// A file with one frame of four bytes, 01 02 03 04 of 60, at 1.5 s.
Bytes Pcap(bool big, bool nanos) {
  Bytes b;
  Append(&b, nanos ? 0xA1B23C4Du : 0xA1B2C3D4u, 4, big);
  Append(&b, 2, 2, big);
  Append(&b, 4, 2, big);
  Append(&b, 0, 8, big);
  Append(&b, 65535, 4, big);
  Append(&b, 101, 4, big);
  Append(&b, 1, 4, big);
  Append(&b, nanos ? 500'000'000 : 500'000, 4, big);
  Append(&b, 4, 4, big);
  Append(&b, 60, 4, big);
  b.insert(b.end(), {1, 2, 3, 4});
  return b;
}

// The same as pcapng, with an interface of nanoseconds and a block of unknown type between.
Bytes Pcapng(bool big) {
  Bytes b;
  Append(&b, 0x0A0D0D0Au, 4, big);
  Append(&b, 28, 4, big);
  Append(&b, 0x1A2B3C4Du, 4, big);
  Append(&b, 1, 2, big);
  Append(&b, 0, 2, big);
  Append(&b, ~std::uint64_t{0}, 8, big);
  Append(&b, 28, 4, big);

  Append(&b, 1, 4, big);
  Append(&b, 32, 4, big);
  Append(&b, 101, 2, big);
  Append(&b, 0, 2, big);
  Append(&b, 65535, 4, big);
  Append(&b, 9, 2, big);  // if_tsresol: 10^-9
  Append(&b, 1, 2, big);
  b.insert(b.end(), {9, 0, 0, 0});
  Append(&b, 0, 4, big);  // end of options
  Append(&b, 32, 4, big);

  Append(&b, 0x0BAD, 4, big);
  Append(&b, 16, 4, big);
  Append(&b, 0, 4, big);
  Append(&b, 16, 4, big);

  Append(&b, 6, 4, big);
  Append(&b, 36, 4, big);
  Append(&b, 0, 4, big);
  Append(&b, 0, 4, big);
  Append(&b, 1'500'000'000, 4, big);
  Append(&b, 4, 4, big);
  Append(&b, 60, 4, big);
  b.insert(b.end(), {1, 2, 3, 4});
  Append(&b, 36, 4, big);
  return b;
}

class CaptureFileTest : public testing::Test {
 protected:
  CaptureFileTest() : path_(testing::TempDir() + "capture_" + std::to_string(getpid())) {}
  ~CaptureFileTest() override { std::remove(path_.c_str()); }

  std::unique_ptr<CaptureFile> Open(const Bytes& bytes) {
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    if (!bytes.empty()) {
      EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    }
    std::fclose(file);
    return CaptureFile::Open(path_, &error_);
  }

  void ExpectTheFrame(const Bytes& bytes) {
    const auto capture = Open(bytes);
    ASSERT_NE(capture, nullptr) << error_;
    CapturedFrame frame;
    ASSERT_EQ(capture->Next(&frame), CaptureFile::Status::kFrame);
    EXPECT_EQ(frame.number, 1u);
    EXPECT_EQ(frame.time_ns, 1'500'000'000);
    EXPECT_EQ(frame.link_type, 101u);
    EXPECT_EQ(frame.original_bytes, 60u);
    ASSERT_EQ(frame.bytes.size(), 4u);
    EXPECT_EQ(frame.bytes[3], std::byte{4});
    EXPECT_EQ(capture->Next(&frame), CaptureFile::Status::kEnd);
  }

  // Every shortened file either ends cleanly between two records or is called broken.
  void ExpectCleanTruncations(const Bytes& whole, std::size_t clean_ends) {
    std::size_t clean = 0;
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const auto capture = Open(Bytes(whole.begin(), whole.begin() + static_cast<long>(n)));
      if (capture == nullptr) {
        EXPECT_FALSE(error_.empty());
        continue;
      }
      CapturedFrame frame;
      const CaptureFile::Status status = capture->Next(&frame);
      EXPECT_NE(status, CaptureFile::Status::kFrame) << n;
      if (status == CaptureFile::Status::kEnd)
        ++clean;
      else
        EXPECT_FALSE(capture->error().empty()) << n;
    }
    EXPECT_EQ(clean, clean_ends);
  }

  std::string path_;
  std::string error_;
};

TEST_F(CaptureFileTest, ReadsPcapOfBothByteOrdersAndResolutions) {
  for (const bool big : {false, true})
    for (const bool nanos : {false, true}) ExpectTheFrame(Pcap(big, nanos));
}

TEST_F(CaptureFileTest, ReadsPcapngOfBothByteOrders) {
  for (const bool big : {false, true}) ExpectTheFrame(Pcapng(big));
}

TEST_F(CaptureFileTest, CallsTruncatedFilesBroken) {
  ExpectCleanTruncations(Pcap(false, false), 1);
  ExpectCleanTruncations(Pcapng(true), 3);
}

TEST_F(CaptureFileTest, RefusesImpossibleLengths) {
  Bytes bytes = Pcap(false, false);
  bytes[24 + 8 + 3] = 0x7F;  // the captured length
  const auto capture = Open(bytes);
  ASSERT_NE(capture, nullptr);
  CapturedFrame frame;
  EXPECT_EQ(capture->Next(&frame), CaptureFile::Status::kBroken);
  EXPECT_EQ(capture->Next(&frame), CaptureFile::Status::kBroken);
  EXPECT_NE(capture->error().find("impossible length"), std::string::npos);
}

TEST_F(CaptureFileTest, RefusesAPacketOfAnUndeclaredInterface) {
  Bytes bytes = Pcapng(false);
  bytes[bytes.size() - 36 + 8] = 3;
  const auto capture = Open(bytes);
  ASSERT_NE(capture, nullptr);
  CapturedFrame frame;
  EXPECT_EQ(capture->Next(&frame), CaptureFile::Status::kBroken);
}

TEST_F(CaptureFileTest, SaysWhatElseAFileIs) {
  EXPECT_EQ(Open({'h', 'e', 'l', 'l', 'o'}), nullptr);
  EXPECT_NE(error_.find("is no pcap or pcapng file"), std::string::npos);
  EXPECT_EQ(Open({0x1F, 0x8B, 8, 0}), nullptr);
  EXPECT_NE(error_.find("gzip"), std::string::npos);
  EXPECT_EQ(Open({}), nullptr);
  EXPECT_NE(error_.find("is empty"), std::string::npos);
}

}  // namespace
}  // namespace dccp::apps
