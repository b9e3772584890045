#include "tree/validation_pruning.h"

#include <doctest/doctest.h>

#include "tree/prune.h"
#include "tree/random_tree.h"
#include "tree/reduced_error.h"

namespace arboleda {

namespace {

struct Sample {
  std::vector<NodeIndex> leaf;
  std::vector<double> target;
  ValidationRows rows() const { return {leaf, target, {}}; }
};

Sample random_sample(const Tree& tree, std::uint64_t seed, std::uint32_t n_targets) {
  RandomStream random(seed, Purpose::feature_subset, 2, 2);
  Sample sample;
  for (NodeIndex i = 0; i < tree.n_nodes(); ++i) {
    if (!tree.is_leaf(i)) continue;
    for (std::uint32_t n = random.below(5); n > 0; --n) {
      sample.leaf.push_back(i);
      sample.target.push_back(random.below(n_targets));
    }
  }
  sample.leaf.push_back(tree.n_nodes() - 1);
  sample.target.push_back(0);
  return sample;
}

// The definition: from the root down, as growing goes.
struct Naive {
  const Tree& tree;
  const std::vector<double>& error;
  std::vector<bool> cut;

  double at(NodeIndex i) const { return error[static_cast<std::size_t>(i)]; }
  void grow(NodeIndex i) {
    if (tree.is_leaf(i)) return;
    const NodeIndex right = tree.arrays().right[static_cast<std::size_t>(i)];
    if (at(i + 1) + at(right) < at(i)) {
      grow(i + 1);
      grow(right);
    } else {
      cut[static_cast<std::size_t>(i)] = true;
    }
  }
};

}  // namespace

TEST_CASE("a tree stops where a split does not lower the error of rows held out") {
  int n_between = 0;
  int n_smaller = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const Loss loss : {Loss::misclassification, Loss::squared_error}) {
      const bool classes = loss == Loss::misclassification;
      const Tree tree = random_tree(seed, 4, classes ? 2 : 0);
      const Sample sample = random_sample(tree, seed, classes ? 2 : 9);
      const auto error = node_errors(tree, sample.rows(), loss, Context());
      const Tree pruned = validation_pruned(tree, sample.rows(), loss, Context());
      Naive naive{tree, error, std::vector<bool>(error.size(), false)};
      naive.grow(0);
      const Tree twin = cut_below(tree, naive.cut);
      CHECK(twin.arrays().right == pruned.arrays().right);
      CHECK(twin.arrays().impurity == pruned.arrays().impurity);
      const Tree best = reduced_error_pruned(tree, sample.rows(), loss, Context());
      CHECK(pruned.n_leaves() <= best.n_leaves());
      n_between += pruned.n_nodes() < tree.n_nodes() && pruned.n_nodes() > 1;
      n_smaller += pruned.n_leaves() < best.n_leaves();
    }
  }
  CHECK(n_between > 10);
  CHECK(n_smaller > 10);
}

TEST_CASE("what no held-out row reaches is not split") {
  const Tree tree = random_tree(1, 4, 2);
  const std::vector<NodeIndex> leaf{tree.n_nodes() - 1};
  const std::vector<double> target{0.0};
  const Tree pruned =
      validation_pruned(tree, {leaf, target, {}}, Loss::misclassification, Context());
  CHECK(pruned.n_leaves() <= tree.depth() + 1);
}

}  // namespace arboleda
