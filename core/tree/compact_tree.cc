#include "tree/compact_tree.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/error.h"
#include "tree/inner_nodes.h"

namespace arboleda {

namespace {

CompactNode compact_node(const TreeArrays& tree, std::size_t i) {
  std::uint32_t packed = static_cast<std::uint32_t>(tree.feature[i]);
  if (tree.missing_left[i] != 0) packed |= CompactNode::kMissingLeft;
  return {tree.threshold[i], tree.right[i], packed};
}

// Listed first: no loop over all nodes can guess which is one.
std::vector<std::uint32_t> leaves_of(const TreeArrays& tree) {
  std::vector<std::uint32_t> leaves(tree.right.size());
  std::size_t n = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[n] = static_cast<std::uint32_t>(i);
    n += tree.right[i] < 0;
  }
  leaves.resize(n);
  return leaves;
}

// Numbers of all nodes in, those of leaves out, `width` of them each.
template <class T, class From>
std::vector<T> of_leaves(const std::vector<std::uint32_t>& leaves, const std::vector<From>& all,
                         std::size_t width = 1) {
  std::vector<T> out(leaves.size() * width);
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    for (std::size_t k = 0; k < width; ++k) {
      out[l * width + k] = static_cast<T>(all[leaves[l] * width + k]);
    }
  }
  return out;
}

bool weights_are_rows(const CompactTree& tree) {
  return std::equal(tree.weight.begin(), tree.weight.end(), tree.n_rows.begin(), tree.n_rows.end(),
                    [](double weight, std::uint32_t n) { return weight == n; });
}

template <class T>
std::size_t bytes_of(const std::vector<T>& array) {
  return array.capacity() * sizeof(T);
}

}  // namespace

bool CompactTree::has_category(const CompactNode& node, double x) const {
  if (!(x >= 0.0 && x <= std::numeric_limits<CategoryIndex>::max())) return false;
  const auto list = categories(node);
  return std::binary_search(list.begin(), list.end(), static_cast<CategoryIndex>(x));
}

CompactTree compact(const TreeArrays& tree, Measure measure, std::vector<RowIndex> rows) {
  require(tree.n_features < static_cast<FeatureIndex>(CompactNode::kFeature),
          "a forest has too many columns");
  const auto width = static_cast<std::size_t>(tree.n_outputs);
  CompactTree out;
  out.impurity_exponent = tree.impurity_exponent;
  out.nodes.reserve(tree.right.size());
  std::int32_t n_leaves = 0;
  for (std::size_t i = 0; i < tree.right.size(); ++i) {
    if (tree.right[i] < 0) {
      out.nodes.push_back({0.0, -1 - n_leaves++, 0});
      continue;
    }
    CompactNode node = compact_node(tree, i);
    if (!tree.category_start.empty() && tree.category_start[i] < tree.category_start[i + 1]) {
      node.packed |= CompactNode::kCategorical;
      node.threshold = static_cast<double>(out.category_start.size());
      out.category_start.push_back(static_cast<std::uint32_t>(tree.category_start[i]));
    }
    out.nodes.push_back(node);
  }
  if (!out.category_start.empty()) {
    out.category_start.push_back(static_cast<std::uint32_t>(tree.category.size()));
  }
  out.category = tree.category;
  const std::vector<std::uint32_t> leaves = leaves_of(tree);
  out.value = keeps_values(measure) ? tree.value : of_leaves<double>(leaves, tree.value, width);
  out.impurity =
      keeps_impurities(measure) ? tree.impurity : of_leaves<double>(leaves, tree.impurity);
  out.n_rows = of_leaves<std::uint32_t>(leaves, tree.n_node_samples);
  out.weight = of_leaves<double>(leaves, tree.weight);
  if (weights_are_rows(out)) out.weight = std::vector<double>();
  if (std::all_of(out.impurity.begin(), out.impurity.end(), [](double x) { return x == 0.0; })) {
    out.impurity = std::vector<double>();
  }
  out.row = std::move(rows);
  out.category_start.shrink_to_fit();
  out.row.shrink_to_fit();
  return out;
}

TreeArrays expanded(const CompactTree& tree, const TreeShape& shape) {
  const std::size_t n = tree.n_nodes();
  const auto width = static_cast<std::size_t>(shape.n_outputs);
  TreeArrays out;
  out.n_features = shape.n_features;
  out.n_outputs = shape.n_outputs;
  out.impurity_exponent = tree.impurity_exponent;
  out.n_node_samples.resize(n);
  out.weight.resize(n);
  out.value = keeps_values(shape.measure) ? tree.value : std::vector<double>(n * width);
  out.impurity.resize(n);
  if (keeps_impurities(shape.measure) && !tree.impurity.empty()) out.impurity = tree.impurity;
  if (!tree.category.empty()) out.category_start.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    const CompactNode& node = tree.nodes[i];
    const bool leaf = node.is_leaf();
    const bool categorical = node.is_categorical();
    out.feature.push_back(leaf ? -1 : node.feature());
    out.threshold.push_back(categorical ? 0.0 : node.threshold);
    out.right.push_back(leaf ? -1 : node.right);
    out.missing_left.push_back(node.missing_left());
    if (!tree.category.empty()) {
      const std::size_t n_listed = categorical ? tree.categories(node).size() : 0;
      out.category_start.push_back(out.category_start.back() + static_cast<std::int64_t>(n_listed));
    }
    if (!leaf) continue;
    const std::size_t l = node.leaf();
    out.n_node_samples[i] = tree.n_rows[l];
    out.weight[i] = tree.weight_of(l);
    if (!keeps_impurities(shape.measure) && !tree.impurity.empty())
      out.impurity[i] = tree.impurity[l];
    if (!keeps_values(shape.measure)) {
      std::copy_n(tree.value.begin() + static_cast<std::ptrdiff_t>(l * width), width,
                  out.value.begin() + static_cast<std::ptrdiff_t>(i * width));
    }
  }
  out.category = tree.category;
  fill_inner_nodes(out, shape.measure);
  return out;
}

std::vector<std::uint32_t> leaf_begins(const CompactTree& tree) {
  std::vector<std::uint32_t> begins{0};
  begins.reserve(tree.n_leaves() + 1);
  for (const std::uint32_t n : tree.n_rows) begins.push_back(begins.back() + n);
  return begins;
}

std::size_t n_bytes(const CompactTree& tree) {
  return sizeof tree + bytes_of(tree.nodes) + bytes_of(tree.value) + bytes_of(tree.n_rows) +
         bytes_of(tree.weight) + bytes_of(tree.impurity) + bytes_of(tree.category_start) +
         bytes_of(tree.category) + bytes_of(tree.row);
}

}  // namespace arboleda
