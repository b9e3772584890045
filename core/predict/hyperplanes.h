// Predictions of trees of hyperplanes for the rows of a table.
#pragma once

#include <vector>

#include "base/context.h"
#include "data/table_cells.h"
#include "tree/hyperplanes.h"

namespace arboleda {

// The mean of the values of the leaves that each row reaches.
std::vector<double> mean_values(const HyperplaneForest& forest, const TableCells& table,
                                const Context& context);

}  // namespace arboleda
