#include "tree/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace arboleda {

namespace {

// Sums what `of_tree` gives for every tree that has a split, each times 2^impurity_exponent, and
// divides by the total. The largest exponent is left out of every term: the shares do not need it, and
// without it nothing leaves float64.
template <class OfTree>
std::vector<double> shares(const TreeEnsemble& ensemble, const OfTree& of_tree) {
  if (ensemble.trees.empty()) return {};
  std::vector<double> sum(static_cast<std::size_t>(ensemble.trees[0].arrays().n_features), 0.0);
  std::int64_t largest = std::numeric_limits<std::int64_t>::min();
  for (const Tree& tree : ensemble.trees) {
    if (tree.n_nodes() == 1) continue;
    largest = std::max<std::int64_t>(largest, tree.arrays().impurity_exponent);
  }
  for (const Tree& tree : ensemble.trees) {
    if (tree.n_nodes() == 1) continue;
    const std::int64_t below = tree.arrays().impurity_exponent - largest;
    const auto exponent = static_cast<int>(std::max<std::int64_t>(below, -4096));  // 0 by then
    const std::vector<double> part = of_tree(tree);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += std::ldexp(part[j], exponent);
  }
  const double most = *std::max_element(sum.begin(), sum.end());
  if (!(most > 0.0)) return sum;
  double total = 0.0;
  for (double& x : sum) total += x /= most;  // as shares of the largest: the total stays finite
  for (double& x : sum) x /= total;
  return sum;
}

std::vector<double> gains(const Tree& tree) {
  const TreeArrays& a = tree.arrays();
  std::vector<double> gain(static_cast<std::size_t>(a.n_features), 0.0);
  for (std::size_t i = 0; i < a.right.size(); ++i) {
    if (a.feature[i] >= 0) gain[static_cast<std::size_t>(a.feature[i])] += a.impurity[i];
  }
  return gain;
}

}  // namespace

void check_ensemble(const TreeEnsemble& ensemble) {
  require(!ensemble.start.empty(), "an ensemble of trees has at least one output");
  require(std::all_of(ensemble.start.begin(), ensemble.start.end(),
                      [](double x) { return std::isfinite(x); }),
          "a start value of the ensemble is not a finite number");
  require(ensemble.trees.size() % ensemble.n_outputs() == 0,
          "the last round of the ensemble lacks a tree for some output");
  for (const Tree& tree : ensemble.trees) {
    require(tree.arrays().n_outputs == 1, "a tree of the ensemble must have one value per leaf");
    require(tree.arrays().n_features == ensemble.trees[0].arrays().n_features,
            "the trees of the ensemble were fitted on different numbers of columns");
  }
  check_linear_leaves(ensemble.linear, ensemble.trees);
}

LinearLeaves linear_leaves(const TreeEnsemble& ensemble, std::size_t first, std::size_t last) {
  if (ensemble.linear.empty()) return {};
  const std::span<const Tree> trees(ensemble.trees);
  const std::size_t begin = count_nodes(trees.first(first));
  return part_of(ensemble.linear, begin, begin + count_nodes(trees.subspan(first, last - first)));
}

void add_tree(TreeEnsemble& ensemble, Tree tree, const LinearLeaves& linear) {
  if (!ensemble.linear.empty() || !linear.empty()) {
    const std::size_t n_nodes =
        ensemble.linear.empty() ? count_nodes(ensemble.trees) : ensemble.linear.n_nodes();
    append(ensemble.linear, n_nodes, linear, static_cast<std::size_t>(tree.n_nodes()));
  }
  ensemble.trees.push_back(std::move(tree));
}

void truncate(TreeEnsemble& ensemble, std::size_t n_rounds) {
  require(n_rounds <= ensemble.n_rounds(), "the ensemble has fewer rounds than it should keep");
  ensemble.trees.erase(
      ensemble.trees.begin() + static_cast<std::ptrdiff_t>(n_rounds * ensemble.n_outputs()),
      ensemble.trees.end());
  ensemble.linear = linear_leaves(ensemble, 0, ensemble.trees.size());
}

TreeEnsemble truncated(const TreeEnsemble& ensemble, std::size_t n_rounds) {
  require(n_rounds <= ensemble.n_rounds(), "the ensemble has fewer rounds than it should keep");
  const auto end =
      ensemble.trees.begin() + static_cast<std::ptrdiff_t>(n_rounds * ensemble.n_outputs());
  TreeEnsemble first{ensemble.start, {ensemble.trees.begin(), end}};
  first.linear = linear_leaves(ensemble, 0, first.trees.size());
  return first;
}

TreeEnsemble extended(const TreeEnsemble& ensemble, const TreeEnsemble& more) {
  require(ensemble.n_outputs() == more.n_outputs(),
          "an ensemble is continued by one of another number of outputs");
  TreeEnsemble both = ensemble;
  if (!both.linear.empty() || !more.linear.empty()) {
    append(both.linear, count_nodes(ensemble.trees), more.linear, count_nodes(more.trees));
  }
  both.trees.insert(both.trees.end(), more.trees.begin(), more.trees.end());
  check_ensemble(both);
  return both;
}

TreeEnsemble mean_of(std::span<const TreeEnsemble> members) {
  require(!members.empty(), "a mean needs at least one ensemble");
  const std::size_t n_outputs = members[0].n_outputs();
  const auto n = static_cast<double>(members.size());
  TreeEnsemble mean;
  mean.start.resize(n_outputs, 0.0);
  std::size_t most_rounds = 0;
  for (const TreeEnsemble& member : members) {
    require(member.n_outputs() == n_outputs, "a mean needs ensembles of equal outputs");
    for (std::size_t k = 0; k < n_outputs; ++k) mean.start[k] += member.start[k] / n;
    most_rounds = std::max(most_rounds, member.n_rounds());
  }
  for (std::size_t round = 0; round < most_rounds; ++round) {
    for (const TreeEnsemble& member : members) {
      if (round >= member.n_rounds()) continue;
      for (std::size_t t = round * n_outputs; t < (round + 1) * n_outputs; ++t) {
        TreeArrays tree = member.trees[t].arrays();
        LinearLeaves linear = linear_leaves(member, t, t + 1);
        for (double& value : tree.value) value /= n;
        for (double& value : linear.intercept) value /= n;
        for (double& value : linear.coefficient) value /= n;
        add_tree(mean, Tree(std::move(tree)), linear);
      }
    }
  }
  check_ensemble(mean);
  return mean;
}

std::vector<double> impurity_importances(const TreeEnsemble& ensemble) {
  return shares(ensemble, [](const Tree& tree) { return tree.impurity_decrease(); });
}

std::vector<double> gain_importances(const TreeEnsemble& ensemble) {
  return shares(ensemble, gains);
}

}  // namespace arboleda
