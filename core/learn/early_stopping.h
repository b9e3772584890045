// When boosting stops, and the round it returns to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace arboleda {

// The first of the smallest losses; losses[i] is the one after i rounds.
inline std::int64_t best_round(std::span<const double> losses) {
  return std::min_element(losses.begin(), losses.end()) - losses.begin();
}

// The rule of scikit-learn's HistGradientBoosting: stop when none of the last `patience` losses lies
// more than `tolerance` below the one before them.
inline bool has_stalled(std::span<const double> losses, std::int64_t patience, double tolerance) {
  const auto last = static_cast<std::size_t>(patience);
  if (losses.size() <= last) return false;
  const double before = losses[losses.size() - last - 1];
  const auto recent = losses.last(last);
  return std::none_of(recent.begin(), recent.end(),
                      [&](double loss) { return loss < before - tolerance; });
}

}  // namespace arboleda
