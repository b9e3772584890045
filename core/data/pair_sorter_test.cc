#include "data/pair_sorter.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.h"

namespace arboleda {

TEST_CASE("integers are sorted by their upper halves, at every length and width" *
          doctest::test_suite("one thread")) {
  RandomStream random(5, Purpose::feature_subset, 0, 0);
  PairSorter sorter;
  for (const std::size_t n : {0, 1, 2, 6, 7, 31, 48, 49, 96, 97, 500, 3000, 65536, 65537, 300000}) {
    for (const std::uint32_t bound : {1u, 2u, 256u, 257u, 65537u, 20000000u, UINT32_MAX}) {
      std::vector<std::uint64_t> keys(n);
      for (std::size_t i = 0; i < n; ++i) keys[i] = std::uint64_t{random.below(bound)} << 32 | i;
      std::vector<std::uint64_t> expected = keys;
      std::sort(expected.begin(), expected.end());
      std::uint32_t differ = 0;
      for (const auto key : keys) differ |= static_cast<std::uint32_t>((key ^ keys[0]) >> 32);
      sorter.sort(keys, differ);
      const auto upper = [](std::uint64_t a, std::uint64_t b) { return a >> 32 < b >> 32; };
      CHECK(std::is_sorted(keys.begin(), keys.end(), upper));
      std::sort(keys.begin(), keys.end());  // nothing is lost
      CHECK(keys == expected);
    }
  }
}

}  // namespace arboleda
