// Which leaf of each tree of a forest the rows of a table come to, tree by tree.
#pragma once

#include <cstdint>
#include <vector>

#include "base/context.h"
#include "tree/forest.h"

namespace arboleda {

// Trees x rows: the number of the leaf among those of its tree. Table: TableView or SparseRows.
template <class Table>
std::vector<std::vector<std::uint32_t>> leaf_numbers(const Forest& forest, const Table& table,
                                                     const Context& context);

}  // namespace arboleda
