#include "grow/grown_tree.h"

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
    const auto id = static_cast<NodeIndex>(flat.right.size());
    if (visit.parent_if_right >= 0)
      flat.right[static_cast<std::size_t>(visit.parent_if_right)] = id;

    const bool leaf = node.left < 0;
    flat.feature.push_back(leaf ? -1 : node.feature);
    flat.threshold.push_back(leaf ? 0.0 : node.threshold);
    flat.missing_left.push_back(!leaf && node.missing_left);
    flat.right.push_back(-1);
    flat.impurity.push_back(node.impurity);
    flat.n_node_samples.push_back(node.n_rows);
    flat.weight.push_back(node.weight);
    const auto value = visit.tree->values.begin() + static_cast<std::ptrdiff_t>(i * n_outputs);
    flat.value.insert(flat.value.end(), value, value + static_cast<std::ptrdiff_t>(n_outputs));
    if (!leaf) {
      stack.push_back({visit.tree, node.right, id});
      stack.push_back({visit.tree, node.left, -1});
    }
  }
  return flat;
}

}  // namespace arboleda
