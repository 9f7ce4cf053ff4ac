#include "stack/io/native_program.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <random>

#include "stack/io/native_filter.h"
#include "tests/unit/io/loopback.h"

namespace dccp {
namespace {

constexpr std::size_t kIpBytes = 20;
constexpr std::size_t kDccpBytes = 16;
using Packet = std::array<std::byte, kIpBytes + kDccpBytes>;

// The kernel runs the program, on a socket that needs no privileges and carries the same bytes as a
// raw IPv4 socket: the packet from its IP header on.
class KernelProgram {
 public:
  explicit KernelProgram(std::vector<sock_filter> code) : code_(std::move(code)) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds_.data()), 0);
    const sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
    EXPECT_EQ(::setsockopt(fds_[1], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
  }
  KernelProgram(const KernelProgram&) = delete;
  KernelProgram& operator=(const KernelProgram&) = delete;
  ~KernelProgram() {
    for (const int fd : fds_) ::close(fd);
  }
  bool Passes(std::span<const std::byte> packet) const {
    // A datagram that the filter refuses is an error of the sender here, or silently gone.
    ::send(fds_[0], packet.data(), packet.size(), 0);
    std::array<std::byte, 64> got = {};
    return ::recv(fds_[1], got.data(), got.size(), 0) >= 0;
  }

 private:
  std::array<int, 2> fds_ = {-1, -1};
  std::vector<sock_filter> code_;
};

Packet MakePacket(const IpAddress& from, const IpAddress& to, std::uint16_t source,
                  std::uint16_t destination, PacketType type) {
  Packet packet = {};
  packet[0] = std::byte{0x45};
  std::memcpy(&packet[12], from.bytes.data(), 4);
  std::memcpy(&packet[16], to.bytes.data(), 4);
  packet[20] = static_cast<std::byte>(source >> 8);
  packet[21] = static_cast<std::byte>(source & 0xFF);
  packet[22] = static_cast<std::byte>(destination >> 8);
  packet[23] = static_cast<std::byte>(destination & 0xFF);
  packet[28] = static_cast<std::byte>(static_cast<unsigned>(type) << 1 | 1u);
  return packet;
}

// A packet of few addresses, ports and types, so that every case of the filter is met.
struct Sample {
  IpAddress from;
  IpAddress to;
  Packet packet;
};

Sample RandomSample(std::mt19937& random) {
  const std::array<const char*, 4> addresses = {"10.0.0.1", "10.0.0.2", "127.0.0.1", "127.0.0.2"};
  const std::array<std::uint16_t, 4> ports = {5001, 5002, 50000, 7};
  Sample sample;
  sample.from = Address(addresses[random() % 4]);
  sample.to = Address(addresses[random() % 4]);
  sample.packet = MakePacket(sample.from, sample.to, ports[random() % 4], ports[random() % 4],
                             static_cast<PacketType>(random() % 10));
  return sample;
}

// `filter` has paths from every address of the samples, so that only ports decide.
void ExpectAgreement(const NativeFilter& filter) {
  const KernelProgram program(filter.Program(IpFamily::kV4));
  std::mt19937 random(1);
  int passed = 0;
  for (int i = 0; i < 2000; ++i) {
    const Sample sample = RandomSample(random);
    InboundDatagram in;
    in.bytes = std::span(sample.packet).subspan(kIpBytes);
    in.path.local = sample.to;
    in.path.remote = sample.from;
    const bool passes = program.Passes(sample.packet);
    EXPECT_EQ(passes, filter.Wants(in))
        << FormatAddress(sample.from) << " to " << FormatAddress(sample.to);
    passed += passes ? 1 : 0;
  }
  EXPECT_GT(passed, 100);
  EXPECT_LT(passed, 1950);
}

NativeFilter AllAddresses() {
  NativeFilter filter;
  for (const char* address : {"10.0.0.1", "10.0.0.2", "127.0.0.1", "127.0.0.2"})
    filter.AddPath(Address(address));
  return filter;
}

void SendFrom(NativeFilter& filter, std::uint16_t port) {
  const Packet packet = MakePacket({}, {}, port, 1, PacketType::kData);
  const OutboundDatagram out = {std::span(packet).subspan(kIpBytes), Path(), Ecn::kNotEct, false};
  filter.OnSent({&out, 1});
}

TEST(NativeProgram, DropsForAClientWhatItsFilterWouldRefuse) {
  NativeFilter filter = AllAddresses();
  SendFrom(filter, 50000);
  SendFrom(filter, 5002);
  ExpectAgreement(filter);
}

TEST(NativeProgram, DropsForAServerItsOwnThatCameBack) {
  NativeFilter filter = AllAddresses();
  filter.AddServer(AnyAddress(IpFamily::kV4));
  SendFrom(filter, 5001);
  SendFrom(filter, 50000);
  ExpectAgreement(filter);
}

TEST(NativeProgram, LetsAServerThatHasNotSentYetHearEverything) {
  NativeFilter filter;
  filter.AddServer(AnyAddress(IpFamily::kV4));
  const KernelProgram program(filter.Program(IpFamily::kV4));
  EXPECT_TRUE(program.Passes(
      MakePacket(Address("10.0.0.2"), Address("10.0.0.1"), 7, 5001, PacketType::kRequest)));
}

// It has to be counted.
TEST(NativeProgram, LetsPassWhatIsTooShortToTell) {
  const KernelProgram program(NativeFilter().Program(IpFamily::kV4));
  const Packet packet = MakePacket({}, {}, 1, 2, PacketType::kData);
  EXPECT_FALSE(program.Passes(packet));
  EXPECT_TRUE(program.Passes(std::span(packet).first(kIpBytes + 11)));
  EXPECT_TRUE(program.Passes(std::span(packet).first(kIpBytes)));
}

TEST(NativeProgram, FindsTheHeaderBehindIpOptions) {
  NativeFilter filter;
  SendFrom(filter, 50000);
  const KernelProgram program(filter.Program(IpFamily::kV4));
  std::array<std::byte, 24 + kDccpBytes> packet = {};
  const Packet plain = MakePacket({}, {}, 1, 50000, PacketType::kData);
  std::memcpy(&packet[24], &plain[kIpBytes], kDccpBytes);
  packet[0] = std::byte{0x46};
  EXPECT_TRUE(program.Passes(packet));
  packet[27] = std::byte{1};
  EXPECT_FALSE(program.Passes(packet));
}

TEST(NativeProgram, GivesUpWhereTheListOfPortsIsLong) {
  NativeFilter filter = AllAddresses();
  filter.AddServer(AnyAddress(IpFamily::kV4));
  for (std::uint16_t port = 1; port <= kMaxProgramPorts; ++port) SendFrom(filter, port);
  ExpectAgreement(filter);
  SendFrom(filter, 1000);
  EXPECT_TRUE(filter.Program(IpFamily::kV4).empty());
}

}  // namespace
}  // namespace dccp
