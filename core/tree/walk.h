// Walks of many rows down one tree, several side by side: while one waits for its node, the others go
// on. There are two ways to end:
//
//   shallow trees   a leaf sends a row to itself, and the rows of a group wait for the deepest of them
//                   without a branch
//   deep trees      the next row takes the place of one that has come to its leaf
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tree/compact_tree.h"

namespace arboleda {

inline constexpr std::size_t kLanes = 8;

// Walks kCount neighbours to their leaves, from the root 0. row_of(i): the row that next() reads;
// next(node, row): the node that follows.
template <std::size_t kCount, class RowOf, class Next>
void walk_together(std::size_t first, std::uint32_t* leaf, const RowOf& row_of, const Next& next) {
  std::array<std::uint32_t, kCount> at{};
  std::uint32_t moved = 1;
  while (moved != 0) {
    moved = 0;
    for (std::size_t lane = 0; lane < kCount; ++lane) {
      const std::uint32_t to = next(at[lane], row_of(first + lane));
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

inline constexpr auto kFromRoot = [](std::size_t) { return std::uint32_t{0}; };

// Walks rows to their leaves; step(node, at, row): the node that follows an inner one; start_of(i): the
// node that row i begins at.
template <class RowOf, class Step, class StartOf = decltype(kFromRoot)>
void walk_in_turn(const CompactNode* nodes, std::size_t n_rows, std::uint32_t* leaf,
                  const RowOf& row_of, const Step& step, const StartOf& start_of = kFromRoot) {
  struct Lane {
    decltype(row_of(n_rows)) row;
    std::size_t number;  // of the row
    std::uint32_t at;
  };
  std::array<Lane, kLanes> lanes;
  std::size_t next = 0;
  std::size_t n_lanes = 0;
  while (n_lanes < kLanes && next < n_rows) {
    lanes[n_lanes++] = {row_of(next), next, start_of(next)};
    ++next;
  }
  while (n_lanes > 0) {
    for (std::size_t i = 0; i < n_lanes; ++i) {
      Lane& lane = lanes[i];
      const CompactNode& node = nodes[lane.at];
      if (!node.is_leaf()) [[likely]] {
        lane.at = step(node, lane.at, lane.row);
        continue;
      }
      leaf[lane.number] = lane.at;
      if (next < n_rows) {
        lane = {row_of(next), next, start_of(next)};
        ++next;
      } else {
        lane = lanes[--n_lanes];
      }
    }
  }
}

// The leaves, as nodes, of n rows in one tree. value(row, j): of row row_of(i) in column j. Values may
// be missing only if kMissing. Row i begins at the node start_of(i).
template <bool kMissing, class RowOf, class Value, class StartOf = decltype(kFromRoot)>
void find_leaves(const CompactTree& tree, std::size_t n_rows, std::uint32_t* leaf,
                 const RowOf& row_of, const Value& value, const StartOf& start_of = kFromRoot) {
  const auto number_of = [&](const CompactNode& node, const auto& row) {
    return value(row, static_cast<std::size_t>(node.packed & CompactNode::kFeature));
  };
  if (tree.category.empty()) {
    const auto step = [&](const CompactNode& node, std::uint32_t at, const auto& row) {
      const double x = number_of(node, row);
      const bool missing = kMissing && x != x;
      const bool left = (x <= node.threshold) | (missing & node.missing_left());
      return choose(left, at + 1, static_cast<std::uint32_t>(node.right));
    };
    walk_in_turn(tree.nodes.data(), n_rows, leaf, row_of, step, start_of);
  } else {
    const auto step = [&](const CompactNode& node, std::uint32_t at, const auto& row) {
      return static_cast<std::uint32_t>(
          tree.child(static_cast<NodeIndex>(at), number_of(node, row)));
    };
    walk_in_turn(tree.nodes.data(), n_rows, leaf, row_of, step, start_of);
  }
}

// The leaf, as a node, of each of the rows of a table in one tree. Table: of numbers that are read one
// by one, at(row, column).
template <class Table>
void find_leaves(const CompactTree& tree, const Table& table, std::span<const RowIndex> rows,
                 std::span<std::uint32_t> leaf) {
  find_leaves<true>(
      tree, rows.size(), leaf.data(), [&](std::size_t i) { return rows[i]; },
      [&](RowIndex row, std::size_t column) { return table.at(row, column); });
}

}  // namespace arboleda
