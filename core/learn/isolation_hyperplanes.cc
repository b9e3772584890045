#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "learn/isolation_sample.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

// Standard normal: G. Marsaglia's polar method. G. Marsaglia, T. A. Bray (1964), "A convenient method for
// generating normal variables", SIAM Review 6(3).
double draw_normal(QuickStream& random) {
  for (;;) {
    const double u = 2.0 * random.uniform() - 1.0, v = 2.0 * random.uniform() - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * stable_log(s) / s);
  }
}

class HyperplaneTreeGrower {
 public:
  HyperplaneTreeGrower(const IsolationSample& sample, std::size_t n_terms, std::uint64_t root,
                       int max_depth)
      : sample_(sample),
        n_terms_(n_terms),
        varying_(sample),
        rows_(sample.n_rows()),
        root_(root),
        max_depth_(max_depth) {
    std::iota(rows_.begin(), rows_.end(), std::uint32_t{0});
  }

  // A forest of this tree alone.
  HyperplaneForest grow() {
    grow_node(rows_, 0, 1, sample_.n_columns());
    return std::move(tree_);
  }

 private:
  void grow_node(std::span<std::uint32_t> rows, int depth, std::uint64_t key,
                 std::size_t n_columns) {
    QuickStream random(root_, key);
    std::vector<VaryingColumn> drawn;
    if (depth < max_depth_ && rows.size() > 1) {
      drawn = varying_.draw(rows, n_terms_, n_columns, random);
    }
    const std::size_t node = tree_.right.size();
    tree_.right.push_back(-1);
    if (drawn.empty()) {
      tree_.place.push_back(static_cast<std::int64_t>(tree_.value.size()));
      tree_.value.push_back(depth + mean_path_length(rows.size()));
      return;
    }
    const std::size_t first = tree_.feature.size();
    tree_.place.push_back(static_cast<std::int64_t>(first / n_terms_));
    for (std::size_t term = 0; term < n_terms_; ++term) {
      const bool is_used = term < drawn.size();
      const VaryingColumn& column = drawn[is_used ? term : 0];
      tree_.feature.push_back(sample_.feature(column.column));
      tree_.point.push_back(is_used ? draw_between(column.lowest, column.highest, random) : 0.0);
      tree_.weight.push_back(is_used ? draw_normal(random) : 0.0);
    }
    const auto end = std::partition(rows.begin(), rows.end(), [&](std::uint32_t row) {
      double sum = 0.0;
      for (std::size_t term = 0; term < drawn.size(); ++term) {
        const double distance = sample_.at(row, drawn[term].column) - tree_.point[first + term];
        sum += distance == distance ? tree_.weight[first + term] * distance : 0.0;
      }
      return sum <= 0.0;
    });
    const auto n_left = static_cast<std::size_t>(end - rows.begin());
    grow_node(rows.first(n_left), depth + 1, child_key(key, true), n_columns);
    tree_.right[node] = static_cast<std::int64_t>(tree_.right.size());
    grow_node(rows.subspan(n_left), depth + 1, child_key(key, false), n_columns);
  }

  const IsolationSample& sample_;
  std::size_t n_terms_;
  VaryingColumns varying_;
  std::vector<std::uint32_t> rows_;  // of the sample
  std::uint64_t root_;               // of the random numbers
  int max_depth_;
  HyperplaneForest tree_;
};

// Appends the numbers of `more`, with `shift` added to those that are not negative.
void append(std::vector<std::int64_t>& numbers, const std::vector<std::int64_t>& more,
            std::size_t shift) {
  for (const std::int64_t number : more) {
    numbers.push_back(number < 0 ? number : number + static_cast<std::int64_t>(shift));
  }
}

void append(HyperplaneForest& forest, const HyperplaneForest& tree) {
  const std::size_t n_nodes = forest.right.size(), n_leaves = forest.value.size();
  const std::size_t n_inner = n_nodes - n_leaves;
  for (std::size_t node = 0; node < tree.right.size(); ++node) {
    const bool is_leaf = tree.right[node] < 0;
    forest.place.push_back(tree.place[node] +
                           static_cast<std::int64_t>(is_leaf ? n_leaves : n_inner));
  }
  append(forest.right, tree.right, n_nodes);
  append(forest.feature, tree.feature, 0);
  forest.value.insert(forest.value.end(), tree.value.begin(), tree.value.end());
  forest.weight.insert(forest.weight.end(), tree.weight.begin(), tree.weight.end());
  forest.point.insert(forest.point.end(), tree.point.begin(), tree.point.end());
  forest.root.push_back(static_cast<std::int64_t>(forest.right.size()));
}

}  // namespace

HyperplaneForest fit_hyperplane_forest(const IsolationRows& rows, const IsolationOptions& options,
                                       const Context& context) {
  require(options.n_terms >= 1, "a hyperplane needs a column");
  const auto n_terms = static_cast<std::size_t>(options.n_terms);
  std::vector<HyperplaneForest> trees(options.n_trees);
  grow_isolation_trees(
      rows, options, context,
      [&](std::size_t i, const IsolationSample& sample, std::uint64_t root, int max_depth) {
        trees[i] = HyperplaneTreeGrower(sample, n_terms, root, max_depth).grow();
      });
  HyperplaneForest forest;
  forest.n_features = static_cast<FeatureIndex>(rows.table.n_columns);
  forest.n_terms = n_terms;
  forest.root = {0};
  for (const HyperplaneForest& tree : trees) append(forest, tree);
  return forest;
}

}  // namespace arboleda
