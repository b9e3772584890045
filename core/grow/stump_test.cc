#include "grow/stump.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "learn/cart.h"

namespace arboleda {

namespace {

// Columns of every kind that a stump may split on: many values, many values with ties, few values, mostly
// one value, one of two, constant, missing values among many and among few; two classes.
struct Problem {
  Problem(std::size_t n, std::uint64_t seed) : random(seed, Purpose::feature_subset, 3, 0) {
    columns.assign(9, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      labels.push_back(random.below(2));
      const double shift = labels[i] == 1 && random.below(4) == 0 ? 1.0 : 0.0;
      columns[0][i] = random.below(1u << 24) / 64.0 + shift * 1e4;
      columns[1][i] = random.below(static_cast<std::uint32_t>(n)) + shift;
      columns[2][i] = random.below(7) + shift;
      columns[3][i] = random.below(9) == 0 ? random.below(5) + 1.0 : 0.0;
      columns[4][i] = random.below(12) == 0;
      columns[5][i] = 3.0;
      columns[6][i] = random.below(5) == 0 ? kMissing : random.below(1u << 20) + shift;
      columns[7][i] = random.below(6) == 0 ? kMissing : random.below(4);
      columns[8][i] = random.below(2) == 0 ? kMissing : 1.0;
    }
  }

  TableView view() const {
    TableView view{labels.size(), {}};
    for (const auto& c : columns) {
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(c.data()), sizeof(double), DType::float64});
    }
    return view;
  }

  // 0: all 1; 1: two values, many splits tie; 2: any; 3: some are 0; 4: some are tiny beside others.
  std::vector<double> weights(int kind) {
    std::vector<double> w(labels.size(), 1.0);
    for (double& x : w) {
      if (kind == 1) x = random.below(3) == 0 ? 0.5 : 1.5;
      if (kind >= 2) x = random.uniform() + 1e-3;
      if (kind == 3 && random.below(3) == 0) x = 0.0;
      if (kind == 4 && random.below(2) == 0) x *= 1e-14;
    }
    return w;
  }

  static constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  RandomStream random;
  std::vector<std::vector<double>> columns;
  std::vector<std::uint32_t> labels;
};

void check_same(const TreeArrays& a, const TreeArrays& b) {
  CHECK(a.feature == b.feature);
  CHECK(a.threshold == b.threshold);
  CHECK(a.right == b.right);
  CHECK(a.missing_left == b.missing_left);
  CHECK(a.impurity == b.impurity);
  CHECK(a.n_node_samples == b.n_node_samples);
  CHECK(a.weight == b.weight);
  CHECK(a.value == b.value);
}

std::vector<RowIndex> all_rows(std::size_t n) {
  std::vector<RowIndex> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<RowIndex>(i);
  return rows;
}

const GrowthOptions kStump{.max_depth = 1};

}  // namespace

TEST_SUITE("stump") {
  TEST_CASE("the Grower's tree, whatever the columns and weights") {
    for (const std::size_t n : {3u, 10u, 40u, 300u, 1500u}) {
      for (std::uint64_t seed = 0; seed < (n > 100 ? 6u : 30u); ++seed) {
        Problem problem(n, seed);
        const Context context(1 + static_cast<int>(seed % 3));
        const BinnedDataset table = code_table(problem.view(), context);
        const auto rows = all_rows(n);
        StumpGrower grower(table, problem.labels, rows);
        for (int kind = 0; kind < 5; ++kind) {
          CAPTURE(n);
          CAPTURE(seed);
          CAPTURE(kind);
          const FixedWeights weights = fix_weights(problem.weights(kind), n, kClassWeightBits);
          const TreeTask task{table, weights, kStump, context};
          check_same(grower.grow(weights, context),
                     grow_classification_tree(task, problem.labels, 2, ClassMeasure::gini));
        }
      }
    }
  }

  TEST_CASE("columns one by one, so that each kind is the one that splits") {
    const std::size_t n = 400;
    Problem problem(n, 77);
    const Context context(1);
    const auto rows = all_rows(n);
    for (const auto& column : problem.columns) {
      Problem one = problem;
      one.columns = {column, column};  // the second never wins
      const BinnedDataset table = code_table(one.view(), context);
      StumpGrower grower(table, one.labels, rows);
      for (int kind = 0; kind < 5; ++kind) {
        const FixedWeights weights = fix_weights(one.weights(kind), n, kClassWeightBits);
        const TreeTask task{table, weights, kStump, context};
        const TreeArrays stump = grower.grow(weights, context);
        check_same(stump, grow_classification_tree(task, one.labels, 2, ClassMeasure::gini));
        CHECK(stump.feature[0] <= 0);
      }
    }
  }

  TEST_CASE("sparse columns, and rows that never count") {
    const std::size_t n = 500;
    Problem problem(n, 5);
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> index;
    std::vector<double> data;
    for (const auto& column : problem.columns) {
      for (std::size_t i = 0; i < n; ++i) {
        if (column[i] == 0.0) continue;
        index.push_back(static_cast<std::int32_t>(i));
        data.push_back(column[i]);
      }
      start.push_back(static_cast<std::int64_t>(index.size()));
    }
    const Context context(2);
    const ColumnView view{reinterpret_cast<const std::byte*>(data.data()), sizeof(double),
                          DType::float64};
    const BinnedDataset table =
        code_table(SparseColumns{n, problem.columns.size(), {start, index, view}}, context);
    auto rows = all_rows(n);
    std::erase_if(rows, [](RowIndex row) { return row % 5 == 2; });
    StumpGrower grower(table, problem.labels, rows);
    for (int kind = 0; kind < 5; ++kind) {
      std::vector<double> w = problem.weights(kind);
      for (std::size_t i = 2; i < n; i += 5) w[i] = 0.0;
      const FixedWeights weights = fix_weights(w, n, kClassWeightBits);
      const TreeTask task{table, weights, kStump, context};
      check_same(grower.grow(weights, context),
                 grow_classification_tree(task, problem.labels, 2, ClassMeasure::gini));
    }
  }

  TEST_CASE("no split explains anything: every split is looked at, the Grower's is taken") {
    Problem problem(8, 1);
    problem.columns = {
        {0, 0, 1, 1, 0, 0, 1, 1}, {0, 1, 0, 1, 0, 1, 0, 1}, {5, 5, 6, 6, 6, 6, 5, 5}};
    problem.labels = {0, 1, 1, 0, 0, 1, 1, 0};
    const Context context(1);
    const BinnedDataset table = code_table(problem.view(), context);
    const auto rows = all_rows(8);
    const FixedWeights weights = fix_weights({}, 8, kClassWeightBits);
    const TreeTask task{table, weights, kStump, context};
    check_same(StumpGrower(table, problem.labels, rows).grow(weights, context),
               grow_classification_tree(task, problem.labels, 2, ClassMeasure::gini));
  }

  TEST_CASE("more values than are kept") {
    const std::size_t n = 70'000;
    Problem problem(n, 2);
    for (std::size_t i = 0; i < n; ++i) problem.columns[0][i] += static_cast<double>(i) * 0x1p-20;
    const Context context(2);
    const BinnedDataset table = code_table(problem.view(), context);
    REQUIRE(table.columns[0].values.empty());
    const auto rows = all_rows(n);
    StumpGrower grower(table, problem.labels, rows);
    const FixedWeights weights = fix_weights(problem.weights(2), n, kClassWeightBits);
    const TreeTask task{table, weights, kStump, context};
    check_same(grower.grow(weights, context),
               grow_classification_tree(task, problem.labels, 2, ClassMeasure::gini));
  }

  TEST_CASE("trees of another kind are left to the Grower") {
    Problem problem(30, 3);
    const Context context(1);
    const BinnedDataset table = code_table(problem.view(), context);
    CHECK(StumpGrower::can_grow(table, 2, kStump));
    CHECK(!StumpGrower::can_grow(table, 3, kStump));
    CHECK(!StumpGrower::can_grow(table, 2, {.max_depth = 2}));
    CHECK(!StumpGrower::can_grow(table, 2, {.max_depth = 1, .min_samples_leaf = 2}));
    CHECK(!StumpGrower::can_grow(table, 2, {.max_depth = 1, .max_features = 3}));
    CHECK(!StumpGrower::can_grow(table, 2, {.max_depth = 1, .random_splits = true}));
  }
}

}  // namespace arboleda
