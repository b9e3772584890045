// The columns of a table as the search of stumps reads them: see grow/stump.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/binned_dataset.h"

namespace arboleda {

enum class StumpColumnKind : std::uint8_t { constant, listed, cells, sorted };

struct StumpColumn {
  StumpColumnKind kind = StumpColumnKind::constant;
  FeatureIndex feature = 0;  // of any but constant columns

  // listed: the rows of each code and label, codes ascending, but for those of code `usual`: where they
  // begin, for cell 2 * code + label, and where the last ones end. sorted: all rows by code, those of
  // missing values in the end.
  std::vector<RowIndex> rows;
  std::vector<std::uint32_t> begin;
  Code usual = 0;

  // sorted: the rows that are not missing, in blocks of whole codes: as many of them as have kBlock rows
  // together. Where each block begins, and where the last one ends.
  static constexpr std::size_t kBlock = 32;
  std::size_t n_present = 0;
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint8_t> last_of_code;  // of each present row; none where all have a code each

  bool is_last_of_code(std::size_t place) const {
    return last_of_code.empty() || last_of_code[place] != 0;
  }
};

// The kind of a column follows from its codes among the rows alone.
StumpColumn stump_column(const BinnedDataset& table, FeatureIndex feature,
                         std::span<const std::uint32_t> labels, std::span<const RowIndex> rows);

}  // namespace arboleda
