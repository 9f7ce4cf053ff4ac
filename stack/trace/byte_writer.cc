#include "stack/trace/byte_writer.h"

#include <cerrno>

namespace dccp {

FileWriter::FileWriter(const std::string& path)
    : file_(path == "-" ? stdout : std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) Fail();
}

FileWriter::~FileWriter() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

bool FileWriter::Write(std::span<const std::byte> bytes) {
  if (!ok()) return false;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) Fail();
  return ok();
}

bool FileWriter::Flush() {
  if (ok() && std::fflush(file_) != 0) Fail();
  return ok();
}

void FileWriter::Fail() { error_ = errno != 0 ? errno : EIO; }

}  // namespace dccp
