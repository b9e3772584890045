// Absolute error: the mean distance to the median of the target, sum_i w_i |y_i - median| / sum_i w_i.
// Breiman, Friedman, Olshen, Stone (1984), "Classification and Regression Trees", section 8.11.
//
// Targets are integers q_i (base/fixed_point.h). For a median m, with W and S the sums of w and w q
// over a side, and W_<, S_< those over its targets below m,
//   loss = sum w |q - m| = (m W_< - S_<) + ((S - S_<) - m (W - W_<)) = S - 2 S_< + m (2 W_< - W),
// the same for every m between the lower and the upper median. The score to maximise is
// -(loss_L + loss_R), an exact integer until it becomes a double.
//
// The node's rows are ranked by target once. While rows move to the left, sums by rank of the left
// side are kept (rank_sums.h); those of the right side are the node's less the left's. Moving a row
// and finding both medians takes O(log n); nothing of it fits a cell of a histogram.
//
// Many splits score the same where targets repeat, above all those that help nothing yet. Among them
// the one with the smallest squared error is taken: the first would cut off one row at a time.
//
// Bits: as in moments.h; |loss| <= 2 sum w |q|, one bit more than the sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/fixed_point.h"
#include "base/types.h"
#include "criterion/rank_sums.h"
#include "criterion/squared_error.h"
#include "data/fixed_weights.h"

namespace arboleda {

// What the rows of one node contribute, in the order of its row list; and the node's targets.
template <class Sum>
struct RankedTargets {
  std::vector<std::uint32_t> rank;         // of the row's target among the distinct ones
  std::vector<std::int64_t> weight;        // empty for unit weights
  std::vector<std::int64_t> target;        // of each rank: the integer
  std::vector<double> y;                   // of each rank: the real
  std::vector<WeightAndSum<Sum>> of_rank;  // sums over the rows of each rank
  RankSums<Sum> all;                       // the same, as a tree
  std::vector<std::uint64_t> keys;         // scratch of the ranking

  std::size_t n_ranks() const { return target.size(); }
  std::int64_t weight_of(std::size_t i) const { return weight.empty() ? 1 : weight[i]; }
};

// sum w |q - m| of a side with these sums.
template <class Sum>
Sum absolute_loss(const RankedTargets<Sum>& node, const MedianPlace<Sum>& place, Sum sum,
                  std::int64_t weight) {
  const Sum median = node.target[place.rank];
  return (sum - place.below.sum) - place.below.sum + median * (2 * place.below.weight - weight);
}

template <class Sum>
class AbsoluteSides {
 public:
  using Slot = Moments<Sum>;

  void reset(const Slot* total, std::uint64_t n_rows) {
    moments_.reset(total, n_rows);
    total_ = *total;
    left_ = {};
    ranks_.reset(n_rows);
  }

  void move_row(const RankedTargets<Sum>& node, std::size_t i) {
    node_ = &node;
    const std::int64_t w = node.weight_of(i);
    const std::int64_t q = node.target[node.rank[i]];
    const WeightAndSum<Sum> entry{Sum{q} * Sum{w}, w};
    moments_.move_row(q, w);
    left_ += entry;
    ranks_.add(node.rank[i], entry, node.n_ranks());
  }

  double score() const {
    const WeightAndSum<Sum> right{total_.sum - left_.sum, total_.weight - left_.weight};
    return -static_cast<double>(absolute_loss(*node_, find_left(), left_.sum, left_.weight) +
                                absolute_loss(*node_, find_right(), right.sum, right.weight));
  }

  double tie_break() const { return moments_.score(); }

  std::uint64_t n_left() const { return moments_.n_left(); }
  std::uint64_t n_right() const { return moments_.n_right(); }
  double weight_left() const { return moments_.weight_left(); }
  double weight_right() const { return moments_.weight_right(); }
  double value_left() const { return median(find_left()); }
  double value_right() const { return median(find_right()); }

 private:
  MedianPlace<Sum> find_left() const {
    return find_median<Sum>(node_->n_ranks(), left_.weight,
                            [&](std::size_t i) { return ranks_.node(i); });
  }
  MedianPlace<Sum> find_right() const {
    return find_median<Sum>(node_->n_ranks(), total_.weight - left_.weight,
                            [&](std::size_t i) { return node_->all.node(i) - ranks_.node(i); });
  }
  double median(const MedianPlace<Sum>& place) const {
    return static_cast<double>(node_->target[place.rank]);
  }

  SquaredSides<Sum> moments_;
  Slot total_;
  WeightAndSum<Sum> left_;
  RankSums<Sum> ranks_;                       // of the left side
  const RankedTargets<Sum>* node_ = nullptr;  // of the rows that moved last
};

template <class Sum>
class AbsoluteError {
 public:
  using Slot = Moments<Sum>;
  using Sides = AbsoluteSides<Sum>;
  using Local = RankedTargets<Sum>;
  static constexpr bool kHasCells = false;
  static constexpr bool kSumsBinaryFeatures = false;

  // y: the targets before they became `targets`. All must outlive the criterion.
  AbsoluteError(std::span<const double> y, const FixedTargets& targets, const FixedWeights& weights)
      : y_(y), targets_(targets), weights_(weights), rank_(y.size()) {
    std::vector<RowIndex> order;
    order.reserve(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (!weights.drops(i)) order.push_back(static_cast<RowIndex>(i));
    }
    std::sort(order.begin(), order.end(), [&](RowIndex a, RowIndex b) { return y[a] < y[b]; });
    std::uint32_t rank = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k > 0 && y[order[k]] != y[order[k - 1]]) ++rank;
      rank_[order[k]] = rank;
    }
  }

  std::size_t width() const { return 1; }
  std::size_t n_outputs() const { return 1; }
  Sides make_sides() const { return Sides(); }

  void gather(std::span<const RowIndex> rows, Local& local) const {
    local.keys.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      local.keys[i] = std::uint64_t{rank_[rows[i]]} << 32 | i;
    }
    std::sort(local.keys.begin(), local.keys.end());
    local.weight.resize(weights_.is_unit() ? 0 : rows.size());
    for (std::size_t i = 0; i < local.weight.size(); ++i) {
      local.weight[i] = static_cast<std::int64_t>(weights_.value[rows[i]]);
    }
    local.rank.resize(rows.size());
    local.target.clear();
    local.y.clear();
    local.of_rank.clear();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto i = static_cast<std::uint32_t>(local.keys[k]);
      const RowIndex row = rows[i];
      if (k == 0 || local.keys[k] >> 32 != local.keys[k - 1] >> 32) {
        local.target.push_back(targets_.value[row]);
        local.y.push_back(y_[row] + 0.0);  // no -0.0
        local.of_rank.emplace_back();
      }
      local.rank[i] = static_cast<std::uint32_t>(local.target.size() - 1);
      const std::int64_t w = local.weight_of(i);
      local.of_rank.back() += {Sum{targets_.value[row]} * Sum{w}, w};
    }
    local.all.build(local.of_rank);
  }

  // Only for the sums over a node and over a category.
  void add(const Local& local, std::size_t i, Slot* cell) const {
    const std::int64_t w = local.weight_of(i);
    cell->add(Sum{local.target[local.rank[i]]} * Sum{w}, w, 1);
  }

  // Of all rows of a node.
  void sum(const Local& local, Slot* cell) const {
    *cell = {};
    for (std::size_t i = 0; i < local.rank.size(); ++i) add(local, i, cell);
  }

  void move_row(const Local& local, std::size_t i, Sides& sides) const { sides.move_row(local, i); }

  // Categories are tried in the order of their means.
  void category_orders(const Slot*, std::vector<std::uint32_t>& orders) const {
    orders.assign(1, 0);
  }
  double category_key(const Slot* cell, std::uint32_t) const { return cell->mean(); }

  // For monotone predictions: their place among the outputs, and the unit of sides.
  bool is_ordered() const { return true; }
  static constexpr std::size_t kOrderedOutput = 0;
  double to_units(double value) const { return targets_.to_units(value); }
  void set_ordered(double value, double* out) const { *out = value; }

  // In the unit of Sides::weight_left(); times weight_unit() it is the weight of the caller.
  double weight(const Slot* total) const { return static_cast<double>(total->weight); }
  double total_weight() const { return static_cast<double>(weights_.total); }
  double weight_unit() const { return weights_.unit; }

  bool is_pure(const Local& local, const Slot*) const {
    return local.target.front() == local.target.back();
  }

  // Times 2^impurity_exponent() it is the impurity of the caller.
  int impurity_exponent() const { return -targets_.shift; }
  double impurity(const Local& local, const Slot* total) const {
    const auto place = median_of(local, *total);
    return static_cast<double>(absolute_loss(local, place, total->sum, total->weight)) /
           static_cast<double>(total->weight);
  }

  // The weighted median: midway between two targets where exactly half the weight lies below.
  void value(std::span<const RowIndex>, const Local& local, const Slot* total, double* out) const {
    const auto place = median_of(local, *total);
    const std::int64_t up_to = place.below.weight + local.of_rank[place.rank].weight;
    const double lower = local.y[place.rank];
    *out = 2 * up_to == total->weight ? std::midpoint(lower, local.y[place.rank + 1]) : lower;
  }

 private:
  static MedianPlace<Sum> median_of(const Local& local, const Slot& total) {
    return find_median<Sum>(local.n_ranks(), total.weight,
                            [&](std::size_t i) { return local.all.node(i); });
  }

  std::span<const double> y_;
  const FixedTargets& targets_;
  const FixedWeights& weights_;
  std::vector<std::uint32_t> rank_;  // of each row's target among all distinct ones
};

}  // namespace arboleda
