#include "io/forest_bytes.h"

#include <algorithm>
#include <utility>

namespace arboleda {

namespace {

constexpr std::uint32_t kWeights = 1;
constexpr std::uint32_t kImpurities = 2;
constexpr std::size_t kLeastTree = 64;  // bytes of a tree that is a leaf of one value

template <class Of>
auto of_nodes(const CompactTree& tree, const Of& of) {
  std::vector<decltype(of(tree.nodes[0]))> numbers;
  numbers.reserve(tree.n_nodes());
  for (const CompactNode& node : tree.nodes) numbers.push_back(of(node));
  return numbers;
}

void append_tree(Bytes& out, const CompactTree& tree) {
  append(out, tree.impurity_exponent);
  append(out, static_cast<std::uint32_t>(tree.n_leaves()));
  append(out, (tree.weight.empty() ? 0 : kWeights) | (tree.impurity.empty() ? 0 : kImpurities));
  append(out, static_cast<std::uint32_t>(std::max<std::size_t>(1, tree.category_start.size()) - 1));
  append(out, static_cast<std::uint64_t>(tree.category.size()));
  append(out, static_cast<std::uint64_t>(tree.row.size()));
  append(out, of_nodes(tree, [](const CompactNode& node) { return node.threshold; }));
  append(out, tree.value);
  append(out, tree.weight);
  append(out, tree.impurity);
  append(out, of_nodes(tree, [](const CompactNode& node) { return node.right; }));
  append(out, of_nodes(tree, [](const CompactNode& node) { return node.packed; }));
  append(out, tree.n_rows);
  append(out, tree.category_start);
  append(out, tree.row);
  append(out, tree.category);
  align(out);
}

// Sizes are checked against what is left before memory is taken; what the numbers are is left to
// check_forest.
CompactTree read_compact_tree(ByteReader& reader, const TreeShape& shape) {
  const std::size_t at = reader.at();
  CompactTree tree;
  tree.impurity_exponent = reader.number<std::int32_t>();
  const auto n_leaves = static_cast<std::size_t>(reader.number<std::uint32_t>());
  const auto flags = reader.number<std::uint32_t>();
  const auto n_lists = static_cast<std::size_t>(reader.number<std::uint32_t>());
  const auto n_categories = reader.number<std::uint64_t>();
  const auto n_kept = reader.number<std::uint64_t>();
  if (n_leaves < 1 || flags > (kWeights | kImpurities)) {
    refuse(at, "a tree of the forest has no leaf or arrays that are not known");
  }
  const std::size_t n = 2 * n_leaves - 1;
  const std::size_t n_values = keeps_values(shape.measure) ? n : n_leaves;
  const std::size_t n_impurities = keeps_impurities(shape.measure) ? n : n_leaves;
  const auto threshold = reader.numbers<double>(n);
  tree.value = reader.numbers<double>(n_values * static_cast<std::size_t>(shape.n_outputs));
  tree.weight = reader.numbers<double>((flags & kWeights) != 0 ? n_leaves : 0);
  tree.impurity = reader.numbers<double>((flags & kImpurities) != 0 ? n_impurities : 0);
  const auto right = reader.numbers<std::int32_t>(n);
  const auto packed = reader.numbers<std::uint32_t>(n);
  tree.n_rows = reader.numbers<std::uint32_t>(n_leaves);
  tree.category_start = reader.numbers<std::uint32_t>(n_lists > 0 ? n_lists + 1 : 0);
  tree.row = reader.numbers<RowIndex>(n_kept);
  tree.category = reader.numbers<CategoryIndex>(n_categories);
  reader.align();
  tree.nodes.reserve(n);
  for (std::size_t i = 0; i < n; ++i) tree.nodes.push_back({threshold[i], right[i], packed[i]});
  return tree;
}

}  // namespace

void append_forest(Bytes& out, const Forest& forest) {
  append(out, forest.n_features);
  append(out, forest.n_outputs);
  append(out, static_cast<std::uint32_t>(forest.measure));
  append(out, static_cast<std::uint32_t>(forest.trees.size()));
  append(out, static_cast<std::uint64_t>(forest.n_training_rows));
  for (const CompactTree& tree : forest.trees) append_tree(out, tree);
}

Forest read_forest(ByteView bytes, std::size_t at, std::size_t max_features) {
  ByteReader reader(bytes, at);
  Forest forest;
  forest.n_features = reader.number<FeatureIndex>();
  forest.n_outputs = reader.number<std::int32_t>();
  const auto measure = reader.number<std::uint32_t>();
  const auto n_trees = static_cast<std::size_t>(reader.number<std::uint32_t>());
  forest.n_training_rows = reader.number<std::uint64_t>();
  if (forest.n_features < 0 || forest.n_outputs < 1 || measure >= kMeasures) {
    refuse(at, "a forest has an impossible number of columns or outputs, or an unknown measure");
  }
  if (static_cast<std::size_t>(forest.n_features) > max_features) {
    refuse(at, "a forest has more columns than the file can be about");
  }
  forest.measure = static_cast<Measure>(measure);
  forest.trees.reserve(std::min(n_trees, reader.left() / kLeastTree));
  for (std::size_t t = 0; t < n_trees; ++t) {
    forest.trees.push_back(read_compact_tree(reader, forest.shape()));
  }
  if (reader.left() > 0) refuse(reader.at(), "a forest is longer than its trees");
  try {
    check_forest(forest);
  } catch (const Error& error) {
    refuse(at, error.what());
  }
  return forest;
}

}  // namespace arboleda
