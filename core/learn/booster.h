// One algorithm of the AdaBoost family, round by round. The life of a Booster:
//
//   1. it is made for a problem: weights are those of the rows
//   2. grow(), evaluate(), reweigh()  every round, in this order. The loop finds the leaves between the
//      first two, and leaves out reweigh() after the last round.
//   3. reset()                     instead of reweigh(), or after evaluate() of a member that is not kept:
//      the initial weights, times other row weights
//
// A new algorithm is one Booster, in a file of its own, and one line in make_booster().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learn/adaboost.h"
#include "tree/tree.h"

namespace arboleda {

// All must outlive the Booster.
struct BoosterTask {
  const BinnedDataset& table;
  std::span<const std::uint32_t> labels;
  std::size_t n_classes;
  std::span<const RowIndex> rows;  // that take part, ascending
  std::span<const double>
      row_weights;  // one a row of the table, summing to 1; 0 where it takes no part
  const AdaBoostOptions& options;
  const Context& context;
};

// What the trees of all members have in common.
struct MemberShape {
  MemberVote vote = MemberVote::largest;
  std::size_t trees_a_round = 1;
  std::size_t n_outputs = 1;  // of a leaf
  Measure measure = Measure::gini;
};

// A tree of the member, and the leaf of each row that takes part: leaf[i] is that of task.rows[i], those
// that sat out included.
struct MemberTree {
  TreeArrays tree;
  std::vector<NodeIndex> leaf;
};

enum class MemberStatus : std::uint8_t { useful, perfect, too_weak };

struct MemberResult {
  AdaBoostRound round;
  MemberStatus status = MemberStatus::useful;
};

class Booster {
 public:
  virtual ~Booster() = default;

  virtual MemberShape shape() const = 0;

  // The weight of each row of the table, whatever its scale: what trimming goes by. None where each tree
  // of a member has weights of its own, and trims by them.
  virtual std::span<const double> row_weights() const = 0;

  // Grows the trees of a member. growth: of this round. sits_out: one a row of the table, or empty for
  // none; at least one row of positive weight stays.
  virtual std::vector<TreeArrays> grow(const GrowthOptions& growth,
                                       std::span<const std::uint8_t> sits_out) = 0;

  virtual MemberResult evaluate(std::span<const MemberTree> member) = 0;

  // round: as evaluate() returned it.
  virtual void reweigh(std::span<const MemberTree> member, const AdaBoostRound& round) = 0;

  // row_weights: one a row of the table, summing to 1; they must outlive the next call.
  virtual void reset(std::span<const double> row_weights) = 0;
};

std::unique_ptr<Booster> make_booster(const BoosterTask& task);

// AdaBoost by votes (discrete, M1, SAMME), and by class shares (real, SAMME.R).
std::unique_ptr<Booster> make_vote_booster(const BoosterTask& task);
std::unique_ptr<Booster> make_real_booster(const BoosterTask& task);

// By weights of pairs of a row and a class (M2, MR; MH), and by regressions (gentle, logit).
std::unique_ptr<Booster> make_ranking_booster(const BoosterTask& task);
std::unique_ptr<Booster> make_hamming_booster(const BoosterTask& task);
std::unique_ptr<Booster> make_gentle_booster(const BoosterTask& task);
std::unique_ptr<Booster> make_logit_booster(const BoosterTask& task);

}  // namespace arboleda
