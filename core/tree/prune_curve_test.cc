#include "tree/prune_curve.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/error.h"
#include "tree/prune.h"
#include "tree/random_tree.h"

namespace arboleda {

namespace {

struct Sample {
  std::vector<NodeIndex> leaf;
  std::vector<double> target;
  std::vector<double> weight;
  ValidationRows rows() const { return {leaf, target, weight}; }
};

Sample random_sample(const Tree& tree, std::uint64_t seed, std::uint32_t n_targets) {
  RandomStream random(seed, Purpose::feature_subset, 1, 1);
  Sample sample;
  std::vector<NodeIndex> leaves;
  for (NodeIndex i = 0; i < tree.n_nodes(); ++i) {
    if (tree.is_leaf(i)) leaves.push_back(i);
  }
  for (int row = 0; row < 40; ++row) {
    sample.leaf.push_back(leaves[random.below(static_cast<std::uint32_t>(leaves.size()))]);
    sample.target.push_back(random.below(n_targets));
    sample.weight.push_back(random.below(4) / 4.0);
  }
  sample.weight[0] = 1.0;
  return sample;
}

// The row's loss in the tree that is cut at alpha, by its definition: the pruned tree's node whose
// subtree, counted in preorder among the kept nodes, holds the row.
double naive_sum(const Tree& tree, const Sample& sample, Loss loss, double alpha) {
  std::vector<bool> cut(static_cast<std::size_t>(tree.n_nodes()), false);
  for (const PruningStep& step : pruning_path(tree)) {
    if (step.cut >= 0 && step.alpha <= alpha) cut[static_cast<std::size_t>(step.cut)] = true;
  }
  const auto parent = tree.parents();
  double sum = 0;
  for (std::size_t row = 0; row < sample.leaf.size(); ++row) {
    NodeIndex ends = sample.leaf[row];
    for (NodeIndex i = ends; i >= 0; i = parent[static_cast<std::size_t>(i)]) {
      if (cut[static_cast<std::size_t>(i)]) ends = i;
    }
    const auto value = tree.value(ends);
    const auto y = sample.target[row];
    double wrong = (y - value[0]) * (y - value[0]);
    if (loss == Loss::absolute_error) wrong = y > value[0] ? y - value[0] : value[0] - y;
    if (loss == Loss::misclassification) wrong = 1.0 - value[static_cast<std::size_t>(y)];
    sum += sample.weight[row] * wrong;
  }
  return sum;
}

}  // namespace

TEST_CASE("one pass gives the error of every pruned tree") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const Loss loss : {Loss::misclassification, Loss::squared_error, Loss::absolute_error}) {
      const bool classes = loss == Loss::misclassification;
      const Tree tree = random_tree(seed, 7, classes ? 3 : 0);
      const Sample sample = random_sample(tree, seed, classes ? 3 : 9);
      std::vector<double> alphas{0.0};
      for (const PruningStep& step : pruning_path(tree)) alphas.push_back(step.alpha);
      alphas.push_back(std::numeric_limits<double>::infinity());
      const auto sums = pruning_errors(tree, sample.rows(), loss, alphas, Context());
      REQUIRE(sums.size() == alphas.size());
      for (std::size_t i = 0; i < alphas.size(); ++i) {
        // Weights in quarters and whole losses: every sum is exact.
        CHECK(sums[i] == naive_sum(tree, sample, loss, alphas[i]));
      }
    }
  }
}

TEST_CASE("the deviance of counts") {
  TreeArrays a;
  a.n_features = 1;
  a.n_outputs = 1;
  append_node(a, {true, 0, 0.0, false, 0.0, 4, 4.0}, std::vector<double>{2.0}, -1);
  const Tree leaf(a);
  const std::vector<NodeIndex> ends{0, 0, 0};
  const std::vector<double> counts{0.0, 2.0, 4.0};
  const auto error = node_errors(leaf, {ends, counts, {}}, Loss::poisson_deviance, Context());
  CHECK(error[0] == doctest::Approx(4.0 + 0.0 + 2.0 * (4.0 * 0.69314718055994530942 - 2.0)));
}

TEST_CASE("invalid validation rows are refused") {
  const Tree tree = random_tree(3, 4, 2);
  const std::vector<NodeIndex> leaf{tree.n_nodes() - 1};
  const std::vector<double> target{1.0};
  const std::vector<double> alphas{0.0};
  const auto errors = [&](const ValidationRows& rows) {
    return pruning_errors(tree, rows, Loss::misclassification, alphas, Context());
  };
  CHECK(errors({leaf, target, {}}).size() == 1);
  const std::vector<NodeIndex> root{0};
  const std::vector<NodeIndex> outside{tree.n_nodes()};
  const std::vector<double> zero{0.0};
  CHECK_THROWS_AS(errors({root, target, {}}), Error);
  CHECK_THROWS_AS(errors({outside, target, {}}), Error);
  CHECK_THROWS_AS(errors({leaf, {}, {}}), Error);
  CHECK_THROWS_AS(errors({{}, {}, {}}), Error);
  CHECK_THROWS_AS(errors({leaf, target, zero}), Error);
  const std::vector<double> falling{1.0, 0.5};
  CHECK_THROWS_AS(
      pruning_errors(tree, {leaf, target, {}}, Loss::misclassification, falling, Context()), Error);
  // Class shares are no values.
  CHECK_THROWS_AS(pruning_errors(tree, {leaf, target, {}}, Loss::squared_error, alphas, Context()),
                  Error);
}

}  // namespace arboleda
