#include "learn/dart.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.h"

namespace arboleda {

namespace {

constexpr int kFractionBits = 46;

// The largest step that a single row calls for.
double largest_step(Objective& objective, std::span<const double> scores,
                    std::span<const RowIndex> rows) {
  objective.prepare(scores, rows, 0, Context());
  const std::size_t n = objective.n_rows();
  const bool has_exact_leaf_step = objective.has_exact_leaf_step();
  std::vector<double> gradient(scores.size());
  std::vector<double> hessian(objective.has_unit_hessian() ? 0 : scores.size());
  if (!has_exact_leaf_step) objective.gradients(scores, 0, n, gradient, hessian);
  double largest = 0.0;
  for (std::size_t k = 0; k < objective.n_outputs(); ++k) {
    for (const RowIndex row : rows) {
      const std::size_t i = k * n + row;
      const double step = has_exact_leaf_step ? objective.best_step(scores, k, std::span(&row, 1))
                          : hessian.empty()   ? gradient[i]
                          : hessian[i] > 0.0  ? gradient[i] / hessian[i]
                                              : 0.0;
      if (std::isfinite(step)) largest = std::max(largest, std::abs(step));
    }
  }
  return largest;
}

int exponent_of(double value) { return value > 0.0 ? std::ilogb(value) : 0; }

}  // namespace

std::vector<std::size_t> draw_dropped(const DartOptions& options, std::size_t round,
                                      std::uint64_t seed) {
  std::vector<std::size_t> dropped;
  if (!options.is_on()) return dropped;
  RandomStream random(seed, Purpose::dropped_round, static_cast<std::uint32_t>(round), 0);
  if (random.uniform() < options.skip_drop) return dropped;
  for (std::size_t earlier = 0; earlier < round; ++earlier) {
    if (random.uniform() < options.drop_rate) dropped.push_back(earlier);
  }
  while (dropped.size() > static_cast<std::size_t>(options.max_drop)) {
    const std::uint32_t spared = random.below(static_cast<std::uint32_t>(dropped.size()));
    dropped.erase(dropped.begin() + spared);
  }
  return dropped;
}

ScoreGrid::ScoreGrid(Objective& objective, std::span<const RowIndex> rows, const Shards* shards,
                     std::vector<double>& start) {
  std::vector<double> scores(objective.n_rows() * start.size());
  double largest = 0.0;
  for (std::size_t k = 0; k < start.size(); ++k) {
    std::fill_n(scores.begin() + static_cast<std::ptrdiff_t>(k * objective.n_rows()),
                objective.n_rows(), start[k]);
    largest = std::max(largest, std::abs(start[k]));
  }
  Magnitude most;
  most.see(std::max(largest, largest_step(objective, scores, rows)));
  see_all(shards, std::span(&most, 1));
  exponent_ = exponent_of(most.value()) - kFractionBits;
  for (double& value : start) value = nearest(value);
  const double units = std::ldexp(start[0], -exponent_);
  if (std::fmod(units, 2.0) == 0.0) start[0] = std::ldexp(units + 1.0, exponent_);
}

ScoreGrid::ScoreGrid(std::span<const double> start) {
  int exponent = 0;
  const double fraction = std::frexp(start[0], &exponent);
  const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int zeros =
      digits == 0 ? 53 - kFractionBits : std::countr_zero(static_cast<std::uint64_t>(digits));
  exponent_ = exponent - 53 + zeros;
}

double ScoreGrid::nearest(double value) const {
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent_)), exponent_);
}

}  // namespace arboleda
