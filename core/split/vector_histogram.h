// Histograms whose cells hold a sum of gradients and hessians for every output, and a number of rows:
// `width` numbers for each code of each column (split/vector_gradients.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "layout/row_codes.h"
#include "split/histogram.h"
#include "split/vector_gradients.h"

namespace arboleda {

// Where the numbers of each code lie.
class VectorCells {
 public:
  VectorCells(const RowCodes& codes, std::size_t width);

  // Rows of a block that is worth adding up in packed cells, before these are added to wide ones.
  std::size_t least_block() const;

  std::size_t width() const { return width_; }
  std::size_t n_numbers() const { return n_cells_ * width_; }
  // Of the code 0 of a column of RowCodes::columns(); those of the next code follow.
  std::size_t begin_of(std::size_t column) const { return first_cell_[column] * width_; }
  std::size_t end_of(std::size_t column) const {
    return begin_of(column) + codes_.columns()[column].n_codes * width_;
  }

  // One more than the last column of each block of columns whose cells stay near while rows are added.
  const std::vector<std::size_t>& block_ends() const { return block_ends_; }

  // Of a cell of so many numbers: the cells of a block, but for columns that have more.
  static std::size_t block_cells(std::size_t width);

  // Adds rows begin .. end of `rows` to the numbers; rows null: rows begin .. end of the table. Of
  // a window of a file's rows, they are counted from its first row.
  void add_rows(const RowIndex* rows, std::size_t begin, std::size_t end,
                const VectorGradients& gradients, Histogram& histogram,
                const RowWindow& window = {}) const;

  // The same for the numbers of columns from .. to - 1 alone, which are set. They are dense, or a block.
  void sum_columns(std::size_t from, std::size_t to, const RowIndex* rows, std::size_t begin,
                   std::size_t end, const VectorGradients& gradients, Histogram& histogram) const;

  // The numbers of a column's usual code, which no row lists.
  void complete(std::size_t column, std::span<const Wide> totals, Histogram& histogram) const;

 private:
  void add(std::size_t from, std::size_t to, const RowIndex* rows, std::size_t begin,
           std::size_t end, const Packed* gradients, Packed* cells,
           const RowWindow& window = {}) const;

  const RowCodes& codes_;
  const std::size_t width_;
  std::vector<std::uint32_t> first_cell_;  // of each column
  std::size_t n_cells_ = 0;
  std::vector<std::size_t> first_listed_;  // column of each list of RowCodes
  std::vector<std::size_t> block_ends_;
};

}  // namespace arboleda
