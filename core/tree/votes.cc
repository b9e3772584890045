#include "tree/votes.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace arboleda {

Ballot::Ballot(const Forest& forest, Voting voting, std::span<const std::size_t> n_classes)
    : n_outputs_(static_cast<std::size_t>(forest.n_outputs)),
      measure_(forest.measure),
      voting_(voting),
      n_classes_(n_classes.begin(), n_classes.end()) {
  if (voting == Voting::soft) return;
  require(forest.measure != Measure::squared_error && forest.measure != Measure::poisson &&
              forest.measure != Measure::medians,
          "trees of a regression have no classes to vote for: they vote soft");
  require(!n_classes.empty() && *std::min_element(n_classes.begin(), n_classes.end()) >= 1 &&
              std::accumulate(n_classes.begin(), n_classes.end(), std::size_t{0}) == n_outputs_,
          "the classes that vote are not those of the forest");
}

void Ballot::add_hard(const double* shares, double* sums) const {
  for (const std::size_t n : n_classes_) {
    sums[std::max_element(shares, shares + n) - shares] += 1.0;
    shares += n;
    sums += n;
  }
}

void Ballot::add_laplace(const double* shares, double weight, double* sums) const {
  for (const std::size_t n : n_classes_) {
    const double whole = weight + static_cast<double>(n);
    for (std::size_t k = 0; k < n; ++k) sums[k] += (weight * shares[k] + 1.0) / whole;
    shares += n;
    sums += n;
  }
}

}  // namespace arboleda
