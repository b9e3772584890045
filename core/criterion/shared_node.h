// What a criterion needs of the rows of a node beyond the sum of their cells, where they are in several shards.
#pragma once

#include <cstdint>
#include <limits>

#include "simd/kernels.h"

namespace arboleda {

// The smallest and the largest target, as it was given and in fixed point.
struct TargetRange {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();
  MinMax units{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
};

}  // namespace arboleda
