#include "learn/adaboost.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bagging/bags.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "grow/code_tree.h"
#include "learn/booster.h"
#include "learn/weight_trimming.h"

namespace arboleda {

namespace {

// Draws of new weights before a member that is no better than guessing ends the loop after all
// (Bauer & Kohavi 1999).
constexpr std::uint32_t kMostResets = 25;

// Numbers of draws are 24 bits of a random stream's key.
constexpr std::uint32_t kMostRounds = (std::uint32_t{1} << 24) / (kMostResets + 1) - 1;

void normalize(std::vector<double>& weights) {
  const double sum = exact_sum(weights);
  require(sum > 0.0, "at least one row of positive weight is needed");
  for (double& w : weights) w /= sum;
}

// The weights of the rows that take part, summing to 1.
std::vector<double> start_weights(const AdaBoostData& data) {
  const std::size_t n = data.table.n_rows;
  require(data.weights.empty() || data.weights.size() == n, "one weight a row is needed");
  std::vector<double> start(data.weights.begin(), data.weights.end());
  if (start.empty()) start.assign(n, 1.0);
  for (const RowIndex row : data.validation_rows) {
    require(row < n, "a validation row is not in the table");
    start[row] = 0.0;
  }
  for (const double w : start) {
    require(std::isfinite(w) && w >= 0.0, "weights must be finite and not negative");
  }
  normalize(start);
  return start;
}

std::vector<RowIndex> rows_of(std::span<const double> weights) {
  std::vector<RowIndex> rows;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0.0) rows.push_back(static_cast<RowIndex>(i));
  }
  return rows;
}

// Weights of a bootstrap sample: each times the number of its draws.
std::vector<double> bootstrap_weights(std::span<const double> weights, std::uint32_t round,
                                      std::uint32_t attempt, std::uint64_t seed) {
  const BagDraw bags({BagKind::bootstrap}, {weights.size(), weights}, seed);
  std::vector<std::uint32_t> counts;
  bags.counts(round * (kMostResets + 1) + attempt, counts);
  std::vector<double> drawn(weights.begin(), weights.end());
  for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] *= counts[i];
  normalize(drawn);
  return drawn;
}

struct GrownMember {
  std::vector<MemberTree> trees;
  MemberResult result;
};

class AdaBoostLoop {
 public:
  AdaBoostLoop(const AdaBoostData& data, const AdaBoostOptions& options,
               const AdaBoostCallback& callback, const Context& context)
      : data_(data),
        options_(options),
        callback_(callback),
        context_(context),
        start_(start_weights(data)),
        rows_(rows_of(start_)),
        task_{data.table, data.labels, data.n_classes, rows_, start_, options, context},
        booster_(make_booster(task_)),
        shape_(booster_->shape()) {
    const std::size_t n_scores = shape_.n_outputs * shape_.trees_a_round;
    validation_scores_.assign(data.validation_rows.size() * n_scores, 0.0);
  }

  AdaBoosted run() {
    AdaBoosted boosted;
    boosted.forest = {data_.table.n_features(), static_cast<std::int32_t>(shape_.n_outputs),
                      shape_.measure};
    boosted.vote = shape_.vote;
    boosted.trees_a_round = shape_.trees_a_round;
    for (std::uint32_t round = 0; round < options_.n_rounds; ++round) {
      const std::optional<GrownMember> member = next_member(round, boosted);
      if (!member) {
        boosted.end = AdaBoostEnd::too_weak;
        break;
      }
      keep(*member, boosted);
      if (callback_ &&
          callback_({boosted.rounds.size(), boosted.rounds.back(), validation_scores_})) {
        boosted.end = AdaBoostEnd::stopped;
        break;
      }
      if (member->result.status == MemberStatus::perfect) {
        if (options_.on_degenerate == OnDegenerate::stop) {
          boosted.end = AdaBoostEnd::perfect;
          break;
        }
        reset(round, kMostResets);
      } else if (round + 1 < options_.n_rounds) {
        booster_->reweigh(member->trees, member->result.round);
      }
    }
    return boosted;
  }

 private:
  // A member better than guessing, or none.
  std::optional<GrownMember> next_member(std::uint32_t round, AdaBoosted& boosted) {
    for (std::uint32_t attempt = 0;; ++attempt) {
      GrownMember member = grow(round);
      member.result.round.reset_before = was_reset_;
      if (member.result.status != MemberStatus::too_weak) {
        was_reset_ = false;
        return member;
      }
      boosted.weak_error = member.result.round.error;
      if (options_.on_degenerate == OnDegenerate::stop || attempt == kMostResets) return {};
      reset(round, attempt);
    }
  }

  GrownMember grow(std::uint32_t round) {
    context_.check();
    if (options_.weight_trimming > 0.0 && !booster_->row_weights().empty()) {
      mark_light_rows(booster_->row_weights(), rows_, options_.weight_trimming, sits_out_);
    }
    GrowthOptions growth = options_.growth;
    growth.tree = round;
    GrownMember member;
    for (TreeArrays& tree : booster_->grow(growth, sits_out_)) {
      std::vector<NodeIndex> leaf(rows_.size());
      find_leaves(CodeTree(tree, data_.table), rows_, context_, leaf);
      member.trees.push_back({std::move(tree), std::move(leaf)});
    }
    member.result = booster_->evaluate(member.trees);
    require(std::isfinite(member.result.round.normalizer),
            "the weights of the rows overflow: lower learning_rate");
    return member;
  }

  void reset(std::uint32_t round, std::uint32_t attempt) {
    reset_weights_ = bootstrap_weights(start_, round, attempt, context_.seed());
    booster_->reset(reset_weights_);
    was_reset_ = true;
  }

  void keep(const GrownMember& member, AdaBoosted& boosted) {
    boosted.rounds.push_back(member.result.round);
    for (std::size_t k = 0; k < member.trees.size(); ++k) {
      const TreeArrays& tree = member.trees[k].tree;
      boosted.forest.trees.push_back(compact(tree, shape_.measure));
      score_validation(tree, k, member.result.round.weight);
    }
  }

  void score_validation(const TreeArrays& tree, std::size_t tree_of_round, double weight) {
    const std::span<const RowIndex> rows = data_.validation_rows;
    if (rows.empty()) return;
    const std::size_t width = shape_.n_outputs;
    std::vector<double> votes(tree.value.size());
    for (std::size_t node = 0; node < tree.right.size(); ++node) {
      if (tree.right[node] >= 0) continue;
      vote_of_leaf(shape_.vote, std::span(tree.value).subspan(node * width, width), weight,
                   std::span(votes).subspan(node * width, width));
    }
    std::vector<NodeIndex> leaf(rows.size());
    find_leaves(CodeTree(tree, data_.table), rows, context_, leaf);
    double* scores = validation_scores_.data() + tree_of_round;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double* of_leaf = &votes[static_cast<std::size_t>(leaf[i]) * width];
      for (std::size_t k = 0; k < width; ++k) scores[k] += of_leaf[k];
      scores += width * shape_.trees_a_round;
    }
  }

  const AdaBoostData& data_;
  const AdaBoostOptions& options_;
  const AdaBoostCallback& callback_;
  const Context& context_;
  const std::vector<double> start_;  // D of the first round
  const std::vector<RowIndex> rows_;
  const BoosterTask task_;
  const std::unique_ptr<Booster> booster_;
  const MemberShape shape_;
  std::vector<std::uint8_t> sits_out_;
  std::vector<double> reset_weights_;
  bool was_reset_ = false;
  std::vector<double> validation_scores_;
};

}  // namespace

std::unique_ptr<Booster> make_booster(const BoosterTask& task) {
  switch (task.options.algorithm) {
    case AdaBoostAlgorithm::discrete:
    case AdaBoostAlgorithm::m1:
    case AdaBoostAlgorithm::samme:
      return make_vote_booster(task);
    case AdaBoostAlgorithm::real:
      return make_real_booster(task);
    case AdaBoostAlgorithm::m2:
    case AdaBoostAlgorithm::mr:
      return make_ranking_booster(task);
    case AdaBoostAlgorithm::mh:
      return make_hamming_booster(task);
    case AdaBoostAlgorithm::gentle:
      return make_gentle_booster(task);
    case AdaBoostAlgorithm::logit:
      break;
  }
  return make_logit_booster(task);
}

AdaBoosted fit_adaboost(const AdaBoostData& data, const AdaBoostOptions& options,
                        const AdaBoostCallback& callback, const Context& context) {
  check_labels(data.labels, data.table.n_rows, data.n_classes);
  require(options.n_rounds >= 1 && options.n_rounds <= kMostRounds,
          "boosting has from 1 to 645,276 rounds");
  require(options.learning_rate > 0.0 && std::isfinite(options.learning_rate),
          "the learning rate must be positive");
  require(options.weight_trimming >= 0.0 && options.weight_trimming < 1.0,
          "the share of weight that is trimmed must be at least 0 and below 1");
  AdaBoosted boosted = AdaBoostLoop(data, options, callback, context).run();
  return_free_memory(data.table.n_rows * data.table.columns.size() * boosted.forest.trees.size());
  return boosted;
}

}  // namespace arboleda
