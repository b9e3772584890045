// Many callers at once: what each gets is what it gets alone. Under ThreadSanitizer, that nothing
// they share is written.

#include <doctest/doctest.h>

#include <thread>

#include "base/thread_pool.h"
#include "learn/mixed_problem.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

// The fits of one caller: every criterion, with categories and gaps, bins, random splits, sparse
// columns; of one target and of two.
std::vector<Tree> fit_all(const MixedProblem& problem, const Context& context) {
  std::vector<Tree> trees;
  const BinnedDataset exact = problem.mixed(context);
  const BinnedDataset binned = problem.mixed(context, 30);
  const BinnedDataset sparse = problem.sparse(context);
  for (int measure = 0; measure < MixedProblem::kMeasures; ++measure) {
    GrowthOptions options;
    options.max_depth = 6;
    options.random_splits = measure % 2 == 1;
    options.max_features = measure % 3 == 1 ? 2 : -1;
    for (const BinnedDataset* table : {&exact, &binned, &sparse}) {
      trees.push_back(problem.fit(*table, measure, measure % 4 == 0, options, context));
    }
  }
  return trees;
}

std::vector<double> predict_all(const MixedProblem& problem, const std::vector<Tree>& trees,
                                const Context& context) {
  std::vector<double> all;
  for (const Tree& tree : trees) {
    const auto n_columns = static_cast<std::size_t>(tree.arrays().n_features);
    std::vector<double> out(problem.n * static_cast<std::size_t>(tree.arrays().n_outputs));
    predict_tree(tree, problem.dense_view(n_columns), context, out);
    all.insert(all.end(), out.begin(), out.end());
  }
  return all;
}

bool same_bytes(const TreeArrays& a, const TreeArrays& b) {
  return a.impurity_exponent == b.impurity_exponent && a.feature == b.feature &&
         a.threshold == b.threshold && a.right == b.right && a.missing_left == b.missing_left &&
         a.impurity == b.impurity && a.n_node_samples == b.n_node_samples && a.weight == b.weight &&
         a.value == b.value && a.category_start == b.category_start && a.category == b.category;
}

}  // namespace

TEST_CASE("eight callers fit and predict trees of every kind at once, as each does alone") {
  // Large enough that columns of a node are searched in parallel, and blocks of rows predicted.
  const MixedProblem problem(kParallelWork / MixedProblem::kDense + 1);
  const std::vector<Tree> alone = fit_all(problem, Context(1, 5));
  const std::vector<double> predicted = predict_all(problem, alone, Context(1));
  std::vector<int> equal(8, 0);
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < equal.size(); ++c) {
    callers.emplace_back([&, c] {
      const Context context(static_cast<int>(1 + c % 4), 5);
      const std::vector<Tree> trees = fit_all(problem, context);
      bool same = trees.size() == alone.size();
      for (std::size_t t = 0; t < trees.size(); ++t) {
        same = same && same_bytes(trees[t].arrays(), alone[t].arrays());
      }
      equal[c] = same && predict_all(problem, alone, context) == predicted;
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(equal == std::vector<int>(8, 1));
}

}  // namespace arboleda
