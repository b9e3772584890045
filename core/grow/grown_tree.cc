#include "grow/grown_tree.h"

#include <span>

namespace arboleda {

namespace {

struct Visit {
  const GrownTree* tree;
  NodeIndex node;
  NodeIndex parent_if_right;  // the flat parent whose right child this is, or -1
};

}  // namespace

TreeArrays flatten(const GrownTree& trunk, const std::vector<GrownTree>& subtrees,
                   FeatureIndex n_features, std::size_t n_outputs) {
  TreeArrays flat;
  flat.n_features = n_features;
  flat.n_outputs = static_cast<std::int32_t>(n_outputs);
  std::vector<Visit> stack{{&trunk, 0, -1}};
  while (!stack.empty()) {
    Visit visit = stack.back();
    stack.pop_back();
    if (const auto s = visit.tree->nodes[static_cast<std::size_t>(visit.node)].subtree; s >= 0) {
      visit.tree = &subtrees[static_cast<std::size_t>(s)];
      visit.node = 0;
    }
    const auto i = static_cast<std::size_t>(visit.node);
    const GrownNode& node = visit.tree->nodes[i];
    const bool leaf = node.left < 0;
    const NodeIndex id = append_node(
        flat,
        {leaf, node.feature, node.threshold, node.missing_left, node.impurity, node.n_rows,
         node.weight,
         std::span(visit.tree->categories)
             .subspan(node.category_begin, node.category_end - node.category_begin)},
        std::span(visit.tree->values).subspan(i * n_outputs, n_outputs), visit.parent_if_right);
    if (!leaf) {
      stack.push_back({visit.tree, node.right, id});
      stack.push_back({visit.tree, node.left, -1});
    }
  }
  return flat;
}

}  // namespace arboleda
