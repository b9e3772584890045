// The best threshold of one feature from its sorted rows, all thresholds scored at once. For a criterion
// of one sum, where nothing but the score decides: no missing values, no limits on the sides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/kernels.h"
#include "base/memory.h"
#include "base/types.h"
#include "grow/scan.h"
#include "grow/split.h"

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
    const std::size_t n_runs = add_up(criterion, local, keys, unlisted, total, sides);
    const std::size_t n_splits = n_runs - 1;
    if (n_splits == 0) return false;
    const std::size_t n_padded = (n_splits + kLanes - 1) / kLanes * kLanes;
    std::fill(&sum_[n_splits], &sum_[n_padded], sum_[0]);
    std::fill(&weight_[n_splits], &weight_[n_padded], weight_[0]);
    kernels_.scores.squared(sum_.data(), weight_.data(), n_padded, sides.right().sum,
                            sides.right().weight, score_.data());
    const auto highest =
        std::max_element(score_.begin(), score_.begin() + static_cast<std::ptrdiff_t>(n_splits));
    Split& found = found_;
    found.score = *highest;
    found.feature = feature;
    if (!found.better_than(best)) return true;
    const auto at = static_cast<std::size_t>(highest - score_.begin());
    found.code = code_[at];
    found.next_code = code_[at + 1];
    best = found;
    return true;
  }

 private:
  static constexpr std::size_t kLanes = 8;

  // The rows of one code after the other: what is to the left after each. Leaves the whole node on the
  // right of `sides`.
  template <class Criterion>
  std::size_t add_up(const Criterion& criterion, const typename Criterion::Local& local,
                     std::span<const SortKey> keys, const typename Criterion::Slot* unlisted,
                     const typename Criterion::Slot* total, typename Criterion::Sides& sides) {
    const std::size_t room = keys.size() + 1 + kLanes;
    if (sum_.size() < room) {
      sum_.resize(room);
      weight_.resize(room);
      code_.resize(room);
      score_.resize(room);
    }
    sides.reset(total, 0);
    const std::int64_t centre = sides.centre();
    std::int64_t sum = 0, weight = 0;
    std::size_t run = 0;
    if (unlisted != nullptr) {
      sum = sum_[0] = unlisted->sum - centre * unlisted->weight;
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
      sum_[run] = sum;
      weight_[run] = weight;
      code_[run] = code;
      run += i + 1 < keys.size() && code_of(keys[i + 1]) != code;
    }
    return run + 1;
  }

  const Kernels& kernels_ = kernels();
  UnfilledVector<std::int64_t> sum_, weight_;
  UnfilledVector<Code> code_;
  UnfilledVector<double> score_;
  Split found_;
};

}  // namespace arboleda
