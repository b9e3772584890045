#include "grow/code_tree.h"

#include <doctest/doctest.h>

#include <numeric>

#include "learn/mixed_problem.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

std::vector<NodeIndex> by_codes(const Tree& tree, const BinnedDataset& table,
                                const Context& context) {
  std::vector<RowIndex> rows(table.n_rows);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  std::vector<NodeIndex> leaf(rows.size());
  find_leaves(CodeTree(tree.arrays(), table), rows, context, leaf);
  return leaf;
}

std::vector<NodeIndex> by_values(const Tree& tree, const TableView& table, const Context& context) {
  std::vector<NodeIndex> leaf(table.n_rows);
  apply_tree(tree, table, context, leaf);
  return leaf;
}

}  // namespace

TEST_SUITE("code_tree") {
  TEST_CASE("codes lead where values lead: numbers, gaps, categories, sparse columns") {
    const Context context(2);
    const MixedProblem problem(3000);
    const BinnedDataset mixed = problem.mixed(context), sparse = problem.sparse(context);
    GrowthOptions options;
    options.max_depth = 9;
    const Tree tree = problem.fit(mixed, 3, false, options, context);
    CHECK(by_codes(tree, mixed, context) ==
          by_values(tree, problem.dense_view(MixedProblem::kDense), context));
    const Tree of_sparse = problem.fit(sparse, 3, false, options, context);
    CHECK(by_codes(of_sparse, sparse, context) ==
          by_values(of_sparse, problem.dense_view(MixedProblem::kColumns), context));
  }

  TEST_CASE("a threshold within a code of another table is compared with the values") {
    const Context context(1);
    const MixedProblem problem(3000);
    const BinnedDataset exact = problem.mixed(context), binned = problem.mixed(context, 7);
    const Tree tree = problem.fit(exact, 3, false, {.max_depth = 8}, context);
    CHECK(by_codes(tree, binned, context) ==
          by_values(tree, problem.dense_view(MixedProblem::kDense), context));
  }

  TEST_CASE("columns of more values than are kept") {
    const Context context(2);
    const MixedProblem problem(90'000);
    const BinnedDataset table = problem.mixed(context);
    REQUIRE(table.columns[0].values.empty());
    const Tree tree = problem.fit(table, 3, false, {.max_depth = 5}, context);
    CHECK(by_codes(tree, table, context) ==
          by_values(tree, problem.dense_view(MixedProblem::kDense), context));
  }

  TEST_CASE("rows by leaf: each leaf has its rows in order") {
    const Context context(1);
    const MixedProblem problem(800);
    const BinnedDataset table = problem.mixed(context);
    const Tree tree = problem.fit(table, 3, false, {.max_depth = 4}, context);
    const std::vector<RowIndex> rows{1, 5, 6, 90, 91, 300, 799};
    std::vector<NodeIndex> leaf(rows.size());
    find_leaves(CodeTree(tree.arrays(), table), rows, context, leaf);
    const LeafRows grouped = group_by_leaf(tree.arrays(), rows, leaf);
    REQUIRE(grouped.leaves.size() == static_cast<std::size_t>(tree.n_leaves()));
    std::size_t n_seen = 0;
    for (const auto& of_leaf : grouped.leaves) {
      CHECK(of_leaf.begin == n_seen);
      std::vector<RowIndex> expected;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (leaf[i] == of_leaf.node) expected.push_back(rows[i]);
      }
      const auto begin = grouped.rows.begin();
      CHECK(std::vector<RowIndex>(begin + static_cast<std::ptrdiff_t>(of_leaf.begin),
                                  begin + static_cast<std::ptrdiff_t>(of_leaf.end)) == expected);
      n_seen = of_leaf.end;
    }
    CHECK(n_seen == rows.size());
  }
}

}  // namespace arboleda
