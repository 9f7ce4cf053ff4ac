#include "apps/common/text.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace dccp::apps {

namespace {

std::string Scaled(double value, double base, const std::array<const char*, 5>& units) {
  std::size_t unit = 0;
  while (value >= base && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  const int digits = value < 9.995 ? 2 : (value < 99.95 ? 1 : 0);
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

int first_write_error = 0;

void NoteWriteError() {
  if (first_write_error == 0) first_write_error = errno;
}

}  // namespace

std::string AddressText(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> buffer = {};
  const int family = address.family == IpFamily::kV4 ? AF_INET : AF_INET6;
  if (inet_ntop(family, address.bytes.data(), buffer.data(), buffer.size()) == nullptr) return "?";
  std::string text = buffer.data();
  if (address.scope_id == 0) return text;
  std::array<char, IF_NAMESIZE> name = {};
  return if_indextoname(address.scope_id, name.data()) != nullptr
             ? fmt::format("{}%{}", text, name.data())
             : fmt::format("{}%{}", text, address.scope_id);
}

std::string AddressAndPort(const IpAddress& address, std::uint16_t port) {
  return address.family == IpFamily::kV4 ? fmt::format("{}:{}", AddressText(address), port)
                                         : fmt::format("[{}]:{}", AddressText(address), port);
}

std::string BytesText(double bytes) {
  return Scaled(bytes, 1024, {"Bytes", "KBytes", "MBytes", "GBytes", "TBytes"});
}

std::string RateText(double bits_per_second) {
  return Scaled(bits_per_second, 1000,
                {"bits/sec", "Kbits/sec", "Mbits/sec", "Gbits/sec", "Tbits/sec"});
}

void Put(std::FILE* file, std::string_view text) {
  // A short write shows in ferror().
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) NoteWriteError();
}

bool Flush(std::FILE* file) {
  if (std::fflush(file) != 0) NoteWriteError();
  return std::ferror(file) == 0;
}

std::string WriteErrorText() { return ErrnoText(first_write_error); }

std::string ErrnoText() { return ErrnoText(errno); }
std::string ErrnoText(int error) { return std::strerror(error); }

}  // namespace dccp::apps
