#include "split/column_choice.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

using Columns = ColumnChoice::Columns;

struct Drawn {
  Drawn(std::vector<double> weights, double share) : codes(table, context) {
    options.column_share_node = share;
    options.feature_weights = std::move(weights);
  }

  // How often each set of columns is drawn by so many nodes.
  std::map<Columns, int> count(int n_nodes) const {
    ColumnChoice choice(codes, options, 7);
    choice.begin_tree(3);
    std::map<Columns, int> counts;
    for (int key = 0; key < n_nodes; ++key) {
      ++counts[choice.at_node(*choice.all_groups(), 1, static_cast<std::uint64_t>(key))];
    }
    return counts;
  }

  Context context{1};
  MixedProblem problem{300};
  BinnedDataset table = problem.mixed(context, 255);
  RowCodes codes;
  HistogramOptions options;
};

}  // namespace

TEST_CASE("two columns are drawn one after the other in proportion to their weights") {
  const std::vector<double> w{0.125, 0.5, 1.0, 0.25};
  const int n = 40000;
  const auto counts = Drawn(w, 0.5).count(n);
  double sum = 0.0;
  for (const double x : w) sum += x;
  CHECK(counts.size() == 6);
  for (const auto& [columns, count] : counts) {
    REQUIRE(columns.size() == 2);
    const double a = w[columns[0]], b = w[columns[1]];
    const double p = a / sum * b / (sum - a) + b / sum * a / (sum - b);
    CHECK(std::abs(count - n * p) < 4.5 * std::sqrt(n * p * (1 - p)));
  }
}

TEST_CASE("columns of weight 0 are never drawn, even if fewer than wanted are left") {
  CHECK(Drawn({0.0, 1.0, 0.0, 0.5}, 0.5).count(50) == std::map<Columns, int>{{{1, 3}, 50}});
  CHECK(Drawn({0.0, 0.0, 1.0, 0.0}, 0.8).count(50) == std::map<Columns, int>{{{2}, 50}});
  const auto counts = Drawn({1.0, 0.0, 1e-300, 1e-320}, 0.25).count(50);
  CHECK(counts == std::map<Columns, int>{{{0}, 50}});
}

}  // namespace arboleda
