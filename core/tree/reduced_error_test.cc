#include "tree/reduced_error.h"

#include <doctest/doctest.h>

#include <utility>

#include "tree/prune.h"
#include "tree/random_tree.h"

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

NodeIndex right_of(const Tree& tree, NodeIndex i) {
  return tree.arrays().right[static_cast<std::size_t>(i)];
}

// (errors, leaves) of the pruned trees below a node, all of them, and the best pair.
using Size = std::pair<double, NodeIndex>;
std::vector<Size> all_pruned(const Tree& tree, const std::vector<double>& error, NodeIndex i) {
  std::vector<Size> found{{error[static_cast<std::size_t>(i)], 1}};
  if (tree.is_leaf(i)) return found;
  for (const Size& l : all_pruned(tree, error, i + 1)) {
    for (const Size& r : all_pruned(tree, error, right_of(tree, i))) {
      found.push_back({l.first + r.first, l.second + r.second});
    }
  }
  return found;
}

// The definition: remove a node that helps or changes nothing, and has none such below it, until
// there is none; of several the one that helps most.
struct Naive {
  const Tree& tree;
  const std::vector<double>& error;
  std::vector<bool> cut;

  bool stops(NodeIndex i) const { return tree.is_leaf(i) || cut[static_cast<std::size_t>(i)]; }
  double below(NodeIndex i) const {
    if (stops(i)) return error[static_cast<std::size_t>(i)];
    return below(i + 1) + below(right_of(tree, i));
  }
  double help(NodeIndex i) const { return below(i) - error[static_cast<std::size_t>(i)]; }
  // The best node to remove at or below i, or -1.
  NodeIndex best(NodeIndex i) const {
    if (stops(i)) return -1;
    const NodeIndex left = best(i + 1);
    const NodeIndex right = best(right_of(tree, i));
    if (left >= 0 && right >= 0) return help(right) > help(left) ? right : left;
    if (left >= 0 || right >= 0) return std::max(left, right);
    return help(i) >= 0.0 ? i : -1;
  }
  Tree run() {
    for (NodeIndex i = best(0); i >= 0; i = best(0)) cut[static_cast<std::size_t>(i)] = true;
    return cut_below(tree, cut);
  }
};

}  // namespace

TEST_CASE(
    "fewest errors of all pruned trees, and of those the smallest; the same as step by step") {
  int n_changed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const Loss loss : {Loss::misclassification, Loss::squared_error}) {
      const bool classes = loss == Loss::misclassification;
      const Tree tree = random_tree(seed, 4, classes ? 2 : 0);
      const Sample sample = random_sample(tree, seed, classes ? 2 : 9);
      const auto error = node_errors(tree, sample.rows(), loss, Context());
      const auto all = all_pruned(tree, error, 0);
      const Size best = *std::min_element(all.begin(), all.end());
      const Tree pruned = reduced_error_pruned(tree, sample.rows(), loss, Context());
      CHECK(pruned.n_leaves() == best.second);
      Naive naive{tree, error, std::vector<bool>(error.size(), false)};
      const Tree twin = naive.run();
      CHECK(naive.below(0) == best.first);
      CHECK(twin.arrays().right == pruned.arrays().right);
      CHECK(twin.arrays().impurity == pruned.arrays().impurity);
      n_changed += pruned.n_nodes() < tree.n_nodes() && pruned.n_nodes() > 1;
    }
  }
  CHECK(n_changed > 20);
}

TEST_CASE("what no row reaches goes") {
  const Tree tree = random_tree(1, 4, 2);
  const std::vector<NodeIndex> leaf{tree.n_nodes() - 1};
  const std::vector<double> target{0.0};
  const Tree pruned =
      reduced_error_pruned(tree, {leaf, target, {}}, Loss::misclassification, Context());
  CHECK(pruned.n_leaves() <= tree.depth() + 1);
}

}  // namespace arboleda
