#include "io/checksum.h"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace arboleda {

namespace {

std::uint32_t naive(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78 : crc >> 1;
  }
  return ~crc;
}

}  // namespace

TEST_CASE("published values of CRC-32C") {
  const std::string_view digits = "123456789";
  CHECK(crc32c(std::as_bytes(std::span(digits))) == 0xE3069283);  // the usual check value
  // RFC 3720, appendix B.4
  CHECK(crc32c(std::vector<std::byte>(32, std::byte{0})) == 0x8A9136AA);
  CHECK(crc32c(std::vector<std::byte>(32, std::byte{0xFF})) == 0x62A8AB43);
  CHECK(crc32c({}) == 0);
}

TEST_CASE("eight bytes at a time equal one bit at a time, at every length") {
  std::vector<std::byte> bytes;
  for (std::uint32_t i = 0; i < 100; ++i) {
    CHECK(crc32c(bytes) == naive(bytes));
    bytes.push_back(static_cast<std::byte>((i * 2654435761U) >> 24));
  }
}

}  // namespace arboleda
