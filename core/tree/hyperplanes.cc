#include "tree/hyperplanes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace arboleda {

namespace {

// Nodes in preorder from `node` up to `end` are one tree: every leaf ends one of the subtrees that are open.
bool is_tree(const HyperplaneForest& forest, std::int64_t node, std::int64_t end) {
  std::vector<std::int64_t> rights;  // of nodes whose left subtree is open
  for (; node < end; ++node) {
    const std::int64_t right = forest.right[static_cast<std::size_t>(node)];
    if (right >= 0) {
      rights.push_back(right);
    } else if (rights.empty()) {
      return node + 1 == end;
    } else if (rights.back() != node + 1) {
      return false;
    } else {
      rights.pop_back();
    }
  }
  return false;
}

}  // namespace

void check_hyperplanes(const HyperplaneForest& forest) {
  constexpr const char* kMessage = "the arrays are not trees of hyperplanes";
  const std::size_t n_nodes = forest.right.size(), n_leaves = forest.value.size();
  const std::size_t n_cells = forest.feature.size();
  require(forest.n_trees() >= 1 && forest.n_terms >= 1 && forest.place.size() == n_nodes, kMessage);
  require(n_leaves <= n_nodes && n_cells == (n_nodes - n_leaves) * forest.n_terms, kMessage);
  require(forest.weight.size() == n_cells && forest.point.size() == n_cells, kMessage);
  require(forest.root.front() == 0 && forest.root.back() == static_cast<std::int64_t>(n_nodes),
          kMessage);
  require(std::is_sorted(forest.root.begin(), forest.root.end()), kMessage);
  std::int64_t n_inner = 0, n_left = 0;
  for (std::size_t node = 0; node < n_nodes; ++node) {
    require(forest.place[node] == (forest.right[node] < 0 ? n_left++ : n_inner++), kMessage);
  }
  require(n_left == static_cast<std::int64_t>(n_leaves), kMessage);
  for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
    require(is_tree(forest, forest.root[tree], forest.root[tree + 1]), kMessage);
  }
  for (std::size_t i = 0; i < n_cells; ++i) {
    require(forest.feature[i] >= 0 && forest.feature[i] < forest.n_features, kMessage);
    require(std::isfinite(forest.weight[i]) && std::isfinite(forest.point[i]), kMessage);
  }
  require(std::all_of(forest.value.begin(), forest.value.end(),
                      [](double v) { return v >= 0.0 && std::isfinite(v); }),
          kMessage);
}

}  // namespace arboleda
