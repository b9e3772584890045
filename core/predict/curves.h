// Predictions for rows if one or two of their columns held other values: a curve, or a surface,
// for each row over the points of a grid. Individual conditional expectation: Goldstein, Kapelner,
// Bleich, Pitkin (2015); the mean over rows is partial dependence: Friedman (2001), section 8.2.
//
// A row walks down a tree once, with all points of the grid, and only a node that tests a varied column
// parts them:
//
//     points of the column   0  1  2  3  4  5  6  7
//     x <= t                 |- left --|-- right --|       two walks go on, each with its points
//
// so that the work is that of a walk for each fork on the way, not for each point. Every point gets the
// values of its leaves in the order of the trees: the bits of the predictions with these values in the
// columns, whatever the number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/column.h"
#include "tree/ensemble.h"
#include "tree/forest.h"
#include "tree/votes.h"

namespace arboleda {

// A varied column and its values at the points: numbers, categories, NaN for a missing value; in any
// order, but a walk is shortest where they ascend and missing ones stand last.
struct Axis {
  FeatureIndex feature;
  std::vector<double> points;
};

// The rows [begin, end) of a table.
template <class Table>
struct RowRange {
  const Table& table;
  std::size_t begin, end;

  std::size_t n_rows() const { return end - begin; }
};

// Each: rows x points of the first axis x points of the second, if there is one, x outputs. One or two
// axes of different columns, each with a point. Table: TableView or SparseRows.

// Mean votes of all trees, of which there is at least one.
template <class Table>
std::vector<double> vote_curves(const Forest& forest, const Ballot& ballot,
                                std::span<const Axis> axes, const RowRange<Table>& rows,
                                const Context& context);

// Start and all rounds of an ensemble without linear leaves.
template <class Table>
std::vector<double> score_curves(const TreeEnsemble& ensemble, std::span<const Axis> axes,
                                 const RowRange<Table>& rows, const Context& context);

// The values of one tree.
template <class Table>
std::vector<double> value_curves(const Tree& tree, std::span<const Axis> axes,
                                 const RowRange<Table>& rows, const Context& context);

}  // namespace arboleda
