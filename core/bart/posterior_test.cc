#include "bart/posterior.h"

#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include "bart/packed_node.h"
#include "bart/sampler.h"
#include "base/error.h"
#include "data/binned_dataset.h"

namespace arboleda {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Two draws of two trees over a column of numbers and one of three categories.
//   (x <= 2 ? 1 : (category == 1 ? 2 : 3)) + 10,  missing left at the first split, right at the second
//   5 + (present ? 7 : 8)
PosteriorArrays example() {
  PosteriorArrays arrays;
  arrays.n_draws = 2;
  arrays.n_trees = 2;
  arrays.n_cuts = {2, 0};
  arrays.n_levels = {0, 3};
  arrays.cuts = {1.0, 2.0};
  for (const PackedNode node :
       {PackedNode::inner({0, 1, true}, 2), PackedNode::leaf(1),
        PackedNode::inner({1, 1, false}, 2), PackedNode::leaf(2), PackedNode::leaf(3),
        PackedNode::leaf(10), PackedNode::leaf(5), PackedNode::inner({0, 2, false}, 2),
        PackedNode::leaf(7), PackedNode::leaf(8)}) {
    arrays.nodes.push_back(node.bits());
  }
  arrays.centre = 100.0;
  arrays.unit = 0.5;
  return arrays;
}

struct Columns {
  std::vector<double> number, category;

  TableView view() const {
    const auto column = [](const std::vector<double>& x) {
      return ColumnView{reinterpret_cast<const std::byte*>(x.data()), sizeof(double),
                        DType::float64};
    };
    return {number.size(), {column(number), column(category)}};
  }
};

TEST_CASE("Draws at rows, walked by hand") {
  const Posterior posterior(example());
  const Columns rows{{2.0, 2.1, 9.0, kMissing, 3.0}, {1.0, 1.0, 0.0, 0.0, kMissing}};
  std::vector<double> values(10);
  for (const int n_threads : {1, 2}) {
    posterior.draw(0, 2, rows.view(), Context(n_threads), values);
    CHECK(values == std::vector<double>{105.5, 106.0, 106.5, 105.5, 106.5,  //
                                        106.0, 106.0, 106.0, 106.5, 106.0});
  }
  std::vector<double> mean(5);
  posterior.mean(rows.view(), Context(), mean);
  CHECK(mean == std::vector<double>{105.75, 106.0, 106.25, 106.0, 106.25});
  CHECK(posterior.split_counts() == std::vector<std::int64_t>{1, 1, 1, 0});
  CHECK(posterior.leaf_counts() == std::vector<std::int64_t>{3, 1, 1, 2});
}

TEST_CASE("Arrays that are no posterior are refused") {
  const auto refuses = [](const auto& damage) {
    PosteriorArrays arrays = example();
    damage(arrays);
    CHECK_THROWS_AS(Posterior(std::move(arrays)), Error);
  };
  for (std::size_t node = 0; node < example().nodes.size(); ++node) {
    refuses([&](PosteriorArrays& a) { a.nodes.erase(a.nodes.begin() + std::ptrdiff_t(node)); });
    refuses([&](PosteriorArrays& a) { a.nodes[node] = -1; });
  }
  refuses([](PosteriorArrays& a) { a.nodes.push_back(0); });
  refuses([](PosteriorArrays& a) { a.nodes[0] = PackedNode::inner({2, 0, false}, 2).bits(); });
  refuses([](PosteriorArrays& a) { a.nodes[0] = PackedNode::inner({0, 3, false}, 2).bits(); });
  refuses([](PosteriorArrays& a) { a.nodes[0] = PackedNode::inner({1, 4, false}, 2).bits(); });
  refuses([](PosteriorArrays& a) { a.nodes[0] = PackedNode::inner({0, 1, false}, 3).bits(); });
  refuses([](PosteriorArrays& a) { a.nodes[1] = a.nodes[5] = PackedNode::leaf(1 << 30).bits(); });
  refuses([](PosteriorArrays& a) { a.n_draws = 0; });
  refuses([](PosteriorArrays& a) { a.n_trees = std::size_t{1} << 63; });
  refuses([](PosteriorArrays& a) { a.cuts[1] = 1.0; });
  refuses([](PosteriorArrays& a) { a.cuts[1] = kMissing; });
  refuses([](PosteriorArrays& a) { a.n_cuts[0] = 1; });
  refuses([](PosteriorArrays& a) { a.n_cuts[0] = -1; });
  refuses([](PosteriorArrays& a) { a.n_levels = {0}; });
  refuses([](PosteriorArrays& a) { a.unit = kMissing; });
}

TEST_CASE("The draws at the training rows average to the mean fit of the chains") {
  std::vector<double> number, category, target;
  for (int i = 0; i < 300; ++i) {
    number.push_back(i % 7 == 0 ? kMissing : (i * 37) % 100);
    category.push_back(i % 5 == 4 ? kMissing : i % 3);
    target.push_back(((i * 37) % 100 > 50 ? 0.3 : -0.3) + (i % 3 == 1 ? 0.15 : 0.0));
  }
  const Columns rows{number, category};
  const std::vector<std::uint32_t> levels = {0, 3};
  const BinnedDataset coded =
      code_table(rows.view(), Context(), {.n_categories = levels, .max_bins = 20});
  std::vector<RowIndex> all(300);
  for (RowIndex i = 0; i < 300; ++i) all[i] = i;
  const RuleColumns columns = rule_columns(coded, all);
  BartOptions options;
  options.n_trees = 20;
  options.n_burn_in = 10;
  options.n_draws = 15;
  options.n_chains = 3;
  options.leaf_sd = 0.06;
  options.lambda = 0.01;
  options.sigma = 0.1;
  for (const bool probit : {false, true}) {
    options.is_probit = probit;
    std::vector<double> y = target;
    if (probit) {
      for (double& v : y) v = v > 0.0 ? 1.0 : 0.0;
    }
    const BartRows data{columns, y, {}};
    const BartDraws one = sample_bart(data, options, {}, Context(1, 9));
    const BartDraws two = sample_bart(data, options, {}, Context(2, 9));
    CHECK(one.nodes == two.nodes);
    CHECK(one.sigma == two.sigma);
    PosteriorArrays arrays{45, 20, {}, {}, {}, one.nodes, 0.0, one.unit};
    for (const RuleColumn& column : columns.columns) {
      arrays.n_cuts.push_back(static_cast<std::int64_t>(column.cuts.size()));
      arrays.n_levels.push_back(column.is_categorical ? column.n_values : 0);
      arrays.cuts.insert(arrays.cuts.end(), column.cuts.begin(), column.cuts.end());
    }
    const Posterior posterior(arrays);
    std::vector<double> values(45 * 300);
    posterior.draw(0, 45, rows.view(), Context(), values);
    for (std::size_t draw = 0; draw < 45; ++draw) {
      double mean = 0.0;
      for (std::size_t i = 0; i < 300; ++i) mean += values[draw * 300 + i] / 300;
      CHECK(mean == doctest::Approx(one.mean_fit[draw / 15 * 25 + 10 + draw % 15]).epsilon(1e-9));
    }
  }
}

}  // namespace
}  // namespace arboleda
