#include "learn/weight_trimming.h"

#include <algorithm>

#include "base/exact_sum.h"

namespace arboleda {

namespace {

// By bisection: each half is found by one partial sort, and its sum is exact.
double least_kept_weight(std::vector<double>& weights, double share) {
  const SumScale scale(magnitude_of(weights));
  const auto sum = [&](std::size_t begin, std::size_t end) {
    ExactSum units;
    for (std::size_t i = begin; i < end; ++i) units.add(scale, weights[i]);
    return units;
  };
  const double budget = share * static_cast<double>(sum(0, weights.size()).units());
  const auto at = [&](std::size_t i) { return weights.begin() + static_cast<std::ptrdiff_t>(i); };
  std::size_t low = 0;
  std::size_t high = weights.size();
  ExactSum below;  // of the weights before `low`, all at most that of `low`
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    std::nth_element(at(low), at(middle), at(high));
    ExactSum more = below;
    more.add(sum(low, middle));
    if (static_cast<double>(more.units()) <= budget) {
      below = more;
      low = middle;
    } else {
      high = middle;
    }
  }
  return weights[low];
}

}  // namespace

void mark_light_rows(std::span<const double> weights, std::span<const RowIndex> rows, double share,
                     std::vector<std::uint8_t>& out) {
  std::vector<double> of_rows;
  of_rows.reserve(rows.size());
  for (const RowIndex row : rows) of_rows.push_back(weights[row]);
  const double least = least_kept_weight(of_rows, share);
  out.assign(weights.size(), 0);
  for (const RowIndex row : rows) out[row] = weights[row] < least;
}

}  // namespace arboleda
