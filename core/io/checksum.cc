#include "io/checksum.h"

#include <array>

namespace arboleda {

namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41 with its bits reversed
constexpr std::size_t kSlices = 8;                 // bytes that one step takes

// table[s][b]: what byte b does to the checksum when s more bytes of the step come after it.
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  Tables table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[0][byte] = crc;
  }
  for (std::size_t s = 1; s < kSlices; ++s) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = table[s - 1][byte];
      table[s][byte] = (before >> 8) ^ table[0][before & 255];
    }
  }
  return table;
}

constexpr Tables kTable = make_tables();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  std::uint32_t crc = ~std::uint32_t{0};
  std::size_t i = 0;
  for (; i + kSlices <= bytes.size(); i += kSlices) {
    const std::uint32_t first = crc ^ (at(i) | at(i + 1) << 8 | at(i + 2) << 16 | at(i + 3) << 24);
    crc = kTable[7][first & 255] ^ kTable[6][(first >> 8) & 255] ^ kTable[5][(first >> 16) & 255] ^
          kTable[4][first >> 24] ^ kTable[3][at(i + 4)] ^ kTable[2][at(i + 5)] ^
          kTable[1][at(i + 6)] ^ kTable[0][at(i + 7)];
  }
  for (; i < bytes.size(); ++i) crc = (crc >> 8) ^ kTable[0][(crc ^ at(i)) & 255];
  return ~crc;
}

}  // namespace arboleda
