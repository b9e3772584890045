#include "split/vector_histogram.h"

#include <algorithm>

#include "base/error.h"
#include "simd/kernels.h"

namespace arboleda {

// Columns have the cells of their codes alone: those of several outputs would be far apart otherwise.
VectorCells::VectorCells(const RowCodes& codes, std::size_t width) : codes_(codes), width_(width) {
  std::size_t part = 0;
  for (const RowCodes::Column& column : codes.columns()) {
    if (part < codes.n_listed_parts() && column.first_cell == codes.listed(part).first_cell) {
      first_listed_.push_back(n_cells_);
      ++part;
    }
    first_cell_.push_back(static_cast<std::uint32_t>(n_cells_));
    n_cells_ += column.n_codes;
  }
}

std::size_t VectorCells::least_block() const {
  return kLeastUpdatesACell * n_cells_ / std::max<std::size_t>(codes_.updates_a_row(), 1) + 1;
}

void VectorCells::add_rows(const RowIndex* rows, std::size_t begin, std::size_t end,
                           const VectorGradients& gradients, Histogram& histogram) const {
  if (!histogram.is_wide()) {
    add(rows, begin, end, gradients.data(), histogram.packed());
    return;
  }
  const std::size_t block = gradients.most_packed_rows();
  std::vector<Packed> cells;
  for (std::size_t from = begin; from < end; from += block) {
    cells.assign(n_numbers(), 0);
    add(rows, from, std::min(from + block, end), gradients.data(), cells.data());
    histogram.add_block(cells);
  }
}

void VectorCells::add(const RowIndex* rows, std::size_t begin, std::size_t end,
                      const Packed* gradients, Packed* cells) const {
  const auto& loops = kernels().vector_histograms;
  if (codes_.has_dense()) {
    add_columns(0, codes_.dense().n_columns, rows, begin, end, gradients, cells);
  }
  for (std::size_t part = 0; part < codes_.n_listed_parts(); ++part) {
    ListedRows listed = codes_.listed(part);
    listed.first_cell = first_listed_[part];
    loops.add_listed(listed, rows, begin, end, width_, gradients, cells);
  }
}

void VectorCells::add_columns(std::size_t from, std::size_t to, const RowIndex* rows,
                              std::size_t begin, std::size_t end, const Packed* gradients,
                              Packed* cells) const {
  kernels().vector_histograms.add_bytes(codes_.dense(from, to), first_cell_.data() + from, rows,
                                        begin, end, width_, gradients, cells);
}

void VectorCells::complete(std::size_t column, std::span<const Wide> totals,
                           Histogram& histogram) const {
  const Code usual = codes_.columns()[column].usual;
  if (usual == RowCodes::kNoUsual) return;
  histogram.complete(begin_of(column), end_of(column), begin_of(column) + usual * width_, totals);
}

}  // namespace arboleda
