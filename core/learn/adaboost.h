// AdaBoost and its family: members grown one after the other, each on weights that stress the rows which
// earlier members got wrong (Freund & Schapire 1997). The loop is shared; a Booster is one algorithm's round.
//
//   for every round:
//     leave out the rows of least weight, if weight_trimming > 0           (weight_trimming.h)
//     grow the member on the weights: a tree, or a tree a class            (booster.h)
//     evaluate it: its error, its weight, its edge; too weak or perfect ones end the loop or reset it
//     reweigh
//     add its votes to the scores of validation rows; call back
//
// Columns are coded once. Weights are doubles, updated row by row; whatever is decided by a sum of them
// is decided by integers: no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "grow/growth_options.h"
#include "learn/cart.h"
#include "tree/forest.h"
#include "tree/member_votes.h"

namespace arboleda {

//   discrete  two classes: Freund & Schapire (1997); h = +-1, a = log((1-e)/e)/2
//   m1        Freund & Schapire (1997), AdaBoost.M1: the same weights, votes log(1/beta) = 2a
//   samme     Zhu et al. (2009), algorithm 2: a = log((1-e)/e) + log(K-1)
//   real      Friedman et al. (2000), algorithm 2; of more than two classes Zhu et al. (2009), SAMME.R
//   m2        Freund & Schapire (1997), AdaBoost.M2
//   mh, mr    Schapire & Singer (1999), AdaBoost.MH and AdaBoost.MR
//   gentle    Friedman et al. (2000), algorithm 4
//   logit     Friedman et al. (2000), algorithms 3 and 6
enum class AdaBoostAlgorithm : std::uint8_t {
  discrete,
  m1,
  samme,
  real,
  m2,
  mh,
  mr,
  gentle,
  logit
};

// What is done after a member without error, and instead of one no better than guessing: the loop ends,
// or the weights become those of a bootstrap sample and it goes on (Bauer & Kohavi 1999, "An empirical
// comparison of voting classification algorithms"; Webb 2000, "MultiBoosting").
enum class OnDegenerate : std::uint8_t { stop, reset };

struct AdaBoostOptions {
  AdaBoostAlgorithm algorithm = AdaBoostAlgorithm::samme;
  std::uint32_t n_rounds = 50;
  double learning_rate = 1.0;  // factor of every member's weight
  GrowthOptions growth;        // but for `tree`
  ClassMeasure measure = ClassMeasure::gini;
  // The rows of smallest weight whose weights sum to at most this share of all sit the round out:
  // Friedman, Hastie, Tibshirani (2000), section 9. 0: none.
  double weight_trimming = 0.0;
  OnDegenerate on_degenerate = OnDegenerate::stop;
};

// What is known of a member, on the weights D that it was grown on. NaN where it has no meaning.
struct AdaBoostRound {
  double error = 0.0;         // sum of D over the rows that it gets wrong
  double weight = 1.0;        // of its vote
  double normalizer = 1.0;    // Z: sum of D x the factor each row's weight gets
  double edge = 0.0;          // how much better than guessing: 1/2 - e; SAMME: 1 - 1/K - e
  bool reset_before = false;  // its weights D were drawn anew
};

enum class AdaBoostEnd : std::uint8_t {
  all_rounds,
  perfect,   // the last member makes no error
  too_weak,  // the next would be no better than guessing; rounds may be empty
  stopped    // by the callback
};

struct AdaBoosted {
  Forest forest;                      // trees_a_round trees a round, in order
  std::vector<AdaBoostRound> rounds;  // members kept
  MemberVote vote = MemberVote::largest;
  std::size_t trees_a_round = 1;
  AdaBoostEnd end = AdaBoostEnd::all_rounds;
  double weak_error = 0.0;  // too_weak: the error of the member that was not kept
};

// Rows of the table that take no part and are scored after every round: ascending, or none.
struct AdaBoostData {
  const BinnedDataset& table;
  std::span<const std::uint32_t> labels;  // one a row, each below n_classes
  std::size_t n_classes;
  std::span<const double>
      weights;  // one a row, or empty for "all 1"; rows of weight 0 take no part
  std::span<const RowIndex> validation_rows = {};  // their weight counts as 0
};

struct AdaBoostProgress {
  std::size_t n_rounds;  // members kept so far
  const AdaBoostRound& round;
  std::span<const double> validation_scores;  // validation rows x outputs, row-major: sums of votes
};

// Called on the caller's thread after every member that is kept. True: stop.
using AdaBoostCallback = std::function<bool(const AdaBoostProgress&)>;

AdaBoosted fit_adaboost(const AdaBoostData& data, const AdaBoostOptions& options,
                        const AdaBoostCallback& callback, const Context& context);

}  // namespace arboleda
