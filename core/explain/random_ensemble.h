// For tests: random trees that test several columns, numbers and categories, and rows for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "data/column.h"
#include "explain/shap_values.h"
#include "tree/ensemble.h"

namespace arboleda {

inline constexpr std::uint32_t kTestLevels = 5;

// A tree over n_columns columns, of which the odd ones hold categories, of depth max_depth at most.
inline Tree random_split_tree(std::uint64_t seed, FeatureIndex n_columns, int max_depth) {
  RandomStream random(seed, Purpose::feature_subset, 1, 0);
  TreeArrays a;
  a.n_features = n_columns;
  a.n_outputs = 1;
  const std::function<double(int, NodeIndex)> grow = [&](int depth, NodeIndex right_of) {
    const bool many = a.right.size() > 2000;
    const bool leaf = depth == max_depth || (depth > 1 && (many || random.below(5) == 0));
    const auto feature =
        static_cast<FeatureIndex>(random.below(static_cast<std::uint32_t>(n_columns)));
    std::vector<CategoryIndex> categories;
    for (std::uint32_t c = 0; c < kTestLevels && feature % 2 == 1; ++c) {
      if (random.below(2) == 0) categories.push_back(static_cast<CategoryIndex>(c));
    }
    const double value = static_cast<double>(random.below(2001)) / 100.0 - 10.0;
    const double threshold = static_cast<double>(random.below(9)) / 2.0 - 2.0;
    const NodeIndex own =
        append_node(a, {leaf, feature, threshold, random.below(2) == 0, 0.0, 1, 1.0, categories},
                    {&value, 1}, right_of);
    double weight = 1.0 + random.below(30);
    if (!leaf) weight = grow(depth + 1, -1) + grow(depth + 1, own);
    a.weight[static_cast<std::size_t>(own)] = weight;
    return weight;
  };
  grow(0, -1);
  return Tree(a);
}

// Trees of one output that add up to what they start from.
inline TreeEnsemble random_ensemble(std::uint64_t seed, std::size_t n_columns, int max_depth,
                                    std::size_t n_trees) {
  TreeEnsemble ensemble{{0.5}, {}};
  for (std::size_t t = 0; t < n_trees; ++t) {
    ensemble.trees.push_back(
        random_split_tree(seed * 100 + t, static_cast<FeatureIndex>(n_columns), max_depth));
  }
  return ensemble;
}

// A player for each column.
inline Players one_each(std::size_t n) {
  Players players{std::vector<std::uint32_t>(n), n};
  std::iota(players.of_column.begin(), players.of_column.end(), 0u);
  return players;
}

// Rows for such trees, column by column: half numbers, and categories of which some are unknown; both
// are missing now and then.
struct RandomRows {
  std::size_t n_rows;
  std::vector<std::vector<double>> columns;

  RandomRows(std::uint64_t seed, std::size_t n, std::size_t n_columns)
      : n_rows(n), columns(n_columns) {
    RandomStream random(seed, Purpose::feature_subset, 2, 0);
    for (std::size_t j = 0; j < n_columns; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        const double x = j % 2 == 0 ? static_cast<double>(random.below(9)) / 2.0 - 2.0
                                    : static_cast<double>(random.below(kTestLevels + 2));
        const bool missing = random.below(6) == 0;
        columns[j].push_back(missing ? std::numeric_limits<double>::quiet_NaN() : x);
      }
    }
  }

  std::vector<double> row(std::size_t i) const {
    std::vector<double> numbers;
    for (const auto& column : columns) numbers.push_back(column[i]);
    return numbers;
  }

  TableView table() const {
    TableView view{n_rows, {}};
    for (const auto& column : columns) {
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(column.data()), sizeof(double), DType::float64});
    }
    return view;
  }
};

}  // namespace arboleda
