#include "base/fixed_point.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace arboleda {

int bit_length(std::uint64_t value) { return 64 - std::countl_zero(value); }

double FixedTargets::to_real(double units) const { return centre + std::ldexp(units, -shift); }
double FixedTargets::to_units(double real) const { return std::ldexp(real - centre, shift); }

namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

bool counts(const std::vector<bool>& dropped, std::size_t i) {
  return dropped.empty() || !dropped[i];
}

Range range_of(std::span<const double> targets, const std::vector<bool>& dropped,
               const Shards* shards) {
  Range range;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!counts(dropped, i)) continue;
    require(std::isfinite(targets[i]), "targets must be finite");
    range.low = std::min(range.low, targets[i]);
    range.high = std::max(range.high, targets[i]);
  }
  see_range(shards, range.low, range.high);
  require(range.low <= range.high, "at least one row of positive weight is needed");
  return range;
}

// reach: the largest distance to the centre.
FixedTargets fix_about(double centre, double reach, std::span<const double> targets,
                       const std::vector<bool>& dropped, int max_bits) {
  FixedTargets fixed;
  fixed.centre = centre;
  fixed.shift = reach > 0.0 ? max_bits - 1 - std::ilogb(reach) : 0;
  fixed.value.resize(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!counts(dropped, i)) continue;
    fixed.value[i] = std::llround(std::ldexp(targets[i] - centre, fixed.shift));
  }
  return fixed;
}

}  // namespace

FixedTargets fix_targets(std::span<const double> targets, const std::vector<bool>& dropped,
                         int max_bits, const Shards* shards) {
  const auto [low, high] = range_of(targets, dropped, shards);
  const double centre = low / 2 + high / 2;
  return fix_about(centre, std::max(high - centre, centre - low), targets, dropped, max_bits);
}

FixedTargets fix_amounts(std::span<const double> amounts, const std::vector<bool>& dropped,
                         int max_bits, const Shards* shards) {
  const auto [low, high] = range_of(amounts, dropped, shards);
  require(low >= 0.0, "targets must not be negative");
  require(high > 0.0, "at least one target of positive weight must be positive");
  return fix_about(0.0, high, amounts, dropped, max_bits);
}

}  // namespace arboleda
