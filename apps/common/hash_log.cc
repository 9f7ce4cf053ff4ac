#include "apps/common/hash_log.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <utility>

#include "apps/common/text.h"

namespace dccp::apps {

std::unique_ptr<HashLog> HashLog::Open(const std::string& path, std::string* error) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    *error = fmt::format("cannot write {}: {}", path, ErrnoText());
    return nullptr;
  }
  return std::unique_ptr<HashLog>(new HashLog(file, path));
}

HashLog::HashLog(std::FILE* file, std::string path)
    : file_(file), path_(std::move(path)), context_(EVP_MD_CTX_new()) {}

HashLog::~HashLog() {
  EVP_MD_CTX_free(context_);
  if (file_ != nullptr) std::fclose(file_);
}

void HashLog::Add(std::span<const std::byte> datagram) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned length = 0;
  EVP_DigestInit_ex(context_, EVP_sha256(), nullptr);
  EVP_DigestUpdate(context_, datagram.data(), datagram.size());
  EVP_DigestFinal_ex(context_, digest.data(), &length);
  std::string hex;
  hex.reserve(std::size_t{length} * 2);
  for (unsigned i = 0; i < length; ++i)
    fmt::format_to(std::back_inserter(hex), "{:02x}", digest[i]);
  Put(file_, fmt::format("{} {} {}\n", index_++, datagram.size(), hex));
}

bool HashLog::Finish(std::string* error) {
  std::FILE* file = std::exchange(file_, nullptr);
  if (file == nullptr) return true;
  const bool good = Flush(file);
  if (std::fclose(file) == 0 && good) return true;
  *error = fmt::format("cannot write {}: {}", path_, good ? ErrnoText() : WriteErrorText());
  return false;
}

}  // namespace dccp::apps
