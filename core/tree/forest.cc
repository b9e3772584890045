#include "tree/forest.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace arboleda {

void check_forest(const Forest& forest) {
  require(forest.n_features >= 0 && forest.n_outputs >= 1, "a forest needs features and outputs");
  require(static_cast<int>(forest.measure) < kMeasures, "the measure of the forest is unknown");
  require(forest.n_outputs == 1 ||
              (forest.measure != Measure::squared_error && forest.measure != Measure::poisson),
          "a forest of one target has one value a leaf");
  for (const CompactTree& tree : forest.trees) {
    check_compact(tree, forest.shape(), forest.n_training_rows);
    require(tree.row.empty() == forest.trees[0].row.empty(),
            "some trees of the forest keep their rows and some do not");
  }
}

Forest forest_of(std::span<const Tree* const> trees, Measure measure) {
  require(!trees.empty(), "a forest is made of at least one tree");
  const TreeArrays& first = trees[0]->arrays();
  Forest forest{first.n_features, first.n_outputs, measure};
  forest.trees.reserve(trees.size());
  for (const Tree* tree : trees) {
    const TreeArrays& arrays = tree->arrays();
    require(arrays.n_features == first.n_features && arrays.n_outputs == first.n_outputs,
            "the trees of a forest have the same columns and outputs");
    require(std::all_of(arrays.n_node_samples.begin(), arrays.n_node_samples.end(),
                        [](std::int64_t n) { return n <= std::numeric_limits<RowIndex>::max(); }),
            "a tree of the forest has too many rows");
    forest.trees.push_back(compact(arrays, measure));
  }
  check_forest(forest);
  return forest;
}

bool categories_are_below(const Forest& forest, std::span<const std::int64_t> n_levels) {
  require(n_levels.size() == static_cast<std::size_t>(forest.n_features),
          "the forest was fitted on another number of columns");
  for (const CompactTree& tree : forest.trees) {
    for (const CompactNode& node : tree.nodes) {
      if (!node.is_categorical()) continue;
      const std::int64_t n = n_levels[static_cast<std::size_t>(node.feature())];
      if (tree.categories(node).back() >= n || n > kNoCategory) return false;
    }
  }
  return true;
}

Tree tree_of(const Forest& forest, std::size_t tree) {
  require(tree < forest.trees.size(), "the forest has fewer trees than that");
  return Tree(expanded(forest.trees[tree], forest.shape()));
}

Forest extended(const Forest& forest, const Forest& more) {
  require(forest.n_features == more.n_features && forest.n_outputs == more.n_outputs &&
              forest.measure == more.measure,
          "trees are added to those of the same columns, outputs and criterion: fit a clone");
  Forest both = forest;
  both.trees.insert(both.trees.end(), more.trees.begin(), more.trees.end());
  both.n_training_rows = std::max(forest.n_training_rows, more.n_training_rows);
  for (const CompactTree& tree : both.trees) {
    require(tree.row.empty() == both.trees[0].row.empty(),
            "some trees of the forest keep their rows and some do not");
  }
  return both;
}

Forest truncated(const Forest& forest, std::size_t n_trees) {
  require(n_trees <= forest.trees.size(), "the forest has fewer trees than it should keep");
  Forest first{forest.n_features, forest.n_outputs, forest.measure};
  first.n_training_rows = forest.n_training_rows;
  first.trees.assign(forest.trees.begin(),
                     forest.trees.begin() + static_cast<std::ptrdiff_t>(n_trees));
  return first;
}

Forest with_leaf_values(const Forest& forest, std::span<const double> values) {
  require(!keeps_values(forest.measure), "the inner nodes of the forest have values of their own");
  Forest other = forest;
  for (CompactTree& tree : other.trees) {
    require(values.size() >= tree.value.size(),
            "the leaves of the forest are more than the values");
    std::copy_n(values.begin(), tree.value.size(), tree.value.begin());
    values = values.subspan(tree.value.size());
  }
  require(values.empty(), "the leaves of the forest are fewer than the values");
  check_forest(other);
  return other;
}

std::vector<double> impurity_importances(const Forest& forest) {
  std::vector<double> sum(static_cast<std::size_t>(forest.n_features), 0.0);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    if (forest.trees[t].n_nodes() == 1) continue;
    const std::vector<double> decrease = tree_of(forest, t).impurity_decrease();
    double total = 0.0;
    for (const double x : decrease) total += x;
    if (!(total > 0.0)) continue;
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += decrease[j] / total;
  }
  double total = 0.0;
  for (const double x : sum) total += x;
  if (total > 0.0) {
    for (double& x : sum) x /= total;
  }
  return sum;
}

std::size_t n_bytes(const Forest& forest) {
  std::size_t sum = sizeof forest;
  for (const CompactTree& tree : forest.trees) sum += n_bytes(tree);
  return sum;
}

}  // namespace arboleda
