#include "explain/shap_values.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#include "explain/shap_groups.h"
#include "explain/shap_steps.h"

namespace arboleda {

namespace {

// Rows of one task: a tree is planned anew for each task.
constexpr std::size_t kMostTaskRows = 1024;

// Numbers that the values of a task may take.
constexpr std::size_t kTaskNumbers = std::size_t{1} << 23;

// What a thread needs for the rows of a task.
struct ShapWorkspace {
  AdditiveTree tree;
  ShapSteps steps;
  ShapGroups groups;
  std::vector<double> values;  // outputs x groups x numbers of a row x rows of a group
};

// Rows of one task where every row has so many numbers.
std::size_t rows_of_task(std::size_t numbers_a_row) {
  const std::size_t most = kTaskNumbers / std::max<std::size_t>(1, numbers_a_row);
  return std::clamp(most / kShapRows * kShapRows, kShapRows, kMostTaskRows);
}

// Explains a table task by task: rows x n_told x outputs. play(work, k, values): adds to the n_summed numbers
// of every row, for output k of the tree at hand. put(sum, k, out): writes the explanation of a row and output,
// sum(i) being the row's i-th number.
template <class Table, class Play, class Put>
std::vector<double> explain_rows(const AdditiveTrees& trees, const Players& players,
                                 std::size_t n_summed, std::size_t n_explained, const Table& table,
                                 const Context& context, const Play& play, const Put& put) {
  const std::size_t n_outputs = trees.n_outputs();
  std::vector<double> found(table.n_rows * n_explained * n_outputs, 0.0);
  if (trees.n_trees() == 0) return found;
  check_players(trees, players, table.n_columns());
  const TestedColumns tested = tested_columns(trees);
  std::vector<ShapWorkspace> workspaces(static_cast<std::size_t>(std::max(1, context.n_threads())));
  const std::size_t task_rows = rows_of_task(n_summed * n_outputs);
  parallel_for(context.n_threads(), (table.n_rows + task_rows - 1) / task_rows,
               [&](std::size_t task, int worker) {
                 ShapWorkspace& work = workspaces[static_cast<std::size_t>(worker)];
                 const std::size_t begin = task * task_rows;
                 work.groups.read(table, tested, begin, std::min(table.n_rows, begin + task_rows));
                 const std::size_t width = work.groups.n_groups() * n_summed * kShapRows;
                 work.values.assign(n_outputs * width, 0.0);
                 for (std::size_t t = 0; t < trees.n_trees(); ++t) {
                   trees.read(t, work.tree);
                   work.steps.plan(work.tree, players.of_column, tested.place);
                   if (work.steps.steps().empty()) continue;
                   for (std::size_t k = 0; k < work.tree.width; ++k) {
                     context.check();
                     play(work, k, work.values.data() + (work.tree.first_output + k) * width);
                   }
                 }
                 for (std::size_t row = 0; row < work.groups.n_rows(); ++row) {
                   double* out = found.data() + (begin + row) * n_explained * n_outputs;
                   for (std::size_t k = 0; k < n_outputs; ++k) {
                     const double* first = work.values.data() + k * width + row % kShapRows +
                                           row / kShapRows * n_summed * kShapRows;
                     put([&](std::size_t i) { return first[i * kShapRows]; }, k, out + k);
                   }
                 }
               });
  return found;
}

}  // namespace

void check_players(const AdditiveTrees& trees, const Players& players, std::size_t n_columns) {
  require(n_columns == trees.n_columns(),
          "the number of columns differs from the one that the trees were fitted on");
  require(players.of_column.size() == n_columns, "every column needs a player");
  for (const std::uint32_t player : players.of_column) {
    require(player < players.n, "a column has a player that is not there");
  }
}

template <class Table>
std::vector<double> shap_values(const AdditiveTrees& trees, const Players& players,
                                const Table& table, const Context& context) {
  const auto play = [&](ShapWorkspace& work, std::size_t k, double* values) {
    work.steps.set_game(work.tree, k, 1.0);
    work.groups.play(work.steps, values, players.n);
  };
  const auto put = [&](const auto& sum, std::size_t k, double* out) {
    for (std::size_t p = 0; p < players.n; ++p) {
      out[p * trees.n_outputs()] = trees.in_score(sum(p), k);
    }
  };
  return explain_rows(trees, players, players.n, players.n, table, context, play, put);
}

template <class Table>
std::vector<double> shap_interactions(const AdditiveTrees& trees, const Players& players,
                                      const Table& table, const Context& context) {
  // The values first, then what each player gets through each of the others.
  const std::size_t n = players.n;
  const auto play = [&](ShapWorkspace& work, std::size_t k, double* values) {
    work.steps.set_game(work.tree, k, 1.0);
    work.groups.play(work.steps, values, n * (n + 1));
    for (const std::uint32_t player : work.steps.players()) {
      context.check();
      double* through = values + (player + 1) * n * kShapRows;
      work.steps.set_game(work.tree, k, 0.5, {FixedPlayer::Is::in, player});
      work.groups.play(work.steps, through, n * (n + 1));
      work.steps.set_game(work.tree, k, -0.5, {FixedPlayer::Is::out, player});
      work.groups.play(work.steps, through, n * (n + 1));
    }
  };
  const auto put = [&](const auto& sum, std::size_t k, double* out) {
    const std::size_t n_outputs = trees.n_outputs();
    for (std::size_t i = 0; i < n; ++i) {
      double own = sum(i);
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        const double shared = sum((std::min(i, j) + 1) * n + std::max(i, j));
        out[(i * n + j) * n_outputs] = trees.in_score(shared, k);
        own -= shared;
      }
      out[(i * n + i) * n_outputs] = trees.in_score(own, k);
    }
  };
  return explain_rows(trees, players, n * (n + 1), n * n, table, context, play, put);
}

template std::vector<double> shap_values(const AdditiveTrees&, const Players&, const TableView&,
                                         const Context&);
template std::vector<double> shap_values(const AdditiveTrees&, const Players&, const SparseRows&,
                                         const Context&);
template std::vector<double> shap_interactions(const AdditiveTrees&, const Players&,
                                               const TableView&, const Context&);
template std::vector<double> shap_interactions(const AdditiveTrees&, const Players&,
                                               const SparseRows&, const Context&);

}  // namespace arboleda
