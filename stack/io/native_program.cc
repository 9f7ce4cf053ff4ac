#include "stack/io/native_program.h"

#include <limits>
#include <utility>

namespace dccp {
namespace {

constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kNet = static_cast<std::uint32_t>(SKF_NET_OFF);

// A raw IPv4 socket sees the packet from its IP header on, an IPv6 one from the DCCP header on,
// but can look back.
constexpr std::uint32_t kSource4 = 12;
constexpr std::uint32_t kDestination4 = 16;
constexpr std::uint32_t kSource6 = kNet + 8;
constexpr std::uint32_t kDestination6 = kNet + 24;
constexpr std::uint32_t kAddress6Bytes = 16;

// DCCP generic header, RFC 4340 §5.1; the shortest has 12 bytes.
constexpr std::uint32_t kSourcePort = 0;
constexpr std::uint32_t kDestinationPort = 2;
constexpr std::uint32_t kTypeByte = 8;
constexpr std::uint32_t kMinBytes = 12;

// Jumps to one of the two ends, drop and pass, get their distances in Finish().
class Assembler {
 public:
  void Do(std::uint16_t code, std::uint32_t k) { code_.push_back({code, 0, 0, k}); }
  void DropIf(std::uint16_t test, std::uint32_t k) { End(test, k, true, drops_); }
  void PassIf(std::uint16_t test, std::uint32_t k) { End(test, k, true, passes_); }
  void PassUnless(std::uint16_t test, std::uint32_t k) { End(test, k, false, passes_); }
  // Skips the next `count` instructions if the test holds.
  void SkipIf(std::uint16_t test, std::uint32_t k, std::uint8_t count) {
    code_.push_back({Jump(test), count, 0, k});
  }
  void SkipUnless(std::uint16_t test, std::uint32_t k, std::uint8_t count) {
    code_.push_back({Jump(test), 0, count, k});
  }
  std::vector<sock_filter> Finish(bool pass) {
    const std::size_t last = code_.size();
    code_.push_back({BPF_RET | BPF_K, 0, 0, pass ? kAll : 0});
    code_.push_back({BPF_RET | BPF_K, 0, 0, pass ? 0 : kAll});
    Land(drops_, pass ? last + 1 : last);
    Land(passes_, pass ? last : last + 1);
    return std::move(code_);
  }

 private:
  struct JumpOut {
    std::size_t at;
    bool when_true;
  };
  static std::uint16_t Jump(std::uint16_t test) {
    return static_cast<std::uint16_t>(BPF_JMP | test);
  }
  void End(std::uint16_t test, std::uint32_t k, bool when_true, std::vector<JumpOut>& list) {
    list.push_back({code_.size(), when_true});
    code_.push_back({Jump(test), 0, 0, k});
  }
  void Land(const std::vector<JumpOut>& list, std::size_t target) {
    for (const JumpOut& jump : list) {
      const auto distance = static_cast<std::uint8_t>(target - jump.at - 1);
      (jump.when_true ? code_[jump.at].jt : code_[jump.at].jf) = distance;
    }
  }

  std::vector<sock_filter> code_;
  std::vector<JumpOut> drops_;
  std::vector<JumpOut> passes_;
};

// Ends with the answer for a packet of our own that came back, unless it went elsewhere.
void DropLooped4(Assembler& code) {
  constexpr std::uint32_t kNet127 = 127u << 24;
  constexpr std::uint32_t kFirstByte = 0xFFu << 24;
  code.Do(BPF_LD | BPF_W | BPF_ABS, kSource4);
  code.Do(BPF_ALU | BPF_AND | BPF_K, kFirstByte);
  code.SkipUnless(BPF_JEQ | BPF_K, kNet127, 3);
  code.Do(BPF_LD | BPF_W | BPF_ABS, kDestination4);
  code.Do(BPF_ALU | BPF_AND | BPF_K, kFirstByte);
  code.DropIf(BPF_JEQ | BPF_K, kNet127);
  code.Do(BPF_LD | BPF_W | BPF_ABS, kSource4);
  code.Do(BPF_MISC | BPF_TAX, 0);
  code.Do(BPF_LD | BPF_W | BPF_ABS, kDestination4);
  code.DropIf(BPF_JEQ | BPF_X, 0);
}

void DropLooped6(Assembler& code) {
  for (std::uint32_t word = 0; word < kAddress6Bytes; word += 4) {
    code.Do(BPF_LD | BPF_W | BPF_ABS, kSource6 + word);
    code.Do(BPF_MISC | BPF_TAX, 0);
    code.Do(BPF_LD | BPF_W | BPF_ABS, kDestination6 + word);
    if (word + 4 < kAddress6Bytes)
      code.PassUnless(BPF_JEQ | BPF_X, 0);
    else
      code.DropIf(BPF_JEQ | BPF_X, 0);
  }
}

}  // namespace

std::vector<sock_filter> NativeProgram(IpFamily family, std::span<const std::uint16_t> ports,
                                       bool server) {
  const bool v4 = family == IpFamily::kV4;
  Assembler code;
  // X: where the DCCP header is.
  if (v4)
    code.Do(BPF_LDX | BPF_B | BPF_MSH, 0);
  else
    code.Do(BPF_LDX | BPF_W | BPF_IMM, 0);
  code.Do(BPF_LD | BPF_W | BPF_LEN, 0);
  code.Do(BPF_ALU | BPF_SUB | BPF_X, 0);
  code.PassUnless(BPF_JGE | BPF_K, kMinBytes);
  code.Do(BPF_LD | BPF_H | BPF_IND, kDestinationPort);
  for (const std::uint16_t port : ports) code.PassIf(BPF_JEQ | BPF_K, port);
  if (!server) return code.Finish(false);

  if (ports.empty()) return code.Finish(true);
  code.Do(BPF_LD | BPF_B | BPF_IND, kTypeByte);
  code.Do(BPF_ALU | BPF_AND | BPF_K, 0x1E);
  code.PassIf(BPF_JEQ | BPF_K, static_cast<std::uint32_t>(PacketType::kRequest) << 1);
  code.Do(BPF_LD | BPF_H | BPF_IND, kSourcePort);
  for (std::size_t i = 0; i + 1 < ports.size(); ++i) {
    const auto to_the_end = static_cast<std::uint8_t>(ports.size() - 1 - i);
    code.SkipIf(BPF_JEQ | BPF_K, ports[i], to_the_end);
  }
  code.PassUnless(BPF_JEQ | BPF_K, ports.back());
  if (v4)
    DropLooped4(code);
  else
    DropLooped6(code);
  return code.Finish(true);
}

}  // namespace dccp
