// Columns as codes: what every fit reads. A coded table is made once and read by every fit on the
// same rows (folds, candidates, members).
//
// Numeric columns: code c of a row means "the c-th smallest distinct value of its column". It is
// exact: values are compared as float64. With max_bins, a code stands for several neighbouring
// values where the column has more than that. Rows that the codes were not learned from have the
// code of code_by_edges.h: gaps between codes are divided at their middle.
//
//   column   3.5  1.0  NaN  1.0        values  1.0 3.5          codes  1 0 2 0
//                                      missing code = number of distinct values = 2
//
// Categorical columns: the code is the number of the category, and missing comes after the last.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/context.h"
#include "base/direct_file.h"
#include "base/types.h"
#include "data/code_array.h"
#include "data/column.h"
#include "data/sparse_codes.h"

namespace arboleda {

struct CodedColumn {
  bool is_categorical = false;
  bool has_missing = false;  // then missing rows have the code n_values
  std::size_t n_values = 0;  // codes of present values: below this

  // Of a numeric column: the smallest value of each code, without NaN and with 0.0 for -0.0; and the
  // largest, where a code stands for several values. None for more than 2^16 codes: values would
  // take more room than codes, and are read from the caller's column instead.
  std::vector<double> values;
  std::vector<double> upper;
  ColumnView source{};

  // One code a row, in the narrowest type that holds n_codes(); or only those that are not zero.
  std::variant<CodeArray<std::uint8_t>, CodeArray<std::uint16_t>, CodeArray<std::uint32_t>,
               SparseCodes>
      codes;

  std::size_t n_codes() const { return n_values + (has_missing ? 1 : 0); }
  Code get_missing_code() const { return static_cast<Code>(n_values); }
};

// The code of most rows of a column (the lowest of several), and their number.
struct UsualCode {
  Code code = 0;
  std::size_t n_rows = 0;
};

// How trees read the rows of a file that does not fit in memory: all of them, from beginning to end.
struct Sweeps {
  DirectRead read = {};  // or none: they are read where the file is mapped
  std::size_t available =
      0;  // memory for a fit and the pages of rows that it reads again and again
  std::size_t private_bytes = 0;                    // of the process, when so much was available
  std::size_t window_bytes = std::size_t{1} << 21;  // of rows that are read together, at most
  std::size_t rows_at = 0;                          // in the file
};

// Of a table whose codes stay in a file: the layout of RowCodes, which is read there. Those of forests
// (layout/row_layouts.h) are copied into memory.
struct MappedRows {
  std::vector<UsualCode> usual;         // of each column
  const std::uint8_t* bytes = nullptr;  // the codes row by row, or null while the file is written
  std::size_t stride = 0;               // bytes of a row
  std::vector<FeatureIndex>
      order;                     // of the columns in a row: those that vary, as RowCodes has them
  std::optional<Sweeps> sweeps;  // where the file does not fit in memory
};

struct BinnedDataset {
  std::size_t n_rows = 0;
  std::vector<CodedColumn> columns;
  std::shared_ptr<const MappedRows> mapped;  // null: the codes are in memory

  FeatureIndex n_features() const { return static_cast<FeatureIndex>(columns.size()); }
  std::size_t code_bytes() const;  // memory of all codes
};

struct CodingOptions {
  // For each column: 0 for numbers, else the number of its categories; then its values are category
  // numbers, and anything from there on means missing. Empty: all columns are numeric.
  std::span<const std::uint32_t> n_categories = {};
  std::size_t max_bins = 0;  // most codes of a numeric column, missing aside; 0: no limit
  // The values of numeric codes are learned from these rows (ascending) only; all rows get codes,
  // and has_missing refers to all rows. Empty: learned from all rows.
  std::span<const RowIndex> rows = {};
};

// Codes every column. The result does not depend on the number of threads. The table must outlive
// the codes.
BinnedDataset code_table(const TableView& table, const Context& context,
                         const CodingOptions& options = {});

// The same for a table that stores only what is not zero.
BinnedDataset code_table(const SparseColumns& table, const Context& context,
                         const CodingOptions& options = {});

// Codes of another table by the edges of a learned one, which has as many columns. Every column has
// a code for missing rows, whether the learned one has one or not: has_missing is true. Categories
// that are not known are missing. Where the learned column has no value at all, every row is missing.
BinnedDataset code_table_like(const BinnedDataset& learned, const TableView& table,
                              const Context& context);
BinnedDataset code_table_like(const BinnedDataset& learned, const SparseColumns& table,
                              const Context& context);

// Codes of a shard by the edges of `columns`, which have all but their codes. Which columns are listed
// follows from the rows of all shards, and how many of them have an entry that is not 0.
BinnedDataset code_shard(const SparseColumns& table, std::vector<CodedColumn> columns,
                         std::span<const std::int64_t> n_entries, std::uint64_t n_rows,
                         const Context& context);

// Rows begin .. end - 1 as a table of their own, with the codes of the whole one: a shard of it. The codes are
// shared.
BinnedDataset slice_rows(const BinnedDataset& table, std::size_t begin, std::size_t end);

}  // namespace arboleda
