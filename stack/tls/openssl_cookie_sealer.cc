#include "dccp/openssl_cookie_sealer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "stack/base/byte_order.h"
#include "stack/base/check.h"

namespace dccp {
namespace {

constexpr std::size_t kKeyBytes = 16;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kNumberBytes = 6;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* In(const std::byte* p) { return reinterpret_cast<const unsigned char*>(p); }
unsigned char* Out(std::byte* p) { return reinterpret_cast<unsigned char*>(p); }

// A sealed text is:  | key's id (1) | number (6) | ciphertext | tag (16) |
//
// One key and the two cipher contexts that hold its schedule. The number is the nonce: it counts
// what the key has sealed, so that none occurs twice. It starts at a random place, lest it tell a
// stranger how many cookies left. NIST SP 800-38D §8.2.1
class Key {
 public:
  static std::unique_ptr<Key> Make(std::uint8_t id, TimePoint now) {
    auto key = std::make_unique<Key>();
    key->id_ = id;
    key->since_ = now;
    return key->Init() ? std::move(key) : nullptr;
  }

  std::uint8_t id() const { return id_; }
  TimePoint since() const { return since_; }

  bool Seal(std::span<const std::byte> context, std::span<const std::byte> text,
            std::span<std::byte> out) {
    std::byte* p = out.data();
    p[0] = std::byte{id_};
    StoreBe48(p + 1, number_++ & kNumberMask);
    std::byte* const cipher = p + 1 + kNumberBytes;
    const auto nonce = NonceOf(p + 1);
    EVP_CIPHER_CTX* c = seal_.get();
    int n = 0;
    return EVP_EncryptInit_ex(c, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
           EVP_EncryptUpdate(c, nullptr, &n, In(context.data()), Length(context)) == 1 &&
           EVP_EncryptUpdate(c, Out(cipher), &n, In(text.data()), Length(text)) == 1 &&
           EVP_EncryptFinal_ex(c, Out(cipher) + n, &n) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, kTagBytes, cipher + text.size()) == 1;
  }

  bool Open(std::span<const std::byte> context, std::span<const std::byte> sealed,
            std::span<std::byte> out) {
    const auto nonce = NonceOf(sealed.data() + 1);
    const auto cipher = sealed.subspan(1 + kNumberBytes, out.size());
    std::array<std::byte, kTagBytes> tag;
    std::copy(sealed.end() - kTagBytes, sealed.end(), tag.begin());
    EVP_CIPHER_CTX* c = open_.get();
    int n = 0;
    const bool good =
        EVP_DecryptInit_ex(c, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
        EVP_DecryptUpdate(c, nullptr, &n, In(context.data()), Length(context)) == 1 &&
        EVP_DecryptUpdate(c, Out(out.data()), &n, In(cipher.data()), Length(cipher)) == 1 &&
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
        EVP_DecryptFinal_ex(c, Out(out.data()) + n, &n) == 1;
    // What a forger wrote, decrypted, is nobody's business.
    if (!good) OPENSSL_cleanse(out.data(), out.size());
    return good;
  }

 private:
  static constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << (8 * kNumberBytes)) - 1;

  static std::array<unsigned char, kNonceBytes> NonceOf(const std::byte* number) {
    std::array<unsigned char, kNonceBytes> nonce = {};
    std::copy(In(number), In(number) + kNumberBytes, nonce.end() - kNumberBytes);
    return nonce;
  }
  static int Length(std::span<const std::byte> bytes) { return static_cast<int>(bytes.size()); }

  bool Init() {
    std::array<unsigned char, kKeyBytes + kNumberBytes> secret;
    seal_.reset(EVP_CIPHER_CTX_new());
    open_.reset(EVP_CIPHER_CTX_new());
    const EVP_CIPHER* const aes = EVP_aes_128_gcm();
    const bool good = seal_ != nullptr && open_ != nullptr &&
                      RAND_bytes(secret.data(), static_cast<int>(secret.size())) == 1 &&
                      EVP_EncryptInit_ex(seal_.get(), aes, nullptr, secret.data(), nullptr) == 1 &&
                      EVP_DecryptInit_ex(open_.get(), aes, nullptr, secret.data(), nullptr) == 1;
    for (std::size_t i = 0; good && i < kNumberBytes; ++i)
      number_ = number_ << 8 | secret[kKeyBytes + i];
    OPENSSL_cleanse(secret.data(), secret.size());
    return good;
  }

  std::uint8_t id_ = 0;
  TimePoint since_;
  std::uint64_t number_ = 0;
  CipherContext seal_;
  CipherContext open_;
};

class OpenSslCookieSealer final : public CookieSealer {
 public:
  explicit OpenSslCookieSealer(Duration rotation) : rotation_(rotation) {}

  std::size_t overhead_bytes() const override { return 1 + kNumberBytes + kTagBytes; }

  bool Seal(std::span<const std::byte> context, std::span<const std::byte> text, TimePoint now,
            std::span<std::byte> out) override {
    DCCP_CHECK(out.size() == text.size() + overhead_bytes());
    Rotate(now);
    if (current_ == nullptr || now - current_->since() >= rotation_) {
      auto fresh = Key::Make(next_id_, now);
      if (fresh == nullptr) return false;
      ++next_id_;
      previous_ = std::exchange(current_, std::move(fresh));
    }
    return current_->Seal(context, text, out);
  }

  bool Open(std::span<const std::byte> context, std::span<const std::byte> sealed, TimePoint now,
            std::span<std::byte> out) override {
    DCCP_CHECK(sealed.size() == out.size() + overhead_bytes());
    Rotate(now);
    for (Key* key : {current_.get(), previous_.get()}) {
      if (key != nullptr && std::byte{key->id()} == sealed[0])
        return key->Open(context, sealed, out);
    }
    return false;
  }

 private:
  // A key is used for one rotation at most, so one that began two ago is used no more.
  void Rotate(TimePoint now) {
    for (auto* key : {&current_, &previous_}) {
      if (*key != nullptr && now - (*key)->since() >= 2 * rotation_) key->reset();
    }
  }

  Duration rotation_;
  std::uint8_t next_id_ = 0;
  std::unique_ptr<Key> current_;
  std::unique_ptr<Key> previous_;
};

}  // namespace

std::unique_ptr<CookieSealer> MakeOpenSslCookieSealer(Duration rotation) {
  // Whether the cipher and randomness are to be had shows here, not at the first flood.
  if (rotation <= Duration::zero() || Key::Make(0, TimePoint()) == nullptr) return nullptr;
  return std::make_unique<OpenSslCookieSealer>(rotation);
}

}  // namespace dccp
