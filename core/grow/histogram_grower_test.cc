#include "grow/histogram_grower.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "grow/naive_boosted_tree.h"
#include "layout/row_codes.h"
#include "learn/mixed_problem.h"
#include "split/packed_gradients.h"

namespace arboleda {

namespace {

// Gradients and hessians whose sums are exact in float64 and as integers.
struct Statistics {
  Statistics(const MixedProblem& problem, bool unit_hessian) {
    RandomStream random(3, Purpose::feature_subset, 0, 0);
    for (std::size_t i = 0; i < problem.n; ++i) {
      const double noise = static_cast<double>(random.below(257)) - 128.0;
      gradient.push_back((std::floor(problem.y[i] * 16.0) - 80.0 + noise) / 256.0);
      if (!unit_hessian) hessian.push_back((1.0 + random.below(64)) / 64.0);
    }
  }
  std::vector<double> gradient, hessian;
};

std::vector<RowIndex> first_rows(std::size_t n, std::size_t step) {
  std::vector<RowIndex> rows;
  for (std::size_t i = 0; i < n; i += step) rows.push_back(static_cast<RowIndex>(i));
  return rows;
}

// Both trees from the roots down: same splits, rows and values.
void check_same(const TreeArrays& tree, const LeafRows& leaves, const NaiveBoostedTree& naive) {
  std::vector<std::pair<NodeIndex, int>> stack{{0, 0}};
  std::size_t n_leaves = 0;
  while (!stack.empty()) {
    const auto [node, other] = stack.back();
    stack.pop_back();
    const auto i = static_cast<std::size_t>(node);
    const auto& expected = naive.nodes[static_cast<std::size_t>(other)];
    REQUIRE(tree.n_node_samples[i] == static_cast<std::int64_t>(expected.rows.size()));
    REQUIRE(tree.value[i] == doctest::Approx(expected.value).epsilon(1e-9));
    REQUIRE((tree.right[i] < 0) == (expected.left < 0));
    if (expected.left < 0) {
      ++n_leaves;
      for (const auto& leaf : leaves.leaves) {
        if (leaf.node != node) continue;
        const std::vector<RowIndex> rows(
            leaves.rows.begin() + static_cast<std::ptrdiff_t>(leaf.begin),
            leaves.rows.begin() + static_cast<std::ptrdiff_t>(leaf.end));
        REQUIRE(rows == expected.rows);
      }
      continue;
    }
    REQUIRE(tree.feature[i] == expected.feature);
    REQUIRE(tree.impurity[i] == doctest::Approx(expected.gain).epsilon(1e-6));
    stack.push_back({tree.right[i], expected.right});
    stack.push_back({node + 1, expected.left});
  }
  CHECK(leaves.leaves.size() == n_leaves);
}

struct Case {
  std::string name;
  std::function<void(HistogramOptions&)> set;
};

std::vector<Case> cases() {
  return {
      {"plain", [](HistogramOptions&) {}},
      {"few leaves", [](HistogramOptions& o) { o.max_leaf_nodes = 7; }},
      {"depth", [](HistogramOptions& o) { o.max_depth = 3; }},
      {"rows in a leaf", [](HistogramOptions& o) { o.min_samples_leaf = 9; }},
      {"hessian in a leaf", [](HistogramOptions& o) { o.min_child_weight = 5.3; }},
      {"L2", [](HistogramOptions& o) { o.l2 = 2.5; }},
      {"L1", [](HistogramOptions& o) { o.l1 = 1.5; }},
      {"least gain", [](HistogramOptions& o) { o.min_gain = 0.75; }},
      {"largest step", [](HistogramOptions& o) { o.max_delta_step = 0.25; }},
      {"monotonic", [](HistogramOptions& o) { o.monotonic = {1, -1, 1, 0}; }},
      {"no smoothing", [](HistogramOptions& o) { o.category_smoothing = o.category_l2 = 0.0; }},
      {"much at once",
       [](HistogramOptions& o) {
         o.max_leaf_nodes = 20;
         o.min_samples_leaf = 4;
         o.l2 = 1.0;
         o.l1 = 0.5;
         o.monotonic = {-1, 0, 1, 0};
       }},
  };
}

}  // namespace

TEST_CASE("every node is that of a tree grown the plain way") {
  const Context context(2);
  for (const std::size_t n : {40, 300}) {
    const MixedProblem problem(n);
    const BinnedDataset table = problem.mixed(context, 255);
    for (const bool unit : {true, false}) {
      const Statistics statistics(problem, unit);
      for (const Case& c : cases()) {
        for (const std::size_t step : {1, 3}) {
          CAPTURE(n);
          CAPTURE(c.name);
          CAPTURE(unit);
          CAPTURE(step);
          HistogramOptions options;
          options.max_leaf_nodes = 31;
          c.set(options);
          HistogramGrower grower(table, make_row_codes(table, context), options, context);
          LeafRows leaves;
          const TreeArrays tree = grower.grow(first_rows(n, step),
                                              {statistics.gradient, statistics.hessian}, 0, leaves);
          const NaiveBoostedTree naive(table, statistics.gradient, statistics.hessian, options,
                                       first_rows(n, step));
          check_same(tree, leaves, naive);
        }
      }
    }
  }
}

TEST_CASE("threads, widths of registers and the order of rows change nothing") {
  const MixedProblem problem(5000);
  const Context one(1, 7);
  const BinnedDataset table = problem.mixed(one, 255);
  const Statistics statistics(problem, false);
  for (const auto growth :
       {BoostedGrowth::leaf_wise, BoostedGrowth::level_wise, BoostedGrowth::symmetric}) {
    for (const bool random : {false, true}) {
      HistogramOptions options;
      options.growth = growth;
      options.max_leaf_nodes = 31;
      options.min_samples_leaf = 5;
      options.l2 = 1.0;
      options.random_thresholds = random;
      options.column_share_node = random ? 0.6 : 1.0;
      const auto grow = [&](int n_threads) {
        const Context context(n_threads, 7);
        HistogramGrower grower(table, make_row_codes(table, context), options, context);
        LeafRows leaves;
        const auto rows = first_rows(problem.n, 1);
        grower.grow(rows, {statistics.gradient, statistics.hessian}, 2, leaves);  // scratch is used
        return grower.grow(rows, {statistics.gradient, statistics.hessian}, 3, leaves);
      };
      const TreeArrays expected = grow(1);
      CHECK(expected.right.size() > 10);
      for (const int n_threads : {2, 3, 8}) {
        const TreeArrays tree = grow(n_threads);
        CHECK(tree.feature == expected.feature);
        CHECK(tree.threshold == expected.threshold);
        CHECK(tree.value == expected.value);
        CHECK(tree.weight == expected.weight);
        CHECK(tree.category == expected.category);
      }
    }
  }
}

TEST_CASE("threads that share the columns of nodes change nothing") {
  const MixedProblem problem(3000);
  const Context one(1, 7);
  // Numbers alone, which have dense codes.
  std::vector<std::vector<double>> columns;
  RandomStream random(5, Purpose::feature_subset, 0, 0);
  for (std::size_t j = 0; j < 20; ++j) {
    columns.emplace_back(problem.n);
    for (double& x : columns.back()) x = random.below(300) == 0 ? std::nan("") : random.below(1000);
  }
  TableView view{problem.n, {}};
  for (const auto& column : columns) {
    view.columns.push_back(
        {reinterpret_cast<const std::byte*>(column.data()), sizeof(double), DType::float64});
  }
  const BinnedDataset table = code_table(view, one, {.n_categories = {}, .max_bins = 255});
  REQUIRE(make_row_codes(table, one)->all_dense());
  const Statistics statistics(problem, false);
  for (const auto growth : {BoostedGrowth::leaf_wise, BoostedGrowth::symmetric}) {
    HistogramOptions options;
    options.growth = growth;
    options.max_leaf_nodes = 31;
    options.max_depth = 5;
    options.min_samples_leaf = 5;
    const auto grow = [&](int n_threads) {
      const Context context(n_threads, 7);
      HistogramGrower grower(table, make_row_codes(table, context), options, context);
      LeafRows leaves;
      return grower.grow(first_rows(problem.n, 1), {statistics.gradient, statistics.hessian}, 3,
                         leaves);
    };
    const TreeArrays expected = grow(1);
    CHECK(expected.right.size() > 10);
    for (const int n_threads : {2, 3, 8, 32}) {
      const TreeArrays tree = grow(n_threads);
      CHECK(tree.feature == expected.feature);
      CHECK(tree.threshold == expected.threshold);
      CHECK(tree.value == expected.value);
      CHECK(tree.weight == expected.weight);
    }
  }
}

TEST_CASE("a symmetric tree asks one split a level") {
  const Context context(2);
  const MixedProblem problem(3000);
  const BinnedDataset table = problem.mixed(context, 255);
  const Statistics statistics(problem, false);
  HistogramOptions options;
  options.growth = BoostedGrowth::symmetric;
  options.max_depth = 4;
  options.min_samples_leaf = 3;
  options.l2 = 1.0;
  HistogramGrower grower(table, make_row_codes(table, context), options, context);
  LeafRows leaves;
  const Tree tree(
      grower.grow(first_rows(problem.n, 1), {statistics.gradient, statistics.hessian}, 0, leaves));
  // Level by level, leaving out nodes that were passed on: at most four splits.
  std::vector<std::pair<FeatureIndex, double>> splits;
  for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
    if (tree.is_leaf(node) || tree.is_categorical(node)) continue;
    const std::pair split{tree.feature(node),
                          tree.arrays().threshold[static_cast<std::size_t>(node)]};
    if (std::find(splits.begin(), splits.end(), split) == splits.end()) {
      splits.push_back(split);
    }
  }
  CHECK(splits.size() <= 4);
  CHECK(tree.depth() <= 4);
  CHECK(tree.n_leaves() >= 8);
  for (const auto& leaf : leaves.leaves) CHECK(leaf.end - leaf.begin >= 3);
}

TEST_CASE("the first split of a symmetric tree is that of a leaf-wise one") {
  const Context context(1);
  const MixedProblem problem(700);
  const BinnedDataset table = problem.mixed(context, 255);
  const Statistics statistics(problem, false);
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    HistogramOptions options;
    c.set(options);
    options.max_depth = 1;
    const auto grow = [&](BoostedGrowth growth) {
      options.growth = growth;
      HistogramGrower grower(table, make_row_codes(table, context), options, context);
      LeafRows leaves;
      return grower.grow(first_rows(problem.n, 1), {statistics.gradient, statistics.hessian}, 0,
                         leaves);
    };
    const TreeArrays leaf_wise = grow(BoostedGrowth::leaf_wise);
    const TreeArrays symmetric = grow(BoostedGrowth::symmetric);
    CHECK(symmetric.feature == leaf_wise.feature);
    CHECK(symmetric.threshold == leaf_wise.threshold);
    CHECK(symmetric.category == leaf_wise.category);
    CHECK(symmetric.value == leaf_wise.value);
  }
}

TEST_CASE("wide cells give what packed ones give") {
  const Context context(1);
  const MixedProblem problem(2000);
  const BinnedDataset table = problem.mixed(context, 255);
  Statistics statistics(problem, false);
  HistogramOptions options;
  options.max_leaf_nodes = 15;
  const auto grow = [&] {
    HistogramGrower grower(table, make_row_codes(table, context), options, context);
    LeafRows leaves;
    // The last row takes no part, or its gradient is far beyond the others and calls for fine units.
    return grower.grow(first_rows(problem.n - 1, 1), {statistics.gradient, statistics.hessian}, 0,
                       leaves);
  };
  PackedGradients gradients;
  const auto rows = first_rows(problem.n - 1, 1);
  gradients.pack(rows, {statistics.gradient, statistics.hessian}, context);
  CHECK(gradients.fits_packed(rows.size()));
  const TreeArrays packed = grow();
  // One heavy hessian makes all others small beside it.
  for (const std::size_t heavy : {17u, 1700u}) {
    statistics.hessian[heavy] = 0x1p30;
    statistics.gradient[heavy] = 0x1p28;
    gradients.pack(rows, {statistics.gradient, statistics.hessian}, context);
    CHECK_FALSE(gradients.fits_packed(rows.size()));
    CHECK(gradients.fits_packed(1));
    const TreeArrays wide = grow();
    const NaiveBoostedTree naive(table, statistics.gradient, statistics.hessian, options, rows);
    CHECK(wide.feature[0] == naive.nodes[0].feature);
    CHECK(wide.right.size() == packed.right.size());
  }
}

TEST_CASE("columns of different sets do not meet on a path") {
  const Context context(2);
  const MixedProblem problem(2000);
  const BinnedDataset table = problem.mixed(context, 255);
  const Statistics statistics(problem, false);
  for (const auto growth : {BoostedGrowth::leaf_wise, BoostedGrowth::symmetric}) {
    HistogramOptions options;
    options.growth = growth;
    options.max_leaf_nodes = 64;
    options.interactions = {{0, 2}, {1}, {3, 2}};
    HistogramGrower grower(table, make_row_codes(table, context), options, context);
    LeafRows leaves;
    const Tree tree(grower.grow(first_rows(problem.n, 1), {statistics.gradient, statistics.hessian},
                                0, leaves));
    CHECK(tree.n_leaves() > 4);
    const auto parents = tree.parents();
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
      std::vector<bool> met(4);
      for (NodeIndex at = node; at >= 0; at = parents[static_cast<std::size_t>(at)]) {
        if (!tree.is_leaf(at)) met[static_cast<std::size_t>(tree.feature(at))] = true;
      }
      const int n_sets = (met[0] ? 1 : 0) + (met[1] ? 1 : 0) + (met[3] ? 1 : 0);
      CHECK(n_sets <= 1);
      CHECK_FALSE((met[1] && met[2]));
    }
  }
}

TEST_CASE("splits are on drawn columns only") {
  const Context context(1, 5);
  const MixedProblem problem(1000);
  const BinnedDataset table = problem.mixed(context, 255);
  const Statistics statistics(problem, true);
  HistogramOptions options;
  options.max_leaf_nodes = 16;
  options.column_share_tree = 0.3;
  HistogramGrower grower(table, make_row_codes(table, context), options, context);
  std::vector<bool> used(4);
  for (std::uint32_t t = 0; t < 40; ++t) {
    LeafRows leaves;
    const TreeArrays tree =
        grower.grow(first_rows(problem.n, 1), {statistics.gradient, {}}, t, leaves);
    FeatureIndex only = -1;
    for (const FeatureIndex feature : tree.feature) {
      if (feature < 0) continue;
      if (only < 0) only = feature;
      CHECK(feature == only);
    }
    if (only >= 0) used[static_cast<std::size_t>(only)] = true;
  }
  CHECK(used == std::vector<bool>{true, true, true, true});
}

TEST_CASE("gradients of any size give the same tree, and values of their size") {
  const Context context(1);
  const MixedProblem problem(600);
  const BinnedDataset table = problem.mixed(context, 255);
  const Statistics statistics(problem, true);
  const auto grow = [&](int exponent) {
    HistogramOptions options;
    options.max_leaf_nodes = 12;
    options.monotonic = {1, -1, 0, 0};
    options.l1 = std::ldexp(0.5, exponent);
    options.max_delta_step = std::ldexp(0.75, exponent);
    options.min_gain = std::ldexp(0.05, 2 * exponent);
    std::vector<double> gradient = statistics.gradient;
    for (double& g : gradient) g = std::ldexp(g, exponent);
    HistogramGrower grower(table, make_row_codes(table, context), options, context);
    LeafRows leaves;
    return grower.grow(first_rows(problem.n, 1), {gradient, {}}, 0, leaves);
  };
  const TreeArrays expected = grow(0);
  CHECK(expected.right.size() > 10);
  for (const int exponent : {-480, -100, 100, 480}) {
    CAPTURE(exponent);
    const TreeArrays tree = grow(exponent);
    CHECK(tree.feature == expected.feature);
    CHECK(tree.threshold == expected.threshold);
    for (std::size_t i = 0; i < tree.value.size(); ++i) {
      CHECK(tree.value[i] == std::ldexp(expected.value[i], exponent));
      CHECK(std::ldexp(tree.impurity[i], tree.impurity_exponent - 2 * exponent) ==
            doctest::Approx(expected.impurity[i]));
    }
  }
}

TEST_CASE("trees are the same whether gradients lie beside the codes or not") {
  constexpr std::size_t kRows = 220'000, kColumns = 20;
  RandomStream random(9, Purpose::feature_subset, 0, 0);
  BinnedDataset table;
  table.n_rows = kRows;
  std::vector<double> gradient(kRows), hessian(kRows);
  for (std::size_t j = 0; j < kColumns; ++j) {
    CodedColumn column;
    column.n_values = 40;
    for (int value = 0; value < 40; ++value) column.values.push_back(value);
    std::vector<std::uint8_t> codes(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
      codes[i] = static_cast<std::uint8_t>(random.below(40));
      gradient[i] += (j % 2 == 0 ? 1.0 : -1.0) * (codes[i] - 20.0) / static_cast<double>(j + 1);
    }
    column.codes = CodeArray<std::uint8_t>(codes);
    table.columns.push_back(std::move(column));
  }
  for (double& h : hessian) h = 0.1 + random.uniform();
  auto tailed = gradient;  // of more bits than lie beside the codes
  tailed[77] = 1e5;
  const auto other = std::vector<double>(hessian.rbegin(), hessian.rend());
  HistogramOptions options;
  options.max_leaf_nodes = 31;
  for (const int n_threads : {1, 2}) {
    const Context context(n_threads);
    const auto shared = make_row_codes(table, context);
    const auto alone = make_row_codes(table, context, true);
    REQUIRE(shared->near_gradients() == nullptr);
    REQUIRE(alone->near_gradients() != nullptr);
    HistogramGrower expected(table, shared, options, context);
    HistogramGrower grower(table, alone, options, context);
    const std::vector<RowDerivatives> trees{{gradient, hessian},
                                            {gradient, other},
                                            {tailed, hessian},
                                            {gradient, {}},
                                            {other, hessian}};
    for (std::uint32_t t = 0; t < trees.size(); ++t) {
      for (const std::size_t step : {1, 3}) {
        CAPTURE(t);
        CAPTURE(step);
        LeafRows leaves, expected_leaves;
        const TreeArrays tree = grower.grow(first_rows(kRows, step), trees[t], t, leaves);
        const TreeArrays same =
            expected.grow(first_rows(kRows, step), trees[t], t, expected_leaves);
        CHECK(tree.right.size() == 61);
        CHECK(tree.feature == same.feature);
        CHECK(tree.threshold == same.threshold);
        CHECK(tree.value == same.value);
        CHECK(tree.impurity == same.impurity);
        CHECK(leaves.rows == expected_leaves.rows);
      }
    }
  }
}

}  // namespace arboleda
