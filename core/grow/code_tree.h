// A tree whose tests compare the codes of a table: the path of a row of the table is found without
// its values.
//
//   x <= threshold    becomes    code < limit,  limit = number of codes whose values all are <=
//
// The table may be another one than the tree was grown on, as long as its columns mean the same: its
// own values place its codes. A test whose threshold falls inside a code (values above
// and below it share the code), or into a column that keeps no values, reads the caller's column.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "grow/byte_tree.h"
#include "tree/leaf_rows.h"
#include "tree/tree.h"

namespace arboleda {

class CodeTree {
 public:
  // Tree and table must outlive this.
  CodeTree(const TreeArrays& tree, const BinnedDataset& table);

  // The leaf of each of the rows; quickest for neighbours in ascending order.
  void leaves(std::span<const RowIndex> rows, std::span<NodeIndex> leaf) const;

  NodeIndex leaf(RowIndex row) const {
    NodeIndex node = 0;
    while (nodes_[static_cast<std::size_t>(node)].right >= 0) {
      const Node& coded = nodes_[static_cast<std::size_t>(node)];
      node = goes_left(coded, row) ? node + 1 : coded.right;
    }
    return node;
  }

 private:
  enum class Codes : std::uint8_t { bytes, words, wide, sparse, values };

  struct Node {
    const void* column;  // the codes, or the CodedColumn where they are sparse or values are read
    double threshold;
    Code limit;                  // codes below go left
    Code missing;                // the code of missing values; kNoMissing: there are none
    NodeIndex right;             // -1: a leaf
    std::uint32_t others_begin;  // categorical: of the bits of those that go the other way
    std::uint32_t n_others;      //   than missing values
    Codes kind;
    bool missing_left, is_categorical;
  };

  static constexpr Code kNoMissing = UINT32_MAX;

  Node make_node(const TreeArrays& tree, const BinnedDataset& table, std::size_t node);
  bool goes_left(const Node& node, RowIndex row) const;
  template <class T>
  void part(std::span<const RowIndex> rows, std::span<NodeIndex> leaf) const;

  // A test of a code of one byte. A leaf sends every row to itself.
  struct ByteNode {
    const std::uint8_t* codes;
    NodeIndex left, right;
    Code limit, missing;
    bool missing_left;
  };

  void make_byte_nodes(std::size_t n_rows);

  std::vector<Node> nodes_;
  std::vector<bool> others_;
  std::vector<ByteNode> byte_nodes_;  // where all tests are of this kind, else empty
  ByteTree byte_tree_;                // the same for rows side by side, where it holds them
  std::int32_t depth_ = 0;
};

// The leaf of each of the rows.
void find_leaves(const CodeTree& tree, std::span<const RowIndex> rows, const Context& context,
                 std::span<NodeIndex> leaf);

// Rows by leaf, leaves in the order of the tree's nodes; leaf: of each row. rows: ascending.
LeafRows group_by_leaf(const TreeArrays& tree, std::span<const RowIndex> rows,
                       std::span<const NodeIndex> leaf);

}  // namespace arboleda
