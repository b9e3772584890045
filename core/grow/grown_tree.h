// A tree while it grows: nodes in the order they were opened, and subtrees that other threads grew.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "tree/tree.h"

namespace arboleda {

struct GrownNode {
  FeatureIndex feature = -1;
  double threshold = 0.0;
  bool missing_left = false;
  std::size_t category_begin = 0;  // of the tree's categories
  std::size_t category_end = 0;
  NodeIndex left = -1;  // -1: a leaf, whatever `feature` is
  NodeIndex right = -1;
  std::int32_t subtree = -1;  // >= 0: this node is the root of that subtree
  double impurity = 0.0;
  std::int64_t n_rows = 0;
  double weight = 0.0;
};

struct GrownTree {
  std::vector<GrownNode> nodes;
  std::vector<double> values;  // n_outputs a node
  std::vector<CategoryIndex> categories;
  bool in_preorder = false;  // the nodes are

  void clear() {
    nodes.clear();
    values.clear();
    categories.clear();
    in_preorder = false;
  }
};

// The place of every node in preorder, in a tree without subtrees.
std::vector<NodeIndex> preorder(const GrownTree& tree);

// The nodes in preorder. Nodes that stand for subtrees are replaced by them: `subtrees` holds each
// as the arrays that flatten() made of it, and is emptied. The same whatever the order of growing was.
TreeArrays flatten(const GrownTree& trunk, std::vector<TreeArrays>& subtrees,
                   FeatureIndex n_features, std::size_t n_outputs);

}  // namespace arboleda
