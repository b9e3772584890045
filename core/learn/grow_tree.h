// The step all fits of one tree share: the grower over the rows that count.
#pragma once

#include <vector>

#include "base/context.h"
#include "base/error.h"
#include "base/fixed_point.h"
#include "data/coded_table.h"
#include "grow/grower.h"
#include "tree/tree.h"

namespace arboleda {

// Sums of class weights stay below 2^62.
inline constexpr int kClassWeightBits = 62;

template <class Criterion>
Tree grow_tree(const CodedTable& table, const Criterion& criterion, const FixedWeights& weights,
               const GrowthOptions& options, const Context& context) {
  std::vector<RowIndex> rows;
  rows.reserve(table.n_rows);
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    if (weights.dropped.empty() || !weights.dropped[i]) rows.push_back(static_cast<RowIndex>(i));
  }
  require(!rows.empty(), "at least one row of positive weight is needed");
  return Tree(Grower<Criterion>(table, criterion, options, context).grow(rows));
}

}  // namespace arboleda
