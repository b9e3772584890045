// A tree whose tests all compare codes of a byte: finds the leaves of neighbouring rows of a table a block
// at a time, by evaluating all nodes for all rows of the block (simd/coded_tree_kernels.h).
//
// A line holds the codes of a column. Where missing values go left, it holds 0 for them and code + 1 for
// the others: then they, too, are below every limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "simd/coded_tree_kernels.h"

namespace arboleda {

class ByteTree {
 public:
  static constexpr std::size_t kMostNodes = 2 * kLeafLines - 1;

  struct Node {
    const std::uint8_t* codes;  // of the column, one a row
    Code limit;                 // codes below go left
    Code missing;               // the code of missing values; above all codes: there are none
    bool missing_left;
    NodeIndex right;  // -1: a leaf
  };

  ByteTree() = default;  // empty

  // Nodes in preorder, at most kMostNodes; the columns must outlive this.
  ByteTree(std::span<const Node> nodes, std::size_t n_rows);

  // Whether the leaves of these rows, ascending, are found sooner here than one by one.
  bool serves(std::span<const RowIndex> rows) const;

  // The leaf of each of the rows, ascending.
  void leaves(std::span<const RowIndex> rows, std::span<NodeIndex> leaf) const;

 private:
  struct Line {
    const std::uint8_t* codes;
    Code missing;
    bool is_shifted;

    friend bool operator==(const Line&, const Line&) = default;
  };

  std::uint32_t line_of(const Node& node);
  void fill(std::size_t first, std::span<TreeLine> codes) const;

  std::size_t n_rows_ = 0;
  std::vector<Line> lines_;
  std::vector<CodedNode> nodes_;   // children before their parents
  std::vector<NodeIndex> leaves_;  // by their numbers
  std::size_t n_results_ = 0;      // lines
  std::uint16_t root_line_ = 0;
};

}  // namespace arboleda
