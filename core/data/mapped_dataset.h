// A table whose codes stay in a file that is mapped into memory. Nothing of the file is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"

namespace arboleda {

// Where the codes are in the bytes of the file. Every code has one byte.
struct MappedLayout {
  std::size_t n_rows = 0;
  std::size_t columns_at = 0;  // column after column
  std::size_t rows_at = 0;     // row by row, with room for a run of codes after the last
  std::size_t stride = 0;      // bytes of a row; 0: the codes row by row are not there yet
  std::vector<FeatureIndex> order = {};  // of the columns in a row
};

// The columns have all but their codes, which are read once: throws Error(bad_format) unless every code
// is one of its column, and the codes row by row are those of the columns. The file must outlive the table.
// sweeps: where the file does not fit in memory; the place of its rows is set here.
BinnedDataset map_dataset(std::span<const std::uint8_t> file, const MappedLayout& layout,
                          std::vector<CodedColumn> columns, std::optional<Sweeps> sweeps,
                          const Context& context);

}  // namespace arboleda
