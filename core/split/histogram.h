// The sums of gradients and hessians over the rows of a node, for every code of every column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/memory.h"
#include "base/types.h"
#include "layout/row_codes.h"
#include "simd/histogram_kernels.h"
#include "split/packed_gradients.h"

namespace arboleda {

// A block of rows is summed up in packed cells, before these are added to wide ones, where it has so many
// updates for each of them.
inline constexpr std::size_t kLeastUpdatesACell = 8;

// Cells of one width: packed where the node's sums fit, else wide.
class Histogram {
 public:
  bool is_wide() const { return is_wide_; }
  Packed* packed() { return packed_.data(); }
  const Packed* packed() const { return packed_.data(); }
  Wide* wide() { return wide_.data(); }
  const Wide* wide() const { return wide_.data(); }

  void resize(std::size_t n_cells, bool is_wide);  // the cells are left uninitialised
  void clear(std::size_t n_cells, bool is_wide);   // all are 0
  void clear_cells(std::size_t begin, std::size_t end);
  Wide at(std::size_t cell) const;
  Wide sum(std::size_t begin, std::size_t end) const;  // of cells

  // Wide cells from `begin` on += the packed ones of a block of rows.
  void add_block(const AlignedVector<Packed>& cells, std::size_t begin);

  // cells += those of another histogram of the same rows' parts
  void add(const Histogram& part, std::size_t begin, std::size_t end);

  // Cells as numbers that add up by cell: appends them; and takes those of all shards over, and returns the
  // first number behind them.
  void append(std::size_t begin, std::size_t end, std::vector<std::uint64_t>& numbers) const;
  const std::uint64_t* take(std::size_t begin, std::size_t end, const std::uint64_t* numbers);

  // The cells of this node less those of one child, into `sibling`, its other child. width: cells of a code,
  // of which the last counts rows where there are several.
  void subtract(const Histogram& child, std::size_t begin, std::size_t end, std::size_t width,
                Histogram& sibling) const;

  // The cell of a column's usual code, which no row lists: what the others lack to the total.
  void complete(const RowCodes::Column& column, Wide total);

  // The same where a code has several cells, those of a column from `begin` to `end`, and its usual code
  // those from `usual`. The last cell of a code counts rows.
  void complete(std::size_t begin, std::size_t end, std::size_t usual,
                std::span<const Wide> totals);

 private:
  void set(std::size_t cell, Wide sum);

  bool is_wide_ = false;
  AlignedVector<Packed> packed_;
  std::vector<Wide> wide_;
};

// Adds rows begin .. end of `rows` to the cells; rows null: rows begin .. end of the table. Of a window of a
// file's rows, they are counted from its first row.
void add_rows(const RowCodes& codes, const RowIndex* rows, std::size_t begin, std::size_t end,
              const PackedGradients& gradients, Histogram& histogram, const RowWindow& window = {});

}  // namespace arboleda
