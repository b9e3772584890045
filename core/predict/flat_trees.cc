#include "predict/flat_trees.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

std::uint32_t step(const FlatNode& node, std::uint32_t at, double x) {
  return choose(x <= node.threshold, at + 1, node.right);
}

std::uint32_t step_by_category(const Tree& tree, const FlatNode& node, std::uint32_t at,
                               const double* row) {
  if ((node.slot & FlatTrees::kTestsCategory) == 0) return step(node, at, row[node.slot]);
  const double x = row[node.slot & ~FlatTrees::kTestsCategory];
  return static_cast<std::uint32_t>(tree.child(static_cast<NodeIndex>(at), x));
}

}  // namespace

Slots::Slots(std::span<const Tree> trees, std::span<const FeatureIndex> features,
             std::size_t n_columns)
    : columns_(n_columns) {
  for (const FeatureIndex feature : features) columns_[static_cast<std::size_t>(feature)].as_is = 1;
  for (const Tree& tree : trees) {
    const TreeArrays& a = tree.arrays();
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
      if (tree.is_leaf(node)) continue;
      const auto i = static_cast<std::size_t>(node);
      Column& column = columns_[static_cast<std::size_t>(a.feature[i])];
      const bool lowest = a.missing_left[i] != 0 && !tree.is_categorical(node);
      (lowest ? column.missing_lowest : column.as_is) = 1;
    }
  }
  for (std::size_t j = 0; j < n_columns; ++j) {
    Column& column = columns_[j];
    if (column.as_is == 0 && column.missing_lowest == 0) continue;
    used_.push_back(j);
    if (column.as_is != 0) column.as_is = static_cast<std::uint32_t>(n_slots_++);
    if (column.missing_lowest != 0) column.missing_lowest = static_cast<std::uint32_t>(n_slots_++);
  }
  require(n_slots_ < FlatTrees::kTestsCategory, "the trees test too many columns");
}

std::uint32_t Slots::slot_of(const Tree& tree, NodeIndex node) const {
  if (tree.is_leaf(node)) return 0;
  const Column& column = columns_[static_cast<std::size_t>(tree.feature(node))];
  if (tree.is_categorical(node)) return column.as_is | FlatTrees::kTestsCategory;
  const bool missing_left = tree.arrays().missing_left[static_cast<std::size_t>(node)] != 0;
  return missing_left ? column.missing_lowest : column.as_is;
}

void Slots::put(const Column& column, double x, double* row) const {
  if (column.as_is != 0) row[column.as_is] = x;
  if (column.missing_lowest != 0) {
    row[column.missing_lowest] = x == x ? x : -std::numeric_limits<double>::infinity();
  }
}

void Slots::fill(const TableView& table, std::size_t begin, std::size_t end, double* out) const {
  for (std::size_t i = 0; i < end - begin; ++i) {
    out[i * n_slots_] = std::numeric_limits<double>::quiet_NaN();
  }
  for (const std::size_t j : used_) {
    const Column& column = columns_[j];
    const ColumnView& values = table.columns[j];
    for (std::size_t row = begin; row < end; ++row) {
      put(column, values[row], out + (row - begin) * n_slots_);
    }
  }
}

void Slots::fill(const SparseRows& table, std::size_t begin, std::size_t end, double* out) const {
  std::fill(out, out + (end - begin) * n_slots_, 0.0);
  for (std::size_t row = begin; row < end; ++row) {
    double* numbers = out + (row - begin) * n_slots_;
    numbers[0] = std::numeric_limits<double>::quiet_NaN();
    for (auto e = static_cast<std::size_t>(table.lines.start[row]);
         e < static_cast<std::size_t>(table.lines.start[row + 1]); ++e) {
      const auto j = static_cast<std::size_t>(table.lines.index[e]);
      put(columns_[j], table.lines.data[e], numbers);
    }
  }
}

void Slots::fill(const double* row, double* out) const {
  out[0] = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t j : used_) put(columns_[j], row[j], out);
}

FlatTrees::FlatTrees(std::span<const Tree> trees, LinearLeaves linear, std::size_t n_columns)
    : trees_(trees), slots_(trees, linear.feature, n_columns), linear_(std::move(linear)) {
  term_slot_.reserve(linear_.feature.size());
  for (const FeatureIndex feature : linear_.feature) term_slot_.push_back(slots_.slot_of(feature));
  std::size_t n_nodes = 0;
  for (const Tree& tree : trees) n_nodes += static_cast<std::size_t>(tree.n_nodes());
  nodes_.reserve(n_nodes);
  for (const Tree& tree : trees) {
    const TreeArrays& a = tree.arrays();
    start_.push_back(nodes_.size());
    has_categories_.push_back(!a.category.empty());
    any_has_categories_ = any_has_categories_ || !a.category.empty();
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
      const auto i = static_cast<std::size_t>(node);
      const bool leaf = tree.is_leaf(node);
      nodes_.push_back({leaf ? a.value[i] : a.threshold[i], slots_.slot_of(tree, node),
                        static_cast<std::uint32_t>(leaf ? node : a.right[i])});
    }
  }
}

void FlatTrees::walk(std::size_t tree, const double* rows, std::size_t n_rows,
                     std::uint32_t* leaf) const {
  const FlatNode* nodes = nodes_.data() + start_[tree];
  const auto row_of = [&, width = slots_.n_slots()](std::size_t i) { return rows + i * width; };
  if (has_categories_[tree]) {
    walk_side_by_side(n_rows, leaf, row_of, [&](std::uint32_t at, const double* row) {
      return step_by_category(trees_[tree], nodes[at], at, row);
    });
  } else {
    walk_side_by_side(n_rows, leaf, row_of, [&](std::uint32_t at, const double* row) {
      return step(nodes[at], at, row[nodes[at].slot]);
    });
  }
}

void FlatTrees::walk_trees(std::size_t first, std::size_t last, const double* row,
                           std::uint32_t* leaf) const {
  const auto nodes_of = [&](std::size_t i) { return nodes_.data() + start_[first + i]; };
  if (any_has_categories_) {
    const auto tree_of = [&](std::size_t i) { return std::pair(&trees_[first + i], nodes_of(i)); };
    walk_side_by_side(last - first, leaf, tree_of, [&](std::uint32_t at, const auto& tree) {
      return step_by_category(*tree.first, tree.second[at], at, row);
    });
  } else {
    walk_side_by_side(last - first, leaf, nodes_of, [&](std::uint32_t at, const FlatNode* nodes) {
      return step(nodes[at], at, row[nodes[at].slot]);
    });
  }
}

}  // namespace arboleda
