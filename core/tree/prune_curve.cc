#include "tree/prune_curve.h"

#include <algorithm>

#include "base/error.h"
#include "tree/prune.h"

namespace arboleda {

namespace {

// The error of a tree that loses one node's subtree after the other.
//
// What a subtree costs is always the sum of its two children's costs, never a difference, so
// rounding does not pile up and class errors stay exact.
class ShrinkingTree {
 public:
  ShrinkingTree(const Tree& tree, const std::vector<double>& as_leaf)
      : right_(tree.arrays().right), parent_(tree.parents()), as_leaf_(as_leaf), below_(as_leaf) {
    for (std::size_t i = right_.size(); i-- > 0;) {
      if (right_[i] >= 0) join(i);
    }
  }

  void cut(NodeIndex node) {
    auto i = static_cast<std::size_t>(node);
    below_[i] = as_leaf_[i];
    while (parent_[i] >= 0) {
      i = static_cast<std::size_t>(parent_[i]);
      join(i);
    }
  }

  double error() const { return below_[0]; }

 private:
  void join(std::size_t i) {
    below_[i] = below_[i + 1] + below_[static_cast<std::size_t>(right_[i])];
  }

  const std::vector<NodeIndex>& right_;
  const std::vector<NodeIndex> parent_;
  const std::vector<double>& as_leaf_;
  std::vector<double> below_;  // error of what is left of the subtree
};

}  // namespace

std::vector<double> pruning_errors(const Tree& tree, const ValidationRows& rows, Loss loss,
                                   std::span<const double> alphas, const Context& context) {
  require(std::is_sorted(alphas.begin(), alphas.end()), "alphas must ascend");
  const std::vector<double> as_leaf = node_errors(tree, rows, loss, context);
  const auto path = pruning_path(tree);
  ShrinkingTree shrinking(tree, as_leaf);
  std::vector<double> errors;
  errors.reserve(alphas.size());
  std::size_t step = 1;
  for (const double alpha : alphas) {
    for (; step < path.size() && path[step].alpha <= alpha; ++step) shrinking.cut(path[step].cut);
    errors.push_back(shrinking.error());
  }
  return errors;
}

}  // namespace arboleda
