// Stable partition of a node's row list by a split.
#pragma once

#include <span>
#include <vector>

#include "base/types.h"
#include "data/coded_table.h"
#include "grow/split.h"

namespace arboleda {

struct Partition {
  std::size_t n_left = 0;
  std::size_t n_missing = 0;  // rows whose value of the feature is missing
};

// Afterwards the rows that go left come first; both sides keep their order.
Partition partition_rows(const CodedColumn& column, const Split& split, std::span<RowIndex> rows,
                         std::vector<RowIndex>& scratch);

}  // namespace arboleda
