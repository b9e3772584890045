// The nodes that wait to be split. The growth policy is only the order in which they leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

namespace arboleda {

enum class GrowthPolicy {
  depth_first,  // last in, first out: every node is split, so the order changes nothing
  level_wise,   // first in, first out
  best_first,   // the largest decrease of impurity first; ties to the node opened first
};

// Node must have `double improvement` and `std::int32_t id`, ascending in the order of opening.
template <class Node>
class Frontier {
 public:
  explicit Frontier(GrowthPolicy policy) : policy_(policy) {}

  bool empty() const { return nodes_.empty(); }

  // All that wait, in no order. Their places must not change: neither id nor improvement.
  std::deque<Node>& nodes() { return nodes_; }

  void push(Node node) {
    nodes_.push_back(std::move(node));
    if (policy_ == GrowthPolicy::best_first) std::push_heap(nodes_.begin(), nodes_.end(), later);
  }

  Node pop() {
    if (policy_ == GrowthPolicy::best_first) std::pop_heap(nodes_.begin(), nodes_.end(), later);
    if (policy_ == GrowthPolicy::level_wise) {
      Node node = std::move(nodes_.front());
      nodes_.pop_front();
      return node;
    }
    Node node = std::move(nodes_.back());
    nodes_.pop_back();
    return node;
  }

 private:
  static bool later(const Node& a, const Node& b) {
    return a.improvement < b.improvement || (a.improvement == b.improvement && a.id > b.id);
  }

  GrowthPolicy policy_;
  std::deque<Node> nodes_;
};

// The loop of every tree: while a node waits, take it and open its two children, which go into the
// frontier if they can be split. The tree has at most `max_leaf_nodes` leaves; open(node, is_last)
// has is_last true when no split will follow.
template <class Node, class Open>
void grow_nodes(Frontier<Node>& frontier, std::int64_t max_leaf_nodes, const Open& open) {
  for (std::int64_t n_leaves = 1; !frontier.empty() && n_leaves < max_leaf_nodes; ++n_leaves) {
    open(frontier.pop(), n_leaves + 1 == max_leaf_nodes);
  }
}

}  // namespace arboleda
