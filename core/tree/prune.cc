#include "tree/prune.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "base/error.h"

namespace arboleda {

namespace {

// The sequence of weakest links, one cut at a time.
//
// Costs of subtrees are always sums of their two children's, never differences, so cuts far away
// leave no rounding behind.
class WeakestLinks {
 public:
  explicit WeakestLinks(const Tree& tree) : tree_(tree), parent_(tree.parents()) {
    const auto n = static_cast<std::size_t>(tree.n_nodes());
    const TreeArrays& a = tree.arrays();
    nodes_.resize(n);
    for (std::size_t i = n; i-- > 0;) {
      Node& node = nodes_[i];
      node.own_cost = a.weight[i] * a.impurity[i] / a.weight[0];
      node.cost = node.own_cost;
      if (a.right[i] >= 0) join(static_cast<NodeIndex>(i));
    }
    for (NodeIndex i = 0; i < tree.n_nodes(); ++i) offer(i);
  }

  bool empty() {
    while (!links_.empty() && is_stale(links_.top())) links_.pop();
    return links_.empty();
  }
  // The next cut's alpha; never below that of the cut before, whatever rounding says.
  double alpha() { return empty() ? 0.0 : std::max(links_.top().g, last_alpha_); }
  double cost() const { return nodes_[0].cost; }
  NodeIndex n_leaves() const { return nodes_[0].n_leaves; }

  // Cuts at the weakest link, and returns the node that is now a leaf.
  NodeIndex cut() {
    last_alpha_ = alpha();
    const NodeIndex link = links_.top().node;
    links_.pop();
    Node& node = at(link);
    node.is_cut = true;
    node.cost = node.own_cost;
    node.n_leaves = 1;
    ++node.version;
    for (NodeIndex i = parent_[static_cast<std::size_t>(link)]; i >= 0;
         i = parent_[static_cast<std::size_t>(i)]) {
      join(i);
      offer(i);
    }
    return link;
  }

 private:
  struct Node {
    double own_cost = 0.0;
    double cost = 0.0;  // of the subtree below
    NodeIndex n_leaves = 1;
    std::int32_t version = 0;  // of the link in the queue that counts
    bool is_cut = false;
  };
  struct Link {
    double g;
    NodeIndex node;
    std::int32_t version;
    bool operator<(const Link& other) const {  // the queue's top is the largest
      return g > other.g || (g == other.g && node > other.node);
    }
  };

  Node& at(NodeIndex i) { return nodes_[static_cast<std::size_t>(i)]; }
  const Node& at(NodeIndex i) const { return nodes_[static_cast<std::size_t>(i)]; }

  void join(NodeIndex i) {
    const Node& left = at(i + 1);
    const Node& right = at(tree_.arrays().right[static_cast<std::size_t>(i)]);
    at(i).cost = left.cost + right.cost;
    at(i).n_leaves = left.n_leaves + right.n_leaves;
  }

  void offer(NodeIndex i) {
    if (tree_.is_leaf(i)) return;
    Node& node = at(i);
    const double g = (node.own_cost - node.cost) / (node.n_leaves - 1);
    links_.push({g, i, ++node.version});
  }

  // A link is stale when its node was offered anew, cut, or lies below a cut.
  bool is_stale(const Link& link) const {
    if (link.version != at(link.node).version) return true;
    for (NodeIndex i = link.node; i >= 0; i = parent_[static_cast<std::size_t>(i)]) {
      if (at(i).is_cut) return true;
    }
    return false;
  }

  const Tree& tree_;
  const std::vector<NodeIndex> parent_;
  std::vector<Node> nodes_;
  std::priority_queue<Link> links_;
  double last_alpha_ = 0.0;
};

}  // namespace

std::vector<PruningStep> pruning_path(const Tree& tree) {
  WeakestLinks links(tree);
  const auto real = [&](double cost) { return std::ldexp(cost, tree.arrays().impurity_exponent); };
  std::vector<PruningStep> path{{0.0, real(links.cost()), links.n_leaves(), -1}};
  while (!links.empty()) {
    const double alpha = real(links.alpha());
    const NodeIndex node = links.cut();
    path.push_back({alpha, real(links.cost()), links.n_leaves(), node});
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
