// Quantiles of weighted numbers.
//
// The quantile at level q is the smallest x such that the numbers up to x have at least q of the
// weight: the inverse of the distribution function (Hyndman, Fan 1996, "Sample quantiles in
// statistical packages", definition 1). Where they have exactly q of it, every number from x to the
// next is as good, and `midway` takes the middle (definition 2: the usual median). Weights are
// integers and the level is reached when within 2^-50 of it, relatively: 0.9 of ten rows are nine,
// though the double 0.9 lies a little higher. So a weight of 3 is the same as three rows, and the
// order of rows does not matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shards.h"

namespace arboleda {

enum class Between { lower, midway };

// weight: one a number, or empty for "all 1" (in all parts, or in none); their sum below 2^63.
struct WeightedNumbers {
  std::span<const double> x;
  std::span<const std::uint64_t> weight;
};

// Of numbers that lie in several places, some of which may have none: the quantile of all of them. Sums of
// weights are all that passes between places (base/key_search.h), and the least of next numbers.
// 0 < level < 1. Gives 0 where there is no weight.
double weighted_quantile(std::span<const WeightedNumbers> parts, double level, Between between);
double weighted_quantile(std::span<const double> x, std::span<const std::uint64_t> weight,
                         double level, Between between);

// The weight at which the level is reached.
struct QuantileGoal {
  double share;        // level * total
  std::uint64_t need;  // the least whole weight that reaches it

  QuantileGoal(double level, std::uint64_t total)
      : share(level * static_cast<double>(total)),
        need(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(share * (1 - 0x1p-50))),
                                       1, total)) {}
  bool is_met_exactly(std::uint64_t weight) const {
    return static_cast<double>(weight) <= share * (1 + 0x1p-50);
  }
};

// The smallest key above another of the numbers that have weight, or that key itself.
std::uint64_t next_key(std::span<const WeightedNumbers> parts, std::uint64_t key);

// Of numbers that lie in all shards; several quantiles at once, each of numbers of its own.
std::vector<double> weighted_quantiles(const Shards& shards,
                                       std::span<const WeightedNumbers> numbers, double level,
                                       Between between);
double weighted_quantile(const Shards* shards, std::span<const double> x,
                         std::span<const std::uint64_t> weight, double level, Between between);

}  // namespace arboleda
