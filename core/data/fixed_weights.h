// Sample weights as integers, so that sums of weights do not depend on their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shards.h"

namespace arboleda {

// Sample weights: exact ratios where one unit measures all of them, else rounded. `value` is empty
// when every positive weight is the same: then each counts 1.
// A weight too small to matter beside the others (below about 2^-61 of their sum) becomes 0.
struct FixedWeights {
  std::vector<std::uint64_t> value;
  std::vector<bool> dropped;  // rows of weight 0; empty when there is none, or `value` is not empty
  std::uint64_t total = 0;    // sum over all rows, in units
  double unit = 1.0;          // weight of one unit
  std::uint64_t largest = 0;  // value of a row of any shard; 0 where the table is whole

  // A shard without rows has no values, whatever those of the others are.
  bool is_unit() const { return value.empty() && largest <= 1; }
  bool drops(std::size_t row) const {
    return is_unit() ? !dropped.empty() && dropped[row] : value[row] == 0;
  }
};

// weights: one a row, finite and not negative (else Error), or empty for "all 1".
// The total stays below 2^max_bits.
// Of shards, unit and total are those of the whole table, and weights are given for all shards or none.
FixedWeights fix_weights(std::span<const double> weights, std::size_t n_rows, int max_bits,
                         const Shards* shards = nullptr);

// Of rows in several places, some of which may have none; `total` is over all of them. The unit follows from the
// largest weight, sums and common divisors of the parts.
std::vector<FixedWeights> fix_weights(std::span<const std::span<const double>> parts, int max_bits,
                                      const Shards* shards = nullptr);

}  // namespace arboleda
