// What a search of splits may do, beyond the statistic that it scores.
#pragma once

#include <cstdint>
#include <span>

#include "split/split.h"

namespace arboleda {

struct SearchOptions {
  SplitLimits limits;
  bool at_random = false;  // one split a feature, drawn at random
  std::uint64_t seed = 0;
  std::uint32_t tree = 0;
  std::span<const std::int8_t> monotonic = {};  // of each column, where the limits are monotonic
};

}  // namespace arboleda
