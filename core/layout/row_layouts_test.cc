#include "layout/row_layouts.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "layout/row_codes.h"
#include "learn/cart.h"

namespace arboleda {

namespace {

struct Problem {
  std::vector<std::vector<double>> columns;
  std::vector<std::uint32_t> labels;
  std::size_t n_classes;
  FixedWeights weights;
  BinnedDataset table;

  // Flags where n_values is 2; the label depends on a few of the columns.
  // max_bins: as of code_table().
  Problem(std::size_t n_rows, std::size_t n_columns, std::uint32_t n_values, std::size_t classes,
          std::size_t max_bins = 0)
      : n_classes(classes) {
    RandomStream random(3, Purpose::row_sample, 0, n_values);
    columns.resize(n_columns);
    labels.resize(n_rows);
    TableView view{n_rows, {}};
    for (std::size_t j = 0; j < n_columns; ++j) {
      for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint32_t value = random.below(n_values) * random.below(2);
        columns[j].push_back(value);
        if (j % 7 == 0) labels[i] += value;
      }
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(columns[j].data()), sizeof(double), DType::float64});
    }
    for (auto& label : labels) {
      label = (label + random.below(2)) % static_cast<std::uint32_t>(classes);
    }
    weights = fix_weights({}, n_rows, 30);
    table = code_table(view, Context(), {.max_bins = max_bins});
  }

  TreeArrays grow(const GrowthOptions& options, const RowLayouts* layouts) const {
    const Context context(1, 11);
    return grow_classification_tree({table, weights, options, context, nullptr, layouts}, labels,
                                    n_classes, ClassMeasure::gini);
  }

  // Of the labels as numbers; weights: of the rows, or none.
  TreeArrays grow_regression(const GrowthOptions& options, const RowLayouts* layouts,
                             const std::vector<double>& real_weights) const {
    std::vector<double> y;
    for (std::size_t i = 0; i < labels.size(); ++i) y.push_back(labels[i] + 0.1 * std::sin(i));
    const FixedWeights own = fix_weights(real_weights, y.size(), 20);
    const RegressionTargets targets =
        fix_regression_targets(y, own, 20, RegressionMeasure::squared_error);
    CHECK(targets.narrow);
    const Context context(1, 11);
    return grow_regression_tree({table, own, options, context, nullptr, layouts}, targets,
                                RegressionMeasure::squared_error);
  }
};

void check_same(const TreeArrays& a, const TreeArrays& b) {
  CHECK(a.feature == b.feature);
  CHECK(a.threshold == b.threshold);
  CHECK(a.right == b.right);
  CHECK(a.n_node_samples == b.n_node_samples);
  CHECK(a.value == b.value);
}

}  // namespace

TEST_CASE("a tree does not depend on where its codes are read") {
  const Problem problem(5000, 500, 200, 3);
  for (const bool at_random : {false, true}) {
    GrowthOptions options;
    options.max_features = 22;
    options.random_splits = at_random;
    const RowLayouts none;
    const RowLayouts rows{BinaryFeatureTable(),
                          CodeRows(problem.table, options.max_features, Context(2))};
    REQUIRE(rows.codes.serves(3, 100));
    REQUIRE(!rows.codes.serves(3, 5000));
    check_same(problem.grow(options, &none), problem.grow(options, &rows));
  }
}

TEST_CASE("a tree does not depend on whether numbers are searched one by one or together") {
  for (const std::size_t n_classes : {2, 4}) {
    for (const std::uint32_t n_values : {3, 60, 5000, 5001}) {
      // In the last case, a code stands for several values.
      const std::size_t max_bins = n_values > 5000 ? 30 : 0;
      const Problem problem(3000, 21, n_values, n_classes, max_bins);
      GrowthOptions options;
      options.random_splits = true;
      for (const FeatureIndex max_features : {-1, 5}) {
        options.max_features = max_features;
        const RowLayouts none;
        const RowLayouts together{BinaryFeatureTable(),
                                  {},
                                  {},
                                  NumericFeatureRows(problem.table, max_features, Context(2))};
        REQUIRE(together.numeric_features.n_numbers() == 21);
        check_same(problem.grow(options, &none), problem.grow(options, &together));
        std::vector<double> unequal;
        for (int i = 0; i < 3000; ++i) unequal.push_back(1 + i % 3);
        for (const auto& weights : {std::vector<double>(), unequal}) {
          check_same(problem.grow_regression(options, &none, weights),
                     problem.grow_regression(options, &together, weights));
        }
      }
      options.random_splits = false;  // then rows are parted by these codes
      const RowLayouts none;
      const RowLayouts rows{
          BinaryFeatureTable(), {}, {}, NumericFeatureRows(problem.table, -1, Context())};
      check_same(problem.grow(options, &none), problem.grow(options, &rows));
    }
  }
}

TEST_CASE(
    "numbers stand row by row where they are looked at together, without gaps and categories") {
  const Problem many(300, 200, 50, 2);
  CHECK(NumericFeatureRows(many.table, 14, Context()).empty());
  CHECK(!NumericFeatureRows(many.table, 25, Context()).empty());
  const Problem flags(300, 20, 2, 2);
  CHECK(NumericFeatureRows(flags.table, -1, Context()).empty());
  Problem some(300, 5, 50, 2);
  some.columns[3][7] = std::nan("");
  TableView view{300, {}};
  for (const auto& column : some.columns) {
    view.columns.push_back(
        {reinterpret_cast<const std::byte*>(column.data()), sizeof(double), DType::float64});
  }
  const NumericFeatureRows rows(code_table(view, Context()), -1, Context());
  CHECK(rows.n_numbers() == 4);
  CHECK(rows.place(3) == NumericFeatureRows::kNone);
  CHECK(rows.feature_at(rows.place(4)) == 4);
}

TEST_CASE(
    "codes are kept row by row where many columns are not looked at, and the table is large") {
  const Problem small(500, 40, 200, 2);
  CHECK(!CodeRows(small.table, 6, Context()).serves(0, 1));
  const Problem large(5000, 500, 200, 2);
  CHECK(!CodeRows(large.table, 500, Context()).serves(0, 1));
  CHECK(!CodeRows(large.table, -1, Context()).serves(0, 1));
}

// All columns are looked at, so nothing is left to chance: the sums of some flags, of all of them, and
// of none give the same tree, because a few more columns that do not vary change nothing.
TEST_CASE("a tree does not depend on how its flags are summed up") {
  for (const std::size_t n_classes : {2, 5}) {
    const Problem problem(700, 300, 2, n_classes);
    GrowthOptions all;
    const RowLayouts none;
    const TreeArrays expected = problem.grow(all, &none);
    const RowLayouts bytes{BinaryFeatureTable(problem.table, -1), {}};
    REQUIRE(bytes.binary_features.sums_all());
    check_same(problem.grow(all, &bytes), expected);
    const RowLayouts bits{BinaryFeatureTable(problem.table, 17), {}};
    REQUIRE(!bits.binary_features.sums_all());
    check_same(problem.grow(all, &bits), expected);
    all.min_samples_leaf = 5;  // then rows are counted
    check_same(problem.grow(all, &bits), problem.grow(all, &none));
  }
}

// One row has at most one of ten flags, as in a one-hot encoding, and a few other columns.
TEST_CASE("a tree does not depend on lists of flags, whatever it is fitted to") {
  constexpr std::size_t kRows = 900;
  RandomStream random(8, Purpose::row_sample, 0, 0);
  std::vector<std::vector<double>> columns(35, std::vector<double>(kRows));
  std::vector<std::uint32_t> labels(kRows);
  std::vector<double> y(kRows), weight(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t feature = 0; feature < 3; ++feature) {
      const std::uint32_t category = random.below(11);
      if (category < 10) columns[feature * 10 + category][i] = 1.0;
      labels[i] += category;
    }
    for (std::size_t j = 30; j < columns.size(); ++j) columns[j][i] = random.below(50);
    y[i] = labels[i] + random.uniform();
    labels[i] = (labels[i] / 5 + random.below(2)) % 3;
    weight[i] = random.below(5) == 0 ? 0.0 : random.uniform();
  }
  TableView view{kRows, {}};
  for (const auto& column : columns) {
    view.columns.push_back(
        {reinterpret_cast<const std::byte*>(column.data()), sizeof(double), DType::float64});
  }
  const BinnedDataset table = code_table(view, Context());
  const RowLayouts none;
  const RowLayouts lists{.lists = BinaryFeatureLists(table)};
  REQUIRE(lists.lists.n_flags() == 30);
  const FixedWeights class_weights = fix_weights(weight, kRows, 62);
  const FixedWeights weights = fix_weights(weight, kRows, 52);
  const Context context(2, 1);
  for (const std::uint64_t min_leaf : {1u, 7u}) {
    for (const bool at_random : {false, true}) {
      CAPTURE(min_leaf);
      CAPTURE(at_random);
      GrowthOptions options;
      options.min_samples_leaf = min_leaf;
      options.random_splits = at_random;
      for (const ClassMeasure measure : {ClassMeasure::gini, ClassMeasure::entropy}) {
        const auto grow = [&](const RowLayouts& layouts) {
          return grow_classification_tree(
              {table, class_weights, options, context, nullptr, &layouts}, labels, 3, measure);
        };
        CAPTURE(static_cast<int>(measure));
        check_same(grow(lists), grow(none));
      }
      for (const RegressionMeasure measure :
           {RegressionMeasure::squared_error, RegressionMeasure::absolute_error}) {
        const RegressionTargets targets =
            fix_regression_targets(y, weights, bit_length(weights.total), measure);
        const auto grow = [&](const RowLayouts& layouts) {
          return grow_regression_tree({table, weights, options, context, nullptr, &layouts},
                                      targets, measure);
        };
        check_same(grow(lists), grow(none));
      }
    }
  }
}

TEST_CASE("every flag that varies in a small node is as likely to be drawn") {
  constexpr std::size_t kFlags = 60;
  constexpr int kTrees = 6000;
  const Problem problem(12, kFlags, 2, 2);
  const RowLayouts bits{BinaryFeatureTable(problem.table, 1), {}};
  REQUIRE(!bits.binary_features.sums_all());
  std::vector<int> n_roots(kFlags);
  GrowthOptions options;
  options.max_features = 1;
  options.max_depth = 1;
  for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
    options.tree = tree;
    ++n_roots[static_cast<std::size_t>(problem.grow(options, &bits).feature[0])];
  }
  std::size_t n_varying = 0;
  for (const auto& column : problem.table.columns) n_varying += column.n_codes() > 1;
  REQUIRE(n_varying > 30);
  const double expected = static_cast<double>(kTrees) / static_cast<double>(n_varying);
  for (std::size_t j = 0; j < kFlags; ++j) {
    CAPTURE(j);
    if (problem.table.columns[j].n_codes() < 2) {
      CHECK(n_roots[j] == 0);
    } else {  // five standard deviations
      CHECK(std::abs(n_roots[j] - expected) < 5.0 * std::sqrt(expected));
    }
  }
}

// Of the draws of m columns from p, a column is among them with probability m / p; where the columns
// are the same, the first that was drawn splits.
TEST_CASE("as many columns are drawn in a small node as requested") {
  constexpr std::size_t kFlags = 40;
  constexpr int kTrees = 6000;
  Problem problem(12, kFlags, 2, 2);
  for (std::size_t j = 1; j < kFlags; ++j) problem.table.columns[j] = problem.table.columns[0];
  const RowLayouts bits{BinaryFeatureTable(problem.table, 4), {}};
  GrowthOptions options;
  options.max_features = 4;
  options.max_depth = 1;
  std::vector<int> n_roots(kFlags);
  for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
    options.tree = tree;
    ++n_roots[static_cast<std::size_t>(problem.grow(options, &bits).feature[0])];
  }
  double p_not_drawn = 1.0;  // no column before j is drawn
  for (std::size_t j = 0; j < 8; ++j) {
    const double p = p_not_drawn * 4.0 / static_cast<double>(kFlags - j);
    p_not_drawn *= 1.0 - 4.0 / static_cast<double>(kFlags - j);
    CAPTURE(j);
    CHECK(std::abs(n_roots[j] - p * kTrees) < 5.0 * std::sqrt(p * kTrees));
  }
}

TEST_CASE("which codes are listed, and which code is the usual one, follows from counts") {
  // One column constant, one of two equally frequent codes, one of many, and some with few rows of other codes.
  const std::size_t n = 600;
  std::vector<std::vector<double>> columns(14, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    columns[1][i] = i < n / 2 ? 1.0 : 0.0;
    columns[2][i] = static_cast<double>(i % 37);
    for (std::size_t j = 3; j < columns.size(); ++j) {
      columns[j][i] = i < j ? static_cast<double>(i % 3) : 2.0;
    }
  }
  const auto lay_out = [&](bool mixed) {
    std::vector<std::vector<double>> moved = columns;
    for (std::size_t i = 0; mixed && i < n; ++i) {
      for (std::size_t j = 0; j < columns.size(); ++j) moved[j][i] = columns[j][i * 7 % n];
    }
    TableView view{n, {}};
    for (const auto& column : moved) {
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(column.data()), sizeof(double), DType::float64});
    }
    return RowCodes(code_table(view, Context()), Context()).columns();
  };
  const auto as_given = lay_out(false), mixed = lay_out(true);
  REQUIRE(as_given.size() == columns.size() - 1);
  REQUIRE(mixed.size() == as_given.size());
  for (std::size_t j = 0; j < mixed.size(); ++j) {
    CHECK(as_given[j].feature == mixed[j].feature);
    CHECK(as_given[j].first_cell == mixed[j].first_cell);
    CHECK(as_given[j].usual == mixed[j].usual);
  }
  CHECK(as_given.front().usual == RowCodes::kNoUsual);
  CHECK(as_given.back().usual == 2);
}

}  // namespace arboleda
