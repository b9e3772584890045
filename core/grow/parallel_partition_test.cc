#include "grow/parallel_partition.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace arboleda {

TEST_CASE("rows are parted in order, whether they fit in the buffer or not") {
  constexpr std::size_t kRows = 30'000;
  RandomStream random(3, Purpose::feature_subset, 0, 0);
  std::vector<std::uint8_t> codes(kRows);
  for (auto& code : codes) code = static_cast<std::uint8_t>(random.below(10));
  CodedColumn column;
  column.n_values = 10;
  column.codes = CodeArray<std::uint8_t>(codes);
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < kRows; ++row) {
    if (random.below(3) > 0) rows.push_back(row);
  }
  Split split;
  split.feature = 0;
  for (const Code last : {0u, 3u, 8u}) {
    split.code = last;
    auto expected = rows;
    const auto right = std::stable_partition(expected.begin(), expected.end(),
                                             [&](RowIndex row) { return codes[row] <= last; });
    for (const std::size_t most_buffered : {std::size_t{999}, kMostBufferedRows}) {
      for (const int n_threads : {1, 3}) {
        ParallelPartition partition(most_buffered);
        auto parted = rows;
        const std::size_t n_left = partition.part(column, split, parted, n_threads);
        CHECK(n_left == static_cast<std::size_t>(right - expected.begin()));
        CHECK(parted == expected);
      }
    }
  }
}

}  // namespace arboleda
