// Where trace sinks write to.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace dccp {

// A stream of bytes. Writes after a failed one are not attempted.
class ByteWriter {
 public:
  ByteWriter() = default;
  virtual ~ByteWriter() = default;
  ByteWriter(const ByteWriter&) = delete;
  ByteWriter& operator=(const ByteWriter&) = delete;

  // False once a write has failed.
  virtual bool Write(std::span<const std::byte> bytes) = 0;
  bool Write(std::string_view text) { return Write(std::as_bytes(std::span(text))); }
  // Hands over what is buffered; false when that, or any earlier write, failed.
  virtual bool Flush() = 0;
};

// A file through stdio. Owns the stream, unless it is standard output.
class FileWriter final : public ByteWriter {
 public:
  using ByteWriter::Write;

  // Creates or truncates the file; "-" is standard output. Whether it worked is told by ok().
  explicit FileWriter(const std::string& path);
  ~FileWriter() override;

  bool Write(std::span<const std::byte> bytes) override;
  bool Flush() override;

  bool ok() const { return error_ == 0; }
  // The errno of the first failure, or 0.
  int error() const { return error_; }

 private:
  void Fail();

  std::FILE* file_;
  int error_ = 0;
};

}  // namespace dccp
