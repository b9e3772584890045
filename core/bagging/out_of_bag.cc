#include "bagging/out_of_bag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Rows of one task: fixed, so that sums of blocks are the same on any number of threads.
constexpr std::size_t kBlockRows = 4096;

template <class Table>
void check_table(const Forest& forest, const Table& table, const ForestBags& bags) {
  require(table.n_columns() == static_cast<std::size_t>(forest.n_features),
          "the number of columns differs from the one that the forest was fitted on");
  require(table.n_rows == bags.draw.n_rows(),
          "the number of rows differs from that of the training table");
}

// The rows that a tree did not see, and the leaves they come to.
struct LeftOut {
  std::vector<std::uint32_t> counts;
  std::vector<RowIndex> rows;
  std::vector<std::uint32_t> leaves;

  template <class Table>
  void find(const Forest& forest, std::size_t tree, const Table& table, const ForestBags& bags) {
    bags.draw.counts(bags.first_tree + static_cast<std::uint32_t>(tree), counts);
    rows.clear();
    for (std::size_t row = 0; row < counts.size(); ++row) {
      if (counts[row] == 0) rows.push_back(static_cast<RowIndex>(row));
    }
    leaves.resize(rows.size());
    find_leaves(forest.trees[tree], table, rows, leaves);
  }
};

// Adds all votes, tree by tree for each row. After those of a tree for the rows of a block:
// voted(tree, block, its left-out rows in the block).
template <class Table, class Voted>
OutOfBagVotes add_all(const Forest& forest, const Ballot& ballot, const Table& table,
                      const ForestBags& bags, const Context& context, const Voted& voted) {
  check_table(forest, table, bags);
  const std::size_t k = ballot.n_outputs();
  OutOfBagVotes votes{std::vector<double>(table.n_rows * k), {}};
  votes.n_trees.resize(table.n_rows);
  // Enough trees at a time to keep every thread busy.
  const std::size_t n_together = 4 * static_cast<std::size_t>(std::max(1, context.n_threads()));
  std::vector<LeftOut> together(n_together);
  for (std::size_t first = 0; first < forest.trees.size(); first += n_together) {
    const std::size_t n = std::min(n_together, forest.trees.size() - first);
    parallel_for(context.n_threads(), n, [&](std::size_t i, int) {
      context.check();
      together[i].find(forest, first + i, table, bags);
    });
    parallel_blocks(
        context.n_threads(), table.n_rows, kBlockRows,
        [&](std::size_t block, std::size_t begin, std::size_t end) {
          for (std::size_t i = 0; i < n; ++i) {
            const auto& [counts, rows, leaves] = together[i];
            const auto from = std::lower_bound(rows.begin(), rows.end(), begin) - rows.begin();
            const auto to = std::lower_bound(rows.begin(), rows.end(), end) - rows.begin();
            for (auto r = static_cast<std::size_t>(from); r < static_cast<std::size_t>(to); ++r) {
              ballot.add(forest.trees[first + i], leaves[r], &votes.sums[rows[r] * k]);
              ++votes.n_trees[rows[r]];
            }
            voted(votes, first + i, block,
                  std::span(rows).subspan(static_cast<std::size_t>(from),
                                          static_cast<std::size_t>(to - from)));
          }
        });
  }
  return votes;
}

// The errors of single predictions.
class RowError {
 public:
  RowError(const OutOfBagTarget& target, const Forest& forest, std::size_t n_rows)
      : target_(target),
        n_rows_(n_rows),
        n_outputs_(target.labels.empty() ? static_cast<std::size_t>(forest.n_outputs)
                                         : target.n_classes.size()) {
    const std::size_t n_targets = n_rows_ * n_outputs_;
    require(target.labels.empty() ? target.values.size() == n_targets
                                  : target.labels.size() == n_targets,
            "one target a row and output is needed");
    const auto n_values =
        std::accumulate(target.n_classes.begin(), target.n_classes.end(), std::size_t{0});
    require(target.labels.empty() || n_values == static_cast<std::size_t>(forest.n_outputs),
            "the classes are not those of the forest");
  }

  // Of a row: votes are the sums of n_votes leaves'.
  double error(RowIndex row, const double* votes, double n_votes) const {
    double sum = 0.0;
    if (target_.labels.empty()) {
      for (std::size_t k = 0; k < n_outputs_; ++k) {
        const double miss = votes[k] / n_votes - target_.values[k * n_rows_ + row];
        sum += miss * miss;
      }
    } else {
      for (std::size_t k = 0; k < n_outputs_; ++k) {
        const std::size_t n = target_.n_classes[k];
        const auto predicted = static_cast<std::size_t>(std::max_element(votes, votes + n) - votes);
        sum += predicted != target_.labels[k * n_rows_ + row];
        votes += n;
      }
    }
    return sum / static_cast<double>(n_outputs_);
  }

 private:
  const OutOfBagTarget& target_;
  std::size_t n_rows_;
  std::size_t n_outputs_;
};

// 1 for the rows that count.
std::vector<std::uint8_t> counting_rows(const ForestBags& bags) {
  std::vector<std::uint8_t> counts(bags.draw.n_rows(), 0);
  for (const RowIndex row : bags.draw.rows()) counts[row] = 1;
  return counts;
}

// A node on the path of a left-out row, and the child that the path goes on with.
class PathStep {
 public:
  PathStep(std::uint32_t place, NodeIndex node, NodeIndex child)
      : place_(place),
        node_((static_cast<std::uint32_t>(node) << 1) | (child == node + 1 ? 1U : 0U)) {}

  std::uint32_t place() const { return place_; }  // of the row among those left out
  NodeIndex node() const { return static_cast<NodeIndex>(node_ >> 1); }
  NodeIndex child(const CompactTree& tree) const {
    return (node_ & 1) != 0 ? node() + 1 : tree.nodes[static_cast<std::size_t>(node())].right;
  }

 private:
  std::uint32_t place_;
  std::uint32_t node_;  // twice its number, and 1 if the path goes on to the left
};

// The permutation importances of one tree after the other; scratch of one thread.
template <class Table>
class PermutedTree {
 public:
  PermutedTree(const Forest& forest, const Table& table, const ForestBags& bags,
               const RowError& row_error, std::span<const std::uint8_t> counts,
               const Context& context)
      : forest_(forest),
        table_(table),
        bags_(bags),
        row_error_(row_error),
        counts_(counts),
        context_(context),
        n_features_(static_cast<std::size_t>(forest.n_features)) {}

  // increases: one for each column.
  void measure(std::size_t tree, std::span<double> increases) {
    context_.check();
    tree_ = &forest_.trees[tree];
    find_rows(tree);
    if (rows_.empty()) {
      std::fill(increases.begin(), increases.end(), kNaN);
      return;
    }
    find_paths();
    for (std::size_t j = 0; j < n_features_; ++j) {
      context_.check();
      const auto steps = std::span(steps_).subspan(begin_[j], begin_[j + 1] - begin_[j]);
      increases[j] = steps.empty() ? 0.0 : increase(tree, static_cast<FeatureIndex>(j), steps);
    }
  }

 private:
  double error(RowIndex row, NodeIndex leaf) const {
    const auto value =
        tree_->leaf_value(leaf, static_cast<std::size_t>(forest_.n_outputs), forest_.measure);
    return row_error_.error(row, value.data(), 1.0);
  }

  void find_rows(std::size_t tree) {
    bags_.draw.counts(bags_.first_tree + static_cast<std::uint32_t>(tree), drawn_);
    rows_.clear();
    for (std::size_t row = 0; row < drawn_.size(); ++row) {
      if (drawn_[row] == 0 && counts_[row]) rows_.push_back(static_cast<RowIndex>(row));
    }
  }

  // The steps of all rows, column by column; those of one column in the order of rows and paths.
  void find_paths() {
    path_.clear();
    before_.clear();
    begin_.assign(n_features_ + 1, 0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      NodeIndex node = 0;
      while (!at(node).is_leaf()) {
        const auto j = static_cast<std::size_t>(at(node).feature());
        const NodeIndex child = tree_->child(node, table_.at(rows_[i], j));
        path_.emplace_back(static_cast<std::uint32_t>(i), node, child);
        ++begin_[j + 1];
        node = child;
      }
      before_.push_back(error(rows_[i], node));
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    steps_.resize(path_.size(), {0, 0, 0});
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (const PathStep& step : path_) {
      steps_[next[static_cast<std::size_t>(at(step.node()).feature())]++] = step;
    }
  }

  // Rows whose paths do not test the column, or go on alike, keep their predictions.
  double increase(std::size_t tree, FeatureIndex feature, std::span<const PathStep> steps) {
    permute(tree, feature);
    off_.clear();
    std::size_t done = rows_.size();  // the last row that has left its path
    for (const PathStep& step : steps) {
      if (step.place() == done) continue;
      const double x = permuted(step.place(), feature);
      const NodeIndex child = tree_->child(step.node(), x);
      if (child == step.child(*tree_)) continue;
      done = step.place();
      off_.push_back({step.place(), static_cast<std::uint32_t>(child), x});
    }
    leaves_.resize(off_.size());
    find_leaves<true>(
        *tree_, off_.size(), leaves_.data(), [&](std::size_t i) { return &off_[i]; },
        [&](const Off* row, std::size_t j) {
          return j == static_cast<std::size_t>(feature) ? row->x : table_.at(rows_[row->place], j);
        },
        [&](std::size_t i) { return off_[i].start; });
    double sum = 0.0;
    for (std::size_t i = 0; i < off_.size(); ++i) {
      const std::uint32_t place = off_[i].place;
      sum += error(rows_[place], static_cast<NodeIndex>(leaves_[i])) - before_[place];
    }
    return sum / static_cast<double>(rows_.size());
  }

  void permute(std::size_t tree, FeatureIndex feature) {
    permutation_.resize(rows_.size());
    std::iota(permutation_.begin(), permutation_.end(), 0U);
    RandomStream random(context_.seed(), Purpose::permuted_column,
                        bags_.first_tree + static_cast<std::uint32_t>(tree),
                        static_cast<std::uint64_t>(feature));
    for (std::size_t i = permutation_.size(); i > 1; --i) {
      std::swap(permutation_[i - 1], permutation_[random.below(static_cast<std::uint32_t>(i))]);
    }
  }

  double permuted(std::uint32_t place, FeatureIndex feature) const {
    return table_.at(rows_[permutation_[place]], static_cast<std::size_t>(feature));
  }

  // A row that leaves its path, for another child than its own.
  struct Off {
    std::uint32_t place;
    std::uint32_t start;
    double x;  // the permuted value
  };

  const CompactNode& at(NodeIndex node) const {
    return tree_->nodes[static_cast<std::size_t>(node)];
  }

  const Forest& forest_;
  const Table& table_;
  const ForestBags& bags_;
  const RowError& row_error_;
  const std::span<const std::uint8_t> counts_;
  const Context& context_;
  const std::size_t n_features_;
  const CompactTree* tree_ = nullptr;
  std::vector<std::uint32_t> drawn_;
  std::vector<RowIndex> rows_;      // left out, of those that count
  std::vector<double> before_;      // their errors
  std::vector<PathStep> path_;      // of all rows, one after the other
  std::vector<PathStep> steps_;     // the same, column by column
  std::vector<std::size_t> begin_;  // of each column in `steps_`
  std::vector<std::uint32_t> permutation_;
  std::vector<Off> off_;
  std::vector<std::uint32_t> leaves_;  // of these
};

}  // namespace

template <class Table>
OutOfBagVotes out_of_bag_votes(const Forest& forest, const Ballot& ballot, const Table& table,
                               const ForestBags& bags, const Context& context) {
  return add_all(forest, ballot, table, bags, context, [](const auto&...) {});
}

template <class Table>
OutOfBagCurve out_of_bag_curve(const Forest& forest, const Ballot& ballot, const Table& table,
                               const ForestBags& bags, const OutOfBagTarget& target,
                               const Context& context) {
  const RowError row_error(target, forest, table.n_rows);
  const std::vector<std::uint8_t> counts = counting_rows(bags);
  const std::size_t k = ballot.n_outputs();
  const std::size_t n_trees = forest.trees.size();
  const std::size_t n_blocks = (table.n_rows + kBlockRows - 1) / kBlockRows;
  std::vector<double> error(table.n_rows, 0.0);      // of each row's votes so far
  std::vector<double> of_block(n_trees * n_blocks);  // sums of them
  std::vector<std::uint32_t> scored(n_trees * n_blocks);
  add_all(forest, ballot, table, bags, context,
          [&](const OutOfBagVotes& votes, std::size_t tree, std::size_t block,
              std::span<const RowIndex> changed) {
            for (const RowIndex row : changed) {
              error[row] = row_error.error(row, &votes.sums[row * k], votes.n_trees[row]);
            }
            const std::size_t end = std::min(table.n_rows, (block + 1) * kBlockRows);
            for (std::size_t row = block * kBlockRows; row < end; ++row) {
              if (!counts[row] || votes.n_trees[row] == 0) continue;
              of_block[tree * n_blocks + block] += error[row];
              ++scored[tree * n_blocks + block];
            }
          });
  OutOfBagCurve curve;
  for (std::size_t tree = 0; tree < n_trees; ++tree) {
    const auto begin = static_cast<std::ptrdiff_t>(tree * n_blocks);
    const auto end = static_cast<std::ptrdiff_t>((tree + 1) * n_blocks);
    const double sum = std::accumulate(of_block.begin() + begin, of_block.begin() + end, 0.0);
    const auto n = std::accumulate(scored.begin() + begin, scored.begin() + end, std::uint64_t{0});
    curve.error.push_back(n == 0 ? kNaN : sum / static_cast<double>(n));
    curve.n_scored.push_back(n);
  }
  return curve;
}

template <class Table>
std::vector<double> out_of_bag_permutation(const Forest& forest, const Table& table,
                                           const ForestBags& bags, const OutOfBagTarget& target,
                                           const Context& context) {
  check_table(forest, table, bags);
  const RowError row_error(target, forest, table.n_rows);
  const std::vector<std::uint8_t> counts = counting_rows(bags);
  const auto p = static_cast<std::size_t>(forest.n_features);
  std::vector<double> increases(forest.trees.size() * p);
  std::vector<PermutedTree<Table>> workers(
      static_cast<std::size_t>(std::max(1, context.n_threads())),
      PermutedTree<Table>(forest, table, bags, row_error, counts, context));
  parallel_for(context.n_threads(), forest.trees.size(), [&](std::size_t tree, int worker) {
    workers[static_cast<std::size_t>(worker)].measure(tree,
                                                      std::span(increases).subspan(tree * p, p));
  });
  return increases;
}

template OutOfBagVotes out_of_bag_votes(const Forest&, const Ballot&, const TableView&,
                                        const ForestBags&, const Context&);
template OutOfBagVotes out_of_bag_votes(const Forest&, const Ballot&, const SparseRows&,
                                        const ForestBags&, const Context&);
template OutOfBagCurve out_of_bag_curve(const Forest&, const Ballot&, const TableView&,
                                        const ForestBags&, const OutOfBagTarget&, const Context&);
template OutOfBagCurve out_of_bag_curve(const Forest&, const Ballot&, const SparseRows&,
                                        const ForestBags&, const OutOfBagTarget&, const Context&);
template std::vector<double> out_of_bag_permutation(const Forest&, const TableView&,
                                                    const ForestBags&, const OutOfBagTarget&,
                                                    const Context&);
template std::vector<double> out_of_bag_permutation(const Forest&, const SparseRows&,
                                                    const ForestBags&, const OutOfBagTarget&,
                                                    const Context&);

}  // namespace arboleda
