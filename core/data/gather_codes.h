// The codes of some rows of a column, in their order.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "base/types.h"
#include "data/coded_table.h"

namespace arboleda {

// rows: ascending.
inline void gather_codes(const CodedColumn& column, std::span<const RowIndex> rows,
                         std::vector<Code>& out) {
  out.resize(rows.size());
  std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          out.assign(rows.size(), codes.default_code);
          for_each_listed(codes, rows, [&](std::size_t i, Code code) { out[i] = code; });
        } else {
          for (std::size_t i = 0; i < rows.size(); ++i) out[i] = codes[rows[i]];
        }
      },
      column.codes);
}

}  // namespace arboleda
