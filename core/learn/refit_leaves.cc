#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/shards.h"
#include "criterion/newton.h"
#include "grow/code_tree.h"
#include "learn/boosted_trees.h"
#include "tree/leaf_sums.h"

namespace arboleda {

namespace {

struct NodeSums {
  ExactSum gradient, hessian, weight;
  std::int64_t n_rows = 0;
};

class ReplayedTrees : public BoostedTrees {
 public:
  ReplayedTrees(const BinnedDataset& table, const TreeEnsemble& structure,
                const TreeGrowth& options, const Context& context)
      : table_(table), structure_(structure), context_(context) {
    if (const auto* growth = std::get_if<HistogramOptions>(&options)) {
      newton_ = {growth->l1, growth->l2, growth->max_delta_step};
      monotonic_ = growth->monotonic;
      weighs_hessians_ = true;
    }
  }

  TreeArrays grow(std::span<const RowIndex> rows, const Derivatives& derivatives,
                  std::uint32_t tree, int, LeafRows& leaves) override {
    require(tree < structure_.trees.size(), "there are not as many trees to replay");
    TreeArrays arrays = structure_.trees[tree].arrays();
    std::vector<NodeIndex> leaf(rows.size());
    find_leaves(CodeTree(arrays, table_), rows, context_, leaf);
    leaves = group_by_leaf(arrays, rows, leaf);
    set_values(rows, derivatives, leaves, arrays);
    return arrays;
  }

 private:
  // Steps of all nodes, from the sums of their leaves: first from the last node up, then, with the
  // bounds of monotonic constraints, from the root down.
  void set_values(std::span<const RowIndex> rows, const Derivatives& derivatives, LeafRows& leaves,
                  TreeArrays& tree) const {
    std::array<std::uint64_t, 2> given{derivatives.hessian.empty() ? 0U : 1U,
                                       derivatives.weight.empty() ? 0U : 1U};
    add_all(context_.shards(), std::span(given));  // a shard without rows has neither
    const bool has_hessian = given[0] > 0, has_weight = given[1] > 0;
    const std::array values{derivatives.gradient, derivatives.hessian, derivatives.weight};
    std::array<Magnitude, 3> largest;
    for (std::size_t k = 0; k < values.size(); ++k) {
      largest[k] = magnitude_of_rows(values[k], rows, context_);
    }
    see_all(context_.shards(), largest);
    const SumScale of_gradient(largest[0]), of_hessian(largest[1]), of_weight(largest[2]);
    // Gradients, hessians, weights and numbers of rows, each of all leaves.
    const std::size_t n_leaves = leaves.leaves.size();
    std::vector<ExactSum> leaf_sums;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto own = sum_leaves(values[k], SumScale(largest[k]), leaves, context_);
      leaf_sums.insert(leaf_sums.end(), own.begin(), own.end());
    }
    for (const LeafRows::Leaf& leaf : leaves.leaves) {
      leaf_sums.emplace_back(static_cast<Int128>(leaf.end - leaf.begin));
    }
    add_all(context_.shards(), std::span(leaf_sums));
    std::vector<NodeSums> sums(tree.right.size());
    for (std::size_t i = 0; i < leaves.leaves.size(); ++i) {
      const LeafRows::Leaf& leaf = leaves.leaves[i];
      sums[static_cast<std::size_t>(leaf.node)] = {
          leaf_sums[i], leaf_sums[n_leaves + i], leaf_sums[2 * n_leaves + i],
          static_cast<std::int64_t>(leaf_sums[3 * n_leaves + i].units())};
    }
    for (std::size_t node = sums.size(); node-- > 0;) {
      if (tree.right[node] < 0) continue;
      for (const std::size_t child : {node + 1, static_cast<std::size_t>(tree.right[node])}) {
        sums[node].gradient.add(sums[child].gradient);
        sums[node].hessian.add(sums[child].hessian);
        sums[node].weight.add(sums[child].weight);
        sums[node].n_rows += sums[child].n_rows;
      }
    }

    const auto step = [&](std::size_t node, const LeafBounds& bounds) {
      const double h = !has_hessian ? static_cast<double>(sums[node].n_rows)
                                    : sums[node].hessian.to_real(of_hessian);
      return newton_.value(sums[node].gradient.to_real(of_gradient), h, bounds);
    };
    std::vector<LeafBounds> bounds(sums.size());
    for (std::size_t node = 0; node < sums.size(); ++node) {
      tree.value[node] = step(node, bounds[node]);
      tree.n_node_samples[node] = sums[node].n_rows;
      const bool counts = weighs_hessians_ ? !has_hessian : !has_weight;
      const double of_node = counts             ? static_cast<double>(sums[node].n_rows)
                             : weighs_hessians_ ? sums[node].hessian.to_real(of_hessian)
                                                : sums[node].weight.to_real(of_weight);
      // Of probabilities that are 0 or 1 in float64 the hessians of all rows may be 0.
      tree.weight[node] = std::max(of_node, std::numeric_limits<double>::min());
      if (tree.right[node] < 0) continue;
      const std::size_t left = node + 1, right = static_cast<std::size_t>(tree.right[node]);
      bounds[left] = bounds[right] = bounds[node];
      const int direction = direction_of(tree.feature[node]);
      if (direction == 0) continue;
      const double middle = step(left, bounds[node]) / 2 + step(right, bounds[node]) / 2;
      bounds[direction > 0 ? left : right].upper = middle;
      bounds[direction > 0 ? right : left].lower = middle;
    }
    for (auto& leaf : leaves.leaves) {
      leaf.lower = bounds[static_cast<std::size_t>(leaf.node)].lower;
      leaf.upper = bounds[static_cast<std::size_t>(leaf.node)].upper;
    }
  }

  int direction_of(FeatureIndex feature) const {
    return monotonic_.empty() ? 0 : monotonic_[static_cast<std::size_t>(feature)];
  }

  const BinnedDataset& table_;
  const TreeEnsemble& structure_;
  const Context& context_;
  NewtonLeaf newton_;
  std::vector<std::int8_t> monotonic_;
  bool weighs_hessians_ = false;
};

}  // namespace

std::unique_ptr<BoostedTrees> make_refit_trees(const BinnedDataset& table,
                                               const TreeEnsemble& structure,
                                               const TreeGrowth& options, const Context& context) {
  return std::make_unique<ReplayedTrees>(table, structure, options, context);
}

}  // namespace arboleda
