#include "tree/tree.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"

namespace arboleda {

namespace {

void check_lengths(const TreeArrays& a) {
  const std::size_t n = a.right.size();
  require(n >= 1, "a tree has at least one node");
  require(n <= std::numeric_limits<NodeIndex>::max(), "a tree has too many nodes");
  require(a.n_features >= 0 && a.n_outputs >= 1, "a tree needs features and outputs");
  require(a.feature.size() == n && a.threshold.size() == n && a.missing_left.size() == n &&
              a.impurity.size() == n && a.n_node_samples.size() == n && a.weight.size() == n &&
              a.value.size() / static_cast<std::size_t>(a.n_outputs) == n &&
              a.value.size() % static_cast<std::size_t>(a.n_outputs) == 0,
          "the arrays of a tree differ in length");
}

void check_numbers(const TreeArrays& a) {
  const auto all = [](const auto& array, auto holds) {
    return std::all_of(array.begin(), array.end(), holds);
  };
  require(all(a.impurity, [](double x) { return std::isfinite(x) && x >= 0; }),
          "an impurity of the tree is not a number from 0 up");
  require(all(a.weight, [](double x) { return std::isfinite(x) && x > 0; }),
          "a weight of the tree is not a positive number");
  require(all(a.n_node_samples, [](std::int64_t n) { return n > 0; }),
          "a node of the tree has no rows");
  require(all(a.value, [](double x) { return std::isfinite(x); }),
          "a value of the tree is not a finite number");
}

// Preorder read as brackets: a subtree begins at `node` and must end where its parent expects.
void check_shape(const TreeArrays& a) {
  const auto n = static_cast<NodeIndex>(a.right.size());
  std::vector<NodeIndex> ends;  // where the open right subtrees begin, innermost last
  for (NodeIndex node = 0; node < n; ++node) {
    const auto i = static_cast<std::size_t>(node);
    if (a.right[i] < 0) {
      require(a.right[i] == -1 && a.feature[i] == -1,
              "a leaf of the tree has a child or a feature");
      require(a.missing_left[i] == 0, "a leaf of the tree sends missing values on");
      require(a.threshold[i] == 0.0, "a leaf of the tree has a threshold");
      // After a leaf comes the innermost right subtree that was promised.
      require(ends.empty() == (node + 1 == n), "the nodes of the tree are not one tree");
      if (!ends.empty()) {
        require(ends.back() == node + 1, "a child of the tree is out of place");
        ends.pop_back();
      }
    } else {
      require(a.right[i] > node + 1 && a.right[i] < n, "a child of the tree is out of range");
      require(a.feature[i] >= 0 && a.feature[i] < a.n_features,
              "a feature of the tree is out of range");
      require(!std::isnan(a.threshold[i]), "a threshold of the tree is not a number");
      require(a.missing_left[i] <= 1, "a missing side of the tree is neither left nor right");
      ends.push_back(a.right[i]);
    }
  }
}

void check_categories(const TreeArrays& a) {
  if (a.category_start.empty()) {
    require(a.category.empty(), "the categories of the tree belong to no node");
    return;
  }
  require(a.category_start.size() == a.right.size() + 1 && a.category_start.front() == 0 &&
              a.category_start.back() == static_cast<std::int64_t>(a.category.size()) &&
              std::is_sorted(a.category_start.begin(), a.category_start.end()),
          "the categories of the tree do not belong to its nodes");
  require(!a.category.empty(), "the tree has an index of categories but no categories");
  for (std::size_t i = 0; i < a.right.size(); ++i) {
    const auto begin = a.category.begin() + a.category_start[i];
    const auto end = a.category.begin() + a.category_start[i + 1];
    if (begin == end) continue;
    require(a.right[i] >= 0 && a.threshold[i] == 0.0,
            "a node of the tree has categories beside a leaf or a threshold");
    require(std::adjacent_find(begin, end, std::greater_equal<>()) == end,
            "the categories of a node are not in ascending order");
    require(*(end - 1) != kNoCategory, "a node lists the number that stands for no category");
  }
}

// The arrays come into being with the first node that has categories.
void append_categories(TreeArrays& a, const TreeNode& node) {
  const bool any = !node.is_leaf && !node.categories.empty();
  if (a.category_start.empty() && !any) return;
  if (a.category_start.empty()) a.category_start.assign(a.right.size(), 0);
  if (any) a.category.insert(a.category.end(), node.categories.begin(), node.categories.end());
  a.category_start.push_back(static_cast<std::int64_t>(a.category.size()));
}

}  // namespace

NodeIndex append_node(TreeArrays& arrays, const TreeNode& node, std::span<const double> value,
                      NodeIndex right_of) {
  const auto id = static_cast<NodeIndex>(arrays.right.size());
  if (right_of >= 0) arrays.right[static_cast<std::size_t>(right_of)] = id;
  arrays.feature.push_back(node.is_leaf ? -1 : node.feature);
  const bool has_threshold = !node.is_leaf && node.categories.empty();
  arrays.threshold.push_back(has_threshold ? node.threshold : 0.0);
  arrays.missing_left.push_back(!node.is_leaf && node.missing_left);
  arrays.right.push_back(-1);
  arrays.impurity.push_back(node.impurity);
  arrays.n_node_samples.push_back(node.n_node_samples);
  arrays.weight.push_back(node.weight);
  arrays.value.insert(arrays.value.end(), value.begin(), value.end());
  append_categories(arrays, node);
  return id;
}

void append_tree(TreeArrays& arrays, const TreeArrays& part, NodeIndex right_of) {
  const auto first = static_cast<NodeIndex>(arrays.right.size());
  if (right_of >= 0) arrays.right[static_cast<std::size_t>(right_of)] = first;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  if (!arrays.category_start.empty() || !part.category_start.empty()) {
    arrays.category_start.resize(static_cast<std::size_t>(first) + 1,
                                 static_cast<std::int64_t>(arrays.category.size()));
    const std::int64_t before = arrays.category_start.back();
    for (std::size_t i = 1; i <= part.right.size(); ++i) {
      arrays.category_start.push_back(before +
                                      (part.category_start.empty() ? 0 : part.category_start[i]));
    }
    append(arrays.category, part.category);
  }
  for (const NodeIndex right : part.right) {
    arrays.right.push_back(right < 0 ? right : right + first);
  }
  append(arrays.feature, part.feature);
  append(arrays.threshold, part.threshold);
  append(arrays.missing_left, part.missing_left);
  append(arrays.impurity, part.impurity);
  append(arrays.n_node_samples, part.n_node_samples);
  append(arrays.weight, part.weight);
  append(arrays.value, part.value);
}

Tree::Tree(TreeArrays arrays) : arrays_(std::move(arrays)) {
  check_lengths(arrays_);
  check_numbers(arrays_);
  check_shape(arrays_);
  check_categories(arrays_);
}

std::span<const double> Tree::value(NodeIndex node) const {
  const auto k = static_cast<std::size_t>(arrays_.n_outputs);
  return std::span(arrays_.value).subspan(static_cast<std::size_t>(node) * k, k);
}

std::span<const CategoryIndex> Tree::categories(NodeIndex node) const {
  if (arrays_.category_start.empty()) return {};
  const auto i = static_cast<std::size_t>(node);
  const auto begin = static_cast<std::size_t>(arrays_.category_start[i]);
  const auto end = static_cast<std::size_t>(arrays_.category_start[i + 1]);
  return std::span(arrays_.category).subspan(begin, end - begin);
}

bool Tree::has_category(NodeIndex node, double x) const {
  if (!(x >= 0.0 && x <= std::numeric_limits<CategoryIndex>::max())) return false;
  const auto list = categories(node);
  return std::binary_search(list.begin(), list.end(), static_cast<CategoryIndex>(x));
}

NodeIndex Tree::n_leaves() const {
  return static_cast<NodeIndex>(std::count(arrays_.right.begin(), arrays_.right.end(), -1));
}

std::vector<std::int32_t> Tree::node_depths() const {
  std::vector<std::int32_t> depth(arrays_.right.size(), 0);
  for (NodeIndex node = 0; node < n_nodes(); ++node) {
    if (is_leaf(node)) continue;
    const auto i = static_cast<std::size_t>(node);
    depth[i + 1] = depth[static_cast<std::size_t>(arrays_.right[i])] = depth[i] + 1;
  }
  return depth;
}

std::int32_t Tree::depth() const {
  const auto depth = node_depths();
  return *std::max_element(depth.begin(), depth.end());
}

std::vector<NodeIndex> parents_of(const TreeArrays& arrays) {
  std::vector<NodeIndex> parent(arrays.right.size(), -1);
  for (std::size_t node = 0; node < parent.size(); ++node) {
    if (arrays.right[node] < 0) continue;
    parent[node + 1] = static_cast<NodeIndex>(node);
    parent[static_cast<std::size_t>(arrays.right[node])] = static_cast<NodeIndex>(node);
  }
  return parent;
}

std::vector<double> Tree::impurity() const {
  std::vector<double> impurity = arrays_.impurity;
  for (auto& x : impurity) x = std::ldexp(x, arrays_.impurity_exponent);
  return impurity;
}

std::vector<double> Tree::impurity_decrease() const {
  std::vector<double> decrease(static_cast<std::size_t>(arrays_.n_features), 0.0);
  for (NodeIndex node = 0; node < n_nodes(); ++node) {
    if (is_leaf(node)) continue;
    const auto i = static_cast<std::size_t>(node);
    const auto r = static_cast<std::size_t>(arrays_.right[i]);
    // By share of the whole weight: products with the weights themselves may leave float64.
    const auto part = [&](std::size_t k) {
      return arrays_.weight[k] / arrays_.weight[0] * arrays_.impurity[k];
    };
    decrease[static_cast<std::size_t>(arrays_.feature[i])] += part(i) - part(i + 1) - part(r);
  }
  for (auto& d : decrease) d = std::max(d, 0.0);  // rounding may leave -1e-17
  return decrease;
}

}  // namespace arboleda
