#include "split/vector_histogram.h"

#include <algorithm>

#include "base/error.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Cells of a block of columns: about half of a second cache.
constexpr std::size_t kNearCellBytes = std::size_t{1} << 20;

}  // namespace

// Columns have the cells of their codes alone: those of several outputs would be far apart otherwise.
VectorCells::VectorCells(const RowCodes& codes, std::size_t width) : codes_(codes), width_(width) {
  std::size_t block = 0;  // its first cell
  const std::size_t n_dense = codes.has_dense() ? codes.dense().n_columns : 0;
  for (std::size_t column = 0; column < codes.columns().size(); ++column) {
    const std::size_t end = n_cells_ + codes.columns()[column].n_codes;
    if (column < n_dense && n_cells_ > block && end > block + block_cells(width)) {
      block_ends_.push_back(column);
      block = n_cells_;
    }
    first_cell_.push_back(static_cast<std::uint32_t>(n_cells_));
    n_cells_ = end;
  }
  if (n_dense > 0) block_ends_.push_back(n_dense);
  for (std::size_t part = 0; part < codes.n_listed_parts(); ++part) {
    first_listed_.push_back(part == 0 ? n_dense : codes.listed_end(part - 1));
    block_ends_.push_back(codes.listed_end(part));
  }
}

std::size_t VectorCells::block_cells(std::size_t width) {
  return std::clamp<std::size_t>(kNearCellBytes / (width * sizeof(Packed)), 1,
                                 RowCodes::kMostPartCells);
}

std::size_t VectorCells::least_block() const {
  return kLeastUpdatesACell * n_cells_ / std::max<std::size_t>(codes_.updates_a_row(), 1) + 1;
}

void VectorCells::add_rows(const RowIndex* rows, std::size_t begin, std::size_t end,
                           const VectorGradients& gradients, Histogram& histogram,
                           const RowWindow& window) const {
  const std::size_t n_columns = first_cell_.size();
  const Packed* const packed = gradients.data() + window.begin * width_;
  if (!histogram.is_wide()) {
    add(0, n_columns, rows, begin, end, packed, histogram.packed(), window);
    return;
  }
  const std::size_t block = gradients.most_packed_rows();
  AlignedVector<Packed> cells;
  for (std::size_t from = begin; from < end; from += block) {
    cells.assign(n_numbers(), 0);
    add(0, n_columns, rows, from, std::min(from + block, end), packed, cells.data(), window);
    histogram.add_block(cells, 0);
  }
}

void VectorCells::sum_columns(std::size_t from, std::size_t to, const RowIndex* rows,
                              std::size_t begin, std::size_t end, const VectorGradients& gradients,
                              Histogram& histogram) const {
  const std::size_t first = begin_of(from);
  const std::size_t last = end_of(to - 1);
  histogram.clear_cells(first, last);
  if (!histogram.is_wide()) {
    add(from, to, rows, begin, end, gradients.data(), histogram.packed() + first);
    return;
  }
  const std::size_t block = gradients.most_packed_rows();
  AlignedVector<Packed> cells;
  for (std::size_t row = begin; row < end; row += block) {
    cells.assign(last - first, 0);
    add(from, to, rows, row, std::min(row + block, end), gradients.data(), cells.data());
    histogram.add_block(cells, first);
  }
}

// cells: of the columns from .. to - 1.
void VectorCells::add(std::size_t from, std::size_t to, const RowIndex* rows, std::size_t begin,
                      std::size_t end, const Packed* gradients, Packed* cells,
                      const RowWindow& window) const {
  const auto& loops = kernels().vector_histograms;
  const std::size_t n_dense = codes_.has_dense() ? codes_.dense().n_columns : 0;
  if (from < n_dense) {
    const std::size_t dense_end = std::min(to, n_dense);
    std::vector<std::uint32_t> first_cell(
        first_cell_.begin() + static_cast<std::ptrdiff_t>(from),
        first_cell_.begin() + static_cast<std::ptrdiff_t>(dense_end));
    for (std::uint32_t& cell : first_cell) cell -= first_cell_[from];
    loops.add_bytes(codes_.dense(from, dense_end, window), first_cell.data(), rows, begin, end,
                    width_, gradients, cells);
  }
  for (std::size_t part = 0; part < first_listed_.size(); ++part) {
    if (first_listed_[part] < from || first_listed_[part] >= to) continue;
    ListedRows listed = codes_.listed(part);
    listed.first_cell = first_cell_[first_listed_[part]] - first_cell_[from];
    loops.add_listed(listed, rows, begin, end, width_, gradients, cells);
  }
}

void VectorCells::complete(std::size_t column, std::span<const Wide> totals,
                           Histogram& histogram) const {
  const Code usual = codes_.columns()[column].usual;
  if (usual == RowCodes::kNoUsual) return;
  histogram.complete(begin_of(column), end_of(column), begin_of(column) + usual * width_, totals);
}

}  // namespace arboleda
