#include "predict/curves.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#include "predict/row_block.h"

namespace arboleda {

namespace {

// Rows of a block and their curves stay in a core's own cache while every tree passes over them.
constexpr std::size_t kBlockBytes = std::size_t{1} << 19;
constexpr std::size_t kMostCurveRows = 1024;

// An axis whose points a node parts into runs that go the same way.
class Points {
 public:
  explicit Points(const Axis& axis) : feature_(axis.feature), points_(axis.points) {
    while (n_ascending_ < points_.size() && points_[n_ascending_] == points_[n_ascending_] &&
           (n_ascending_ == 0 || points_[n_ascending_ - 1] <= points_[n_ascending_])) {
      ++n_ascending_;
    }
    ascends_ = std::all_of(points_.begin() + static_cast<std::ptrdiff_t>(n_ascending_),
                           points_.end(), [](double x) { return x != x; });
  }

  FeatureIndex feature() const { return feature_; }
  std::size_t size() const { return points_.size(); }

  // Calls run(begin, end, child) for the points [begin, end) at a node, run after run.
  template <class Run>
  void part(const CompactTree& tree, NodeIndex node, std::size_t begin, std::size_t end,
            const Run& run) const {
    const CompactNode& test = tree.nodes[static_cast<std::size_t>(node)];
    if (ascends_ && !test.is_categorical()) {
      const std::size_t numbers = std::max(begin, std::min(end, n_ascending_));
      const auto from = points_.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = points_.begin() + static_cast<std::ptrdiff_t>(numbers);
      const std::size_t cut =
          begin + static_cast<std::size_t>(std::upper_bound(from, to, test.threshold) - from);
      if (begin < cut) run(begin, cut, node + 1);
      if (cut < numbers) run(cut, numbers, test.right);
      if (numbers < end) run(numbers, end, test.missing_left() ? node + 1 : test.right);
      return;
    }
    for (std::size_t first = begin; first < end;) {
      const NodeIndex child = tree.child(node, points_[first]);
      std::size_t last = first + 1;
      while (last < end && tree.child(node, points_[last]) == child) ++last;
      run(first, last, child);
      first = last;
    }
  }

 private:
  FeatureIndex feature_;
  std::vector<double> points_;
  std::size_t n_ascending_ = 0;
  bool ascends_ = false;
};

// The points of two axes; with one only, the first has a single point and no column.
struct Grid {
  Points outer, inner;

  std::size_t n_points() const { return outer.size() * inner.size(); }
};

Grid grid_of(std::span<const Axis> axes, FeatureIndex n_features) {
  require(axes.size() == 1 || axes.size() == 2, "curves are over one column or two");
  for (const Axis& axis : axes) {
    require(axis.feature >= 0 && axis.feature < n_features, "there is no such column to vary");
    require(!axis.points.empty(), "a curve has at least one point");
  }
  require(axes.size() == 1 || axes[0].feature != axes[1].feature,
          "the two columns to vary are the same");
  if (axes.size() == 2) return {Points(axes[0]), Points(axes[1])};
  return {Points({-1, {0.0}}), Points(axes[0])};
}

// Points that are at a node together.
struct GridPiece {
  NodeIndex node;
  std::size_t outer_begin, outer_end, inner_begin, inner_end;
};

// Calls visit(piece) with all points of the grid that come to a leaf, for every such leaf.
template <class Visit>
void walk_points(const CompactTree& tree, const Grid& grid, const double* row,
                 std::vector<GridPiece>& waiting, const Visit& visit) {
  const CompactNode* nodes = tree.nodes.data();
  waiting.assign(1, {0, 0, grid.outer.size(), 0, grid.inner.size()});
  while (!waiting.empty()) {
    GridPiece piece = waiting.back();
    waiting.pop_back();
    for (;;) {
      const CompactNode& node = nodes[piece.node];
      if (node.is_leaf()) {
        visit(piece);
        break;
      }
      const FeatureIndex feature = node.feature();
      if (feature != grid.inner.feature() && feature != grid.outer.feature()) [[likely]] {
        piece.node = tree.child(piece.node, row[feature]);
        continue;
      }
      if (feature == grid.inner.feature()) {
        grid.inner.part(
            tree, piece.node, piece.inner_begin, piece.inner_end,
            [&](std::size_t begin, std::size_t end, NodeIndex child) {
              waiting.push_back({child, piece.outer_begin, piece.outer_end, begin, end});
            });
      } else {
        grid.outer.part(
            tree, piece.node, piece.outer_begin, piece.outer_end,
            [&](std::size_t begin, std::size_t end, NodeIndex child) {
              waiting.push_back({child, begin, end, piece.inner_begin, piece.inner_end});
            });
      }
      break;
    }
  }
}

// The values of a leaf for the outputs [first, first + n).
struct LeafValues {
  std::size_t first, n;
  const double* values;
};

void add(const LeafValues& leaf, const GridPiece& piece, std::size_t n_inner, std::size_t n_outputs,
         double* curve) {
  for (std::size_t i = piece.outer_begin; i < piece.outer_end; ++i) {
    double* at = curve + i * n_inner * n_outputs;
    if (n_outputs == 1) {
      const double value = leaf.values[0];
      for (std::size_t j = piece.inner_begin; j < piece.inner_end; ++j) at[j] += value;
      continue;
    }
    for (std::size_t j = piece.inner_begin; j < piece.inner_end; ++j) {
      double* out = at + j * n_outputs + leaf.first;
      for (std::size_t k = 0; k < leaf.n; ++k) out[k] += leaf.values[k];
    }
  }
}

struct CurveWorker {
  RowBlock<double> block;
  std::vector<GridPiece> waiting;
  std::vector<double> vote;
};

// Adds values_of(tree, leaf node, buffer of n_outputs) to every row's curve, trees in their order.
// tree_at(t): the compact tree t.
template <class Table, class TreeAt, class ValuesOf>
void add_curves(std::size_t n_trees, const TreeAt& tree_at, const ValuesOf& values_of,
                const Grid& grid, std::size_t n_outputs, const RowRange<Table>& rows,
                const Context& context, std::vector<double>& curves) {
  const std::size_t width = std::max<std::size_t>(1, rows.table.n_columns());
  const std::size_t curve_size = grid.n_points() * n_outputs;
  const std::size_t size =
      std::clamp(kBlockBytes / (8 * (width + curve_size)), std::size_t{1}, kMostCurveRows);
  std::vector<CurveWorker> workers(static_cast<std::size_t>(std::max(1, context.n_threads())));
  parallel_for(context.n_threads(), (rows.n_rows() + size - 1) / size,
               [&](std::size_t task, int number) {
                 CurveWorker& worker = workers[static_cast<std::size_t>(number)];
                 worker.block.numbers.resize(size * width);
                 worker.vote.resize(n_outputs);
                 const std::size_t begin = rows.begin + task * size;
                 const std::size_t end = std::min(rows.end, begin + size);
                 fill(rows.table, begin, end, worker.block);
                 for (std::size_t t = 0; t < n_trees; ++t) {
                   context.check();
                   const CompactTree& tree = tree_at(t);
                   for (std::size_t row = begin; row < end; ++row) {
                     double* curve = curves.data() + (row - rows.begin) * curve_size;
                     walk_points(tree, grid, worker.block.numbers.data() + (row - begin) * width,
                                 worker.waiting, [&](const GridPiece& piece) {
                                   const auto leaf = static_cast<std::uint32_t>(piece.node);
                                   add(values_of(t, leaf, worker.vote), piece, grid.inner.size(),
                                       n_outputs, curve);
                                 });
                   }
                 }
                 clear(rows.table, begin, end, worker.block);
               });
}

template <class Table>
void check(const RowRange<Table>& rows, FeatureIndex n_features) {
  require(rows.begin <= rows.end && rows.end <= rows.table.n_rows,
          "the rows lie outside the table");
  require(rows.table.n_columns() == static_cast<std::size_t>(n_features),
          "the number of columns differs from the one that the trees were fitted on");
}

// The trees of other models in the form in which forests have theirs: no value changes.
CompactTree compact_values(const Tree& tree) {
  return compact(tree.arrays(), Measure::squared_error);
}

}  // namespace

template <class Table>
std::vector<double> vote_curves(const Forest& forest, const Ballot& ballot,
                                std::span<const Axis> axes, const RowRange<Table>& rows,
                                const Context& context) {
  require(!forest.trees.empty(), "a forest without trees cannot predict");
  check(rows, forest.n_features);
  const Grid grid = grid_of(axes, forest.n_features);
  const std::size_t k = ballot.n_outputs();
  std::vector<double> curves(rows.n_rows() * grid.n_points() * k, 0.0);
  const auto values_of = [&](std::size_t t, std::uint32_t leaf, std::vector<double>& vote) {
    std::fill(vote.begin(), vote.end(), 0.0);
    ballot.add(forest.trees[t], leaf, vote.data());
    return LeafValues{0, k, vote.data()};
  };
  add_curves(
      forest.trees.size(), [&](std::size_t t) -> const CompactTree& { return forest.trees[t]; },
      values_of, grid, k, rows, context, curves);
  for (double& vote : curves) vote /= static_cast<double>(forest.trees.size());
  return curves;
}

template <class Table>
std::vector<double> score_curves(const TreeEnsemble& ensemble, std::span<const Axis> axes,
                                 const RowRange<Table>& rows, const Context& context) {
  require(ensemble.linear.empty(), "linear leaves have no value that holds for several points");
  const auto n_columns = static_cast<FeatureIndex>(rows.table.n_columns());
  for (const Tree& tree : ensemble.trees) check(rows, tree.arrays().n_features);
  const Grid grid = grid_of(axes, n_columns);
  const std::size_t k = ensemble.n_outputs();
  std::vector<CompactTree> trees;
  trees.reserve(ensemble.trees.size());
  for (const Tree& tree : ensemble.trees) trees.push_back(compact_values(tree));
  std::vector<double> curves(rows.n_rows() * grid.n_points() * k);
  for (std::size_t i = 0; i < curves.size(); ++i) curves[i] = ensemble.start[i % k];
  const auto values_of = [&](std::size_t t, std::uint32_t leaf, std::vector<double>&) {
    const std::size_t number = trees[t].nodes[leaf].leaf();
    return LeafValues{t % k, 1, &trees[t].value[number]};
  };
  add_curves(
      trees.size(), [&](std::size_t t) -> const CompactTree& { return trees[t]; }, values_of, grid,
      k, rows, context, curves);
  return curves;
}

template <class Table>
std::vector<double> value_curves(const Tree& tree, std::span<const Axis> axes,
                                 const RowRange<Table>& rows, const Context& context) {
  check(rows, tree.arrays().n_features);
  const Grid grid = grid_of(axes, tree.arrays().n_features);
  const auto k = static_cast<std::size_t>(tree.arrays().n_outputs);
  const CompactTree compacted = compact_values(tree);
  std::vector<double> curves(rows.n_rows() * grid.n_points() * k, 0.0);
  const auto values_of = [&](std::size_t, std::uint32_t leaf, std::vector<double>&) {
    return LeafValues{0, k, compacted.value.data() + compacted.nodes[leaf].leaf() * k};
  };
  add_curves(
      1, [&](std::size_t) -> const CompactTree& { return compacted; }, values_of, grid, k, rows,
      context, curves);
  return curves;
}

template std::vector<double> vote_curves(const Forest&, const Ballot&, std::span<const Axis>,
                                         const RowRange<TableView>&, const Context&);
template std::vector<double> vote_curves(const Forest&, const Ballot&, std::span<const Axis>,
                                         const RowRange<SparseRows>&, const Context&);
template std::vector<double> score_curves(const TreeEnsemble&, std::span<const Axis>,
                                          const RowRange<TableView>&, const Context&);
template std::vector<double> score_curves(const TreeEnsemble&, std::span<const Axis>,
                                          const RowRange<SparseRows>&, const Context&);
template std::vector<double> value_curves(const Tree&, std::span<const Axis>,
                                          const RowRange<TableView>&, const Context&);
template std::vector<double> value_curves(const Tree&, std::span<const Axis>,
                                          const RowRange<SparseRows>&, const Context&);

}  // namespace arboleda
