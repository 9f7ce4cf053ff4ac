// The --hashes file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace dccp::apps {

// One line a datagram: its index from 0 in the order sent or read, its length, and its SHA-256 in
// hexadecimal. Owns the open file.
class HashLog {
 public:
  // Null with `*error` filled when the file cannot be opened.
  static std::unique_ptr<HashLog> Open(const std::string& path, std::string* error);
  ~HashLog();
  HashLog(const HashLog&) = delete;
  HashLog& operator=(const HashLog&) = delete;

  void Add(std::span<const std::byte> datagram);
  // False with `*error` filled when something could not be written.
  bool Finish(std::string* error);

 private:
  HashLog(std::FILE* file, std::string path);

  std::FILE* file_;
  std::string path_;
  evp_md_ctx_st* context_;
  std::uint64_t index_ = 0;
};

}  // namespace dccp::apps
