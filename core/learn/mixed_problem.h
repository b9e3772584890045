// For tests: a table with columns of every kind, targets and weights. Made of integers alone, so that
// it is the same on every machine.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "learn/cart.h"
#include "learn/multi_output_cart.h"

namespace arboleda {

// Six columns: many values; few values; few with gaps; categories with gaps; two more that are 0 in
// most rows. Two targets and two labels (of 3 and of 2 classes) depend on the first four.
class MixedProblem {
 public:
  static constexpr std::size_t kDense = 4, kColumns = 6, kCategories = 40;

  explicit MixedProblem(std::size_t n_rows) : n(n_rows), columns_(kColumns) {
    RandomStream random(91, Purpose::feature_subset, 0, 0);
    for (auto& column : columns_) column.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      columns_[0][i] = (random.below(1u << 20) - 300000.0) / 4096;
      columns_[1][i] = random.below(50) / 4.0;
      columns_[2][i] = random.below(4) == 0 ? kMissing : random.below(9);
      columns_[3][i] = random.below(9) == 0 ? kMissing : random.below(kCategories);
      for (const std::size_t j : {4u, 5u}) {
        columns_[j][i] = random.below(6) == 0 ? random.below(40) - 20.0 : 0.0;
      }
      add_targets(i, random);
    }
    for (std::size_t i = 0; i < n; ++i) y.push_back(random.below(64) / 8.0 + (labels[i] == 1));
    for (std::size_t i = 0; i < n; ++i)
      labels.push_back(columns_[4][i] > 0 || random.below(7) == 0);
  }

  // Columns 0 .. 3, of numbers and categories.
  BinnedDataset mixed(const Context& context, std::size_t max_bins = 0) const {
    return code_table(dense_view(kDense), context, {.n_categories = kLevels, .max_bins = max_bins});
  }
  TableView dense_view(std::size_t n_columns) const {
    TableView view{n, {}};
    for (std::size_t j = 0; j < n_columns; ++j) {
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(columns_[j].data()), sizeof(double), DType::float64});
    }
    return view;
  }

  // All columns as they are stored when zeros are not; categories count as numbers.
  BinnedDataset sparse(const Context& context) const {
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> index;
    std::vector<double> data;
    for (const auto& column : columns_) {
      for (std::size_t i = 0; i < n; ++i) {
        if (column[i] == 0.0) continue;
        index.push_back(static_cast<std::int32_t>(i));
        data.push_back(column[i]);
      }
      start.push_back(static_cast<std::int64_t>(index.size()));
    }
    const ColumnView view{reinterpret_cast<const std::byte*>(data.data()), sizeof(double),
                          DType::float64};
    return code_table(SparseColumns{n, kColumns, {start, index, view}}, context);
  }

  // One measure a kind of target: 0 .. 2 classes, 3 .. 5 regression; with both outputs from 6 on.
  static constexpr int kMeasures = 12;
  Tree fit(const BinnedDataset& table, int measure, bool weighted, const GrowthOptions& options,
           const Context& context) const {
    const std::span<const double> w =
        weighted ? std::span<const double>(weights) : std::span<const double>();
    const std::span<const std::uint32_t> k(labels);
    const std::span<const double> t(y);
    const std::vector<std::size_t> n_classes{3, 2};
    const auto of_classes = static_cast<ClassMeasure>(measure % 6);
    const auto of_targets = static_cast<RegressionMeasure>(measure % 6 - 3);
    switch (measure / 3) {
      case 0:
        return fit_classification_tree(table, k.first(n), 3, w, of_classes, options, context);
      case 1:
        return fit_regression_tree(table, t.first(n), w, of_targets, options, context);
      case 2:
        return fit_multi_output_classification_tree(table, k, n_classes, w, of_classes, options,
                                                    context);
      default:
        return fit_multi_output_regression_tree(table, t, 2, w, of_targets, options, context);
    }
  }

  std::size_t n;
  std::vector<double> y;              // of output 0, then of output 1
  std::vector<std::uint32_t> labels;  // the same
  std::vector<double> weights;        // no number measures them all; some are 0

 private:
  static constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::uint32_t kLevels[kDense] = {0, 0, 0, kCategories};

  void add_targets(std::size_t i, RandomStream& random) {
    const bool of_category = columns_[3][i] == columns_[3][i] && int(columns_[3][i]) % 3 == 1;
    const bool high = columns_[0][i] > columns_[1][i] * 8;
    labels.push_back((high ? 1u : 0u) + (of_category ? 1u : 0u));
    if (random.below(6) == 0) labels.back() = random.below(3);
    y.push_back((high ? 9 : 1) + (of_category ? 4 : 0) + random.below(1000) / 256.0);
    weights.push_back(random.below(9) == 0 ? 0.0 : (1 + random.below(1000)) / 997.0);
  }

  std::vector<std::vector<double>> columns_;
};

}  // namespace arboleda
