#include "simd/split_score_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Of any size below 2^n_bits.
std::int64_t some_number(int n_bits, RandomStream& random) {
  const auto bits = std::uint64_t{random.next()} << 32 | random.next();
  const auto shift =
      64 - n_bits + static_cast<int>(random.below(static_cast<std::uint32_t>(n_bits)));
  return static_cast<std::int64_t>(bits >> shift);
}

std::vector<std::int64_t> some_numbers(std::size_t n, int n_bits, bool is_signed,
                                       RandomStream& random) {
  std::vector<std::int64_t> numbers(n);
  for (auto& x : numbers) {
    x = some_number(n_bits, random);
    if (is_signed && random.below(2) == 0) x = -x;
  }
  return numbers;
}

double as_double(std::int64_t x) { return static_cast<double>(x); }

}  // namespace

TEST_CASE("every level scores splits as the formula does, rounding alike") {
  RandomStream random(31, Purpose::feature_subset, 0, 0);
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    const SplitScoreKernels& kernels = level->split_scores;
    for (int trial = 0; trial < 100; ++trial) {
      const std::size_t n = 8 * (1 + random.below(6));
      const auto sums = some_numbers(n, 62, true, random);
      const auto squares = some_numbers(n, 62, false, random);
      const auto others = some_numbers(n, 62, false, random);
      auto weights = some_numbers(n, 52, false, random);
      for (auto& w : weights) ++w;
      const std::int64_t total_sum = some_number(62, random);
      const std::int64_t total_weight = *std::ranges::max_element(weights) + 1;
      std::vector<double> score(n);
      double highest =
          kernels.squared(sums.data(), weights.data(), n, total_sum, total_weight, score.data());
      for (std::size_t i = 0; i < n; ++i) {
        const double left = as_double(sums[i]), right = as_double(total_sum - sums[i]);
        REQUIRE(score[i] == left * left / as_double(weights[i]) +
                                right * right / as_double(total_weight - weights[i]));
      }
      CHECK(highest == *std::ranges::max_element(score));
      highest = kernels.quotients(squares.data(), others.data(), weights.data(), n, total_weight,
                                  score.data());
      for (std::size_t i = 0; i < n; ++i) {
        REQUIRE(score[i] == as_double(squares[i]) / as_double(weights[i]) +
                                as_double(others[i]) / as_double(total_weight - weights[i]));
      }
      CHECK(highest == *std::ranges::max_element(score));
    }
  }
}

TEST_CASE("every level scores class weights as the formula does, small ones and large ones") {
  RandomStream random(32, Purpose::feature_subset, 0, 0);
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    for (int trial = 0; trial < 100; ++trial) {
      const std::size_t n = 16, n_classes = 2 + random.below(3);
      const int n_bits = trial % 2 == 0 ? 20 : 28;
      std::vector<std::uint32_t> right(n_classes * n), total(n_classes);
      for (std::size_t k = 0; k < n_classes; ++k) {
        total[k] = static_cast<std::uint32_t>(some_number(n_bits, random)) + 1;
        for (std::size_t j = 0; j < n; ++j) {
          right[k * n + j] = j == 0 ? 0 : j == 1 ? total[k] : random.below(total[k] + 1);
        }
      }
      std::vector<double> score(n);
      level->split_scores.gini(right.data(), n, n, total.data(), n_classes, score.data());
      for (std::size_t j = 0; j < n; ++j) {
        std::int64_t left_squares = 0, right_squares = 0, left = 0, all_right = 0;
        for (std::size_t k = 0; k < n_classes; ++k) {
          const std::int64_t r = right[k * n + j], l = std::int64_t{total[k]} - r;
          left_squares += l * l;
          right_squares += r * r;
          left += l;
          all_right += r;
        }
        const double expected = left == 0 || all_right == 0
                                    ? -1.0
                                    : as_double(left_squares) / as_double(left) +
                                          as_double(right_squares) / as_double(all_right);
        REQUIRE(score[j] == expected);
      }
    }
  }
}

TEST_CASE("every level sorts columns, whatever their number of rows") {
  RandomStream random(33, Purpose::feature_subset, 0, 0);
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    const std::size_t stride = level->split_scores.sorted_columns;
    for (std::size_t n = 0; n <= 260; n += n < 40 ? 1 : 11) {
      CAPTURE(n);
      std::vector<std::int32_t> keys(n * stride);
      const std::uint32_t range = n % 2 == 0 ? 5 : std::uint32_t{1} << 31;
      for (auto& key : keys) key = static_cast<std::int32_t>(random.below(range));
      const auto unsorted = keys;
      level->split_scores.sort_columns(keys.data(), n);
      for (std::size_t j = 0; j < stride; ++j) {
        std::vector<std::int32_t> expected, found;
        for (std::size_t i = 0; i < n; ++i) {
          expected.push_back(unsorted[i * stride + j]);
          found.push_back(keys[i * stride + j]);
        }
        std::ranges::sort(expected);
        REQUIRE(found == expected);
      }
    }
  }
}

}  // namespace arboleda
