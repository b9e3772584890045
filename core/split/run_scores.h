// The best threshold of one feature from its sorted rows, all thresholds scored at once. For criteria
// whose score kernels().split_scores has, where only the score decides: no missing values, no limits on
// the sides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "simd/kernels.h"
#include "split/scan.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread.
class RunScores {
 public:
  // keys: the rows whose code is not 0, sorted, one at least. unlisted: the sum of the others, if any.
  // Improves `best` as scan_sorted() would. False when all rows have the same code.
  template <class Criterion>
  bool search(const Criterion& criterion, const typename Criterion::Local& local,
              std::span<const SortKey> keys, const typename Criterion::Slot* unlisted,
              const typename Criterion::Slot* total, FeatureIndex feature,
              typename Criterion::Sides& sides, Split& best) {
    make_room(keys.size() + 1 + kLanes);
    const std::size_t n_splits = add_up(criterion, local, keys, unlisted, total, sides) - 1;
    if (n_splits == 0) return false;
    const std::size_t n_padded = (n_splits + kLanes - 1) / kLanes * kLanes;
    std::fill(&left_[n_splits], &left_[n_padded], left_[0]);
    std::fill(&weight_[n_splits], &weight_[n_padded], weight_[0]);
    double highest = 0.0;
    if constexpr (Criterion::kScoresBinaryFeatures) {
      std::fill(&right_[n_splits], &right_[n_padded], right_[0]);
      highest = kernels_.split_scores.quotients(left_.data(), right_.data(), weight_.data(),
                                                n_padded, total_weight_, score_.data());
    } else {
      highest =
          kernels_.split_scores.squared(left_.data(), weight_.data(), n_padded, sides.right().sum,
                                        sides.right().weight, score_.data());
    }
    keep_best(highest, feature, best);
    return true;
  }

 private:
  static constexpr std::size_t kLanes = 8;

  void make_room(std::size_t room) {
    if (left_.size() >= room) return;
    left_.resize(room);
    right_.resize(room);
    weight_.resize(room);
    code_.resize(room);
    score_.resize(room);
  }

  void keep_best(double highest, FeatureIndex feature, Split& best) {
    found_.score = highest;
    found_.feature = feature;
    if (!found_.better_than(best)) return;
    const auto at =
        static_cast<std::size_t>(std::find(score_.begin(), score_.end(), highest) - score_.begin());
    found_.code = code_[at];
    found_.next_code = code_[at + 1];
    best = found_;
  }

  // The rows of one code after the other: what is to the left after each, and the number of codes. Class
  // weights: the sums of their squares on both sides, kept up to date as criterion/gini.h does.
  template <class Criterion>
    requires Criterion::kScoresBinaryFeatures
  std::size_t add_up(const Criterion& criterion, const typename Criterion::Local& local,
                     std::span<const SortKey> keys, const typename Criterion::Slot* unlisted,
                     const typename Criterion::Slot* total, typename Criterion::Sides&) {
    const std::size_t n_classes = criterion.n_outputs();
    left_weights_.assign(n_classes, 0);
    std::int64_t* const of_class = left_weights_.data();
    std::int64_t left_squares = 0, right_squares = 0, weight = 0;
    total_weight_ = 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const std::int64_t right = total[k];
      right_squares += right * right;
      total_weight_ += right;
    }
    const auto move = [&](std::size_t k, std::int64_t w) {
      const std::int64_t left = of_class[k];
      of_class[k] = left + w;
      left_squares += w * (2 * left + w);
      right_squares -= w * (2 * (std::int64_t{total[k]} - left) - w);
      weight += w;
    };
    std::size_t run = 0;
    const auto put = [&, left_of = left_.data(), right_of = right_.data(),
                      weight_of = weight_.data(), code_of_run = code_.data()](Code code) {
      left_of[run] = left_squares;
      right_of[run] = right_squares;
      weight_of[run] = weight;
      code_of_run[run] = code;
    };
    if (unlisted != nullptr) {
      for (std::size_t k = 0; k < n_classes; ++k) move(k, unlisted[k]);
      put(0);
      run = 1;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Code code = code_of(keys[i]);
      const auto entry = local.entry[place_of(keys[i])];
      move(entry.label, entry.weight);
      put(code);
      run += i + 1 < keys.size() && code_of(keys[i + 1]) != code;
    }
    return run + 1;
  }

  // A sum about the centre of the node; leaves the whole node on the right of `sides`.
  template <class Criterion>
  std::size_t add_up(const Criterion& criterion, const typename Criterion::Local& local,
                     std::span<const SortKey> keys, const typename Criterion::Slot* unlisted,
                     const typename Criterion::Slot* total, typename Criterion::Sides& sides) {
    sides.reset(total, 0);
    const std::int64_t centre = sides.centre();
    std::int64_t sum = 0, weight = 0;
    std::size_t run = 0;
    if (unlisted != nullptr) {
      sum = left_[0] = unlisted->sum - centre * unlisted->weight;
      weight = weight_[0] = unlisted->weight;
      code_[0] = 0;
      run = 1;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Code code = code_of(keys[i]);
      const std::size_t place = place_of(keys[i]);
      const std::int64_t w = criterion.weight_of(local, place);
      sum += (local.target[place] - centre) * w;
      weight += w;
      left_[run] = sum;
      weight_[run] = weight;
      code_[run] = code;
      run += i + 1 < keys.size() && code_of(keys[i + 1]) != code;
    }
    return run + 1;
  }

  const Kernels& kernels_ = kernels();
  UnfilledVector<std::int64_t> left_, right_, weight_;
  std::vector<std::int64_t> left_weights_;  // of each class
  std::int64_t total_weight_ = 0;
  UnfilledVector<Code> code_;
  UnfilledVector<double> score_;
  Split found_;
};

}  // namespace arboleda
