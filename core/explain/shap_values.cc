#include "explain/shap_values.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/kernels.h"
#include "base/thread_pool.h"
#include "explain/shap_steps.h"

namespace arboleda {

namespace {

// Rows of one task: a tree is planned anew for each task.
constexpr std::size_t kTaskRows = 1024;

// What a thread needs for the rows of a task, in groups of kShapRows.
struct Workspace {
  AdditiveTree tree;
  ShapSteps steps;
  std::vector<double> columns;  // groups x asked columns x rows of a group
  std::vector<double> values;   // outputs x groups x players x rows of a group
  std::vector<double> products, sums;
  std::vector<std::int64_t> passes, lefts;
};

template <class Table>
void fill_columns(const Table& table, const AskedColumns& asked, std::size_t begin, std::size_t end,
                  std::vector<double>& columns) {
  const std::size_t n_groups = (end - begin + kShapRows - 1) / kShapRows;
  const std::size_t width = asked.column.size();
  columns.assign(n_groups * width * kShapRows, 0.0);
  for (std::size_t j = 0; j < width; ++j) {
    for (std::size_t row = begin; row < end; ++row) {
      const std::size_t at = row - begin;
      columns[(at / kShapRows * width + j) * kShapRows + at % kShapRows] =
          table.at(row, asked.column[j]);
    }
  }
}

class Explainer {
 public:
  Explainer(const AdditiveTrees& trees, const Players& players)
      : trees_(trees), players_(players), asked_(asked_columns(trees)), run_(kernels().shap) {}

  template <class Table>
  void explain(const Table& table, std::size_t begin, std::size_t end, const Context& context,
               Workspace& work, double* out) const {
    const std::size_t n_groups = (end - begin + kShapRows - 1) / kShapRows;
    const std::size_t n_outputs = trees_.n_outputs();
    fill_columns(table, asked_, begin, end, work.columns);
    work.values.assign(n_outputs * n_groups * players_.n * kShapRows, 0.0);
    for (std::size_t t = 0; t < trees_.n_trees; ++t) {
      trees_.read(t, work.tree);
      work.steps.plan(work.tree, players_.of_column, asked_.place);
      if (work.steps.steps().empty()) continue;
      for (std::size_t k = 0; k < work.tree.width; ++k) {
        context.check();
        const std::size_t output = work.tree.first_output + k;
        work.steps.set_values(work.tree, k, trees_.exponent[output]);
        add_tree(output, n_groups, work);
      }
    }
    put(work, n_groups, end - begin, out);
  }

 private:
  void add_tree(std::size_t output, std::size_t n_groups, Workspace& work) const {
    const std::size_t n_levels = work.steps.n_levels();
    const Quadrature& quadrature = work.steps.quadrature();
    const std::size_t n_points = quadrature.point.size();
    work.products.resize(n_levels * n_points * kShapRows);
    work.sums.resize(n_levels * n_points * kShapRows);
    work.passes.resize(n_levels * kShapRows);
    work.lefts.resize(n_levels * kShapRows);
    for (std::size_t group = 0; group < n_groups; ++group) {
      double* values = work.values.data() + (output * n_groups + group) * players_.n * kShapRows;
      run_.explain(work.steps.steps().data(), work.steps.steps().size(),
                   {work.columns.data() + group * asked_.column.size() * kShapRows, values,
                    kShapRows, n_points, quadrature.weight.data(), work.products.data(),
                    work.sums.data(), work.passes.data(), work.lefts.data()});
    }
  }

  // rows x players x outputs
  void put(const Workspace& work, std::size_t n_groups, std::size_t n_rows, double* out) const {
    const std::size_t n_outputs = trees_.n_outputs();
    for (std::size_t row = 0; row < n_rows; ++row) {
      for (std::size_t p = 0; p < players_.n; ++p) {
        for (std::size_t k = 0; k < n_outputs; ++k) {
          const std::size_t group = k * n_groups + row / kShapRows;
          const double sum = work.values[(group * players_.n + p) * kShapRows + row % kShapRows];
          *out++ = std::ldexp(sum / trees_.divisor, trees_.exponent[k]);
        }
      }
    }
  }

  const AdditiveTrees& trees_;
  const Players& players_;
  AskedColumns asked_;
  const ShapKernels& run_;
};

}  // namespace

template <class Table>
std::vector<double> shap_values(const AdditiveTrees& trees, const Players& players,
                                const Table& table, const Context& context) {
  std::vector<double> values(table.n_rows * players.n * trees.n_outputs(), 0.0);
  if (trees.n_trees == 0) return values;
  require(table.n_columns() == trees.n_columns,
          "the table has not the number of columns that the trees were fitted on");
  require(players.of_column.size() == trees.n_columns, "every column needs a player");
  for (const std::uint32_t player : players.of_column) {
    require(player < players.n, "a column has a player that is not there");
  }
  const Explainer explainer(trees, players);
  std::vector<Workspace> work(static_cast<std::size_t>(std::max(1, context.n_threads())));
  const std::size_t n_tasks = (table.n_rows + kTaskRows - 1) / kTaskRows;
  parallel_for(context.n_threads(), n_tasks, [&](std::size_t task, int worker) {
    const std::size_t begin = task * kTaskRows, end = std::min(table.n_rows, begin + kTaskRows);
    explainer.explain(table, begin, end, context, work[static_cast<std::size_t>(worker)],
                      values.data() + begin * players.n * trees.n_outputs());
  });
  return values;
}

template std::vector<double> shap_values(const AdditiveTrees&, const Players&, const TableView&,
                                         const Context&);
template std::vector<double> shap_values(const AdditiveTrees&, const Players&, const SparseRows&,
                                         const Context&);

}  // namespace arboleda
