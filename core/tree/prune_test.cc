#include "tree/prune.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tree/random_tree.h"

namespace arboleda {

namespace {

double own_cost(const Tree& tree, NodeIndex i) {
  const auto n = static_cast<std::size_t>(i);
  return tree.arrays().weight[n] * tree.arrays().impurity[n] / tree.arrays().weight[0];
}

// min over all pruned subtrees below `node` of (sum of R) + alpha * leaves, by definition.
double best_cost(const Tree& tree, NodeIndex node, double alpha) {
  const double as_leaf = own_cost(tree, node) + alpha;
  if (tree.is_leaf(node)) return as_leaf;
  const auto right = tree.arrays().right[static_cast<std::size_t>(node)];
  return std::min(as_leaf, best_cost(tree, node + 1, alpha) + best_cost(tree, right, alpha));
}

double cost(const Tree& tree, double alpha) {
  double sum = 0;
  for (NodeIndex i = 0; i < tree.n_nodes(); ++i) {
    if (tree.is_leaf(i)) sum += own_cost(tree, i) + alpha;
  }
  return sum;
}

}  // namespace

TEST_CASE("the tree pruned at alpha is the best of all pruned trees, and the smallest such") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Tree tree = random_tree(seed, 6);
    const auto path = pruning_path(tree);
    for (std::size_t step = 0; step < path.size(); ++step) {
      const double next = step + 1 < path.size() ? path[step + 1].alpha : path[step].alpha + 1;
      for (const double alpha : {path[step].alpha, (path[step].alpha + next) / 2}) {
        const Tree small = pruned(tree, alpha);
        CHECK(cost(small, alpha) == doctest::Approx(best_cost(tree, 0, alpha)).epsilon(1e-12));
        // A hair more alpha changes nothing inside the interval.
        if (alpha > path[step].alpha) CHECK(small.n_leaves() == path[step].n_leaves);
      }
    }
  }
}

TEST_CASE("alphas rise, trees are nested, the last is the root") {
  for (std::uint64_t seed = 40; seed < 60; ++seed) {
    const Tree tree = random_tree(seed, 9);
    const auto path = pruning_path(tree);
    CHECK(path.front().alpha == 0.0);
    CHECK(path.front().n_leaves == tree.n_leaves());
    CHECK(path.back().n_leaves == 1);
    for (std::size_t step = 1; step < path.size(); ++step) {
      CHECK(path[step].alpha >= path[step - 1].alpha);
      CHECK(path[step].n_leaves < path[step - 1].n_leaves);
      CHECK(path[step].impurity >= path[step - 1].impurity);
    }
    CHECK(pruned(tree, 0.0).n_nodes() == tree.n_nodes());
    CHECK(pruned(tree, std::numeric_limits<double>::infinity()).n_nodes() == 1);
  }
}

namespace {

// Every left child is a leaf, and the cut of the k-th node from the bottom becomes worth it at k.
Tree chain(NodeIndex n_splits, double weight) {
  TreeArrays a;
  a.n_features = 1;
  a.n_outputs = 1;
  double cost = 0.0;  // R of the node in hand, from the bottom up
  std::vector<double> costs{0.0};
  for (NodeIndex k = 1; k <= n_splits; ++k) costs.push_back(cost += k);
  for (NodeIndex k = n_splits; k >= 0; --k) {
    const double share = (k + 1.0) / (n_splits + 1.0);
    const auto add = [&](bool leaf, double impurity, double of_all) {
      const auto after_leaf = static_cast<NodeIndex>(a.right.size()) + 2;
      a.right.push_back(leaf ? -1 : after_leaf);
      a.feature.push_back(leaf ? -1 : 0);
      a.threshold.push_back(0.0);
      a.missing_left.push_back(0);
      a.impurity.push_back(impurity);
      a.n_node_samples.push_back(k + 1);
      a.weight.push_back(weight * of_all);
      a.value.push_back(0.0);
    };
    add(k == 0, costs[static_cast<std::size_t>(k)] / share, share);
    if (k > 0) add(true, 0.0, 1.0 / (n_splits + 1.0));
  }
  return Tree(a);
}

}  // namespace

TEST_CASE("a chain as long as the data is pruned link by link, in near-linear time" *
          doctest::test_suite("one thread")) {
  const NodeIndex n = 300000;
  const Tree tree = chain(n, 1.0);
  const auto path = pruning_path(tree);
  REQUIRE(path.size() == static_cast<std::size_t>(n) + 1);
  for (const NodeIndex step : {1, 2, 1000, n}) {
    const PruningStep& s = path[static_cast<std::size_t>(step)];
    CHECK(s.cut == 2 * (n - step));
    CHECK(s.n_leaves == n + 1 - step);
    CHECK(s.alpha == doctest::Approx(step).epsilon(1e-6));
  }
  CHECK(pruned(tree, 1000.5).n_leaves() == n + 1 - 1000);
}

TEST_CASE("weights near the end of float64 change nothing") {
  const Tree tree = chain(50, 1.0);
  const Tree heavy = chain(50, 1e307);
  CHECK(heavy.impurity_decrease()[0] == doctest::Approx(tree.impurity_decrease()[0]));
  const auto expected = pruning_path(tree);
  const auto path = pruning_path(heavy);
  REQUIRE(path.size() == expected.size());
  for (std::size_t step = 0; step < path.size(); ++step) {
    CHECK(path[step].alpha == doctest::Approx(expected[step].alpha));
    CHECK(path[step].impurity == doctest::Approx(expected[step].impurity));
  }
}

TEST_CASE("a single leaf has a path of one step") {
  const Tree leaf = pruned(random_tree(1, 3), std::numeric_limits<double>::infinity());
  const auto path = pruning_path(leaf);
  REQUIRE(path.size() == 1);
  CHECK(path[0].n_leaves == 1);
}

}  // namespace arboleda
