// The codes of a table row by row, for histograms of all columns at once.
//
// Every code of every column that varies has a cell. Columns of bytes that vary from row to row are
// dense: a row's codes lie side by side. Of the others a row lists the cells of its codes, except
// where it has the column's usual code: most rows of a column that is nearly constant (a category of
// a one-hot encoding, a pixel at the edge) cost nothing, and their cell is what the others lack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "data/row_windows.h"
#include "simd/histogram_kernels.h"

namespace arboleda {

class RowCodes {
 public:
  struct Column {
    FeatureIndex feature;
    std::size_t first_cell;
    std::size_t n_codes;
    Code usual = kNoUsual;  // the code that rows do not list
  };
  static constexpr Code kNoUsual = UINT32_MAX;

  // Of shards, the layout is that of the whole table.
  // part_cells: cells of a list that a row has for neighbouring columns, at most 2^16. Lists of fewer are
  // more lists; they are no shorter than is worth beginning them.
  // has_one_reader: one grower alone reads the codes, and may write gradients beside them.
  RowCodes(const BinnedDataset& table, const Context& context,
           std::size_t part_cells = kMostPartCells, bool has_one_reader = false);
  static constexpr std::size_t kMostPartCells = std::size_t{1} << 16;

  // The columns of a table in the order of columns(). Of a table in a file all are dense, in the order
  // that they would have in memory: columns are drawn by their places.
  static std::vector<FeatureIndex> order(const BinnedDataset& table);

  std::size_t n_cells() const { return n_cells_; }
  std::size_t updates_a_row() const { return updates_a_row_; }  // about, on average

  // Columns that vary; the dense ones first.
  const std::vector<Column>& columns() const { return columns_; }

  std::size_t n_dense() const { return n_dense_; }
  bool has_dense() const { return n_dense_ > 0; }
  bool all_dense() const { return n_dense_ == columns_.size(); }
  ByteRows dense() const { return dense(0, n_dense_); }
  // Of columns [begin, end).
  ByteRows dense(std::size_t begin, std::size_t end) const {
    return {first_ + begin, stride_, end - begin};
  }
  // The same of a window of the rows of a file; without bytes: of all rows.
  ByteRows dense(std::size_t begin, std::size_t end, const RowWindow& window) const {
    return {(window.bytes != nullptr ? window.bytes : first_) + begin, stride_, end - begin};
  }
  // Where rows have room for a NearGradient, behind the dense codes of the first; or null.
  std::uint8_t* near_gradients() const { return near_; }
  bool is_mapped() const { return first_ != nullptr && bytes_.empty(); }  // in a file
  std::size_t n_listed_parts() const { return listed_.size(); }
  // One more than the last of its columns, which follow those of the part before.
  std::size_t listed_end(std::size_t part) const { return listed_[part].end; }
  ListedRows listed(std::size_t part) const {
    const Listed& list = listed_[part];
    return {list.start.data(), list.cell.data(), list.first_cell};
  }

 private:
  RowCodes() = default;
  static void check_shards(const BinnedDataset& table, const Shards& shards);
  bool has_order_of(const MappedRows& mapped) const;
  void use_mapped(const BinnedDataset& table);
  void lay_out(const BinnedDataset& table, const Shards* shards, int n_threads,
               std::size_t part_cells);
  void add_to_lists(double n_codes_a_row, std::size_t part_cells);
  void copy_bytes(const BinnedDataset& table, const Context& context, bool has_one_reader);

  // The listed codes of columns [begin, end), whose cells two bytes can number.
  struct Listed {
    std::size_t begin, end;
    std::size_t first_cell;
    double n_codes_a_row;
    std::vector<std::uint64_t> start = {};
    std::vector<std::uint16_t> cell = {};
  };
  void list_cells(const BinnedDataset& table, const Context& context, Listed& list) const;

  std::vector<Column> columns_;
  std::size_t n_dense_ = 0;
  std::size_t n_cells_ = 0;
  std::size_t updates_a_row_ = 0;
  std::size_t stride_ = 0;
  std::vector<std::uint8_t> bytes_;
  const std::uint8_t* first_ = nullptr;  // bytes_, or those of a file
  std::uint8_t* near_ = nullptr;         // in bytes_
  std::vector<Listed> listed_;
};

}  // namespace arboleda
