// Trees that find the leaves of a whole block of rows at once, by comparing codes of a byte: all inner
// nodes are evaluated for all rows, without branches (simd/coded_tree_kernels.h). The outcomes are those
// of the walk, node for node. For trees of at most 256 leaves.
//
// Leaves are numbered within each tree; where a tree has few different tests (symmetric trees), a leaf may
// have several numbers. Immutable: safe to use from several threads at once, each with its own block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/column.h"
#include "predict/byte_codes.h"
#include "simd/coded_tree_kernels.h"
#include "tree/compact_tree.h"
#include "tree/tree.h"

namespace arboleda {

// What a thread works in: codes of a block of rows, and numbers of leaves.
class CodedBlock {
 public:
  // Rows [begin, end) of a table, at most kTreeRows.
  template <class Table>
  void fill(const ByteCodes& codes, const Table& table, std::size_t begin, std::size_t end) {
    any_missing_ = codes.fill(table, begin, end, codes_.data());
  }

 private:
  friend class CodedTrees;
  std::vector<TreeLine> codes_, results_;
  bool any_missing_ = true;
};

class CodedTrees {
 public:
  static constexpr std::size_t kMostLeaves = kLeafLines;

  // Whether the trees are small enough, and their categories few enough. AnyTree: Tree or CompactTree.
  template <class AnyTree>
  static bool can_hold(std::span<const AnyTree> trees);

  // Trees that can be held; they need not outlive this.
  template <class AnyTree>
  explicit CodedTrees(std::span<const AnyTree> trees);

  std::size_t n_trees() const { return trees_.size(); }
  std::size_t n_nodes(std::size_t first, std::size_t last) const;  // inner ones, of some trees
  std::size_t n_levels(std::size_t tree) const { return trees_[tree].n_levels; }  // 0: node by node
  const ByteCodes& codes() const { return codes_; }

  // The nodes of a tree that are leaves, by their numbers.
  std::span<const NodeIndex> leaves(std::size_t tree) const {
    return std::span(leaves_).subspan(trees_[tree].first_leaf, trees_[tree].n_leaves);
  }

  CodedBlock make_block() const;

  // The number of the leaf of each row of the block in one tree; valid until the next call with this block.
  const std::uint8_t* find_leaves(std::size_t tree, CodedBlock& block) const;

 private:
  struct CodedTree {
    std::size_t first_node, first_level, first_leaf, first_set;
    std::uint16_t n_nodes, n_leaves, n_sets;
    std::uint16_t root_line;  // line of the root's
    std::uint16_t n_levels;   // 0: evaluated node by node
    bool agree_on_missing;    // so that the levels are right for missing values, too
  };

  // Categories that go right in a node, whose outcomes take a line of codes of their own.
  struct CategorySet {
    std::uint32_t line;  // of the categories
    CodeSet right;
  };

  template <class AnyTree>
  void add(const AnyTree& tree);
  template <class AnyTree>
  bool number_by_levels(const AnyTree& tree, CodedTree& coded, std::vector<std::uint16_t>& line_of);
  template <class AnyTree>
  void number_leaves(const AnyTree& tree, CodedTree& coded, std::vector<std::uint16_t>& line_of);

  ByteCodes codes_;
  std::vector<CodedTree> trees_;
  std::vector<CodedNode> nodes_, levels_;
  std::vector<CategorySet> sets_;
  std::vector<NodeIndex> leaves_;
  std::size_t most_sets_ = 0, most_leaves_ = 1;
  std::uint16_t n_results_ = kLeafLines + 1;  // lines
};

}  // namespace arboleda
