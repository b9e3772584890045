#include "split/histogram.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "data/gather_codes.h"
#include "layout/row_codes.h"
#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

// Histograms of a table, each by its definition: row by row, in cells that hold any sum.
struct Twin {
  Twin(const BinnedDataset& table, const RowCodes& codes, std::span<const RowIndex> rows,
       const PackedGradients& gradients)
      : cells(codes.n_cells()) {
    std::vector<Code> of_rows;
    for (const RowCodes::Column& column : codes.columns()) {
      gather_codes(table.columns[static_cast<std::size_t>(column.feature)], rows, of_rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Packed packed = gradients.data()[rows[i]];
        Wide& cell = cells[column.first_cell + of_rows[i]];
        cell = cell + Wide{packed >> 32, packed & 0xffffffff};
      }
    }
  }
  std::vector<Wide> cells;
};

}  // namespace

TEST_CASE("large nodes are summed up in blocks of rows, as row by row") {
  const Context context(2);
  const MixedProblem problem(1'100'000);
  const BinnedDataset table = problem.mixed(context, 255);
  const RowCodes codes(table, context);
  std::vector<RowIndex> rows(problem.n);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  std::vector<double> gradient(problem.n), hessian(problem.n);
  RandomStream random(3, Purpose::feature_subset, 0, 0);
  for (std::size_t i = 0; i < problem.n; ++i) {
    gradient[i] = random.uniform() - 0.9;
    hessian[i] = random.uniform();
  }
  // A few large gradients call for units so fine that no block of rows fits.
  for (const double largest : {1.0, 1e9}) {
    gradient[7] = -largest;
    PackedGradients gradients;
    gradients.pack(rows, {gradient, hessian}, context);
    REQUIRE_FALSE(gradients.fits_packed(problem.n));
    CHECK(gradients.fits_packed(1'000'000) == (largest == 1.0));
    Histogram histogram;
    histogram.clear(codes.n_cells(), true);
    add_rows(codes, nullptr, 0, 5, gradients, histogram);
    add_rows(codes, rows.data(), 5, problem.n, gradients, histogram);
    const Twin twin(table, codes, rows, gradients);
    for (const RowCodes::Column& column : codes.columns()) {
      histogram.complete(column, gradients.total());
      for (std::size_t cell = column.first_cell; cell < column.first_cell + column.n_codes;
           ++cell) {
        REQUIRE(histogram.at(cell).gradient == twin.cells[cell].gradient);
        REQUIRE(histogram.at(cell).hessian == twin.cells[cell].hessian);
      }
    }
  }
}

}  // namespace arboleda
