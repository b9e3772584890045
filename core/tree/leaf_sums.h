// Sums over the rows of each leaf that do not depend on the order of rows (base/exact_sum.h).
#pragma once

#include <span>
#include <vector>

#include "base/context.h"
#include "base/exact_sum.h"
#include "base/types.h"
#include "tree/leaf_rows.h"

namespace arboleda {

// Of the values of some rows; of no values: 0.
Magnitude magnitude_of_rows(std::span<const double> values, std::span<const RowIndex> rows,
                            const Context& context);

// values: one a row of the table, none larger than the scale's; no values: sums of 0.
std::vector<ExactSum> sum_leaves(std::span<const double> values, const SumScale& scale,
                                 const LeafRows& leaves, const Context& context);

}  // namespace arboleda
