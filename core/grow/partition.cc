#include "grow/partition.h"

#include <algorithm>
#include <type_traits>

#include "data/gather_codes.h"

namespace arboleda {

namespace {

template <class CodeAt, class GoesLeft>
Partition part(std::span<RowIndex> rows, std::vector<RowIndex>& scratch, const Split& split,
               Code missing, const CodeAt& code_at, const GoesLeft& goes_left) {
  if (scratch.size() < rows.size()) scratch.resize(rows.size());
  Partition partition;
  std::size_t n_right = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowIndex row = rows[i];
    const Code code = code_at(i, row);
    const bool left = goes_left(code);
    partition.n_missing += code == missing;
    if (code == split.code) partition.low_row = row;
    if (code == split.next_code) partition.high_row = row;
    // Both are written and one kept: no branch to predict.
    rows[partition.n_left] = row;
    scratch[n_right] = row;
    partition.n_left += left;
    n_right += !left;
  }
  std::copy_n(scratch.begin(), n_right,
              rows.begin() + static_cast<std::ptrdiff_t>(partition.n_left));
  return partition;
}

}  // namespace

Partition partition_rows(const CodedColumn& column, const Split& split, std::span<RowIndex> rows,
                         PartitionScratch& scratch) {
  const Code missing = column.missing_code();
  const auto by = [&](const auto& code_at) {
    if (split.left_codes.empty()) {
      return part(rows, scratch.rows, split, missing, code_at, [&](Code code) {
        return code == missing ? split.missing_left : code <= split.code;
      });
    }
    scratch.goes_left.assign(column.n_codes(), 0);
    for (const Code code : split.left_codes) scratch.goes_left[code] = 1;
    return part(rows, scratch.rows, split, missing, code_at,
                [&](Code code) { return scratch.goes_left[code] != 0; });
  };
  return std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          gather_codes(column, rows, scratch.codes);
          return by([&](std::size_t i, RowIndex) { return scratch.codes[i]; });
        } else {
          return by([&](std::size_t, RowIndex row) { return Code{codes[row]}; });
        }
      },
      column.codes);
}

std::vector<CategoryIndex> categories_among(const CodedColumn& column,
                                            std::span<const RowIndex> rows,
                                            PartitionScratch& scratch) {
  gather_codes(column, rows, scratch.codes);
  std::sort(scratch.codes.begin(), scratch.codes.end());
  std::vector<CategoryIndex> categories;
  for (const Code code : scratch.codes) {
    if (code == column.missing_code()) break;
    const auto category = static_cast<CategoryIndex>(code);
    if (categories.empty() || categories.back() != category) categories.push_back(category);
  }
  return categories;
}

}  // namespace arboleda
