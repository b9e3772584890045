#include "simd/weight_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr std::size_t kSizes[] = {1, 5, 8, 16, 17, 100};

}  // namespace

TEST_CASE("weights are rounded and summarised by every level as by hand") {
  RandomStream random(3, Purpose::feature_subset, 6, 0);
  for (const std::size_t n : kSizes) {
    std::vector<double> weights(n);
    for (double& w : weights) {
      const std::uint32_t kind = random.below(4);
      w = kind == 0 ? 0.0 : kind == 1 ? random.below(64) / 8.0 : random.uniform() * 7.0;
    }
    weights[n / 2] = -0.0;
    for (const double unit : {1.0, 0x1p-3, 0x1p31, 0x1p59}) {
      std::vector<std::uint64_t> expected;
      for (const double w : weights) {
        const double x = w * unit;  // halves away from 0
        expected.push_back(static_cast<std::uint64_t>(x < 0x1p52 ? std::floor(x) : x) +
                           (x - std::floor(x) >= 0.5 ? 1 : 0));
      }
      std::uint64_t sum = 0, smallest = UINT64_MAX, largest = 0, n_positive = 0;
      for (const std::uint64_t x : expected) {
        sum += x;
        largest = std::max(largest, x);
        if (x > 0) smallest = std::min(smallest, x);
        n_positive += x > 0;
      }
      for (const Kernels* level : all_kernels()) {
        CAPTURE(std::string(level->level));
        std::vector<std::uint64_t> found(n);
        CHECK(level->weights.largest(weights.data(), n) ==
              *std::max_element(weights.begin(), weights.end()));
        CHECK(level->weights.round(weights.data(), n, {{unit, 1.0, 0.5, 2.0}}, found.data()) ==
              sum);
        CHECK(found == expected);
        const WeightSummary summary = level->weights.summary(found.data(), n);
        CHECK(summary.sum == sum);
        CHECK(summary.smallest == smallest);
        CHECK(summary.largest == largest);
        CHECK(summary.n_positive == n_positive);
      }
    }
  }
}

TEST_CASE("an invalid weight is found by every level, wherever it is") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    for (const double bad : {kInfinity, -kInfinity, std::nan(""), -1e-300}) {
      for (std::size_t place = 0; place < 19; ++place) {
        std::vector<double> weights(19, 1.0);
        weights[place] = bad;
        CHECK(std::isnan(level->weights.largest(weights.data(), weights.size())));
      }
    }
    CHECK(level->weights.largest(nullptr, 0) == 0.0);
    const double tiny = std::numeric_limits<double>::denorm_min();
    CHECK(level->weights.largest(&tiny, 1) == tiny);
  }
}

}  // namespace arboleda
