// Rows of a table side by side, number after number: what a walk down many trees reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "data/column.h"
#include "data/round_down.h"

namespace arboleda {

// Number: double or float. What float does not hold is rounded down to it.
template <class Number>
struct RowBlock {
  std::vector<Number> numbers;
  bool any_missing = false;
  bool any_rounded = false;

  template <class T>
  void put(std::size_t at, T x) {
    if constexpr (std::is_same_v<Number, float> && sizeof(T) >= sizeof(float) &&
                  !std::is_same_v<T, float>) {
      const auto exact = static_cast<double>(x);
      round_down(exact, numbers[at]);
      any_rounded |= static_cast<double>(numbers[at]) < exact;
    } else {
      numbers[at] = static_cast<Number>(x);
    }
    any_missing |= numbers[at] != numbers[at];
  }
};

// Rows that are read of one column after the other: a row-major table comes in by whole cache lines.
inline constexpr std::size_t kRowsAtOnce = 64;

template <class Number>
void fill(const TableView& table, std::size_t begin, std::size_t end, RowBlock<Number>& block) {
  const std::size_t width = table.n_columns();
  for (std::size_t first = begin; first < end; first += kRowsAtOnce) {
    const std::size_t last = std::min(end, first + kRowsAtOnce);
    for (std::size_t j = 0; j < width; ++j) {
      const ColumnView& column = table.columns[j];
      column.with_type([&]<class T>(T) {
        for (std::size_t row = first; row < last; ++row) {
          block.put((row - begin) * width + j, column.as<T>(row));
        }
      });
    }
  }
}

template <class Number>
void clear(const TableView&, std::size_t, std::size_t, RowBlock<Number>&) {}

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
template <class Number>
void fill(const SparseRows& table, std::size_t begin, std::size_t end, RowBlock<Number>& block) {
  for_each_stored(table, begin, end,
                  [&](std::size_t at, std::size_t e) { block.put(at, table.lines.data[e]); });
}

template <class Number>
void clear(const SparseRows& table, std::size_t begin, std::size_t end, RowBlock<Number>& block) {
  for_each_stored(table, begin, end, [&](std::size_t at, std::size_t) { block.numbers[at] = 0; });
}

}  // namespace arboleda
