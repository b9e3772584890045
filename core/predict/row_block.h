// Rows of a table side by side, number after number: what a walk down many trees reads.
#pragma once

#include <cstddef>
#include <vector>

#include "data/column.h"

namespace arboleda {

struct RowBlock {
  std::vector<double> numbers;
  bool any_missing = false;

  void put(std::size_t at, double x) {
    numbers[at] = x;
    any_missing |= x != x;
  }
};

inline void fill(const TableView& table, std::size_t begin, std::size_t end, RowBlock& block) {
  const std::size_t width = table.n_columns();
  for (std::size_t j = 0; j < width; ++j) {
    const ColumnView& column = table.columns[j];
    for (std::size_t row = begin; row < end; ++row) {
      block.put((row - begin) * width + j, column[row]);
    }
  }
}

inline void clear(const TableView&, std::size_t, std::size_t, RowBlock&) {}

template <class Visit>
void for_each_stored(const SparseRows& table, std::size_t begin, std::size_t end,
                     const Visit& visit) {
  for (std::size_t row = begin; row < end; ++row) {
    for (auto e = static_cast<std::size_t>(table.lines.start[row]);
         e < static_cast<std::size_t>(table.lines.start[row + 1]); ++e) {
      visit((row - begin) * table.n_columns() + static_cast<std::size_t>(table.lines.index[e]), e);
    }
  }
}

// The block is all 0 before and after: only what is stored is written.
inline void fill(const SparseRows& table, std::size_t begin, std::size_t end, RowBlock& block) {
  for_each_stored(table, begin, end,
                  [&](std::size_t at, std::size_t e) { block.put(at, table.lines.data[e]); });
}

inline void clear(const SparseRows& table, std::size_t begin, std::size_t end, RowBlock& block) {
  for_each_stored(table, begin, end, [&](std::size_t at, std::size_t) { block.numbers[at] = 0.0; });
}

}  // namespace arboleda
