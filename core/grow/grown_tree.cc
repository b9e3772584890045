#include "grow/grown_tree.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace arboleda {

namespace {

struct Visit {
  NodeIndex node;
  NodeIndex parent_if_right;  // the flat parent whose right child this is, or -1
};

// Room for all nodes at once: growing arrays would take half as much again.
void reserve(TreeArrays& flat, const GrownTree& trunk, const std::vector<TreeArrays>& subtrees) {
  std::size_t n = trunk.nodes.size();
  for (const TreeArrays& subtree : subtrees) n += subtree.right.size();
  flat.feature.reserve(n);
  flat.threshold.reserve(n);
  flat.right.reserve(n);
  flat.missing_left.reserve(n);
  flat.impurity.reserve(n);
  flat.n_node_samples.reserve(n);
  flat.weight.reserve(n);
  flat.value.reserve(n * static_cast<std::size_t>(flat.n_outputs));
}

// A tree that is all there, without categories.
TreeArrays flatten_whole(const GrownTree& tree, FeatureIndex n_features, std::size_t n_outputs) {
  const std::size_t n = tree.nodes.size();
  const std::vector<NodeIndex> place = preorder(tree);
  const auto at = [&](NodeIndex node) { return place[static_cast<std::size_t>(node)]; };
  TreeArrays flat;
  flat.n_features = n_features;
  flat.n_outputs = static_cast<std::int32_t>(n_outputs);
  flat.feature.resize(n);
  flat.threshold.resize(n);
  flat.right.resize(n);
  flat.missing_left.resize(n);
  flat.impurity.resize(n);
  flat.n_node_samples.resize(n);
  flat.weight.resize(n);
  flat.value.resize(n * n_outputs);
  for (std::size_t i = 0; i < n; ++i) {
    const GrownNode& node = tree.nodes[i];
    const bool is_leaf = node.left < 0;
    const auto to = static_cast<std::size_t>(place[i]);
    flat.feature[to] = is_leaf ? -1 : node.feature;
    flat.threshold[to] = is_leaf ? 0.0 : node.threshold;
    flat.right[to] = is_leaf ? -1 : at(node.right);
    flat.missing_left[to] = !is_leaf && node.missing_left;
    flat.impurity[to] = node.impurity;
    flat.n_node_samples[to] = node.n_rows;
    flat.weight[to] = node.weight;
    std::copy_n(&tree.values[i * n_outputs], n_outputs, &flat.value[to * n_outputs]);
  }
  return flat;
}

}  // namespace

std::vector<NodeIndex> preorder(const GrownTree& tree) {
  std::vector<NodeIndex> place(tree.nodes.size());
  if (tree.in_preorder) {
    std::iota(place.begin(), place.end(), 0);
    return place;
  }
  std::vector<NodeIndex> stack{0};
  NodeIndex next = 0;
  while (!stack.empty()) {
    const auto i = static_cast<std::size_t>(stack.back());
    stack.pop_back();
    place[i] = next++;
    if (tree.nodes[i].left < 0) continue;
    stack.push_back(tree.nodes[i].right);
    stack.push_back(tree.nodes[i].left);
  }
  return place;
}

TreeArrays flatten(const GrownTree& trunk, std::vector<TreeArrays>& subtrees,
                   FeatureIndex n_features, std::size_t n_outputs) {
  if (subtrees.empty() && trunk.categories.empty()) {
    return flatten_whole(trunk, n_features, n_outputs);
  }
  TreeArrays flat;
  flat.n_features = n_features;
  flat.n_outputs = static_cast<std::int32_t>(n_outputs);
  reserve(flat, trunk, subtrees);
  std::vector<Visit> stack{{0, -1}};
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    const auto i = static_cast<std::size_t>(visit.node);
    const GrownNode& node = trunk.nodes[i];
    if (node.subtree >= 0) {
      TreeArrays& subtree = subtrees[static_cast<std::size_t>(node.subtree)];
      append_tree(flat, subtree, visit.parent_if_right);
      subtree = {};
      continue;
    }
    const bool leaf = node.left < 0;
    const NodeIndex id = append_node(
        flat,
        {leaf, node.feature, node.threshold, node.missing_left, node.impurity, node.n_rows,
         node.weight,
         std::span(trunk.categories)
             .subspan(node.category_begin, node.category_end - node.category_begin)},
        std::span(trunk.values).subspan(i * n_outputs, n_outputs), visit.parent_if_right);
    if (!leaf) {
      stack.push_back({node.right, id});
      stack.push_back({node.left, -1});
    }
  }
  return flat;
}

}  // namespace arboleda
