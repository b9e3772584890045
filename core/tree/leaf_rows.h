// The rows that a tree was grown on, leaf by leaf.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "base/types.h"

namespace arboleda {

// The rows that reached each leaf, and what monotonic constraints leave to its value.
struct LeafRows {
  struct Leaf {
    NodeIndex node;          // of the tree
    std::size_t begin, end;  // its rows: rows[begin .. end), ascending
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
  };
  std::vector<RowIndex> rows;
  std::vector<Leaf> leaves;
};

}  // namespace arboleda
