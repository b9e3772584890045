#include "data/radix_sort.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace arboleda {

TEST_CASE("keys are sorted as by the library") {
  RandomStream random(27, Purpose::feature_subset, 0, 0);
  for (const std::size_t n : {0u, 1u, 100u, 511u, 512u, 5000u}) {
    for (const int shift : {0, 12, 28}) {
      std::vector<std::int32_t> keys(n), spare;
      std::vector<std::int64_t> keys_64(n), spare_64;
      for (std::size_t i = 0; i < n; ++i) {
        keys[i] = std::bit_cast<std::int32_t>(random.next()) >> shift;
        keys_64[i] =
            std::bit_cast<std::int64_t>(std::uint64_t{random.next()} << 32 | random.next()) >>
            2 * shift;
      }
      auto expected = keys;
      auto expected_64 = keys_64;
      std::sort(expected.begin(), expected.end());
      std::sort(expected_64.begin(), expected_64.end());
      radix_sort(keys, spare);
      radix_sort(keys_64, spare_64);
      CHECK(keys == expected);
      CHECK(keys_64 == expected_64);
    }
  }
}

}  // namespace arboleda
