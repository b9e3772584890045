// Real AdaBoost: a member votes with a confidence. Its vote for a row in a leaf with class shares p is
//
//   h_k = nu (K-1) (log p_k - mean_j log p_j),
//
// nu being the learning rate, and the row's weight gets the factor exp(-h_y / (K-1)), y being its class.
// Zhu et al. (2009), algorithm 4 (SAMME.R): there the exponent is -(K-1)/K y^T log p with y_k = 1 for the
// row's class and -1/(K-1) for others, which is the same. Of two classes it is exp(-y f) with
// f = log(p_1 / p_0) / 2: Friedman, Hastie, Tibshirani (2000), algorithm 2.
//
// For nu = 1 the new weights of a leaf sum to K times the geometric mean of its shares: less than its
// weight, unless all shares are the same.
#include <algorithm>
#include <cmath>

#include "learn/booster.h"
#include "learn/member_grower.h"
#include "learn/row_weights.h"

namespace arboleda {

namespace {

// Votes this close to 0 come from shares that are all the same.
constexpr double kSmallestVote = 1e-10;

class RealBooster final : public Booster {
 public:
  explicit RealBooster(const BoosterTask& task) : task_(task), weights_(task), grower_(task) {}

  MemberShape shape() const override {
    return {MemberVote::log_odds, 1, task_.n_classes, static_cast<Measure>(task_.options.measure)};
  }
  std::span<const double> row_weights() const override { return weights_.values(); }

  std::vector<TreeArrays> grow(const GrowthOptions& growth,
                               std::span<const std::uint8_t> sits_out) override {
    return grower_.grow(weights_.fixed(sits_out, kClassWeightBits), growth);
  }

  MemberResult evaluate(std::span<const MemberTree> member) override {
    const TreeArrays& tree = member[0].tree;
    const LeafWeights sums = weights_.sums(member[0].leaf, tree.right.size());
    whole_ = sums.whole();
    const double largest = find_factors(tree);
    MemberResult result;
    AdaBoostRound& round = result.round;
    round.error = sums.share_but(largest_classes(tree, task_.n_classes));
    round.edge =
        1.0 - 1.0 / static_cast<double>(std::max<std::size_t>(2, task_.n_classes)) - round.error;
    round.weight = task_.options.learning_rate;
    round.normalizer = 0.0;
    for (std::size_t node = 0; node < tree.right.size(); ++node) {
      for (std::size_t k = 0; k < task_.n_classes; ++k) {
        round.normalizer += sums.share(node, k) * factor_[node * task_.n_classes + k];
      }
    }
    if (round.error == 0.0) {
      result.status = MemberStatus::perfect;
    } else if (largest < kSmallestVote) {
      result.status = MemberStatus::too_weak;
    }
    return result;
  }

  void reweigh(std::span<const MemberTree> member, const AdaBoostRound& round) override {
    for (double& f : factor_) f /= round.normalizer * whole_;
    weights_.multiply(member[0].leaf, factor_);
  }

  void reset(std::span<const double> row_weights) override { weights_.set(row_weights); }

 private:
  // The factor of a row of each class in each node; returns the largest vote for nu = 1.
  double find_factors(const TreeArrays& tree) {
    const std::size_t n_classes = task_.n_classes;
    const double n_others = std::max(1.0, static_cast<double>(n_classes) - 1.0);
    double largest = 0.0;
    factor_.assign(tree.value.size(), 1.0);
    for (std::size_t node = 0; node < tree.right.size(); ++node) {
      if (tree.right[node] >= 0) continue;
      const auto factors = std::span(factor_).subspan(node * n_classes, n_classes);
      vote_of_leaf(MemberVote::log_odds, std::span(tree.value).subspan(node * n_classes, n_classes),
                   1.0, factors);
      for (double& h : factors) {
        largest = std::max(largest, std::abs(h));
        h = std::exp(-(task_.options.learning_rate * h) / n_others);
      }
    }
    return largest;
  }

  const BoosterTask& task_;
  RowWeights weights_;
  MemberGrower grower_;
  std::vector<double> factor_;  // of each node and class, for the last member that was evaluated
  double whole_ = 1.0;          // sum of all weights then
};

}  // namespace

std::unique_ptr<Booster> make_real_booster(const BoosterTask& task) {
  return std::make_unique<RealBooster>(task);
}

}  // namespace arboleda
