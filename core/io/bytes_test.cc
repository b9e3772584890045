#include "io/bytes.h"

#include <doctest/doctest.h>

#include <limits>

namespace arboleda {

TEST_CASE("numbers are little-endian") {
  Bytes out;
  append(out, std::uint32_t{0x01020304});
  append(out, std::vector<std::uint16_t>{0x0506, 0x0708});
  append(out, 1.0);
  const std::vector<int> expected{4, 3, 2, 1, 6, 5, 8, 7, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F};
  REQUIRE(out.size() == expected.size());
  for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::to_integer<int>(out[i]) == expected[i]);
}

TEST_CASE("a machine of the other byte order turns each number round") {
  Bytes bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  swap_if_needed<false>(bytes.data(), 2, 2);
  CHECK(bytes == Bytes{std::byte{2}, std::byte{1}, std::byte{4}, std::byte{3}});
  swap_if_needed<true>(bytes.data(), 2, 2);
  CHECK(bytes == Bytes{std::byte{2}, std::byte{1}, std::byte{4}, std::byte{3}});
  swap_if_needed<false>(bytes.data(), 1, 4);
  CHECK(bytes == Bytes{std::byte{3}, std::byte{4}, std::byte{1}, std::byte{2}});
}

TEST_CASE("what is written is read, and nothing beyond the end") {
  Bytes out;
  append(out, std::vector<double>{0.5, -0.0, std::numeric_limits<double>::infinity()});
  append(out, std::int64_t{-7});
  append(out, std::uint8_t{9});
  align(out);
  ByteReader reader(out, 100);
  CHECK(reader.numbers<double>(3)[2] == std::numeric_limits<double>::infinity());
  CHECK(reader.number<std::int64_t>() == -7);
  CHECK(reader.number<std::uint8_t>() == 9);
  CHECK(reader.at() == 133);
  CHECK_THROWS_WITH_AS(reader.numbers<double>(1),
                       "byte 133: more should follow than the 7 bytes that do", Error);
  CHECK_THROWS_AS(reader.numbers<double>(std::numeric_limits<std::size_t>::max() / 8 + 2), Error);
  reader.skip_zeros(7);
  CHECK(reader.left() == 0);
  CHECK(reader.numbers<double>(0).empty());
  CHECK_THROWS_AS(reader.number<std::uint8_t>(), Error);
}

TEST_CASE("padding is zero") {
  const Bytes out{std::byte{0}, std::byte{1}, std::byte{1}};
  ByteReader reader(out, 7);
  reader.align();
  CHECK(reader.at() == 8);
  reader.align();  // nothing to skip
  CHECK(reader.at() == 8);
  CHECK_THROWS_WITH_AS(reader.skip_zeros(1), "byte 8: the space between two parts is not zero",
                       Error);
}

}  // namespace arboleda
