#include "simd/binary_feature_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

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
            level->binary_features.sum({flags.data(), stride}, rows.data(), entries.data(), n,
                                       n_classes, counts_rows, found.data());
            CHECK(found == expected);
          }
        }
      }
    }
  }
}

namespace {

// A table of bits with what kernels are to find in some of its columns.
struct BinaryColumns {
  std::size_t n_flags, stride;
  std::vector<std::uint32_t> words;
  std::vector<RowIndex> rows;
  std::vector<ClassEntry> entries;

  BinaryColumns(std::size_t n_columns, std::size_t n, std::size_t n_classes, RandomStream& random)
      : n_flags(n_columns), stride((n_columns + 31) / 32) {
    constexpr std::uint32_t kRows = 60;
    words.resize(kRows * stride + BinaryFeatureBits::kBlock - 1);
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < n_flags; ++j) {
        // Every third column is nearly constant.
        const bool flag = random.below(j % 3 == 0 ? 50 : 3) == 0;
        words[i * stride + j / 32] |= std::uint32_t{flag} << j % 32;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      rows.push_back(random.below(kRows));
      const std::uint32_t label = random.below(static_cast<std::uint32_t>(n_classes));
      entries.push_back({static_cast<std::uint16_t>(label),
                         static_cast<std::uint16_t>(1 + random.below(i == 3 ? 255 : 4))});
    }
  }

  BinaryFeatureBits bits() const { return {words.data(), stride}; }
  bool has(RowIndex row, std::size_t j) const {
    return (words[row * stride + j / 32] >> j % 32 & 1) != 0;
  }
};

}  // namespace

TEST_CASE("sums over some flags, which vary, and their scores are those of the definitions") {
  RandomStream random(32, Purpose::feature_subset, 0, 0);
  for (const std::size_t n_flags : {3, 108, 256, 300, 600}) {
    for (const std::size_t n_classes : {1, 2, 3, 7}) {
      for (const std::size_t n : {1, 2, 5, 40, 700}) {
        const BinaryColumns flags(n_flags, n, n_classes, random);
        std::vector<BinaryFeatureGroup> groups;
        std::vector<std::size_t> column;  // of each lane, or SIZE_MAX
        for (std::size_t block = 0; block * 256 < n_flags; ++block) {
          for (int more = 0; more < 2; ++more) {
            BinaryFeatureGroup group{static_cast<std::uint32_t>(block), {}, {}};
            for (std::size_t lane = 0; lane < BinaryFeatureGroup::kColumns; ++lane) {
              const std::size_t j =
                  block * 256 + random.below(static_cast<std::uint32_t>(
                                    std::min<std::size_t>(256, n_flags - block * 256)));
              const bool is_used = lane < 5 || more == 0;
              column.push_back(is_used ? j : SIZE_MAX);
              if (!is_used) continue;
              group.word[lane] = static_cast<std::uint32_t>(j % 256 / 32);
              group.shift[lane] = static_cast<std::uint32_t>(31 - j % 32);
            }
            groups.push_back(group);
          }
        }
        const std::size_t stride = column.size();
        std::vector<std::uint32_t> expected((n_classes + 1) * stride), total(n_classes);
        for (std::size_t i = 0; i < n; ++i) {
          total[flags.entries[i].label] += flags.entries[i].weight;
          for (std::size_t at = 0; at < stride; ++at) {
            if (column[at] == SIZE_MAX || !flags.has(flags.rows[i], column[at])) continue;
            expected[flags.entries[i].label * stride + at] += flags.entries[i].weight;
            ++expected[n_classes * stride + at];
          }
        }
        for (const Kernels* level : all_kernels()) {
          CAPTURE(std::string(level->level));
          for (const bool counts_rows : {false, true}) {
            std::vector<std::uint32_t> found((n_classes + 1) * stride, 77);
            level->binary_features.sum_groups(flags.bits(), groups.data(), groups.size(),
                                              flags.rows.data(), flags.entries.data(), n, n_classes,
                                              counts_rows, found.data());
            const std::size_t n_lines = n_classes + (counts_rows ? 1 : 0);
            for (std::size_t at = 0; at < n_lines * stride; ++at) {
              if (column[at % stride] == SIZE_MAX) continue;
              CHECK(found[at] == expected[at]);
            }
          }
          std::vector<std::uint32_t> varying(flags.stride + BinaryFeatureBits::kBlock - 1, 77);
          level->binary_features.varying(flags.bits(), flags.rows.data(), n, varying.data());
          std::vector<double> score(stride, 77.0);
          level->split_scores.gini(expected.data(), stride, stride, total.data(), n_classes,
                                   score.data());
          for (std::size_t at = 0; at < stride; ++at) {
            const std::size_t j = column[at];
            if (j == SIZE_MAX) continue;
            double squares[2] = {0.0, 0.0}, weight[2] = {0.0, 0.0};
            for (std::size_t k = 0; k < n_classes; ++k) {
              const double right = expected[k * stride + at];
              const double left = total[k] - right;
              squares[0] += left * left;
              squares[1] += right * right;
              weight[0] += left;
              weight[1] += right;
            }
            const bool varies = weight[0] > 0.0 && weight[1] > 0.0;
            CHECK(score[at] == (varies ? squares[0] / weight[0] + squares[1] / weight[1] : -1.0));
            CHECK((varying[j / 32] >> j % 32 & 1) == varies);
          }
        }
      }
    }
  }
}

}  // namespace arboleda
