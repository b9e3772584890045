#include "predict/neighborhood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/thread_pool.h"
#include "predict/forest.h"

namespace arboleda {

namespace {

// Rows of a table that one thread takes at a time: their leaves in all trees lie in memory together.
constexpr std::size_t kNeighborhoodRows = 64;

// A level is reached when only rounding keeps the sum of the weights below it.
constexpr double kRounding = 0x1p-36;

// The rows of a table, ordered by the targets of one output; equal targets by row.
struct ByTarget {
  std::vector<RowIndex> row;
  std::vector<std::uint32_t> place;  // of each row

  explicit ByTarget(std::span<const double> targets) : row(targets.size()), place(targets.size()) {
    std::iota(row.begin(), row.end(), RowIndex{0});
    std::stable_sort(row.begin(), row.end(),
                     [&](RowIndex a, RowIndex b) { return targets[a] < targets[b]; });
    for (std::size_t i = 0; i < row.size(); ++i) place[row[i]] = static_cast<std::uint32_t>(i);
  }
};

// The levels' quantiles of the rows that have a sum, each the target of one of them.
void put_quantiles(RowSums& sums, const ByTarget& order, std::span<const double> targets,
                   std::span<const double> levels, std::vector<double>& cumulated, double* out) {
  const auto rows = sums.rows([&](RowIndex row) { return order.place[row]; },
                              [&](std::size_t place) { return order.row[place]; });
  cumulated.clear();
  double sum = 0.0;
  for (const RowIndex row : rows) cumulated.push_back(sum += sums[row]);
  for (const double level : levels) {
    const double reached = level * sum * (1.0 - kRounding);
    const auto at = level == 1.0 ? cumulated.end() - 1
                                 : std::lower_bound(cumulated.begin(), cumulated.end(), reached);
    *out++ = targets[rows[static_cast<std::size_t>(at - cumulated.begin())]];
  }
}

}  // namespace

Neighborhood::Neighborhood(const Forest& forest, const ForestBags& bags, std::size_t n_rows,
                           const NeighborWeights& weights, const Context& context)
    : forest_(forest),
      n_rows_(n_rows),
      sample_weight_(weights.sample.begin(), weights.sample.end()),
      labels_(weights.labels.begin(), weights.labels.end()),
      n_classes_(weights.n_classes.begin(), weights.n_classes.end()),
      trees_(forest.trees.size()) {
  require(!forest.trees.empty() && forest.n_training_rows > 0, "the forest keeps no training rows");
  require(forest.n_training_rows <= n_rows, "the forest keeps rows beyond the training table");
  require(sample_weight_.empty() || sample_weight_.size() == n_rows, "one weight a row is needed");
  require(labels_.size() == n_classes_.size() * n_rows, "one label a row and output is needed");
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    require(labels_[i] < n_classes_[i / n_rows], "a label is beyond the classes");
  }
  std::vector<std::vector<std::uint32_t>> counts(
      static_cast<std::size_t>(std::max(1, context.n_threads())));
  parallel_for(context.n_threads(), trees_.size(), [&](std::size_t tree, int worker) {
    context.check();
    learn(tree, bags, counts[static_cast<std::size_t>(worker)]);
  });
}

void Neighborhood::learn(std::size_t tree, const ForestBags& bags,
                         std::vector<std::uint32_t>& counts) {
  const CompactTree& grown = forest_.trees[tree];
  RowsByLeaf& leaves = trees_[tree];
  leaves.begin = leaf_begins(grown);
  bags.draw.counts(bags.first_tree + static_cast<std::uint32_t>(tree), counts);
  require(counts.size() == n_rows_, "the bags are of another table than the forest");
  leaves.count.resize(grown.row.size());
  bool all_once = true;
  for (std::size_t p = 0; p < grown.row.size(); ++p) {
    const std::uint32_t count = counts[grown.row[p]];
    require(count > 0, "the rows that the forest keeps are not those of its bags");
    require(count <= std::numeric_limits<std::uint16_t>::max(),
            "a row was drawn more than 65,535 times into the bag of a tree");
    leaves.count[p] = static_cast<std::uint16_t>(count);
    all_once = all_once && count == 1;
  }
  if (all_once) leaves.count = {};
  for (std::size_t k = 0; k < n_classes_.size(); ++k) {
    const std::size_t first = leaves.class_weight.size();
    leaves.class_weight.resize(first + n_classes_[k], 0.0);
    double* drawn = leaves.class_weight.data() + first;
    for (std::size_t i = 0; i < n_rows_; ++i) drawn[labels_[k * n_rows_ + i]] += counts[i];
    for (std::size_t c = 0; c < n_classes_[k]; ++c)
      drawn[c] = drawn[c] > 0.0 ? 1.0 / drawn[c] : 0.0;
  }
  leaves.total.resize(grown.n_leaves());
  for (std::size_t leaf = 0; leaf < grown.n_leaves(); ++leaf) {
    double total = 0.0;
    for (std::size_t p = leaves.begin[leaf]; p < leaves.begin[leaf + 1]; ++p) {
      total += weight_of(tree, p);
    }
    leaves.total[leaf] = total;
  }
}

double Neighborhood::weight_of(std::size_t tree, std::size_t place) const {
  const RowsByLeaf& leaves = trees_[tree];
  const RowIndex row = forest_.trees[tree].row[place];
  double weight = leaves.count.empty() ? 1.0 : leaves.count[place];
  if (!sample_weight_.empty()) weight *= sample_weight_[row];
  std::size_t first = 0;
  for (std::size_t k = 0; k < n_classes_.size(); ++k) {
    weight *= leaves.class_weight[first + labels_[k * n_rows_ + row]];
    first += n_classes_[k];
  }
  return weight;
}

void Neighborhood::add_leaf(std::size_t tree, NodeIndex node, RowSums& sums) const {
  const CompactTree& grown = forest_.trees[tree];
  const RowsByLeaf& leaves = trees_[tree];
  const std::size_t leaf = grown.nodes[static_cast<std::size_t>(node)].leaf();
  const double total = leaves.total[leaf];
  for (std::size_t p = leaves.begin[leaf]; p < leaves.begin[leaf + 1]; ++p) {
    sums.add(grown.row[p], weight_of(tree, p) / total);
  }
}

// Calls visit(task, row of the table, sums of the shares of the training rows), rows of a task in order.
template <class Table, class Visit>
void Neighborhood::for_each_row(const Table& table, const Context& context,
                                const Visit& visit) const {
  std::vector<RowSums> sums;
  for (int worker = 0; worker < std::max(1, context.n_threads()); ++worker)
    sums.emplace_back(n_rows_);
  const std::size_t n_tasks = (table.n_rows + kNeighborhoodRows - 1) / kNeighborhoodRows;
  parallel_for(context.n_threads(), n_tasks, [&](std::size_t task, int worker) {
    const std::size_t begin = task * kNeighborhoodRows;
    const std::size_t end = std::min(table.n_rows, begin + kNeighborhoodRows);
    const std::vector<NodeIndex> leaves =
        apply_forest(forest_, rows_between(table, begin, end), context);
    RowSums& of_row = sums[static_cast<std::size_t>(worker)];
    for (std::size_t i = 0; i < end - begin; ++i) {
      context.check();
      for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        add_leaf(tree, leaves[i * trees_.size() + tree], of_row);
      }
      visit(task, begin + i, of_row);
      of_row.clear();
    }
  });
}

template <class Table>
SparseSums Neighborhood::weights(const Table& table, const Context& context) const {
  std::vector<SparseSums> parts((table.n_rows + kNeighborhoodRows - 1) / kNeighborhoodRows);
  const double n_trees = static_cast<double>(trees_.size());
  for_each_row(table, context, [&](std::size_t task, std::size_t, RowSums& sums) {
    SparseSums& part = parts[task];
    for (const RowIndex row : sums.rows()) {
      part.index.push_back(static_cast<std::int32_t>(row));
      part.value.push_back(sums[row] / n_trees);
    }
    part.start.push_back(static_cast<std::int64_t>(part.index.size()));
  });
  return joined(std::move(parts));
}

template <class Table>
std::vector<double> Neighborhood::quantiles(const Table& table, const WantedQuantiles& wanted,
                                            const Context& context) const {
  const auto targets = wanted.targets;
  const std::size_t n_outputs = wanted.n_outputs;
  const auto& levels = wanted.levels;
  require(targets.size() == n_outputs * n_rows_, "one target a training row and output is needed");
  require(std::all_of(levels.begin(), levels.end(), [](double p) { return p >= 0.0 && p <= 1.0; }),
          "the levels of quantiles are from 0 to 1");
  std::vector<ByTarget> orders;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    orders.emplace_back(targets.subspan(k * n_rows_, n_rows_));
  }
  std::vector<double> out(table.n_rows * n_outputs * levels.size());
  std::vector<std::vector<double>> cumulated((table.n_rows + kNeighborhoodRows - 1) /
                                             kNeighborhoodRows);
  for_each_row(table, context, [&](std::size_t task, std::size_t row, RowSums& sums) {
    for (std::size_t k = 0; k < n_outputs; ++k) {
      put_quantiles(sums, orders[k], wanted.targets.subspan(k * n_rows_, n_rows_), wanted.levels,
                    cumulated[task], out.data() + (row * n_outputs + k) * wanted.levels.size());
    }
  });
  return out;
}

template SparseSums Neighborhood::weights(const TableView&, const Context&) const;
template SparseSums Neighborhood::weights(const SparseRows&, const Context&) const;
template std::vector<double> Neighborhood::quantiles(const TableView&, const WantedQuantiles&,
                                                     const Context&) const;
template std::vector<double> Neighborhood::quantiles(const SparseRows&, const WantedQuantiles&,
                                                     const Context&) const;

}  // namespace arboleda
