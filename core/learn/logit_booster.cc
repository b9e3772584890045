// LogitBoost: Newton steps on the deviance. A member f is the least-squares fit to z under weights w,
//
//   z = (y - p) / (p (1 - p)),   w = p (1 - p),
//
// y being 1 for a class and 0 for the others, and p its probability so far. Friedman, Hastie, Tibshirani
// (2000), "Additive logistic regression: a statistical view of boosting", Annals of Statistics 28:
//
//   algorithm 3   two classes: F <- F + nu f/2 for the second, p = 1 / (1 + exp(-2F))
//   algorithm 6   K classes, a tree each: F_k <- F_k + nu (K-1)/K (f_k - mean_j f_j), p the softmax of F.
//                 The mean, the same for all classes, changes no p: it is left out here.
//
// nu is the learning rate. As they advise, |z| is at most 4 and w at least 2 epsilon. A
// round's normalizer is the factor by which the deviance of the training rows changes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exact_sum.h"
#include "base/thread_pool.h"
#include "learn/booster.h"
#include "learn/class_regressions.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr double kLargestResponse = 4.0;
constexpr double kSmallestResponseWeight = 2.0 * std::numeric_limits<double>::epsilon();

// Rows whose probabilities are worked out together.
constexpr std::size_t kResponseBlock = 256;

// A number for each tree and row that takes part.
using Columns = std::vector<std::vector<double>>;

class LogitBooster final : public Booster {
 public:
  explicit LogitBooster(const BoosterTask& task)
      : task_(task),
        n_trees_(n_regressions(task)),
        step_(n_trees_ == 1 ? 0.5 : 1.0 - 1.0 / static_cast<double>(n_trees_)),
        scores_(n_trees_),
        next_scores_(n_trees_),
        shares_(n_trees_),
        next_shares_(n_trees_),
        losses_(task.rows.size()) {
    reset(task.row_weights);
  }

  MemberShape shape() const override { return shape_of_regressions(task_); }

  std::span<const double> row_weights() const override {
    return n_trees_ == 1 ? std::span<const double>(working_) : std::span<const double>();
  }

  std::vector<TreeArrays> grow(const GrowthOptions& growth,
                               std::span<const std::uint8_t> sits_out) override {
    return grow_regressions(
        task_, growth, sits_out, false,
        [this](std::size_t tree, std::span<double> target, std::span<double> weight) {
          for (std::size_t i = 0; i < task_.rows.size(); ++i) {
            const RowIndex row = task_.rows[i];
            const double p = shares_[tree][i];
            target[row] = is_own(row, tree) ? std::min(1.0 / p, kLargestResponse)
                                            : std::max(-1.0 / (1.0 - p), -kLargestResponse);
            weight[row] = working_weight(tree, i);
          }
        });
  }

  MemberResult evaluate(std::span<const MemberTree> member) override {
    MemberResult result;
    AdaBoostRound& round = result.round;
    round.weight = task_.options.learning_rate * step_;
    round.error = error_of(member);
    round.edge = 0.5 - round.error;
    for_each_regression(task_, [&](std::size_t tree) {
      next_scores_[tree].resize(task_.rows.size());
      for (std::size_t i = 0; i < task_.rows.size(); ++i) {
        next_scores_[tree][i] = scores_[tree][i] + round.weight * leaf_value(member[tree], i);
      }
    });
    next_deviance_ = find_shares(next_scores_, next_shares_);
    round.normalizer = deviance_ > 0.0 ? next_deviance_ / deviance_ : 1.0;
    return result;
  }

  void reweigh(std::span<const MemberTree>, const AdaBoostRound&) override {
    scores_.swap(next_scores_);
    shares_.swap(next_shares_);
    deviance_ = next_deviance_;
    find_working_weights();
  }

  void reset(std::span<const double> row_weights) override {
    row_weights_ = row_weights;
    for (auto& of_tree : scores_) of_tree.assign(task_.rows.size(), 0.0);
    deviance_ = find_shares(scores_, shares_);
    find_working_weights();
  }

 private:
  bool is_own(RowIndex row, std::size_t tree) const {
    return task_.labels[row] == class_of_regression(task_, tree);
  }

  static double leaf_value(const MemberTree& member, std::size_t i) {
    return member.tree.value[static_cast<std::size_t>(member.leaf[i])];
  }

  // w times the weight of the row.
  double working_weight(std::size_t tree, std::size_t i) const {
    const double p = shares_[tree][i];
    return std::max(p * (1.0 - p), kSmallestResponseWeight) * row_weights_[task_.rows[i]];
  }

  // For the loop, where there is one tree.
  void find_working_weights() {
    if (n_trees_ > 1 || task_.options.weight_trimming == 0.0) return;
    working_.resize(task_.table.n_rows);
    for (std::size_t i = 0; i < task_.rows.size(); ++i) {
      working_[task_.rows[i]] = working_weight(0, i);
    }
  }

  // The share of the weight on rows that a class's tree puts on the wrong side of the class; half of
  // the weight where the tree votes 0.
  double error_of(std::span<const MemberTree> member) const {
    std::vector<Magnitude> largest(n_trees_);
    for_each_regression(task_, [&](std::size_t tree) {
      for (std::size_t i = 0; i < task_.rows.size(); ++i) {
        largest[tree].see(working_weight(tree, i));
      }
    });
    for (const Magnitude& of_tree : largest) largest[0].see(of_tree);
    const SumScale scale(largest[0]);
    std::vector<ExactSum> wrong(n_trees_), tied(n_trees_), all(n_trees_);
    for_each_regression(task_, [&](std::size_t tree) {
      for (std::size_t i = 0; i < task_.rows.size(); ++i) {
        const double f = leaf_value(member[tree], i);
        const std::int64_t units = scale.to_units(working_weight(tree, i));
        all[tree].add(units);
        if (f == 0.0) tied[tree].add(units);
        if (is_own(task_.rows[i], tree) ? f < 0.0 : f > 0.0) wrong[tree].add(units);
      }
    });
    for (std::size_t tree = 1; tree < n_trees_; ++tree) {
      wrong[0].add(wrong[tree]);
      tied[0].add(tied[tree]);
      all[0].add(all[tree]);
    }
    return (wrong[0].to_real(scale) + 0.5 * tied[0].to_real(scale)) / all[0].to_real(scale);
  }

  // The probabilities by these scores; returns the deviance, -sum of the rows' weights x log p of their
  // classes.
  double find_shares(const Columns& scores, Columns& shares) {
    for (auto& of_tree : shares) of_tree.resize(task_.rows.size());
    const bool is_small = task_.rows.size() * n_trees_ < kParallelWork;
    parallel_blocks(is_small ? 1 : task_.context.n_threads(), task_.rows.size(), kResponseBlock,
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                      if (n_trees_ == 1) {
                        share_of_two(scores[0], begin, end, shares[0]);
                      } else {
                        shares_of_several(scores, begin, end, shares);
                      }
                      for (std::size_t i = begin; i < end; ++i) {
                        losses_[i] *= row_weights_[task_.rows[i]];
                      }
                    });
    return exact_sum(losses_);
  }

  // Of the rows begin .. end - 1; losses_ gets -log p.
  void share_of_two(const std::vector<double>& score, std::size_t begin, std::size_t end,
                    std::vector<double>& share) {
    double x[kResponseBlock], result[kResponseBlock];
    const std::size_t n = end - begin;
    for (std::size_t i = 0; i < n; ++i) x[i] = -2.0 * score[begin + i];
    kernels().math.exp(x, n, result);
    for (std::size_t i = 0; i < n; ++i) {
      share[begin + i] = 1.0 / (1.0 + result[i]);
      if (!is_own(task_.rows[begin + i], 0)) x[i] = -x[i];
    }
    kernels().math.softplus(x, n, &losses_[begin]);
  }

  void shares_of_several(const Columns& scores, std::size_t begin, std::size_t end,
                         Columns& shares) {
    double largest[kResponseBlock], x[kResponseBlock], sum[kResponseBlock] = {};
    const std::size_t n = end - begin;
    std::copy_n(&scores[0][begin], n, largest);
    for (const auto& score : scores) {
      for (std::size_t i = 0; i < n; ++i) largest[i] = std::max(largest[i], score[begin + i]);
    }
    for (std::size_t tree = 0; tree < n_trees_; ++tree) {
      for (std::size_t i = 0; i < n; ++i) x[i] = scores[tree][begin + i] - largest[i];
      kernels().math.exp(x, n, &shares[tree][begin]);
      for (std::size_t i = 0; i < n; ++i) sum[i] += shares[tree][begin + i];
    }
    for (auto& share : shares) {
      for (std::size_t i = 0; i < n; ++i) share[begin + i] /= sum[i];
    }
    kernels().math.log(sum, n, x);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t label = task_.labels[task_.rows[begin + i]];
      losses_[begin + i] = x[i] - (scores[label][begin + i] - largest[i]);
    }
  }

  const BoosterTask& task_;
  const std::size_t n_trees_;
  const double step_;  // of F, for a learning rate of 1
  std::span<const double> row_weights_;
  Columns scores_, next_scores_;  // F; after the last member that was evaluated
  Columns shares_, next_shares_;  // p
  std::vector<double> losses_;    // of each row that takes part: scratch
  double deviance_ = 0.0, next_deviance_ = 0.0;
  std::vector<double> working_;  // w of each row of the table, where trimming wants them
};

}  // namespace

std::unique_ptr<Booster> make_logit_booster(const BoosterTask& task) {
  return std::make_unique<LogitBooster>(task);
}

}  // namespace arboleda
