#include "simd/stump_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr std::size_t kSizes[] = {1, 2, 7, 8, 9, 16, 31, 64, 333};

struct Rows {
  Rows(std::size_t n, std::uint64_t seed) : random(seed, Purpose::feature_subset, 5, 0) {
    for (std::size_t i = 0; i < n; ++i) {
      labels.push_back(random.below(2));
      leaf.push_back(1 + static_cast<std::int32_t>(random.below(2)));
      units.push_back(random.below(5) == 0 ? 0 : std::uint64_t{random.next()} << random.below(20));
      weight.push_back(random.below(5) == 0 ? 0.0 : random.uniform());
    }
  }

  RandomStream random;
  std::vector<std::uint32_t> labels;
  std::vector<std::int32_t> leaf;
  std::vector<std::uint64_t> units;
  std::vector<double> weight;
};

PackedWeights packed(std::uint64_t first, std::uint64_t second) {
  return (first + second) << 32 | second;
}

// What parting a sum from the rest explains, by the definition in stump_kernels.h.
double explained(PackedWeights sum, PackedWeights total) {
  const auto whole = static_cast<double>(total >> 32);
  const double p = static_cast<double>(total & UINT32_MAX) / whole;
  const double a = static_cast<double>(sum >> 32) / whole;
  const double l = static_cast<double>(sum & UINT32_MAX) / whole;
  return a <= 0.0 || a >= 1.0 ? 0.0 : (l - p * a) * (l - p * a) / (a * (1.0 - a));
}

}  // namespace

TEST_CASE("weights of two classes are summed and packed by every level as by hand") {
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    for (const std::size_t n : kSizes) {
      const Rows rows(n, n);
      std::uint64_t whole = 0, second = 0, n_rows = 0;
      PackedWeights sum = 0;
      std::vector<PackedWeights> expected, found(n);
      const double scale = 0x1p-22;
      for (std::size_t i = 0; i < n; ++i) {
        whole += rows.units[i];
        second += rows.labels[i] == 1 ? rows.units[i] : 0;
        n_rows += rows.units[i] > 0;
        const auto rounded =
            static_cast<std::uint64_t>(std::llround(static_cast<double>(rows.units[i]) * scale));
        expected.push_back(rows.labels[i] == 1 ? packed(0, rounded) : packed(rounded, 0));
        sum += expected[i];
      }
      const ClassTotals totals = level->stumps.totals(rows.units.data(), rows.labels.data(), n);
      CHECK(totals.whole == whole);
      CHECK(totals.second == second);
      CHECK(totals.n_rows == n_rows);
      CHECK(level->stumps.pack(rows.units.data(), rows.labels.data(), n, scale, found.data()) ==
            sum);
      CHECK(found == expected);
    }
  }
}

TEST_CASE("gains are those of the definition, and no place of a block gains more than its bound") {
  constexpr std::size_t kBlock = 12;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rows rows(7 * kBlock, seed);
    std::vector<PackedWeights> sums{0}, blocks{0};
    for (std::size_t i = 0; i < rows.labels.size(); ++i) {
      const std::uint64_t units = seed == 0 ? 1 : rows.random.below(1u << 23);
      // Long runs of one class are what makes a bound loose.
      const bool second = seed % 2 == 0 ? rows.labels[i] == 1 : i / 9 % 2 == 0;
      sums.push_back(sums.back() + (second ? packed(0, units) : packed(units, 0)));
      if (sums.size() % kBlock == 1) blocks.push_back(sums.back());
    }
    const PackedWeights before = packed(rows.random.below(1u << 24), rows.random.below(1u << 24));
    const PackedWeights total = sums.back() + before + packed(5, 7);
    for (auto& sum : sums) sum += before;
    std::vector<float> expected_bounds;
    for (const Kernels* level : all_kernels()) {
      CAPTURE(std::string(level->level));
      std::vector<float> gains(sums.size()), bounds(blocks.size() - 1);
      const float largest = level->stumps.gains(sums.data(), sums.size(), total, gains.data());
      CHECK(largest == *std::max_element(gains.begin(), gains.end()));
      float at_ends = -1.0F;
      const float ends =
          level->stumps.bounds(blocks.data(), bounds.size(), before, total, bounds.data());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        REQUIRE(std::abs(static_cast<double>(gains[i]) - explained(sums[i], total)) <
                kGainRounding);
        if (i > 0 && i % kBlock == 0) at_ends = std::max(at_ends, gains[i]);
        const std::size_t b = std::min(i / kBlock, bounds.size() - 1);
        REQUIRE(static_cast<double>(gains[i]) <= static_cast<double>(bounds[b]) + kGainRounding);
      }
      CHECK(ends == at_ends);
      if (expected_bounds.empty()) expected_bounds = bounds;
      CHECK(bounds == expected_bounds);
    }
    CHECK(kernels().stumps.bounds(blocks.data(), 0, before, total, nullptr) == -1.0F);
  }
}

TEST_CASE("the sides of a stump are summed and multiplied by every level as by hand") {
  const double factor[] = {0.5, 1.75, 0x1p-60, 1.0 / 3.0};
  const double least = 0x1p-52;
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    for (const std::size_t n : kSizes) {
      const Rows rows(n, 1000 + n);
      std::vector<std::int64_t> expected{1, 2, 3, 4}, found = expected;
      std::vector<double> multiplied = rows.weight, ours = rows.weight;
      for (std::size_t i = 0; i < n; ++i) {
        const auto cell = static_cast<std::size_t>(2 * (rows.leaf[i] - 1)) + rows.labels[i];
        expected[cell] += static_cast<std::int64_t>(rows.weight[i] * 0x1p48);
        if (rows.weight[i] > 0.0) multiplied[i] = std::max(rows.weight[i] * factor[cell], least);
      }
      const StumpRows stump{rows.leaf.data(), rows.labels.data(), n};
      level->stumps.side_sums(stump, rows.weight.data(), 0x1p48, found.data());
      CHECK(found == expected);
      level->stumps.multiply_sides(stump, factor, least, ours.data());
      CHECK(ours == multiplied);
    }
  }
}

}  // namespace arboleda
