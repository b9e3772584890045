// The leaves that the rows of a table reach in the trees of a forest. There are three ways, with the same
// results:
//
//   by codes   trees of at most 256 leaves (coded_trees.h)
//   narrow     larger ones, for many rows (narrow_trees.h)
//   wide       by the nodes as they are: few rows, deep trees that test categories
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/context.h"
#include "predict/coded_rows.h"
#include "predict/narrow_trees.h"
#include "tree/forest.h"

namespace arboleda {

// Some neighbouring trees of a forest.
struct TreeRange {
  std::size_t first, last;

  std::size_t size() const { return last - first; }
  std::span<const CompactTree> of(const Forest& forest) const {
    return std::span(forest.trees).subspan(first, size());
  }
};

enum class WalkBy : std::uint8_t { codes, narrow_nodes, wide_nodes };

// The fastest way.
WalkBy walk_for(std::span<const CompactTree> trees, FeatureIndex n_features, std::size_t n_rows);

// visit(tree, first row, leaves of the rows from there on)
using VisitLeaves = std::function<void(std::size_t, std::size_t, std::span<const std::uint32_t>)>;

// Calls visit for every block of rows and, within a block, for the trees in their order. For TableView
// and SparseRows.
template <class Table>
void for_each_leaf(const Forest& forest, TreeRange range, LeavesAs leaves_as, const Table& table,
                   const Context& context, const VisitLeaves& visit);

}  // namespace arboleda
