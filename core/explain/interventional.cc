#include "explain/interventional.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#include "explain/background_walk.h"
#include "explain/shap_steps.h"

namespace arboleda {

namespace {

// Rows of one task: the background goes through a tree anew for each task.
constexpr std::size_t kTaskRows = 256;

// The tested columns of a table, row by row.
class TestedRows {
 public:
  template <class Table>
  TestedRows(const Table& table, const TestedColumns& tested, std::size_t begin, std::size_t end)
      : tested_(tested), width_(tested.column.size()), numbers_((end - begin) * width_) {
    for (std::size_t j = 0; j < width_; ++j) {
      for (std::size_t row = begin; row < end; ++row) {
        numbers_[(row - begin) * width_ + j] = table.at(row, tested.column[j]);
      }
    }
  }

  // The child that a row goes to.
  std::size_t child(const AdditiveTree& tree, std::size_t node, std::size_t row) const {
    const auto feature = static_cast<std::size_t>(tree.nodes[node].feature);
    return tree.child(node, numbers_[row * width_ + tested_.place[feature]]);
  }

 private:
  const TestedColumns& tested_;
  std::size_t width_;
  std::vector<double> numbers_;
};

// What a thread needs for the rows of a task.
struct Workspace {
  AdditiveTree tree;
  BackgroundBits bits;
};

void set_bits(Workspace& work, const TestedRows& background, std::size_t n_rows) {
  work.bits.set(work.tree, n_rows, [&](std::size_t node, std::size_t row) {
    return background.child(work.tree, node, row) == node + 1;
  });
}

std::vector<double> mean_scores(const AdditiveTrees& trees, const TestedRows& background,
                                std::size_t n_rows, const Context& context) {
  std::vector<double> means(trees.n_outputs(), 0.0);
  AdditiveTree tree;
  for (std::size_t t = 0; t < trees.n_trees(); ++t) {
    context.check();
    trees.read(t, tree);
    std::vector<double> sums(tree.width, 0.0);
    for (std::size_t row = 0; row < n_rows; ++row) {
      std::size_t node = 0;
      while (!tree.nodes[node].is_leaf()) node = background.child(tree, node, row);
      for (std::size_t k = 0; k < tree.width; ++k) sums[k] += tree.value_of(node, k);
    }
    for (std::size_t k = 0; k < tree.width; ++k) {
      means[tree.first_output + k] += sums[k] / static_cast<double>(n_rows);
    }
  }
  for (std::size_t k = 0; k < means.size(); ++k) {
    means[k] = trees.start()[k] + trees.in_score(means[k], k);
  }
  return means;
}

}  // namespace

template <class Table>
AgainstBackground shap_values_against(const AdditiveTrees& trees, const Players& players,
                                      const Table& table, const Table& background,
                                      const Context& context) {
  const std::size_t n_outputs = trees.n_outputs(), width = players.n * n_outputs;
  AgainstBackground found{std::vector<double>(table.n_rows * width, 0.0),
                          {trees.start().begin(), trees.start().end()}};
  require(background.n_rows > 0, "there is no background row");
  if (trees.n_trees() == 0) return found;
  check_players(trees, players, table.n_columns());
  check_players(trees, players, background.n_columns());
  const TestedColumns tested = tested_columns(trees);
  const TestedRows others(background, tested, 0, background.n_rows);
  found.base = mean_scores(trees, others, background.n_rows, context);
  std::vector<Workspace> workspaces(static_cast<std::size_t>(std::max(1, context.n_threads())));
  parallel_for(context.n_threads(), (table.n_rows + kTaskRows - 1) / kTaskRows,
               [&](std::size_t task, int worker) {
                 Workspace& work = workspaces[static_cast<std::size_t>(worker)];
                 BackgroundWalk walk(players.of_column, players.n, background.n_rows);
                 const std::size_t begin = task * kTaskRows;
                 const std::size_t end = std::min(table.n_rows, begin + kTaskRows);
                 const TestedRows rows(table, tested, begin, end);
                 for (std::size_t t = 0; t < trees.n_trees(); ++t) {
                   context.check();
                   trees.read(t, work.tree);
                   set_bits(work, others, background.n_rows);
                   for (std::size_t row = begin; row < end; ++row) {
                     walk.add(
                         work.tree, work.bits,
                         [&](std::size_t node) { return rows.child(work.tree, node, row - begin); },
                         n_outputs, found.values.data() + row * width);
                   }
                 }
                 for (std::size_t i = begin * width; i < end * width; ++i) {
                   found.values[i] = trees.in_score(found.values[i], i % n_outputs);
                 }
               });
  return found;
}

template AgainstBackground shap_values_against(const AdditiveTrees&, const Players&,
                                               const TableView&, const TableView&, const Context&);
template AgainstBackground shap_values_against(const AdditiveTrees&, const Players&,
                                               const SparseRows&, const SparseRows&,
                                               const Context&);

}  // namespace arboleda
