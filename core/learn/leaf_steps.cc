#include "learn/leaf_steps.h"

#include <algorithm>
#include <functional>

#include "base/thread_pool.h"
#include "split/row_derivatives.h"
#include "tree/leaf_sums.h"

namespace arboleda {

namespace {

// A sum of hessians below this counts as 0: the loss is flat there, and no step lowers it.
constexpr double kVanishingHessian = 1e-150;

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
  const auto bounded = [&](const LeafRows::Leaf& leaf, double step) {
    if (max_delta_step > 0.0) step = std::clamp(step, -max_delta_step, max_delta_step);
    return std::clamp(step, leaf.lower, leaf.upper);
  };
  if (context.shards() != nullptr) {
    std::vector<std::span<const RowIndex>> rows;
    for (const LeafRows::Leaf& leaf : leaves.leaves) rows.push_back(rows_of(leaves, leaf));
    const std::vector<double> steps = objective.best_steps(scores, output, rows);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto node = static_cast<std::size_t>(leaves.leaves[i].node);
      if (tree.n_node_samples[node] > 0) tree.value[node] = bounded(leaves.leaves[i], steps[i]);
    }
    return;
  }
  for_each_leaf(leaves, context, tree, [&](const LeafRows::Leaf& leaf) {
    return bounded(leaf, objective.best_step(scores, output, rows_of(leaves, leaf)));
  });
}

void set_newton_steps(std::span<const double> gradient, std::span<const double> hessian,
                      double factor, const LeafRows& leaves, const Context& context,
                      TreeArrays& tree) {
  const SumScale gradient_scale(magnitude_of_rows(gradient, leaves.rows, context));
  const SumScale hessian_scale(magnitude_of_rows(hessian, leaves.rows, context));
  const std::size_t n_leaves = leaves.leaves.size();
  const auto sums = sum_leaves({gradient, hessian}, gradient_scale, hessian_scale, leaves, context);
  for (std::size_t i = 0; i < n_leaves; ++i) {
    const LeafRows::Leaf& leaf = leaves.leaves[i];
    if (leaf.begin == leaf.end) continue;
    const double h = hessian.empty() ? static_cast<double>(leaf.end - leaf.begin)
                                     : sums[n_leaves + i].to_real(hessian_scale);
    tree.value[static_cast<std::size_t>(leaf.node)] =
        h >= kVanishingHessian ? -factor * sums[i].to_real(gradient_scale) / h : 0.0;
  }
}

}  // namespace arboleda
