#include "io/tree_bytes.h"

#include <utility>

namespace arboleda {

namespace {

// Bytes of a tree: 24 of sizes, then the arrays, the widest numbers first so that none needs padding.
UInt128 size_of_tree(std::uint64_t n_nodes, std::uint64_t n_outputs, std::uint64_t n_categories) {
  constexpr std::uint64_t kPerNode = 4 * 8 + 2 * 4 + 1;
  const UInt128 starts = n_categories > 0 ? UInt128{8} * (n_nodes + 1) : 0;
  return 24 + UInt128{n_nodes} * (kPerNode + UInt128{8} * n_outputs) + starts +
         UInt128{2} * n_categories;
}

}  // namespace

void append_tree(Bytes& out, const Tree& tree) {
  const TreeArrays& a = tree.arrays();
  append(out, a.n_features);
  append(out, a.n_outputs);
  append(out, a.impurity_exponent);
  append(out, tree.n_nodes());
  append(out, static_cast<std::uint64_t>(a.category.size()));
  append(out, a.threshold);
  append(out, a.impurity);
  append(out, a.weight);
  append(out, a.value);
  append(out, a.n_node_samples);
  append(out, a.category_start);
  append(out, a.feature);
  append(out, a.right);
  append(out, a.category);
  append(out, a.missing_left);
}

Tree read_tree(ByteView bytes, std::size_t at, std::size_t max_features) {
  ByteReader reader(bytes, at);
  TreeArrays a;
  a.n_features = reader.number<FeatureIndex>();
  a.n_outputs = reader.number<std::int32_t>();
  a.impurity_exponent = reader.number<std::int32_t>();
  const auto n_nodes = reader.number<NodeIndex>();
  const auto n_categories = reader.number<std::uint64_t>();
  if (a.n_features < 0 || a.n_outputs < 1 || n_nodes < 1) {
    refuse(at, "a tree has an impossible number of columns, outputs or nodes");
  }
  if (static_cast<std::size_t>(a.n_features) > max_features) {
    refuse(at, "a tree has more columns than the file can be about");
  }
  const auto n = static_cast<std::size_t>(n_nodes);
  const auto k = static_cast<std::size_t>(a.n_outputs);
  if (size_of_tree(n, k, n_categories) != bytes.size()) {
    refuse(at, "a tree's sizes and its length disagree");
  }
  a.threshold = reader.numbers<double>(n);
  a.impurity = reader.numbers<double>(n);
  a.weight = reader.numbers<double>(n);
  a.value = reader.numbers<double>(n * k);
  a.n_node_samples = reader.numbers<std::int64_t>(n);
  a.category_start = reader.numbers<std::int64_t>(n_categories > 0 ? n + 1 : 0);
  a.feature = reader.numbers<FeatureIndex>(n);
  a.right = reader.numbers<NodeIndex>(n);
  a.category = reader.numbers<CategoryIndex>(n_categories);
  a.missing_left = reader.numbers<std::uint8_t>(n);
  try {
    return Tree(std::move(a));
  } catch (const Error& error) {
    refuse(at, error.what());
  }
}

}  // namespace arboleda
