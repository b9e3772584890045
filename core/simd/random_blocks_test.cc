#include "simd/random_blocks.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace arboleda {

TEST_CASE("many blocks at once are the numbers of one after the other, at every level") {
  const PhiloxCounter counter{0xfffffff9, 5, 7, 0xffffffff};  // the first word overflows
  const PhiloxKey key{0xa4093822, 0x299f31d0};
  std::vector<std::uint32_t> expected;
  for (std::uint32_t b = 0; b < 24; ++b) {
    for (const std::uint32_t word :
         philox4x32({counter[0] + b, counter[1], counter[2], counter[3]}, key)) {
      expected.push_back(word);
    }
  }
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    std::vector<std::uint32_t> found(expected.size());
    level->random.philox(counter.data(), key.data(), 24, found.data());
    CHECK(found == expected);
  }
  RandomStream one(3, Purpose::bag, 4, 5), many(3, Purpose::bag, 4, 5);
  std::vector<std::uint32_t> numbers(64);
  for (int times = 0; times < 3; ++times) {
    fill_random_blocks(many, numbers);
    for (const std::uint32_t number : numbers) CHECK(number == one.next());
  }
}

}  // namespace arboleda
