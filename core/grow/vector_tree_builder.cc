#include "grow/vector_tree_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "tree/leaf_sums.h"

namespace arboleda {

VectorTreeBuilder::VectorTreeBuilder(const BinnedDataset& table,
                                     std::shared_ptr<const RowCodes> codes,
                                     const HistogramOptions& options, std::size_t n_outputs,
                                     const Context& context)
    : BoostedTreeBuilder(table, std::move(codes), options, context),
      cells_(*codes_, VectorGradients::width_of(n_outputs)) {
  cell_width_ = cells_.width();
  block_ends_ = cells_.block_ends();
  for (int i = 0; i < context.n_threads(); ++i) {
    workers_.emplace_back(table_, *codes_, cells_, options_);
  }
}

void VectorTreeBuilder::begin_tree(std::span<const RowIndex> rows,
                                   const VectorDerivatives& searched, std::uint32_t tree,
                                   LeafRows& leaves) {
  BoostedTreeBuilder::begin_tree(rows, tree, leaves);
  gradients_.pack(rows, searched, cells_.least_block(), context_);
  VectorUnits units{.gradient = gradients_.gradient_units(),
                    .hessian = gradients_.hessian_unit(),
                    .seed = context_.seed(),
                    .tree = tree};
  // As with one output; the largest unit decides.
  const int exponent = std::ilogb(*std::max_element(units.gradient.begin(), units.gradient.end()));
  if (std::abs(exponent) > kUsualExponent) units.exponent = exponent;
  for (double& unit : units.gradient) unit = std::ldexp(unit, -units.exponent);
  units_ = {.hessian = units.hessian, .exponent = units.exponent};
  const double min_hessian = std::min(std::ceil(options_.min_child_weight / units.hessian), 0x1p62);
  units_.least = std::max(std::int64_t{1}, static_cast<std::int64_t>(min_hessian));
  for (Worker& worker : workers_) worker.search.begin_tree(units);
}

// The hessians of all outputs, the weight of a node.
Wide VectorTreeBuilder::sum_of_outputs(std::span<const Wide> totals) const {
  Wide sum{};
  for (const Wide total : totals.first(gradients_.n_outputs())) sum.hessian += total.hessian;
  return sum;
}

void VectorTreeBuilder::set_root(OpenNode& root) const {
  root.node.n_rows = gradients_.n_rows();
  root.totals = gradients_.totals();
  root.node.total = sum_of_outputs(root.totals);
}

void VectorTreeBuilder::set_sides(const OpenNode& parent, OpenNode& left, OpenNode& right) const {
  left.totals = parent.left_totals;
  right.totals = parent.totals;
  for (std::size_t i = 0; i < right.totals.size(); ++i) {
    right.totals[i] = right.totals[i] - left.totals[i];
  }
  left.node.total = sum_of_outputs(left.totals);
  right.node.total = sum_of_outputs(right.totals);
}

void VectorTreeBuilder::begin_search() {
  for (Worker& worker : workers_) worker.best = {};
}

void VectorTreeBuilder::search_columns(const Task& task, std::size_t begin, std::size_t end,
                                       int thread, std::size_t which) {
  Worker& worker = workers_[static_cast<std::size_t>(thread)];
  const OpenNode& node = *task.node;
  worker.search.begin_node(node.node, node.totals);
  auto it = std::lower_bound(task.columns.begin(), task.columns.end(), begin);
  for (; it != task.columns.end() && *it < end; ++it) {
    worker.search.search(*it, *node.histogram, worker.best[which]);
  }
}

void VectorTreeBuilder::end_search(Task& task, std::size_t which) {
  Split best;
  for (Worker& worker : workers_) {
    if (worker.best[which].better_than(best)) best = std::move(worker.best[which]);
  }
  if (!best.found()) return;
  OpenNode& node = *task.node;
  const std::size_t column = column_of(best.feature);
  const VectorSearch& search = workers_[0].search;
  node.left_totals = search.left_of(best, column, *node.histogram);
  node.best = {std::move(best), sum_of_outputs(node.left_totals),
               search.has_missing(column, *node.histogram)};
}

BoostedTreeBuilder::Sides VectorTreeBuilder::part(const OpenNode& node, const Split& split,
                                                  std::size_t column) {
  VectorSearch& search = workers_[0].search;
  search.begin_node(node.node, node.totals);
  std::vector<Wide> left = search.left_of(split, column, *node.histogram);
  BoostedSplit parted{split, sum_of_outputs(left), search.has_missing(column, *node.histogram)};
  parted.split.score = search.allowed_score(left);
  if (std::isinf(parted.split.score)) parted.split.feature = -1;
  return {std::move(parted), std::move(left)};
}

// Values of inner nodes are Newton steps as those of leaves, from the exact sums of their leaves.
std::vector<TreeArrays> VectorTreeBuilder::end_tree(const VectorDerivatives& derivatives,
                                                    LeafRows& leaves) {
  list_leaves(leaves);
  const std::size_t n_nodes = tree_.nodes.size();
  const std::vector<NodeIndex> places = preorder(tree_);
  tree_.values.assign(n_nodes, 0.0);
  const std::size_t n_outputs = derivatives.n_outputs;
  std::vector<TreeArrays> trees(n_outputs, flatten_tree());
  const NewtonLeaf newton{options_.l1, options_.l2, options_.max_delta_step};
  const LeafSums leaf_sums = sum_outputs(derivatives, leaves);
  const auto of_leaves = [&](std::size_t i) {
    return std::span(leaf_sums.sums).subspan(i * leaves_.size(), leaves_.size());
  };
  parallel_for(context_.n_threads(), n_outputs, [&](std::size_t k, int) {
    const auto of_gradient = sum_nodes(of_leaves(k));
    const auto of_hessian = sum_nodes(of_leaves(n_outputs + k));
    for (std::size_t node = 0; node < n_nodes; ++node) {
      const auto place = static_cast<std::size_t>(places[node]);
      const double h = gradients_.has_unit_hessian()
                           ? static_cast<double>(tree_.nodes[node].n_rows)
                           : of_hessian[node].to_real(leaf_sums.scales[n_outputs + k]);
      const double g = of_gradient[node].to_real(leaf_sums.scales[k]);
      trees[k].value[place] = newton.value(g, h, {});
      // Of probabilities that are 0 or 1 in float64 the hessians of all rows may be 0.
      trees[k].weight[place] = std::max(h, std::numeric_limits<double>::min());
    }
  });
  return trees;
}

VectorTreeBuilder::LeafSums VectorTreeBuilder::sum_outputs(const VectorDerivatives& derivatives,
                                                           const LeafRows& leaves) const {
  const std::size_t n_outputs = derivatives.n_outputs;
  LeafSums found{scales_of(derivatives, leaves), {}};
  found.sums.resize(2 * n_outputs * leaves_.size());
  parallel_for(context_.n_threads(), 2 * n_outputs, [&](std::size_t i, int) {
    const auto sums = sum_leaves(
        i < n_outputs ? derivatives.gradient_of(i) : derivatives.hessian_of(i - n_outputs),
        found.scales[i], leaves, context_.of_one_task());
    std::copy(sums.begin(), sums.end(),
              found.sums.begin() + static_cast<std::ptrdiff_t>(i * leaves_.size()));
  });
  add_all(context_.shards(), std::span(found.sums));
  return found;
}

// Those of the search where that was by these derivatives.
std::vector<SumScale> VectorTreeBuilder::scales_of(const VectorDerivatives& derivatives,
                                                   const LeafRows& leaves) const {
  const std::size_t n_outputs = derivatives.n_outputs;
  std::vector<Magnitude> largest(2 * n_outputs);
  if (gradients_.n_outputs() == n_outputs) {
    const auto& hessians = gradients_.hessian_magnitudes();
    for (std::size_t k = 0; k < n_outputs; ++k) {
      largest[k] = gradients_.gradient_magnitudes()[k];
      largest[n_outputs + k] = hessians[k < hessians.size() ? k : 0];
    }
  } else {
    parallel_for(context_.n_threads(), 2 * n_outputs, [&](std::size_t i, int) {
      largest[i] = magnitude_of_rows(
          i < n_outputs ? derivatives.gradient_of(i) : derivatives.hessian_of(i - n_outputs),
          leaves.rows, context_.of_one_task());
    });
    see_all(context_.shards(), largest);
  }
  std::vector<SumScale> scales;
  for (const Magnitude& m : largest) scales.emplace_back(m);
  return scales;
}

// Of every node, in the order of opening.
std::vector<ExactSum> VectorTreeBuilder::sum_nodes(std::span<const ExactSum> of_leaves) const {
  std::vector<ExactSum> sums(tree_.nodes.size());
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    sums[static_cast<std::size_t>(leaves_[i].id)] = of_leaves[i];
  }
  // Children were opened after their parents.
  for (std::size_t node = sums.size(); node-- > 0;) {
    const GrownNode& grown = tree_.nodes[node];
    if (grown.left < 0) continue;
    sums[node].add(sums[static_cast<std::size_t>(grown.left)]);
    sums[node].add(sums[static_cast<std::size_t>(grown.right)]);
  }
  return sums;
}

}  // namespace arboleda
