// AdaBoost.MH: a member votes on every class with a confidence that a row has it (criterion/hamming.h), and
// the weights D(i, k) are those of all pairs. With Y = 1 for the row's own class, -1 for others, and nu the
// learning rate,
//
//   D <- D exp(-nu Y(i, k) h_k(x_i)) / Z.
//
// Schapire, Singer (1999), figure 3; the product of all Z bounds the Hamming loss, the share of pairs of
// which the sign of the votes is wrong (theorem 1). Votes are smoothed by eps = 1 / (rows x classes), the
// initial weight of a pair (section 4.2).
#include "learn/booster.h"
#include "learn/label_distribution.h"
#include "learn/label_trees.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

class HammingBooster final : public Booster {
 public:
  explicit HammingBooster(const BoosterTask& task)
      : task_(task), weights_(task, LabelDistribution::Pairs::all) {}

  MemberShape shape() const override {
    return {MemberVote::scores, 1, task_.n_classes, Measure::medians};
  }
  std::span<const double> row_weights() const override { return weights_.row_weights(); }

  std::vector<TreeArrays> grow(const GrowthOptions& growth,
                               std::span<const std::uint8_t> sits_out) override {
    const LabelWeights& fixed = weights_.fixed(sits_out);
    const double n_pairs = static_cast<double>(task_.rows.size() * task_.n_classes);
    std::vector<TreeArrays> trees;
    trees.push_back(grow_hamming_tree({task_.table, task_.labels, fixed, growth, task_.context},
                                      1.0 / (fixed.unit * n_pairs)));
    return trees;
  }

  MemberResult evaluate(std::span<const MemberTree> member) override {
    const TreeArrays& tree = member[0].tree;
    find_factors(tree);
    const std::vector<std::int64_t> sums = sums_of(member[0]);
    double wrong = 0.0, tied = 0.0, next = 0.0;
    whole_ = 0.0;
    for (std::size_t at = 0; at < tree.value.size(); ++at) {
      const auto own = static_cast<double>(sums[at]);
      const auto other = static_cast<double>(sums[tree.value.size() + at]);
      whole_ += own + other;
      next += own * if_own_[at] + other * if_other_[at];
      wrong += tree.value[at] < 0.0 ? own : 0.0;
      wrong += tree.value[at] > 0.0 ? other : 0.0;
      tied += tree.value[at] == 0.0 ? own + other : 0.0;
    }
    MemberResult result;
    result.round.error = (wrong + 0.5 * tied) / whole_;
    result.round.edge = 0.5 - result.round.error;
    result.round.weight = task_.options.learning_rate;
    result.round.normalizer = next / whole_;
    whole_ /= static_cast<double>(LabelDistribution::units(1.0));
    return result;
  }

  void reweigh(std::span<const MemberTree> member, const AdaBoostRound& round) override {
    const double scale = 1.0 / (round.normalizer * whole_);
    for (double& factor : if_own_) factor *= scale;
    for (double& factor : if_other_) factor *= scale;
    weights_.multiply([&](std::size_t i) {
      const std::size_t at = place(member[0], i);
      return LabelDistribution::Factors{&if_other_[at], if_own_[at + task_.labels[task_.rows[i]]]};
    });
  }

  void reset(std::span<const double> row_weights) override { weights_.set(row_weights); }

 private:
  std::size_t place(const MemberTree& member, std::size_t i) const {
    return static_cast<std::size_t>(member.leaf[i]) * task_.n_classes;
  }

  // Before they are divided by Z.
  void find_factors(const TreeArrays& tree) {
    if_own_.resize(tree.value.size());
    if_other_.resize(tree.value.size());
    for (std::size_t at = 0; at < tree.value.size(); ++at) {
      const double h = task_.options.learning_rate * tree.value[at];
      if_own_[at] = stable_exp(-h);
      if_other_[at] = stable_exp(h);
    }
  }

  // Of each class in each leaf: the weight of rows that have it; then of rows that do not.
  std::vector<std::int64_t> sums_of(const MemberTree& member) const {
    const std::size_t n = member.tree.value.size();
    return weights_.sums(2 * n, [&](std::vector<std::int64_t>& sum, std::size_t i) {
      const RowIndex row = task_.rows[i];
      const std::span<const double> pair = weights_.of_row(row);
      const std::int64_t own = LabelDistribution::units(pair[task_.labels[row]]);
      const std::size_t at = place(member, i);
      for (std::size_t k = 0; k < pair.size(); ++k) {
        sum[n + at + k] += LabelDistribution::units(pair[k]);
      }
      sum[at + task_.labels[row]] += own;
      sum[n + at + task_.labels[row]] -= own;
    });
  }

  const BoosterTask& task_;
  LabelDistribution weights_;
  // Of each node and class, for the last member that was evaluated.
  std::vector<double> if_own_, if_other_;
  double whole_ = 1.0;  // sum of all weights then
};

}  // namespace

std::unique_ptr<Booster> make_hamming_booster(const BoosterTask& task) {
  return std::make_unique<HammingBooster>(task);
}

}  // namespace arboleda
