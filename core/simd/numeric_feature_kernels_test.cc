#include "simd/numeric_feature_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

TEST_CASE("ranges of columns and sums above thresholds are those of the definitions") {
  RandomStream random(21, Purpose::feature_subset, 0, 0);
  constexpr std::size_t kRows = 80, kStride = 16, kAt = 8, kColumns = NumericFeatureBlock::kColumns;
  std::vector<std::uint16_t> codes(kRows * kStride);
  for (auto& code : codes) code = static_cast<std::uint16_t>(random.below(65536));
  const NumericFeatureBlock block{codes.data() + kAt, kStride};
  for (const std::size_t n_classes : {1, 2, 3, 7}) {
    for (const std::size_t n : {1, 2, 40, 700}) {
      std::vector<RowIndex> rows;
      std::vector<ClassEntry> entries;
      for (std::size_t i = 0; i < n; ++i) {
        rows.push_back(random.below(kRows));
        const std::uint32_t label = random.below(static_cast<std::uint32_t>(n_classes));
        // Whole chunks of the largest weight: no sum may overflow.
        const std::uint32_t weight = i < 300 ? 255 : 1 + random.below(4);
        entries.push_back({static_cast<std::uint16_t>(label), static_cast<std::uint16_t>(weight)});
      }
      std::vector<std::uint16_t> last;
      for (std::size_t j = 0; j < kColumns; ++j) {
        const std::uint16_t of_a_row = codes[rows[0] * kStride + kAt + j];
        last.push_back(j == 3 ? std::uint16_t{UINT16_MAX} : of_a_row);
      }
      constexpr std::size_t kTotals = 24;  // from class to class
      std::vector<std::uint32_t> expected(n_classes * kTotals);
      std::vector<std::uint16_t> lowest(kColumns, UINT16_MAX), highest(kColumns, 0);
      std::vector<std::int64_t> values, weights;
      std::vector<std::int64_t> sums(kColumns), weight_sums(kColumns), counts(kColumns);
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t size = std::int64_t{random.next()} << random.below(20);
        values.push_back(random.below(2) == 0 ? size : -size);
        weights.push_back(entries[i].weight);
        for (std::size_t j = 0; j < kColumns; ++j) {
          const std::uint16_t code = codes[rows[i] * kStride + kAt + j];
          lowest[j] = std::min(lowest[j], code);
          highest[j] = std::max(highest[j], code);
          if (code <= last[j]) continue;
          expected[entries[i].label * kTotals + j] += entries[i].weight;
          sums[j] += values[i];
          weight_sums[j] += weights[i];
          ++counts[j];
        }
      }
      for (const Kernels* level : all_kernels()) {
        CAPTURE(std::string(level->level));
        std::vector<std::uint16_t> low(kColumns, 77), high(kColumns, 77);
        level->numeric_features.ranges(block, rows.data(), n, low.data(), high.data());
        CHECK(low == lowest);
        CHECK(high == highest);
        for (const bool weighted : {false, true}) {
          std::vector<std::int64_t> sum(kColumns, 77), weight(kColumns, 77);
          level->numeric_features.sum_values_above(block, last.data(), rows.data(), values.data(),
                                                   weighted ? weights.data() : nullptr, n,
                                                   sum.data(), weight.data());
          CHECK(sum == sums);
          CHECK(weight == (weighted ? weight_sums : counts));
        }
        std::vector<std::uint32_t> total(n_classes * kTotals, 77);
        level->numeric_features.sum_above(block, last.data(), rows.data(), entries.data(), n,
                                          n_classes, kTotals, total.data());
        for (std::size_t k = 0; k < n_classes; ++k) {
          for (std::size_t j = 0; j < kColumns; ++j) {
            CHECK(total[k * kTotals + j] == expected[k * kTotals + j]);
          }
        }
      }
    }
  }
}

}  // namespace arboleda
