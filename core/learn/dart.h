// Dropouts meet boosting: Vinayak & Gilad-Bachrach (2015), "DART: dropouts meet multiple additive
// regression trees".
//
// A round leaves out k of the earlier rounds, grows its trees on the gradients of the others' scores,
// and then shares the work: with the learning rate r,
//
//   new trees      times r / (k + r)
//   dropped trees  times k / (k + r)
//
// so that new and dropped trees together are as large as the dropped ones were; r = 1 gives the
// paper's 1/(k + 1) and k/(k + 1). With k = 0 new trees are times r, as without dropping.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/shards.h"
#include "base/types.h"
#include "objective/objective.h"

namespace arboleda {

struct DartOptions {
  double drop_rate = 0.0;      // probability of each round to be dropped; 0: no dropping
  double skip_drop = 0.5;      // probability that a round drops none
  std::int64_t max_drop = 50;  // rounds dropped at once

  bool is_on() const { return drop_rate > 0.0; }
};

// The rounds that round `round` leaves out, ascending: a function of the seed and its number.
std::vector<std::size_t> draw_dropped(const DartOptions& options, std::size_t round,
                                      std::uint64_t seed);

inline double share_of_new(double learning_rate, std::size_t n_dropped) {
  if (n_dropped == 0) return learning_rate;
  return learning_rate / (static_cast<double>(n_dropped) + learning_rate);
}

inline double share_of_dropped(double learning_rate, std::size_t n_dropped) {
  const auto k = static_cast<double>(n_dropped);
  return k / (k + learning_rate);
}

// Trees come and go: sums of float64 would keep a trace of what was taken out. Therefore start and
// leaf values are whole multiples of a power of two, 2^-46 of the largest single step that the loss
// calls for at the start: scores up to 2^7 times that step are exact, in any order of adding.
//
// The start of output 0 is an odd multiple, from which a fit that continues recovers the unit.
class ScoreGrid {
 public:
  // For a new ensemble, whose start is put on the grid.
  ScoreGrid(Objective& objective, std::span<const RowIndex> rows, const Shards* shards,
            std::vector<double>& start);

  // That of an ensemble.
  explicit ScoreGrid(std::span<const double> start);

  double nearest(double value) const;

 private:
  int exponent_;  // of the unit
};

}  // namespace arboleda
