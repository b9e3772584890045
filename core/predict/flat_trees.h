// Trees laid out for walking many rows: sixteen bytes a node, and no branch on the way down.
//
// Rows come in blocks, row by row; a row holds one number for each slot:
//
//     slot      0       1       2       3     ..
//             | NaN |  x_a  |  x_a' |  x_b  | ..       x' is x with -infinity where it is missing
//
// A node goes left when number[slot] <= threshold. NaN never is: a node that sends missing values left
// reads x', one that sends them right reads x. A leaf reads slot 0 and is its own right child, so a
// walk that has come to an end stays there, and several rows walk side by side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/column.h"
#include "tree/linear_leaves.h"
#include "tree/tree.h"

namespace arboleda {

struct FlatNode {
  double threshold;     // in a leaf: its value
  std::uint32_t slot;   // kTestsCategory: the tree itself is walked
  std::uint32_t right;  // the left child of node i is i + 1; indices are the tree's own
};

// What a row of a block holds, and how a table fills it.
class Slots {
 public:
  // features: further columns that are read, missing values as they are.
  Slots(std::span<const Tree> trees, std::span<const FeatureIndex> features, std::size_t n_columns);

  std::uint32_t slot_of(const Tree& tree, NodeIndex node) const;
  std::uint32_t slot_of(FeatureIndex feature) const {
    return columns_[static_cast<std::size_t>(feature)].as_is;
  }
  std::size_t n_slots() const { return n_slots_; }

  // Rows [begin, end) of the table, row-major; out has (end - begin) x n_slots entries.
  void fill(const TableView& table, std::size_t begin, std::size_t end, double* out) const;
  void fill(const SparseRows& table, std::size_t begin, std::size_t end, double* out) const;

  // One row, given the numbers of all its columns.
  void fill(const double* row, double* out) const;

 private:
  struct Column {
    std::uint32_t as_is = 0, missing_lowest = 0;  // slots; 0: no tree needs it
  };
  void put(const Column& column, double x, double* row) const;

  std::vector<Column> columns_;
  std::vector<std::size_t> used_;  // columns that have a slot
  std::size_t n_slots_ = 1;
};

class FlatTrees {
 public:
  static constexpr std::uint32_t kTestsCategory = std::uint32_t{1} << 31;

  // The trees must outlive this. Each has one value a leaf. linear: of their nodes.
  FlatTrees(std::span<const Tree> trees, LinearLeaves linear, std::size_t n_columns);

  const Slots& slots() const { return slots_; }
  std::size_t n_trees() const { return trees_.size(); }

  // The leaf of each row of a block in one tree.
  void walk(std::size_t tree, const double* rows, std::size_t n_rows, std::uint32_t* leaf) const;

  // The leaf of one row in each of the trees [first, last), which are walked side by side.
  void walk_trees(std::size_t first, std::size_t last, const double* row,
                  std::uint32_t* leaf) const;

  double value(std::size_t tree, std::uint32_t leaf) const {
    return nodes_[start_[tree] + leaf].threshold;
  }

  // The same where leaves may be linear, for a row of a block.
  bool has_linear_leaves() const { return !linear_.empty(); }
  double value(std::size_t tree, std::uint32_t leaf, const double* row) const {
    return linear_.value_at(start_[tree] + leaf, value(tree, leaf),
                            [&](std::size_t term) { return row[term_slot_[term]]; });
  }

 private:
  std::span<const Tree> trees_;
  Slots slots_;
  std::vector<FlatNode> nodes_;
  std::vector<std::size_t> start_;  // where the nodes of each tree begin
  std::vector<bool> has_categories_;
  bool any_has_categories_ = false;
  LinearLeaves linear_;
  std::vector<std::uint32_t> term_slot_;
};

}  // namespace arboleda
