#include "learn/forest.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "learn/mixed_problem.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

constexpr std::uint64_t kSeed = 5;

bool same(const CompactTree& a, const CompactTree& b) {
  const auto same_node = [](const CompactNode& x, const CompactNode& y) {
    return x.threshold == y.threshold && x.right == y.right && x.packed == y.packed;
  };
  return a.impurity_exponent == b.impurity_exponent &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node) &&
         a.value == b.value && a.n_rows == b.n_rows && a.weight == b.weight &&
         a.impurity == b.impurity && a.category_start == b.category_start &&
         a.category == b.category && a.row == b.row;
}

bool same(const Forest& a, const Forest& b) {
  return a.n_features == b.n_features && a.n_outputs == b.n_outputs && a.measure == b.measure &&
         a.n_training_rows == b.n_training_rows &&
         std::equal(a.trees.begin(), a.trees.end(), b.trees.begin(), b.trees.end(),
                    [](const CompactTree& x, const CompactTree& y) { return same(x, y); });
}

// The forest of each kind of target, numbered as the problem's trees are.
Forest fit(const MixedProblem& problem, const BinnedDataset& table, int measure, bool weighted,
           const ForestOptions& options, const Context& context,
           const ForestProgress& progress = {}) {
  const std::span<const double> w =
      weighted ? std::span<const double>(problem.weights) : std::span<const double>();
  const bool several = measure >= 6;
  const std::vector<std::size_t> n_classes{3, 2};
  const std::size_t n_outputs = several ? 2 : 1;
  if (measure % 6 < 3) {
    return fit_classification_forest(table, std::span(problem.labels).first(problem.n * n_outputs),
                                     std::span(n_classes).first(n_outputs), w,
                                     static_cast<ClassMeasure>(measure % 6), options, progress,
                                     context);
  }
  return fit_regression_forest(table, std::span(problem.y).first(problem.n * n_outputs), n_outputs,
                               w, static_cast<RegressionMeasure>(measure % 6 - 3), options,
                               progress, context);
}

// Something of everything, other things for every measure.
ForestOptions varied_options(int measure) {
  const bool one_of_classes = measure < 3;
  ForestOptions options;
  options.n_trees = 6;
  options.growth.max_depth = 7;
  options.growth.max_features = 2;
  options.growth.random_splits = measure % 2 == 1;
  options.keep_rows = measure % 2 == 0;
  options.bag.kind = measure % 6 == 0   ? BagKind::bootstrap
                     : measure % 6 == 4 ? BagKind::without_replacement
                     : measure == 1     ? BagKind::balanced_bootstrap
                                        : BagKind::bootstrap;
  if (options.bag.kind == BagKind::without_replacement) options.bag.n_drawn = 300;
  if (measure % 3 == 1) options.columns = {3, measure % 2 == 0, measure == 4};
  if (one_of_classes) options.switching.share = 0.1 * measure;
  options.balance_classes = measure == 2 || measure == 7;
  return options;
}

// The forest as the textbook has it: every row as often as it was drawn, nothing shared.
Tree grown_alone(const MixedProblem& problem, const BinnedDataset& table, int measure,
                 bool weighted, const ForestOptions& options, std::uint32_t tree) {
  const std::vector<double> none;
  const BagRows rows{problem.n, weighted ? problem.weights : none,
                     std::span(problem.labels).first(problem.n)};
  const BagDraw bags(options.bag, rows, kSeed);
  std::vector<std::uint32_t> counts;
  bags.counts(tree, counts);
  MixedProblem bag = problem;
  for (std::size_t i = 0; i < problem.n; ++i) {
    bag.weights[i] = counts[i] * (weighted ? problem.weights[i] : 1.0);
  }
  GrowthOptions growth = options.growth;
  growth.tree = tree;
  return bag.fit(table, measure, true, growth, Context(1, kSeed));
}

}  // namespace

TEST_CASE("one tree on all rows and columns is the tree of CART" *
          doctest::test_suite("one thread")) {
  const MixedProblem problem(700);
  const Context context(1, kSeed);
  const BinnedDataset table = problem.mixed(context);
  for (int measure = 0; measure < MixedProblem::kMeasures; ++measure) {
    for (const bool weighted : {false, true}) {
      ForestOptions options;
      options.n_trees = 1;
      options.bag.kind = BagKind::all;
      options.growth.random_splits = measure % 2 == 1;
      options.growth.min_samples_leaf = 3;
      const Forest forest = fit(problem, table, measure, weighted, options, context);
      const Tree tree = problem.fit(table, measure, weighted, options.growth, context);
      CHECK(same(forest.trees[0], compact(tree.arrays(), forest.measure)));
      CHECK_NOTHROW(check_forest(forest));
    }
  }
}

TEST_CASE("a tree of a forest has the splits of a tree on the bag's weights") {
  const MixedProblem problem(400);
  const Context context(2, kSeed);
  const BinnedDataset table = problem.mixed(context);
  for (int measure = 0; measure < MixedProblem::kMeasures; ++measure) {
    for (const bool weighted : {false, true}) {
      ForestOptions options;
      options.n_trees = 3;
      options.growth.max_depth = 6;
      options.growth.max_features = 3;
      options.bag.kind = measure % 2 == 0 ? BagKind::bootstrap : BagKind::without_replacement;
      if (measure % 2 == 1) options.bag.n_drawn = 250;
      if (measure == 2) options.bag.kind = BagKind::balanced_bootstrap;
      const Forest forest = fit(problem, table, measure, weighted, options, context);
      for (std::uint32_t t = 0; t < 3; ++t) {
        const Tree alone = grown_alone(problem, table, measure, weighted, options, t);
        const TreeArrays& a = alone.arrays();
        const Tree ours = tree_of(forest, t);
        const TreeArrays& b = ours.arrays();
        REQUIRE(a.feature == b.feature);
        CHECK(a.threshold == b.threshold);
        CHECK(a.category == b.category);
        CHECK(a.missing_left == b.missing_left);
        CHECK(a.n_node_samples == b.n_node_samples);
        for (std::size_t i = 0; i < a.value.size(); ++i) {
          REQUIRE(b.value[i] == doctest::Approx(a.value[i]).epsilon(1e-9));
        }
        for (std::size_t i = 0; i < a.weight.size(); ++i) {
          REQUIRE(b.weight[i] == doctest::Approx(a.weight[i]).epsilon(1e-9));
        }
      }
    }
  }
}

TEST_CASE("a forest is the same on any number of threads, and when it is grown in parts") {
  const MixedProblem problem(600);
  const BinnedDataset table = problem.mixed(Context());
  for (int measure = 0; measure < MixedProblem::kMeasures; ++measure) {
    const bool weighted = measure % 4 == 0;
    ForestOptions options = varied_options(measure);
    const Forest one = fit(problem, table, measure, weighted, options, Context(1, kSeed));
    CHECK_NOTHROW(check_forest(one));
    CHECK(!same(one.trees[0], one.trees[1]));
    for (const int n_threads : {2, 3, 8}) {  // 8: more than trees
      CHECK(same(one, fit(problem, table, measure, weighted, options, Context(n_threads, kSeed))));
    }
    options.n_trees = 2;
    const Forest first = fit(problem, table, measure, weighted, options, Context(2, kSeed));
    options.first_tree = 2;
    options.n_trees = 4;
    const Forest more = fit(problem, table, measure, weighted, options, Context(3, kSeed));
    CHECK(same(one, extended(first, more)));
  }
}

TEST_CASE("trees split on their own columns alone, and rows they keep are those of their bags") {
  const MixedProblem problem(500);
  const BinnedDataset table = problem.mixed(Context());
  ForestOptions options;
  options.n_trees = 8;
  options.columns = {2};
  options.keep_rows = true;
  const Forest forest = fit(problem, table, 0, true, options, Context(2, kSeed));
  const BagDraw bags(options.bag, {problem.n, problem.weights}, kSeed);
  std::vector<std::uint32_t> counts;
  for (std::uint32_t t = 0; t < 8; ++t) {
    const CompactTree& tree = forest.trees[t];
    const auto columns = draw_columns(options.columns, 4, kSeed, t);
    for (const CompactNode& node : tree.nodes) {
      if (!node.is_leaf()) CHECK(std::ranges::count(columns, node.feature()) == 1);
    }
    std::vector<NodeIndex> leaf(problem.n);
    apply_tree(tree_of(forest, t), problem.dense_view(4), Context(), leaf);
    bags.counts(t, counts);
    const auto begins = leaf_begins(tree);
    std::size_t n_seen = 0;
    for (std::size_t l = 0; l < tree.n_leaves(); ++l) {
      for (auto k = begins[l]; k < begins[l + 1]; ++k) {
        const RowIndex row = tree.row[k];
        CHECK(tree.nodes[static_cast<std::size_t>(leaf[row])].leaf() == l);
        n_seen += counts[row] > 0;
      }
    }
    const auto in_bag = problem.n - static_cast<std::size_t>(std::ranges::count(counts, 0u));
    CHECK(n_seen == in_bag);
    CHECK(tree.row.size() == in_bag);
  }
}

TEST_CASE("in balanced bags and under balanced weights the classes of a root weigh the same") {
  const MixedProblem problem(900);
  const BinnedDataset table = problem.mixed(Context());
  for (const bool by_weight : {false, true}) {
    ForestOptions options;
    options.n_trees = 4;
    options.growth.max_depth = 0;
    options.balance_classes = by_weight;
    if (!by_weight) options.bag.kind = BagKind::balanced_bootstrap;
    const Forest forest = fit(problem, table, 0, false, options, Context(1, kSeed));
    for (const CompactTree& tree : forest.trees) {
      for (const double share : tree.value) CHECK(share == doctest::Approx(1.0 / 3).epsilon(1e-9));
      if (by_weight) CHECK(tree.weight_of(0) == doctest::Approx(900).epsilon(1e-9));
    }
  }
}

TEST_CASE("rows that are drawn thousands of times keep their weights") {
  MixedProblem problem(2000);
  for (std::size_t i = 0; i < problem.n; ++i) problem.labels[i] = i < 2 ? 2 : i % 2;
  problem.weights[0] = problem.weights[1] = 1.0 / 3.0;
  const BinnedDataset table = problem.mixed(Context());
  ForestOptions options;
  options.n_trees = 2;
  options.growth.max_depth = 0;
  options.bag = {BagKind::balanced_bootstrap, 2000};
  const Forest forest = fit(problem, table, 0, true, options, Context(1, kSeed));
  for (const CompactTree& tree : forest.trees) {
    CHECK(tree.value[2] * tree.weight_of(0) == doctest::Approx(2000.0 / 3.0).epsilon(1e-9));
  }
}

TEST_CASE("the progress is reported and may stop the forest, which is then the first trees") {
  const MixedProblem problem(300);
  const BinnedDataset table = problem.mixed(Context());
  ForestOptions options;
  options.n_trees = 40;
  const Forest whole = fit(problem, table, 0, false, options, Context(1, kSeed));
  for (const int n_threads : {1, 3, 64}) {
    std::vector<std::size_t> reported;
    const auto all = fit(problem, table, 0, false, options, Context(n_threads, kSeed),
                         [&](std::size_t n_done) { return reported.push_back(n_done), false; });
    CHECK(std::ranges::is_sorted(reported));
    CHECK(reported.back() == 40);
    CHECK(same(all, whole));
    const auto some = fit(problem, table, 0, false, options, Context(n_threads, kSeed),
                          [&](std::size_t n_done) { return n_done >= 5; });
    CHECK(some.trees.size() >= 5);
    if (n_threads != 3) CHECK(some.trees.size() == 5);  // else other threads may be far ahead
    CHECK(same(some, truncated(whole, some.trees.size())));
  }
}

TEST_CASE("a caller's stop request reaches every thread") {
  const MixedProblem problem(20000);
  const BinnedDataset table = problem.mixed(Context());
  ForestOptions options;
  options.n_trees = 100000;
  const Context context(2, kSeed, [] { return true; });
  CHECK_THROWS_AS(fit(problem, table, 0, false, options, context), Error);
}

TEST_CASE("forests that cannot be are refused") {
  const MixedProblem problem(50);
  const BinnedDataset table = problem.mixed(Context());
  const auto refused = [&](int measure, ForestOptions options) {
    CHECK_THROWS_AS(fit(problem, table, measure, false, options, Context()), Error);
  };
  refused(0, {.n_trees = 0});
  refused(0, {.n_trees = 2, .first_tree = (1u << 24) - 1});
  refused(6, {.n_trees = 2, .switching = {0.1}});
  refused(3, {.n_trees = 2, .switching = {0.1}});
  refused(6, {.n_trees = 2, .bag = {BagKind::balanced_bootstrap}});
  refused(3, {.n_trees = 2, .bag = {BagKind::balanced_bootstrap}});
  refused(3, {.n_trees = 2, .balance_classes = true});
}

}  // namespace arboleda
