// The nodes that wait to be split. The growth policy is only the order in which they leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace arboleda {

enum class GrowthPolicy {
  depth_first,  // last in, first out: every node is split, so the order changes nothing
  best_first,   // the largest decrease of impurity first; ties to the node opened first
};

// Node must have `double improvement` and `std::int32_t id`, ascending in the order of opening.
template <class Node>
class Frontier {
 public:
  explicit Frontier(GrowthPolicy policy) : policy_(policy) {}

  bool empty() const { return nodes_.empty(); }

  void push(Node node) {
    nodes_.push_back(std::move(node));
    if (policy_ == GrowthPolicy::best_first) std::push_heap(nodes_.begin(), nodes_.end(), later);
  }

  Node pop() {
    if (policy_ == GrowthPolicy::best_first) std::pop_heap(nodes_.begin(), nodes_.end(), later);
    Node node = std::move(nodes_.back());
    nodes_.pop_back();
    return node;
  }

 private:
  static bool later(const Node& a, const Node& b) {
    return a.improvement < b.improvement || (a.improvement == b.improvement && a.id > b.id);
  }

  GrowthPolicy policy_;
  std::vector<Node> nodes_;
};

}  // namespace arboleda
