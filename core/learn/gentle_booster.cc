// Gentle AdaBoost: a member f is the least-squares fit to y, 1 for a class and -1 for the others, under
// the weights D. With nu the learning rate,
//
//   D <- D exp(-nu y f) / Z.
//
// Friedman, Hastie, Tibshirani (2000), "Additive logistic regression: a statistical view of boosting",
// Annals of Statistics 28, algorithm 4. More than two classes are separated from the others one by one, by a
// tree each and under weights D(i, k) that sum to 1 over all of them, as in their algorithm 5.
#include <algorithm>
#include <limits>

#include "learn/booster.h"
#include "learn/class_regressions.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

// Whole units of weights that sum to 1 up to rounding: their sums fit 63 bits.
constexpr double kWeightUnits = static_cast<double>(std::int64_t{1} << 61);

// A class that was separated from the others long ago weighs next to nothing, but its tree still learns by
// the ratios of its weights: none may become 0.
constexpr double kSmallest = std::numeric_limits<double>::min();

class GentleBooster final : public Booster {
 public:
  explicit GentleBooster(const BoosterTask& task)
      : task_(task), weight_(n_regressions(task)), factor_(weight_.size()) {
    reset(task.row_weights);
  }

  MemberShape shape() const override { return shape_of_regressions(task_); }

  std::span<const double> row_weights() const override {
    return weight_.size() == 1 ? std::span<const double>(weight_[0]) : std::span<const double>();
  }

  std::vector<TreeArrays> grow(const GrowthOptions& growth,
                               std::span<const std::uint8_t> sits_out) override {
    return grow_regressions(
        task_, growth, sits_out, true,
        [this](std::size_t tree, std::span<double> target, std::span<double> weight) {
          std::copy(weight_[tree].begin(), weight_[tree].end(), weight.begin());
          for (const RowIndex row : task_.rows) target[row] = is_own(row, tree) ? 1.0 : -1.0;
        });
  }

  MemberResult evaluate(std::span<const MemberTree> member) override {
    std::vector<Sums> sums(member.size());
    for_each_regression(task_, [&](std::size_t tree) {
      find_factors(member[tree].tree, factor_[tree]);
      sums[tree] = sums_of(member[tree], tree);
    });
    double wrong = 0.0, next = 0.0;
    whole_ = 0.0;
    for (std::size_t tree = 0; tree < member.size(); ++tree) {
      const std::vector<double>& value = member[tree].tree.value;
      for (std::size_t at = 0; at < 2 * value.size(); ++at) {
        const auto weight = static_cast<double>(sums[tree][at]);
        const double agreement = at % 2 == 0 ? -value[at / 2] : value[at / 2];
        whole_ += weight;
        next += weight * factor_[tree][at];
        wrong += weight * (agreement < 0.0 ? 1.0 : agreement == 0.0 ? 0.5 : 0.0);
      }
    }
    MemberResult result;
    result.round.error = wrong / whole_;
    result.round.edge = 0.5 - result.round.error;
    result.round.weight = task_.options.learning_rate;
    result.round.normalizer = next / whole_;
    whole_ /= kWeightUnits;
    return result;
  }

  void reweigh(std::span<const MemberTree> member, const AdaBoostRound& round) override {
    const double scale = 1.0 / (round.normalizer * whole_);
    for_each_regression(task_, [&](std::size_t tree) {
      for (double& factor : factor_[tree]) factor *= scale;
      for (std::size_t i = 0; i < task_.rows.size(); ++i) {
        double& weight = weight_[tree][task_.rows[i]];
        weight = std::max(weight * factor_[tree][place(member[tree], i, tree)], kSmallest);
      }
    });
  }

  void reset(std::span<const double> row_weights) override {
    for (auto& of_tree : weight_) {
      of_tree.assign(row_weights.begin(), row_weights.end());
      for (double& w : of_tree) w /= static_cast<double>(weight_.size());
    }
  }

 private:
  using Sums = std::vector<std::int64_t>;

  bool is_own(RowIndex row, std::size_t tree) const {
    return task_.labels[row] == class_of_regression(task_, tree);
  }

  // Numbers of a leaf stand in pairs: for rows of other classes, and for rows of the tree's own.
  std::size_t place(const MemberTree& member, std::size_t i, std::size_t tree) const {
    return 2 * static_cast<std::size_t>(member.leaf[i]) +
           static_cast<std::size_t>(is_own(task_.rows[i], tree));
  }

  // Before they are divided by Z.
  void find_factors(const TreeArrays& tree, std::vector<double>& factor) const {
    factor.resize(2 * tree.value.size());
    for (std::size_t node = 0; node < tree.value.size(); ++node) {
      const double f = task_.options.learning_rate * tree.value[node];
      factor[2 * node] = stable_exp(f);
      factor[2 * node + 1] = stable_exp(-f);
    }
  }

  Sums sums_of(const MemberTree& member, std::size_t tree) const {
    Sums sums(2 * member.tree.value.size());
    for (std::size_t i = 0; i < task_.rows.size(); ++i) {
      sums[place(member, i, tree)] +=
          static_cast<std::int64_t>(weight_[tree][task_.rows[i]] * kWeightUnits);
    }
    return sums;
  }

  const BoosterTask& task_;
  std::vector<std::vector<double>> weight_;  // of each tree: one a row of the table
  // Of each tree, for the last member that was evaluated.
  std::vector<std::vector<double>> factor_;
  double whole_ = 1.0;  // sum of all weights then
};

}  // namespace

std::unique_ptr<Booster> make_gentle_booster(const BoosterTask& task) {
  return std::make_unique<GentleBooster>(task);
}

}  // namespace arboleda
