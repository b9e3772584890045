// Deep trees laid out for many rows: the fewest bytes a node, so that a tree stays in the near cache while
// thousands of rows pass through it.
//
//     threshold   a float
//     packed      the column (10 bits), where the missing go (1), how far away the right child is (21)
//
// The left child is the next node. A leaf is its own right child and no number is at most its threshold,
// so that rows that have come to an end stay there. Rows take a few steps each in turn, eight side by
// side, without a branch; then those that have come to their leaf drop out, and so on.
//
// Numbers that no float is are rounded down, as thresholds are: what is above or below stays so. Only a
// number that is rounded to the very threshold it meets may be on either side of it. Such a row is
// undecided, and walks again by its double.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "predict/row_block.h"
#include "tree/compact_tree.h"

namespace arboleda {

struct NarrowNode {
  static constexpr std::uint32_t kAwayBits = 21, kColumnBits = 10;
  static constexpr std::uint32_t kColumnShift = kAwayBits + 1;
  static constexpr std::uint32_t kAway = (std::uint32_t{1} << kAwayBits) - 1;
  static constexpr std::uint32_t kColumn = (std::uint32_t{1} << kColumnBits) - 1;

  float threshold;       // in a leaf: NaN, whose lowest bits are the leaf's number
  std::uint32_t packed;  // 0 in a leaf

  bool is_leaf() const { return packed == 0; }
  std::uint32_t away() const { return packed & kAway; }
  std::uint32_t column() const { return packed >> kColumnShift; }
  std::uint32_t missing_left() const { return (packed >> kAwayBits) & 1; }
  std::uint32_t leaf_number() const { return std::bit_cast<std::uint32_t>(threshold) & kAway; }
};

// Whether the tree has few enough nodes and columns, tests no category, and no number so low that
// float has only -infinity below it.
bool can_be_narrow(const CompactTree& tree, FeatureIndex n_features);

std::vector<NarrowNode> narrow(const CompactTree& tree);

// A row on its way down.
struct Walker {
  std::uint32_t row, at;
};

// The leaf of each row in one tree: its number, or as a node.
enum class LeavesAs : std::uint8_t { numbers, nodes };
// width: columns of the block; walkers: to work in. Of a block whose numbers were rounded, `undecided`
// has the rows whose leaf may be another, afterwards; some of them more than once.
void walk(std::span<const NarrowNode> tree, LeavesAs leaves_as, const RowBlock<float>& block,
          std::size_t width, std::vector<Walker>& walkers, std::span<std::uint32_t> leaf,
          std::vector<std::uint32_t>& undecided);

}  // namespace arboleda
