// Walks of many rows down one tree, several side by side: while one waits for its node, the others go
// on. A leaf sends a row to itself, so that those that have come to an end wait for the others without
// a branch.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tree/compact_tree.h"

namespace arboleda {

inline constexpr std::size_t kLanes = 8;

// Walks kCount neighbours to their leaves, from the root 0. row_of(i): what next asks of row i;
// next(node, row): the node that follows.
template <std::size_t kCount, class RowOf, class Next>
void walk_together(std::size_t first, std::uint32_t* leaf, const RowOf& row_of, const Next& next) {
  std::array<decltype(row_of(first)), kCount> rows;
  for (std::size_t lane = 0; lane < kCount; ++lane) rows[lane] = row_of(first + lane);
  std::array<std::uint32_t, kCount> at{};
  std::uint32_t moved = 1;
  while (moved != 0) {
    moved = 0;
    for (std::size_t lane = 0; lane < kCount; ++lane) {
      const std::uint32_t to = next(at[lane], rows[lane]);
      moved |= to ^ at[lane];
      at[lane] = to;
    }
  }
  std::copy(at.begin(), at.end(), leaf);
}

template <class RowOf, class Next>
void walk_side_by_side(std::size_t n_rows, std::uint32_t* leaf, const RowOf& row_of,
                       const Next& next) {
  std::size_t row = 0;
  for (; row + kLanes <= n_rows; row += kLanes) {
    walk_together<kLanes>(row, leaf + row, row_of, next);
  }
  for (; row < n_rows; ++row) walk_together<1>(row, leaf + row, row_of, next);
}

// `yes` where `holds`, else `no`.
inline std::uint32_t choose(bool holds, std::uint32_t yes, std::uint32_t no) {
  return no ^ ((yes ^ no) & -static_cast<std::uint32_t>(holds));
}

// The node that follows for a row whose value of column j is value(j); a leaf asks for column 0.
template <class Value>
std::uint32_t next_node(const CompactNode* nodes, std::uint32_t at, const Value& value) {
  const CompactNode& node = nodes[at];
  const double x = value(static_cast<std::size_t>(node.asks & CompactNode::kFeature));
  const bool missing_left = node.missing_left();
  const bool left = (x <= node.threshold) | ((x != x) & missing_left);
  const std::uint32_t to = choose(left, at + 1, static_cast<std::uint32_t>(node.right));
  return choose(node.is_leaf(), at, to);
}

// The leaves, as nodes, of n rows in one tree. value(row, j): of row row_of(i) in column j; at least
// one column.
template <class RowOf, class Value>
void find_leaves(const CompactTree& tree, std::size_t n_rows, std::uint32_t* leaf,
                 const RowOf& row_of, const Value& value) {
  const CompactNode* nodes = tree.nodes.data();
  if (tree.n_nodes() == 1) {
    std::fill_n(leaf, n_rows, 0u);
  } else if (tree.category.empty()) {
    walk_side_by_side(n_rows, leaf, row_of, [&](std::uint32_t at, const auto& row) {
      return next_node(nodes, at, [&](std::size_t j) { return value(row, j); });
    });
  } else {
    walk_side_by_side(n_rows, leaf, row_of, [&](std::uint32_t at, const auto& row) {
      const CompactNode& node = nodes[at];
      if (node.is_leaf()) return at;
      const double x = value(row, static_cast<std::size_t>(node.feature()));
      return static_cast<std::uint32_t>(tree.child(static_cast<NodeIndex>(at), x));
    });
  }
}

// The leaf, as a node, of each of the rows of a table in one tree. Table: of numbers that are read one
// by one, at(row, column).
template <class Table>
void find_leaves(const CompactTree& tree, const Table& table, std::span<const RowIndex> rows,
                 std::span<std::uint32_t> leaf) {
  find_leaves(
      tree, rows.size(), leaf.data(), [&](std::size_t i) { return rows[i]; },
      [&](RowIndex row, std::size_t column) { return table.at(row, column); });
}

}  // namespace arboleda
