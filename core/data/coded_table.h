// Columns as rank codes: code c of a row means "the c-th smallest distinct value of its column".
//
// A coded table is made once and read by every fit on the same rows (folds, candidates, members).
// It is exact: values are compared as float64, and a threshold is read back from `values`.
//
//   column   3.5  1.0  NaN  1.0        values  1.0 3.5          codes  1 0 2 0
//                                      missing code = number of distinct values = 2
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/column.h"

namespace arboleda {

struct CodedColumn {
  std::vector<double> values;  // distinct values, ascending, without NaN; -0.0 is 0.0
  bool has_missing = false;    // then missing rows have the code values.size()

  // One code a row, in the narrowest type that holds n_codes().
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>>
      codes;

  std::size_t n_values() const { return values.size(); }
  std::size_t n_codes() const { return values.size() + (has_missing ? 1 : 0); }
};

struct CodedTable {
  std::size_t n_rows = 0;
  std::vector<CodedColumn> columns;

  FeatureIndex n_features() const { return static_cast<FeatureIndex>(columns.size()); }
};

// Ranks every column. The result does not depend on the number of threads.
CodedTable code_table(const TableView& table, const Context& context);

}  // namespace arboleda
