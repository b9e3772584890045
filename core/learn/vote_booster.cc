// Discrete AdaBoost, AdaBoost.M1 and SAMME: a member votes for the largest class of a row's leaf.
//
// With e the weight of the rows that it gets wrong, alpha = nu (log((1-e)/e) + log(K-1)), where K = 2 in
// discrete AdaBoost and in M1, and nu is the learning rate, weights get the factors
//
//   exp(alpha/K)  if wrong,   exp(-alpha (K-1)/K)  if right.
//
// Their ratio is exp(alpha), as in Zhu et al. (2009), algorithm 2; of two classes they are
// exp(-+a) with a = alpha/2. AdaBoost.M1's factors, 1 and beta = e/(1-e) = exp(-alpha), have the same
// ratio. The sum Z of the new weights is then, for nu = 1 and K = 2, 2 sqrt(e (1-e)), and the product of
// all Z is the bound of the training error of Freund & Schapire (1997), theorem 6.
#include <algorithm>
#include <cmath>
#include <utility>

#include "learn/booster.h"
#include "learn/member_grower.h"
#include "learn/row_weights.h"

namespace arboleda {

namespace {

// A member without error counts as one of this error (Webb 2000).
constexpr double kSmallestError = 1e-10;

// What is this close to guessing is guessing.
constexpr double kSmallestEdge = 1e-10;

class VoteBooster final : public Booster {
 public:
  explicit VoteBooster(const BoosterTask& task)
      : task_(task),
        weights_(task),
        grower_(task),
        n_ways_(task.options.algorithm == AdaBoostAlgorithm::samme
                    ? static_cast<double>(std::max<std::size_t>(2, task.n_classes))
                    : 2.0) {
    require(task.options.algorithm != AdaBoostAlgorithm::discrete || task.n_classes <= 2,
            "discrete AdaBoost is for two classes: use M1 or SAMME");
  }

  MemberShape shape() const override {
    return {MemberVote::largest, 1, task_.n_classes, static_cast<Measure>(task_.options.measure)};
  }
  std::span<const double> row_weights() const override { return weights_.values(); }

  std::vector<TreeArrays> grow(const GrowthOptions& growth,
                               std::span<const std::uint8_t> sits_out) override {
    return grower_.grow(weights_.fixed(sits_out, kClassWeightBits), growth);
  }

  MemberResult evaluate(std::span<const MemberTree> member) override {
    const TreeArrays& tree = member[0].tree;
    choices_ = largest_classes(tree, task_.n_classes);
    const LeafWeights sums = weights_.sums(member[0].leaf, tree.right.size());
    whole_ = sums.whole();
    MemberResult result;
    AdaBoostRound& round = result.round;
    round.error = sums.share_but(choices_);
    round.edge = 1.0 - 1.0 / n_ways_ - round.error;
    if (round.error == 0.0) {
      result.status = MemberStatus::perfect;
    } else if (round.edge < kSmallestEdge) {
      result.status = MemberStatus::too_weak;
    }
    const double alpha = log_odds(round.error);
    round.weight = result.status == MemberStatus::perfect ? weight_of_perfect() : vote_for(alpha);
    round.normalizer = round.error * when_wrong(alpha) + (1.0 - round.error) * when_right(alpha);
    return result;
  }

  void reweigh(std::span<const MemberTree> member, const AdaBoostRound& round) override {
    sum_of_votes_ += round.weight;
    const double alpha = log_odds(round.error);
    const double scale = 1.0 / (round.normalizer * whole_);
    std::vector<double> factor(choices_.size() * task_.n_classes, when_wrong(alpha) * scale);
    for (std::size_t node = 0; node < choices_.size(); ++node) {
      factor[node * task_.n_classes + choices_[node]] = when_right(alpha) * scale;
    }
    weights_.multiply(member[0].leaf, factor);
  }

  void reset(std::span<const double> row_weights) override { weights_.set(row_weights); }

 private:
  // alpha
  double log_odds(double error) const {
    const double e = std::max(error, kSmallestError);
    return task_.options.learning_rate * (std::log((1.0 - e) / e) + std::log(n_ways_ - 1.0));
  }
  double vote_for(double alpha) const {
    return task_.options.algorithm == AdaBoostAlgorithm::discrete ? alpha / 2 : alpha;
  }
  // In theory it is infinite. The last member's outvotes all others, but for SAMME's, which is
  // scikit-learn's.
  double weight_of_perfect() const {
    const double finite = vote_for(log_odds(0.0));
    if (task_.options.on_degenerate == OnDegenerate::reset) return finite;
    if (task_.options.algorithm == AdaBoostAlgorithm::samme) return 1.0;
    return std::max(finite, 1.0 + sum_of_votes_);
  }
  double when_wrong(double alpha) const { return std::exp(alpha / n_ways_); }
  double when_right(double alpha) const { return std::exp(-alpha * (n_ways_ - 1.0) / n_ways_); }

  const BoosterTask& task_;
  RowWeights weights_;
  MemberGrower grower_;
  const double n_ways_;               // K
  std::vector<std::size_t> choices_;  // of each node of the last member that was evaluated
  double whole_ = 1.0;                // sum of all weights then
  double sum_of_votes_ = 0.0;         // weights of members so far
};

}  // namespace

std::unique_ptr<Booster> make_vote_booster(const BoosterTask& task) {
  return std::make_unique<VoteBooster>(task);
}

}  // namespace arboleda
