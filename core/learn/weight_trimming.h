// Weight trimming: late in boosting most of the weight lies on few rows, and a tree hardly changes when
// the others are left out. Friedman, Hastie, Tibshirani (2000), "Additive logistic regression", section 9.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace arboleda {

// Marks with 1 the rows whose weight is below t, and the others with 0: t is the largest of the weights
// such that the weights below it sum to at most `share` of all. 0 <= share < 1, so a row of the largest
// weight is never marked; rows of equal weight are treated alike. out: one a row of the table.
void mark_light_rows(std::span<const double> weights, std::span<const RowIndex> rows, double share,
                     std::vector<std::uint8_t>& out);

}  // namespace arboleda
