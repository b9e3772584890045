#include "data/column.h"

#include <algorithm>

#include "base/error.h"

namespace arboleda {

void SparseLines::check(std::size_t n_lines, std::size_t n_across, std::size_t n_data) const {
  require(start.size() == n_lines + 1 && start.front() == 0 &&
              start.back() == static_cast<std::int64_t>(index.size()) &&
              std::is_sorted(start.begin(), start.end()) && index.size() == n_data,
          "the lines of a sparse table do not fit its entries");
  for (std::size_t line = 0; line < n_lines; ++line) {
    const auto entries = index.subspan(static_cast<std::size_t>(start[line]),
                                       static_cast<std::size_t>(start[line + 1] - start[line]));
    if (entries.empty()) continue;
    require(
        std::adjacent_find(entries.begin(), entries.end(), std::greater_equal<>()) == entries.end(),
        "the entries of a sparse table are not in ascending order");
    require(entries.front() >= 0 && static_cast<std::size_t>(entries.back()) < n_across,
            "an entry of a sparse table is out of range");
  }
}

double SparseRows::at(std::size_t row, std::size_t column) const {
  const auto begin = lines.index.begin() + lines.start[row];
  const auto end = lines.index.begin() + lines.start[row + 1];
  const auto found = std::lower_bound(begin, end, static_cast<std::int32_t>(column));
  if (found == end || static_cast<std::size_t>(*found) != column) return 0.0;
  return lines.data[static_cast<std::size_t>(found - lines.index.begin())];
}

TableView rows_between(const TableView& table, std::size_t begin, std::size_t end) {
  TableView part{end - begin, table.columns};
  for (ColumnView& column : part.columns) {
    column.data += static_cast<std::ptrdiff_t>(begin) * column.stride;
  }
  return part;
}

SparseRows rows_between(const SparseRows& table, std::size_t begin, std::size_t end) {
  SparseRows part = table;
  part.n_rows = end - begin;
  part.lines.start = table.lines.start.subspan(begin, end - begin + 1);
  return part;
}

}  // namespace arboleda
