#include "predict/ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/compiler.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "predict/coded_rows.h"
#include "predict/flat_trees.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Rows of one task; also the number of rows from which a second thread is worth waking.
constexpr std::size_t kTaskRows = 1024;

// A block's numbers stay in the nearest cache while every tree passes over them.
constexpr std::size_t kLeafBlockBytes = std::size_t{1} << 14;
constexpr std::size_t kFewestRows = 8;
constexpr std::size_t kMostRows = 128;

// Below so many rows a block of codes is mostly empty.
constexpr std::size_t kFewRows = kTreeRows / 4;

// Nanoseconds a row, as docs/decisions/prediction.md measured them: of a walk down one tree, and more for
// every doubling of its nodes; of a line of codes; of an inner node and of a tree that is evaluated by codes.
constexpr double kWalkCost = 3.0, kLevelCost = 1.1;
constexpr double kLineCost = 2.2, kNodeCost = 0.03, kTreeCost = 0.3;

std::size_t rows_of_block(std::size_t n_slots) {
  return std::clamp(kLeafBlockBytes / (8 * n_slots) / 8 * 8, kFewestRows, kMostRows);
}

// Calls visit(tree, first row, leaves of the rows from there on, what the slots of these rows hold) for
// every block and, within a block, for the trees in their order.
template <class Table, class Visit>
void for_each_leaf(const FlatTrees& trees, const Table& table, const Context& context,
                   const Visit& visit) {
  const Slots& slots = trees.slots();
  const std::size_t block_rows = rows_of_block(slots.n_slots());
  const std::size_t n_tasks = (table.n_rows + kTaskRows - 1) / kTaskRows;
  std::vector<std::vector<double>> buffers(
      static_cast<std::size_t>(std::max(1, context.n_threads())));
  parallel_for(context.n_threads(), n_tasks, [&](std::size_t task, int worker) {
    std::vector<double>& rows = buffers[static_cast<std::size_t>(worker)];
    rows.resize(block_rows * slots.n_slots());
    std::array<std::uint32_t, kMostRows> leaves;
    const std::size_t task_end = std::min(table.n_rows, (task + 1) * kTaskRows);
    for (std::size_t begin = task * kTaskRows; begin < task_end; begin += block_rows) {
      context.check();
      const std::size_t end = std::min(task_end, begin + block_rows);
      slots.fill(table, begin, end, rows.data());
      for (std::size_t tree = 0; tree < trees.n_trees(); ++tree) {
        trees.walk(tree, rows.data(), end - begin, leaves.data());
        visit(tree, begin, std::span<const std::uint32_t>(leaves.data(), end - begin), rows.data());
      }
    }
  });
}

// Adds what the rows of a block get from one tree to their scores, which lie `stride` apart.
void add_linear(const FlatTrees& trees, std::size_t tree, std::span<const std::uint32_t> leaves,
                const double* rows, std::size_t stride, double* score) {
  for (const std::uint32_t leaf : leaves) {
    *score += trees.value(tree, leaf, rows);
    score += stride;
    rows += trees.slots().n_slots();
  }
}

// Adds what the rows of a block get from one tree of all outputs.
void add_rounds(const RoundWalks& walks, std::size_t tree, std::span<const std::uint32_t> leaves,
                std::size_t k, double* ARBOLEDA_RESTRICT score) {
  for (const std::uint32_t leaf : leaves) {
    const double* values = walks.values(tree, leaf);
    for (std::size_t c = 0; c < k; ++c) score[c] += values[c];
    score += k;
  }
}

// Whether codes of the rows are worth their making for the trees [first, last).
bool pays(const CodedTrees& trees, std::size_t first, std::size_t last, std::size_t n_rows) {
  if (n_rows < kFewRows) return false;
  const auto n_trees = static_cast<double>(last - first);
  const auto n_nodes = static_cast<double>(trees.n_nodes(first, last));
  const double walk = kWalkCost + kLevelCost * std::log2(1.0 + n_nodes / n_trees);
  const double lines = kLineCost * static_cast<double>(trees.codes().n_lines());
  return n_trees * walk > lines + n_trees * kTreeCost + n_nodes * kNodeCost;
}

// Adds up what the first n rows of a block get from every k-th tree, of which there are a few.
void add_some(const CodedEnsemble& coded, std::size_t first, std::size_t last, std::size_t k,
              CodedBlock& block, std::size_t n, double* sums) {
  TreeLine numbers[CodedTreeKernels::kSummedTrees];
  const double* values[CodedTreeKernels::kSummedTrees];
  std::size_t n_trees = 0;
  for (std::size_t tree = first; tree < last; tree += k, ++n_trees) {
    std::memcpy(numbers[n_trees].of_row, coded.trees().find_leaves(tree, block), kTreeRows);
    values[n_trees] = coded.values(tree);
  }
  kernels().coded_trees.add_values(numbers, values, n_trees, n, sums);
}

// The same where the trees are of all outputs, for scores row by row.
template <std::size_t kTrees>
void add_vectors(const TreeLine* numbers, const double* const* values, std::size_t n, std::size_t k,
                 double* ARBOLEDA_RESTRICT scores) {
  for (std::size_t i = 0; i < n; ++i, scores += k) {
    const double* of_tree[kTrees];
    for (std::size_t t = 0; t < kTrees; ++t) of_tree[t] = values[t] + numbers[t].of_row[i] * k;
    for (std::size_t c = 0; c < k; ++c) {
      double sum = scores[c];
      for (std::size_t t = 0; t < kTrees; ++t) sum += of_tree[t][c];
      scores[c] = sum;
    }
  }
}

// The trees [first, last) of all, each of all outputs of a round.
template <class Table>
void add_coded_rounds(const CodedEnsemble& coded, std::size_t first, std::size_t last,
                      std::size_t k, const Table& table, const Context& context,
                      std::span<double> scores) {
  constexpr std::size_t kSummed = CodedTreeKernels::kSummedTrees;
  for_each_coded_block(
      coded.trees(), table, context, [&](CodedBlock& block, std::size_t begin, std::size_t n, int) {
        double* here = scores.data() + begin * k;
        TreeLine numbers[kSummed];
        const double* values[kSummed];
        for (std::size_t tree = first; tree < last; tree += kSummed) {
          const std::size_t n_trees = std::min(kSummed, last - tree);
          for (std::size_t t = 0; t < n_trees; ++t) {
            std::memcpy(numbers[t].of_row, coded.trees().find_leaves(tree + t, block), kTreeRows);
            values[t] = coded.values(tree + t);
          }
          if (n_trees == kSummed) {
            add_vectors<kSummed>(numbers, values, n, k, here);
          } else {
            for (std::size_t t = 0; t < n_trees; ++t) {
              add_vectors<1>(numbers + t, values + t, n, k, here);
            }
          }
        }
      });
}

// The trees [first, last) of all, whose first one is of output 0.
template <class Table>
void add_coded(const CodedEnsemble& coded, std::size_t first, std::size_t last, std::size_t k,
               const Table& table, const Context& context, std::span<double> scores) {
  constexpr std::size_t kSummed = CodedTreeKernels::kSummedTrees;
  const CodedTrees& trees = coded.trees();
  std::vector<std::vector<double>> buffers(
      static_cast<std::size_t>(std::max(1, context.n_threads())));
  for_each_coded_block(trees, table, context,
                       [&](CodedBlock& block, std::size_t begin, std::size_t n, int worker) {
                         double* here = scores.data() + begin * k;
                         std::vector<double>& sums = buffers[static_cast<std::size_t>(worker)];
                         sums.resize(k * kTreeRows);
                         for (std::size_t i = 0; i < n * k; ++i)
                           sums[i % k * kTreeRows + i / k] = here[i];
                         for (std::size_t tree = first; tree < last; tree += kSummed * k) {
                           for (std::size_t c = 0; c < k; ++c) {
                             add_some(coded, tree + c, std::min(last, tree + kSummed * k), k, block,
                                      n, &sums[c * kTreeRows]);
                           }
                         }
                         for (std::size_t i = 0; i < n * k; ++i)
                           here[i] = sums[i % k * kTreeRows + i / k];
                       });
}

template <class Table>
void check_table(std::span<const Tree> trees, const Table& table) {
  for (const Tree& tree : trees) {
    require(table.n_columns() == static_cast<std::size_t>(tree.arrays().n_features),
            "the number of columns differs from the one that the trees were fitted on");
  }
}

}  // namespace

bool CodedEnsemble::can_hold(const TreeEnsemble& ensemble) {
  return ensemble.linear.empty() && CodedTrees::can_hold(std::span(ensemble.trees));
}

CodedEnsemble::CodedEnsemble(const TreeEnsemble& ensemble)
    : CodedEnsemble(RoundWalks(ensemble, 0, ensemble.n_rounds()), ensemble.n_outputs()) {}

CodedEnsemble::CodedEnsemble(const RoundWalks& walks, std::size_t n_outputs)
    : trees_(walks.trees()), trees_a_round_(walks.are_shared() ? 1 : n_outputs) {
  for (std::size_t t = 0; t < trees_.n_trees(); ++t) {
    first_value_.push_back(values_.size());
    for (const NodeIndex leaf : trees_.leaves(t)) {
      const auto node = static_cast<std::size_t>(leaf);
      const auto values = walks.are_shared() ? std::span(walks.values(t, node), n_outputs)
                                             : walks.trees()[t].value(leaf);
      values_.insert(values_.end(), values.begin(), values.end());
    }
  }
}

template <class Table>
void add_scores(const TreeEnsemble& ensemble, std::size_t first_round, std::size_t last_round,
                const Table& table, const Context& context, std::span<double> scores,
                const CodedEnsemble* coded) {
  const std::size_t k = ensemble.n_outputs();
  require(first_round <= last_round && last_round <= ensemble.n_rounds(),
          "the requested rounds lie outside the ensemble");
  require(scores.size() == table.n_rows * k, "the scores must have shape (rows, outputs)");
  const auto trees =
      std::span(ensemble.trees).subspan(first_round * k, (last_round - first_round) * k);
  if (trees.empty()) return;
  check_table(trees, table);
  if (coded != nullptr) {
    const std::size_t a_round = coded->trees_a_round();
    const std::size_t first = first_round * a_round, last = last_round * a_round;
    if (pays(coded->trees(), first, last, table.n_rows)) {
      if (a_round < k) return add_coded_rounds(*coded, first, last, k, table, context, scores);
      return add_coded(*coded, first, last, k, table, context, scores);
    }
  }
  const RoundWalks walks(ensemble, first_round, last_round);
  const FlatTrees flat(walks.trees(), linear_leaves(ensemble, first_round * k, last_round * k),
                       table.n_columns());
  for_each_leaf(flat, table, context,
                [&](std::size_t tree, std::size_t begin, std::span<const std::uint32_t> leaves,
                    const double* rows) {
                  double* score = scores.data() + begin * k;
                  if (walks.are_shared()) return add_rounds(walks, tree, leaves, k, score);
                  score += tree % k;
                  if (flat.has_linear_leaves()) {
                    add_linear(flat, tree, leaves, rows, k, score);
                    return;
                  }
                  for (const std::uint32_t leaf : leaves) {
                    *score += flat.value(tree, leaf);
                    score += k;
                  }
                });
}

template <class Table>
std::vector<double> predict_scores(const TreeEnsemble& ensemble, const Table& table,
                                   const Context& context, const CodedEnsemble* coded) {
  const std::size_t k = ensemble.n_outputs();
  std::vector<double> scores(table.n_rows * k);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = ensemble.start[i % k];
  add_scores(ensemble, 0, ensemble.n_rounds(), table, context, scores, coded);
  return scores;
}

template <class Table>
std::vector<NodeIndex> apply_ensemble(const TreeEnsemble& ensemble, const Table& table,
                                      const Context& context) {
  const std::size_t n_trees = ensemble.trees.size();
  std::vector<NodeIndex> out(table.n_rows * n_trees);
  if (n_trees == 0) return out;
  check_table<Table>(ensemble.trees, table);
  const FlatTrees flat(ensemble.trees, {}, table.n_columns());
  for_each_leaf(flat, table, context,
                [&](std::size_t tree, std::size_t begin, std::span<const std::uint32_t> leaves,
                    const double*) {
                  NodeIndex* leaf_out = out.data() + begin * n_trees + tree;
                  for (const std::uint32_t leaf : leaves) {
                    *leaf_out = static_cast<NodeIndex>(leaf);
                    leaf_out += n_trees;
                  }
                });
  return out;
}

template void add_scores(const TreeEnsemble&, std::size_t, std::size_t, const TableView&,
                         const Context&, std::span<double>, const CodedEnsemble*);
template void add_scores(const TreeEnsemble&, std::size_t, std::size_t, const SparseRows&,
                         const Context&, std::span<double>, const CodedEnsemble*);
template std::vector<double> predict_scores(const TreeEnsemble&, const TableView&, const Context&,
                                            const CodedEnsemble*);
template std::vector<double> predict_scores(const TreeEnsemble&, const SparseRows&, const Context&,
                                            const CodedEnsemble*);
template std::vector<NodeIndex> apply_ensemble(const TreeEnsemble&, const TableView&,
                                               const Context&);
template std::vector<NodeIndex> apply_ensemble(const TreeEnsemble&, const SparseRows&,
                                               const Context&);

}  // namespace arboleda
