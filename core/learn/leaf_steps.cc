#include "learn/leaf_steps.h"

#include <algorithm>
#include <functional>

#include "base/exact_sum.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

// A sum of hessians below this counts as 0: the loss is flat there, and no step lowers it.
constexpr double kVanishing = 1e-150;

SumScale scale_of(std::span<const double> values, std::span<const RowIndex> rows) {
  Magnitude largest;
  for (const RowIndex row : rows) largest.see(values[row]);
  return SumScale(largest);
}

double sum_of(std::span<const double> values, std::span<const RowIndex> rows,
              const SumScale& scale) {
  ExactSum sum;
  for (const RowIndex row : rows) sum.add(scale, values[row]);
  return sum.to_real(scale);
}

void for_each_leaf(const LeafRows& leaves, const Context& context, TreeArrays& tree,
                   const std::function<double(const LeafRows::Leaf&)>& step) {
  parallel_for(context.n_threads(), leaves.leaves.size(), [&](std::size_t task, int) {
    context.check();
    const LeafRows::Leaf& leaf = leaves.leaves[task];
    if (leaf.begin < leaf.end) tree.value[static_cast<std::size_t>(leaf.node)] = step(leaf);
  });
}

std::span<const RowIndex> rows_of(const LeafRows& leaves, const LeafRows::Leaf& leaf) {
  return std::span(leaves.rows).subspan(leaf.begin, leaf.end - leaf.begin);
}

}  // namespace

void set_best_steps(const Objective& objective, std::span<const double> scores, std::size_t output,
                    double max_delta_step, const LeafRows& leaves, const Context& context,
                    TreeArrays& tree) {
  for_each_leaf(leaves, context, tree, [&](const LeafRows::Leaf& leaf) {
    double step = objective.best_step(scores, output, rows_of(leaves, leaf));
    if (max_delta_step > 0.0) step = std::clamp(step, -max_delta_step, max_delta_step);
    return std::clamp(step, leaf.lower, leaf.upper);
  });
}

void set_newton_steps(std::span<const double> gradient, std::span<const double> hessian,
                      double factor, const LeafRows& leaves, const Context& context,
                      TreeArrays& tree) {
  const SumScale of_gradient = scale_of(gradient, leaves.rows);
  const SumScale of_hessian = hessian.empty() ? SumScale() : scale_of(hessian, leaves.rows);
  for_each_leaf(leaves, context, tree, [&](const LeafRows::Leaf& leaf) {
    const auto rows = rows_of(leaves, leaf);
    const double sum =
        hessian.empty() ? static_cast<double>(rows.size()) : sum_of(hessian, rows, of_hessian);
    if (!(sum >= kVanishing)) return 0.0;
    return -factor * sum_of(gradient, rows, of_gradient) / sum;
  });
}

}  // namespace arboleda
