#include "criterion/poisson.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"

namespace arboleda {

namespace {

double deviance(const std::vector<double>& y, const std::vector<double>& w, std::size_t begin,
                std::size_t end) {
  double sum = 0, weight = 0, total = 0;
  for (std::size_t i = begin; i < end; ++i) {
    sum += w[i] * y[i];
    weight += w[i];
  }
  for (std::size_t i = begin; i < end; ++i) {
    total += w[i] * ((y[i] > 0 ? y[i] * std::log(y[i] * weight / sum) : 0.0) - y[i] + sum / weight);
  }
  return total;
}

}  // namespace

TEST_CASE("phi is (1 + r) log(1 + r) - r, also where that cancels") {
  CHECK(poisson_phi(-1.0) == 1.0);
  CHECK(poisson_phi(0.0) == 0.0);
  for (double r = -0.999; r < 50; r += 0.0371) {
    const long double exact = (1.0L + r) * std::log1p(static_cast<long double>(r)) - r;
    CHECK(poisson_phi(r) == doctest::Approx(static_cast<double>(exact)).epsilon(1e-13));
  }
  for (const double r : {1e-3, -1e-5, 1e-9, -1e-14}) {
    CHECK(poisson_phi(r) == doctest::Approx(r * r / 2 - r * r * r / 6).epsilon(1e-6));
  }
}

TEST_CASE("scores and impurities follow the definition; no side may have a mean of 0") {
  RandomStream random(8, Purpose::feature_subset, 0, 0);
  for (const double offset : {0.0, 1e6}) {
    std::vector<double> y, w;
    const std::size_t n = 60;
    for (std::size_t i = 0; i < n; ++i) {
      y.push_back(offset + (i < 3 ? 0 : random.below(4) * random.below(7)));
      w.push_back(0.25 * (1 + random.below(9)));
    }
    y[3] = y.back() = offset + 5;  // from here on neither side is all 0
    const FixedWeights weights = fix_weights(w, n, kWideWeightBits);
    const FixedTargets targets = fix_amounts(y, {}, kWideTargetBits);
    const Poisson<Int128, true> criterion(y, targets, weights);
    std::vector<RowIndex> all(n);
    std::iota(all.begin(), all.end(), 0u);
    Poisson<Int128, true>::Local local;
    criterion.gather(all, local);
    Moments<Int128> total;
    for (std::size_t i = 0; i < n; ++i) criterion.add(local, i, &total);
    const double unit = std::ldexp(1.0, criterion.impurity_exponent());
    const double whole = criterion.weight(&total) * criterion.weight_unit();
    const double all_of_it = deviance(y, w, 0, n);
    CHECK(criterion.impurity(local, &total) * unit * whole ==
          doctest::Approx(all_of_it).epsilon(1e-8));
    auto sides = criterion.make_sides();
    sides.reset(&total, n);
    for (std::size_t i = 0; i + 1 < n; ++i) {
      criterion.move_row(local, i, sides);
      const double score = sides.score() * unit * criterion.weight_unit();
      if (offset == 0.0 && i < 3) {
        CHECK(score == -std::numeric_limits<double>::infinity());
      } else {
        const double children = deviance(y, w, 0, i + 1) + deviance(y, w, i + 1, n);
        CHECK(std::abs(score - (all_of_it - children)) < 1e-9 * all_of_it + 1e-12 * offset);
      }
    }
  }
}

}  // namespace arboleda
