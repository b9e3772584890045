// Deep trees laid out for many rows: the fewest bytes a node, so that a tree stays in the near cache while
// thousands of rows pass through it.
//
//     threshold   a number as wide as those of the rows
//     asks        where the missing go (1 bit), the column (10), how far away the right child is (21)
//
// The left child is the next node. A leaf is its own right child and no number is at most its threshold,
// so that rows that have come to an end stay there. Rows take a few steps each in turn, eight side by
// side, without a branch; then those that have come to their leaf drop out, and so on.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "predict/row_block.h"
#include "tree/compact_tree.h"

namespace arboleda {

// Number: float, for rows of which every number is one exactly, or double.
template <class Number>
struct NarrowNode {
  static constexpr std::uint32_t kAwayBits = 21, kColumnBits = 10;
  static constexpr std::uint32_t kAway = (std::uint32_t{1} << kAwayBits) - 1;
  static constexpr std::uint32_t kColumn = (std::uint32_t{1} << kColumnBits) - 1;

  Number threshold;    // in a leaf: NaN, whose lowest bits are the leaf's number
  std::uint32_t asks;  // 0 in a leaf

  bool is_leaf() const { return asks == 0; }
  std::uint32_t away() const { return asks & kAway; }
  std::uint32_t column() const { return (asks >> kAwayBits) & kColumn; }
  std::uint32_t missing_left() const { return asks >> (kAwayBits + kColumnBits); }
  std::uint32_t leaf_number() const {
    using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
    return static_cast<std::uint32_t>(std::bit_cast<Bits>(threshold)) & kAway;
  }
};

// Whether the tree has few enough nodes and columns, and asks for no category.
bool can_be_narrow(const CompactTree& tree, FeatureIndex n_features);

template <class Number>
std::vector<NarrowNode<Number>> narrow(const CompactTree& tree);

// A row on its way down.
struct Walker {
  std::uint32_t row, at;
};

// The leaf of each row in one tree: its number, or as a node.
enum class LeavesAs : std::uint8_t { numbers, nodes };
// width: columns of the block; walkers: to work in.
template <class Number>
void walk(std::span<const NarrowNode<Number>> tree, LeavesAs leaves_as,
          const RowBlock<Number>& block, std::size_t width, std::vector<Walker>& walkers,
          std::span<std::uint32_t> leaf);

}  // namespace arboleda
