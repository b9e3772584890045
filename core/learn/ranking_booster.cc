// AdaBoost.M2 and AdaBoost.MR: a member ranks classes high or low in a leaf (criterion/
// label_ranking.h), and the weights D(i, k) are those of the wrong classes k of a row. With d = h_y - h_k,
// 1 being high and 0 low, and W+, W-, W0 the weight of the pairs with d = 1, -1 and 0,
//
//   D <- D exp(-a d) / Z,   Z = W+ exp -a + W- exp a + W0,   e = 1/2 (1 - W+ + W-),
//
// e being the pseudo-loss.
//
//   M2  Freund, Schapire (1997), figure 5: log(1/beta) = log((1-e)/e) is the weight of the member's
//       votes, plausibilities of 0 and 1. Their factor beta^((1 + d)/2) is exp(-a d) but for a constant,
//       with a = 1/2 log(1/beta).
//   MR  Schapire, Singer (1999), figure 4: a member's votes are -1 and 1, their weight a is the one of
//       the least Z, 1/2 log(W+ / W-) (section 3.2).
//
// For a learning rate nu, nu times either. Z is at most 2 sqrt(e (1-e)) for nu = 1, and the product of all
// Z bounds the share of pairs that are ranked wrongly.
#include <algorithm>

#include "learn/booster.h"
#include "learn/label_distribution.h"
#include "learn/label_trees.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

// A member without error counts as one of this error (Webb 2000).
constexpr double kSmallestRankingError = 1e-10;

// What is this close to guessing is guessing.
constexpr double kSmallestRankingEdge = 1e-12;

class RankingBooster final : public Booster {
 public:
  explicit RankingBooster(const BoosterTask& task)
      : task_(task),
        is_m2_(task.options.algorithm == AdaBoostAlgorithm::m2),
        weights_(task, LabelDistribution::Pairs::wrong) {}

  MemberShape shape() const override {
    return {MemberVote::scores, 1, task_.n_classes, Measure::medians};
  }
  std::span<const double> row_weights() const override { return weights_.row_weights(); }

  std::vector<TreeArrays> grow(const GrowthOptions& growth,
                               std::span<const std::uint8_t> sits_out) override {
    const LabelTask task{task_.table, task_.labels, weights_.fixed(sits_out), growth,
                         task_.context};
    std::vector<TreeArrays> trees;
    trees.push_back(grow_ranking_tree(task, is_m2_ ? 0.0 : -1.0));
    return trees;
  }

  MemberResult evaluate(std::span<const MemberTree> member) override {
    const Shares shares = shares_of(member[0]);
    MemberResult result;
    AdaBoostRound& round = result.round;
    round.error = 0.5 * (1.0 - shares.right + shares.wrong);
    round.edge = 0.5 - round.error;
    if (round.error <= 0.0) {
      result.status = MemberStatus::perfect;
    } else if (round.edge < kSmallestRankingEdge) {
      result.status = MemberStatus::too_weak;
    }
    exponent_ = task_.options.learning_rate * least(shares, round.error);
    round.weight = is_m2_ ? 2.0 * exponent_ : exponent_;
    round.normalizer = shares.right * stable_exp(-exponent_) +
                       shares.wrong * stable_exp(exponent_) + (1.0 - shares.right - shares.wrong);
    return result;
  }

  void reweigh(std::span<const MemberTree> member, const AdaBoostRound& round) override {
    const TreeArrays& tree = member[0].tree;
    const std::size_t n = tree.value.size();
    const double scale = 1.0 / (round.normalizer * whole_);
    const double right = stable_exp(-exponent_) * scale;
    const double wrong = stable_exp(exponent_) * scale;
    // Of the classes of a leaf, for a row whose own class ranks high in it, and for others.
    std::vector<double> if_high(n), if_low(n);
    for (std::size_t at = 0; at < n; ++at) {
      const bool is_high = tree.value[at] > 0.0;
      if_high[at] = is_high ? scale : right;
      if_low[at] = is_high ? wrong : scale;
    }
    weights_.multiply([&](std::size_t i) {
      const std::size_t at = place(member[0], i);
      const bool own_is_high = tree.value[at + task_.labels[task_.rows[i]]] > 0.0;
      return LabelDistribution::Factors{own_is_high ? &if_high[at] : &if_low[at], 0.0};
    });
  }

  void reset(std::span<const double> row_weights) override { weights_.set(row_weights); }

 private:
  // Of all weight, what is ranked rightly and wrongly; W+ and W-.
  struct Shares {
    double right, wrong;
  };

  std::size_t place(const MemberTree& member, std::size_t i) const {
    return static_cast<std::size_t>(member.leaf[i]) * task_.n_classes;
  }

  Shares shares_of(const MemberTree& member) {
    enum : std::size_t { kRight, kWrong, kTied, kSums };
    const auto sums = weights_.sums(kSums, [&](std::vector<std::int64_t>& sum, std::size_t i) {
      const RowIndex row = task_.rows[i];
      const double* votes = &member.tree.value[place(member, i)];
      const std::span<const double> pair = weights_.of_row(row);
      const bool own_is_high = votes[task_.labels[row]] > 0.0;
      std::int64_t high = 0, all = 0;
      for (std::size_t k = 0; k < pair.size(); ++k) {
        const std::int64_t w = LabelDistribution::units(pair[k]);
        all += w;
        high += votes[k] > 0.0 ? w : 0;
      }
      sum[kRight] += own_is_high ? all - high : 0;
      sum[kWrong] += own_is_high ? 0 : high;
      sum[kTied] += own_is_high ? high : all - high;
    });
    const auto whole = static_cast<double>(sums[kRight] + sums[kWrong] + sums[kTied]);
    whole_ = whole / static_cast<double>(LabelDistribution::units(1.0));
    return {static_cast<double>(sums[kRight]) / whole, static_cast<double>(sums[kWrong]) / whole};
  }

  // a for a learning rate of 1.
  double least(const Shares& shares, double error) const {
    const double e = std::clamp(error, kSmallestRankingError, 1.0 - kSmallestRankingError);
    if (is_m2_) return 0.5 * stable_log((1.0 - e) / e);
    const double most = 0.5 * stable_log((1.0 - kSmallestRankingError) / kSmallestRankingError);
    return shares.wrong > 0.0 ? std::min(0.5 * stable_log(shares.right / shares.wrong), most)
                              : most;
  }

  const BoosterTask& task_;
  const bool is_m2_;
  LabelDistribution weights_;
  double exponent_ = 0.0;  // a of the last member that was evaluated
  double whole_ = 1.0;     // sum of all weights then
};

}  // namespace

std::unique_ptr<Booster> make_ranking_booster(const BoosterTask& task) {
  return std::make_unique<RankingBooster>(task);
}

}  // namespace arboleda
