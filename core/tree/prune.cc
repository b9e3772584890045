#include "tree/prune.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/error.h"

namespace arboleda {

namespace {

// A node that pruning makes a leaf.
struct Cut {
  double alpha;        // from which it is the better for it: g
  double cost;         // what the tree's leaves cost more afterwards
  NodeIndex n_leaves;  // and how many fewer they are
  NodeIndex node;

  bool operator<(const Cut& other) const {
    return alpha < other.alpha || (alpha == other.alpha && node < other.node);
  }
};

// Cuts below one node, the one of the largest alpha on top.
class Cuts {
 public:
  // Those of two children: the fewer ones join the others, so that no cut moves often.
  static Cuts joined(Cuts a, Cuts b) {
    if (a.heap_.size() < b.heap_.size()) std::swap(a, b);
    for (const Cut& cut : b.heap_) a.push(cut);
    return a;
  }

  void push(const Cut& cut) {
    heap_.push_back(cut);
    std::push_heap(heap_.begin(), heap_.end());
  }

  // What makes a leaf of the whole subtree. Cuts that are not made before it are never made, and are
  // part of it: it takes them out, one by one, and each lowers its alpha.
  Cut swallow(Cut cut) {
    cut.alpha = cut.cost / cut.n_leaves;
    while (!heap_.empty() && heap_.front().alpha >= cut.alpha) {
      std::pop_heap(heap_.begin(), heap_.end());
      cut.cost += heap_.back().cost;
      cut.n_leaves += heap_.back().n_leaves;
      cut.alpha = cut.cost / cut.n_leaves;
      heap_.pop_back();
    }
    return cut;
  }

  std::vector<Cut> ascending() && {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  std::vector<Cut> heap_;
};

// R(t)
double own_cost(const TreeArrays& a, std::size_t i) {
  return a.weight[i] / a.weight[0] * a.impurity[i];
}

// All cuts in their order, from the leaves up. What a cut costs is its own decrease of impurity and
// those of the cuts it swallows: sums, in which nothing cancels.
std::vector<Cut> all_cuts(const Tree& tree) {
  const TreeArrays& a = tree.arrays();
  std::vector<Cuts> below(a.right.size());
  for (std::size_t i = below.size(); i-- > 0;) {
    if (a.right[i] < 0) continue;
    const auto right = static_cast<std::size_t>(a.right[i]);
    below[i] = Cuts::joined(std::move(below[i + 1]), std::move(below[right]));
    const double decrease = own_cost(a, i) - (own_cost(a, i + 1) + own_cost(a, right));
    below[i].push(below[i].swallow({0.0, decrease, 1, static_cast<NodeIndex>(i)}));
  }
  return std::move(below[0]).ascending();
}

}  // namespace

std::vector<PruningStep> pruning_path(const Tree& tree) {
  const TreeArrays& a = tree.arrays();
  const auto real = [&](double cost) { return std::ldexp(cost, a.impurity_exponent); };
  double cost = 0.0;
  for (std::size_t i = 0; i < a.right.size(); ++i) {
    if (a.right[i] < 0) cost += own_cost(a, i);
  }
  std::vector<PruningStep> path{{0.0, real(cost), tree.n_leaves(), -1}};
  for (const Cut& cut : all_cuts(tree)) {
    // Rounding may leave a decrease of -1e-17.
    cost += std::max(cut.cost, 0.0);
    const double alpha = std::max(cut.alpha, 0.0);
    path.push_back({real(alpha), real(cost), path.back().n_leaves - cut.n_leaves, cut.node});
  }
  return path;
}

Tree pruned(const Tree& tree, double alpha) {
  std::vector<bool> cut(static_cast<std::size_t>(tree.n_nodes()), false);
  for (const PruningStep& step : pruning_path(tree)) {
    if (step.cut >= 0 && step.alpha <= alpha) cut[static_cast<std::size_t>(step.cut)] = true;
  }
  return cut_below(tree, cut);
}

Tree cut_below(const Tree& tree, const std::vector<bool>& cut) {
  require(cut.size() == static_cast<std::size_t>(tree.n_nodes()), "one mark a node is needed");
  const TreeArrays& a = tree.arrays();
  TreeArrays kept;
  kept.n_features = a.n_features;
  kept.n_outputs = a.n_outputs;
  kept.impurity_exponent = a.impurity_exponent;
  std::vector<std::pair<NodeIndex, NodeIndex>> stack{{0, -1}};  // node, parent whose right it is
  while (!stack.empty()) {
    const auto [node, parent] = stack.back();
    stack.pop_back();
    const auto i = static_cast<std::size_t>(node);
    const bool leaf = tree.is_leaf(node) || cut[i];
    const NodeIndex id =
        append_node(kept,
                    {leaf, a.feature[i], a.threshold[i], a.missing_left[i] != 0, a.impurity[i],
                     a.n_node_samples[i], a.weight[i], tree.categories(node)},
                    tree.value(node), parent);
    if (!leaf) {
      stack.push_back({a.right[i], id});
      stack.push_back({node + 1, -1});
    }
  }
  return Tree(std::move(kept));
}

}  // namespace arboleda
