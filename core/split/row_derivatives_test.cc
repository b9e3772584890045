#include "split/row_derivatives.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "split/packed_gradients.h"

namespace arboleda {

TEST_CASE("computed derivatives give the integers and the sums of those in arrays") {
  constexpr std::size_t kRows = 40'000;
  RandomStream random(5, Purpose::feature_subset, 0, 0);
  std::vector<double> gradient(kRows), hessian(kRows);
  for (auto& g : gradient) g = random.uniform() - 0.5;
  for (auto& h : hessian) h = 0.1 + random.uniform();
  std::vector<RowIndex> every, some;  // some: with gaps, among them a long one
  for (RowIndex row = 0; row < kRows; ++row) {
    every.push_back(row);
    const bool is_listed = random.below(4) > 0 && (row < 5'000 || row > 9'000);
    if (is_listed) some.push_back(row);
  }
  for (const bool has_hessian : {false, true}) {
    const RowDerivatives kept{gradient, has_hessian ? hessian : std::span<const double>()};
    const ComputedDerivatives computed{
        kRows, has_hessian, [&](std::size_t begin, std::size_t end, auto g, auto h) {
          REQUIRE(g.size() == end - begin);
          REQUIRE(h.size() == (has_hessian ? end - begin : 0));
          std::copy_n(gradient.begin() + static_cast<std::ptrdiff_t>(begin), g.size(), g.begin());
          std::copy_n(hessian.begin() + static_cast<std::ptrdiff_t>(begin), h.size(), h.begin());
        }};
    const RowDerivatives again{{}, {}, &computed};
    for (const auto& rows : {every, some}) {
      for (const int n_threads : {1, 3}) {
        const Context context(n_threads);
        PackedGradients expected, packed;
        expected.pack(rows, kept, context);
        packed.pack(rows, again, context);
        CHECK(packed.has_unit_hessian() == !has_hessian);
        CHECK(packed.gradient_unit() == expected.gradient_unit());
        CHECK(packed.hessian_unit() == expected.hessian_unit());
        CHECK(packed.total().gradient == expected.total().gradient);
        CHECK(packed.total().hessian == expected.total().hessian);
        CHECK(std::all_of(rows.begin(), rows.end(), [&](RowIndex row) {
          return packed.data()[row] == expected.data()[row];
        }));

        LeafRows leaves;
        leaves.rows = rows;
        std::stable_partition(leaves.rows.begin(), leaves.rows.end(),
                              [](RowIndex row) { return row % 3 == 0; });
        const auto end = std::is_sorted_until(leaves.rows.begin(), leaves.rows.end());
        const auto n_first = static_cast<std::size_t>(end - leaves.rows.begin());
        leaves.leaves = {{1, 0, n_first}, {2, n_first, rows.size()}};
        const auto sums_of = [&](const RowDerivatives& derivatives) {
          std::vector<double> sums;
          for (const ExactSum& sum : sum_leaves(derivatives, expected.gradient_scale(),
                                                expected.hessian_scale(), leaves, context)) {
            sums.push_back(static_cast<double>(sum.units()));
          }
          return sums;
        };
        CHECK(sums_of(again) == sums_of(kept));
      }
    }
  }
}

}  // namespace arboleda
