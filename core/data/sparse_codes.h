// The codes of a column that is zero in most rows: only the others are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"

namespace arboleda {

struct SparseCodes {
  Code default_code = 0;       // of every row that is not listed
  std::vector<RowIndex> rows;  // ascending
  std::vector<Code> codes;     // one for each of them

  friend bool operator==(const SparseCodes&, const SparseCodes&) = default;
};

inline Code code_at(const SparseCodes& column, RowIndex row) {
  const auto found = std::lower_bound(column.rows.begin(), column.rows.end(), row);
  if (found == column.rows.end() || *found != row) return column.default_code;
  return column.codes[static_cast<std::size_t>(found - column.rows.begin())];
}

// The first position from `begin` on whose element is not below `value`, found by doubling steps:
// cheap when it is near.
template <class T>
std::size_t gallop(std::span<const T> sorted, std::size_t begin, T value) {
  std::size_t step = 1;
  std::size_t end = begin;
  while (end < sorted.size() && sorted[end] < value) {
    begin = end + 1;
    end += step;
    step *= 2;
  }
  end = std::min(end, sorted.size());
  const auto found = std::lower_bound(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                                      sorted.begin() + static_cast<std::ptrdiff_t>(end), value);
  return static_cast<std::size_t>(found - sorted.begin());
}

// Calls visit(i, code) for every listed row among `rows`, which are ascending; i is its place there.
// Costs no more than the shorter of the two lists times the logarithm of the longer.
template <class Visit>
void for_each_listed(const SparseCodes& column, std::span<const RowIndex> rows,
                     const Visit& visit) {
  const std::span<const RowIndex> listed = column.rows;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < rows.size() && j < listed.size()) {
    if (rows[i] == listed[j]) {
      visit(i++, column.codes[j++]);
    } else if (rows[i] < listed[j]) {
      i = gallop(rows, i, listed[j]);
    } else {
      j = gallop(listed, j, rows[i]);
    }
  }
}

}  // namespace arboleda
