// The flat, immutable tree: what training hands to prediction. It is independent of how it was grown.
//
// Nodes stand in preorder, so the left child of node i is node i + 1 and only the right one is
// stored:
//                  0
//               /     \                 node      0  1  2  3  4
//              1       4                right     4  3 -1 -1 -1      (-1: a leaf)
//            /   \                      feature   f  g -1 -1 -1
//           2     3
//
// A row goes left when x[feature] <= threshold. A missing value (NaN) goes left if
// `missing_left`. A threshold of +infinity sends all present values left: the split "present or missing".
//
// A node may test a category instead. Its x is the number of the category, from 0 up; the node
// lists the categories that go the other way than missing values do. All others, those that the node
// never saw included, go with the missing ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace arboleda {

struct TreeArrays {
  FeatureIndex n_features = 0;
  std::int32_t n_outputs = 0;          // classes, or 1 for regression
  std::int32_t impurity_exponent = 0;  // impurities of huge and tiny targets need not fit float64

  std::vector<FeatureIndex> feature;         // -1 in a leaf
  std::vector<double> threshold;             // 0 in a leaf
  std::vector<NodeIndex> right;              // -1 in a leaf
  std::vector<std::uint8_t> missing_left;    // 0 or 1; 0 in a leaf
  std::vector<double> impurity;              // >= 0, times 2^-impurity_exponent
  std::vector<std::int64_t> n_node_samples;  // training rows of positive weight
  std::vector<double> weight;                // their weight
  std::vector<double> value;                 // node x output: class shares, or the mean target

  // The categories of node i: category[category_start[i] .. category_start[i + 1]), ascending; none
  // where the node has a threshold. Both arrays are empty in a tree that tests no category.
  std::vector<std::int64_t> category_start;  // n_nodes + 1, or none
  std::vector<CategoryIndex> category;
};

// One node on its way into the arrays.
struct TreeNode {
  bool is_leaf;
  FeatureIndex feature;  // this and the next two: unused in a leaf
  double threshold;
  bool missing_left;
  double impurity;
  std::int64_t n_node_samples;
  double weight;
  std::span<const CategoryIndex> categories = {};  // not empty: the node tests a category
};

// Appends a node in preorder and returns its index. right_of: the node whose right child it is, or
// -1 for the root and for left children.
NodeIndex append_node(TreeArrays& arrays, const TreeNode& node, std::span<const double> value,
                      NodeIndex right_of);

// Appends a whole tree of the same shape of values; its root becomes the next node.
void append_tree(TreeArrays& arrays, const TreeArrays& part, NodeIndex right_of);

// The parent of every node of a tree; -1 for the root.
std::vector<NodeIndex> parents_of(const TreeArrays& arrays);

class Tree {
 public:
  // Throws Error(invalid_argument) unless the arrays form one tree: equal lengths, every node but
  // the root the child of exactly one earlier node, features in range, numbers that can be. A Tree that
  // exists is therefore safe to walk, wherever its arrays came from.
  explicit Tree(TreeArrays arrays);

  const TreeArrays& arrays() const { return arrays_; }
  NodeIndex n_nodes() const { return static_cast<NodeIndex>(arrays_.right.size()); }
  bool is_leaf(NodeIndex node) const { return at(arrays_.right, node) < 0; }
  std::span<const double> value(NodeIndex node) const;

  // The child a row goes to, given its value of the node's feature. `node` is not a leaf.
  NodeIndex child(NodeIndex node, double x) const {
    const bool missing_left = at(arrays_.missing_left, node) != 0;
    const bool left = is_categorical(node) ? has_category(node, x) != missing_left
                      : x == x             ? x <= at(arrays_.threshold, node)
                                           : missing_left;
    return left ? node + 1 : at(arrays_.right, node);
  }

  bool is_categorical(NodeIndex node) const {
    return !arrays_.category_start.empty() && !categories(node).empty();
  }

  // The categories that go the other way than missing values; none where the node has a threshold.
  std::span<const CategoryIndex> categories(NodeIndex node) const;
  FeatureIndex feature(NodeIndex node) const { return at(arrays_.feature, node); }

  NodeIndex n_leaves() const;
  std::int32_t depth() const;  // edges on the longest path
  std::vector<std::int32_t> node_depths() const;
  std::vector<NodeIndex> parents() const { return parents_of(arrays_); }

  // impurity times 2^impurity_exponent: infinite or 0 where that leaves float64.
  std::vector<double> impurity() const;

  // Decrease of impurity by each feature, weighted by the share of rows at its nodes; not
  // normalised, and times 2^-impurity_exponent. Breiman et al. (1984), section 5.3.4.
  std::vector<double> impurity_decrease() const;

 private:
  bool has_category(NodeIndex node, double x) const;

  template <class T>
  static const T& at(const std::vector<T>& array, NodeIndex node) {
    return array[static_cast<std::size_t>(node)];
  }

  TreeArrays arrays_;
};

}  // namespace arboleda
