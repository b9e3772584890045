// The rows of a task, side by side in groups, and the games that are played on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "explain/shap_steps.h"
#include "simd/shap_kernels.h"

namespace arboleda {

class ShapGroups {
 public:
  // Reads the rows [begin, end) of a table: TableView or SparseRows.
  template <class Table>
  void read(const Table& table, const TestedColumns& tested, std::size_t begin, std::size_t end) {
    n_rows_ = end - begin;
    n_groups_ = (n_rows_ + kShapRows - 1) / kShapRows;
    n_columns_ = tested.column.size();
    columns_.assign(n_groups_ * n_columns_ * kShapRows, 0.0);
    for (std::size_t j = 0; j < n_columns_; ++j) {
      for (std::size_t row = 0; row < n_rows_; ++row) {
        columns_[(row / kShapRows * n_columns_ + j) * kShapRows + row % kShapRows] =
            table.at(begin + row, tested.column[j]);
      }
    }
  }

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_groups() const { return n_groups_; }

  // Adds what the players of every group get in a game. The number of player p and row r of group g stands
  // at values[(g * group_width + p) * kShapRows + r].
  void play(const ShapSteps& steps, double* values, std::size_t group_width);

 private:
  std::size_t n_rows_ = 0, n_groups_ = 0, n_columns_ = 0;
  std::vector<double> columns_;  // groups x columns x rows of a group
  std::vector<double> products_, sums_;
  std::vector<std::int64_t> passes_, lefts_;
};

}  // namespace arboleda
