#include "base/flag_kernels.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/kernels.h"
#include "base/random.h"

namespace arboleda {

TEST_CASE("sums over flags are those of the definition, at every level") {
  RandomStream random(31, Purpose::feature_subset, 0, 0);
  constexpr std::size_t kRows = 900;
  for (const std::size_t stride : {64, 128, 192}) {
    std::vector<std::uint8_t> flags(kRows * stride);
    for (auto& flag : flags) flag = random.below(4) == 0 ? 0xFF : 0;
    for (const std::size_t n_classes : {1, 2, 3, 7}) {
      for (const std::size_t n : {1, 2, 9, 254, 255, 256, 700}) {
        std::vector<RowIndex> rows(n);
        std::vector<ClassEntry> entries(n);
        const std::uint32_t heaviest = n == 9 ? 255 : 4;
        for (std::size_t i = 0; i < n; ++i) {
          rows[i] = random.below(kRows);
          entries[i].label =
              static_cast<std::uint16_t>(random.below(static_cast<std::uint32_t>(n_classes)));
          entries[i].weight = static_cast<std::uint16_t>(1 + random.below(heaviest));
        }
        for (const bool counts_rows : {false, true}) {
          std::vector<std::uint32_t> expected((n_classes + 1) * stride, 0);
          for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < stride; ++j) {
              if (flags[rows[i] * stride + j] == 0) continue;
              expected[entries[i].label * stride + j] += entries[i].weight;
              if (counts_rows) ++expected[n_classes * stride + j];
            }
          }
          if (!counts_rows) expected.resize(n_classes * stride);
          for (const Kernels* level : all_kernels()) {
            CAPTURE(std::string(level->level));
            std::vector<std::uint32_t> found(expected.size(), 77);  // what was there does not count
            level->flags.sum({flags.data(), stride}, rows.data(), entries.data(), n, n_classes,
                             counts_rows, found.data());
            CHECK(found == expected);
          }
        }
      }
    }
  }
}

}  // namespace arboleda
