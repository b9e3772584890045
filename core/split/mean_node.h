// A node of a criterion of a mean whose sums fit 64 bits, as kernels read it.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.h"

namespace arboleda {

struct MeanNode {
  std::span<const RowIndex> rows;  // ascending
  const std::int64_t* sums;        // of each row: its weight times its target about the centre
  const std::int64_t* weights;     // of each row; null where all are 1
  std::int64_t sum, weight;        // of all rows
};

}  // namespace arboleda
