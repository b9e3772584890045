#include "split/few_rows_search.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "criterion/class_weights.h"
#include "criterion/entropy.h"
#include "criterion/gini.h"
#include "criterion/squared_error.h"
#include "split/feature_search.h"

namespace arboleda {

namespace {

constexpr std::size_t kRows = 1300;

// Numbers with many ties, with few, and with missing values; a column of categories.
struct Problem {
  std::vector<std::vector<double>> columns;
  BinnedDataset table;

  Problem(std::size_t n_columns, RandomStream& random) : columns(n_columns) {
    TableView view{kRows, {}};
    std::vector<std::uint32_t> n_categories(n_columns);
    for (std::size_t j = 0; j < n_columns; ++j) {
      const std::uint32_t n_values = j % 3 == 0 ? 3 : j % 3 == 1 ? 20 : 100000;
      for (std::size_t i = 0; i < kRows; ++i) {
        const bool is_missing = j % 10 == 9 && random.below(10) == 0;
        columns[j].push_back(is_missing ? NAN : random.below(n_values));
      }
      if (j % 15 == 6) n_categories[j] = 3;
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(columns[j].data()), sizeof(double), DType::float64});
    }
    table = code_table(view, Context(), {.n_categories = n_categories});
  }
};

std::vector<RowIndex> some_rows(std::size_t n, RandomStream& random) {
  std::vector<RowIndex> rows;
  for (std::uint32_t i = 0; rows.size() < n; ++i) {
    if (random.below(kRows - i) < n - rows.size()) rows.push_back(i);
  }
  return rows;
}

// Side by side and one after the other: the same split, and the same features vary. How many nodes
// were searched side by side.
template <class Criterion>
int check_nodes(const Problem& problem, const Criterion& criterion, RandomStream& random) {
  using Slot = typename Criterion::Slot;
  const RowLayouts none;
  const SearchOptions options;
  FeatureSearch<Criterion> search(problem.table, none, criterion, options);
  std::vector<FeatureIndex> features(problem.columns.size());
  std::iota(features.begin(), features.end(), 0);
  int n_served = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const auto rows = some_rows(2 + random.below(trial % 2 == 0 ? 28 : 1200), random);
    typename Criterion::Local local;
    criterion.gather(rows, local);
    std::vector<Slot> total(criterion.width());
    criterion.sum(local, total.data());
    const NodeView<Criterion> node{rows, local, total.data()};
    Split expected, found;
    std::vector<std::uint8_t> varied, varies(features.size());
    for (const FeatureIndex feature : features) {
      varied.push_back(search.search(node, feature, expected));
    }
    if (!search.search_side_by_side(node, features, found, varies)) continue;
    ++n_served;
    CAPTURE(rows.size());
    CHECK(found.score == expected.score);
    CHECK(found.feature == expected.feature);
    CHECK(found.code == expected.code);
    CHECK(found.next_code == expected.next_code);
    CHECK(found.missing_left == expected.missing_left);
    CHECK(found.left_codes == expected.left_codes);
    CHECK(varies == varied);
  }
  return n_served;
}

}  // namespace

TEST_CASE("a node of few rows is searched side by side as one feature after the other" *
          doctest::test_suite("one thread")) {
  RandomStream random(5, Purpose::row_sample, 0, 0);
  for (const std::size_t n_columns : {5, 8, 31}) {
    CAPTURE(n_columns);
    const Problem problem(n_columns, random);
    for (const bool weighted : {false, true}) {
      CAPTURE(weighted);
      std::vector<double> weight, y(kRows);
      std::vector<std::uint32_t> labels(kRows);
      for (auto& value : y) value = random.below(4) == 0 ? 1.5 : random.uniform();
      for (std::size_t i = 0; weighted && i < kRows; ++i) weight.push_back(1.0 + random.below(5));
      for (const std::uint32_t n_classes : {2, 3, 40}) {
        CAPTURE(n_classes);
        for (auto& label : labels) label = random.below(n_classes);
        const FixedWeights fixed = fix_weights(weight, kRows, 28);
        CHECK(check_nodes(problem, ClassCriterion<std::uint32_t, Gini>(labels, n_classes, fixed),
                          random) > 50);
        CHECK(check_nodes(problem, ClassCriterion<std::uint32_t, Entropy>(labels, n_classes, fixed),
                          random) == 0);
      }
      const FixedWeights fixed = fix_weights(weight, kRows, 20);
      const FixedTargets targets = fix_targets(y, fixed.dropped, 40);
      if (weighted) {
        CHECK(check_nodes(problem, SquaredError<std::int64_t, true>(y, targets, fixed), random) >
              50);
      } else {
        CHECK(check_nodes(problem, SquaredError<std::int64_t, false>(y, targets, fixed), random) >
              50);
      }
    }
  }
}

}  // namespace arboleda
