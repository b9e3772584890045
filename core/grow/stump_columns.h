// The columns of a table as the search of stumps reads them: see stump.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/coded_table.h"

namespace arboleda {

enum class StumpColumnKind : std::uint8_t { constant, listed, cells, sorted };

struct StumpColumn {
  StumpColumnKind kind = StumpColumnKind::constant;
  FeatureIndex feature = 0;  // of any but constant columns

  // listed: the rows of each code and label, codes ascending, but for those of code `usual`: where they
  // begin, for cell 2 * code + label, and where the last ones end. sorted: all rows by code, the last of
  // each code marked, those of missing values in the end; the last present code's are not.
  std::vector<RowIndex> rows;
  std::vector<std::uint32_t> begin;
  Code usual = 0;
  std::size_t n_present = 0;  // sorted: rows that are not missing
  bool is_distinct = false;   // sorted: present rows have a code each

  static constexpr RowIndex kLastOfCode = RowIndex{1} << 31;
  static constexpr RowIndex kRow = kLastOfCode - 1;
};

// The kind of a column follows from its codes among the rows alone.
StumpColumn stump_column(const CodedTable& table, FeatureIndex feature,
                         std::span<const std::uint32_t> labels, std::span<const RowIndex> rows);

}  // namespace arboleda
