#include "grow/partition.h"

#include <algorithm>

namespace arboleda {

Partition partition_rows(const CodedColumn& column, const Split& split, std::span<RowIndex> rows,
                         std::vector<RowIndex>& scratch) {
  if (scratch.size() < rows.size()) scratch.resize(rows.size());
  const auto missing = static_cast<Code>(column.n_values());
  return std::visit(
      [&](const auto& codes) {
        std::size_t n_left = 0;
        std::size_t n_right = 0;
        std::size_t n_missing = 0;
        for (const RowIndex row : rows) {
          const Code code = codes[row];
          const bool left = code == missing ? split.missing_left : code <= split.code;
          n_missing += code == missing;
          // Both are written and one kept: no branch to predict.
          rows[n_left] = row;
          scratch[n_right] = row;
          n_left += left;
          n_right += !left;
        }
        std::copy_n(scratch.begin(), n_right, rows.begin() + static_cast<std::ptrdiff_t>(n_left));
        return Partition{n_left, n_missing};
      },
      column.codes);
}

}  // namespace arboleda
