// The values that bound the codes of several long columns, found by sweeps over all of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "data/column.h"

namespace arboleda {

// As learn_edges, of some numeric columns of a table. There is a limit to the number of codes. Returns
// the columns whose edges were not found: they have to be learned one by one.
std::vector<std::size_t> search_edges(const TableView& table, std::span<const std::size_t> columns,
                                      const CodingOptions& options, const Context& context,
                                      BinnedDataset& coded);

}  // namespace arboleda
