// The weights D(i, k) of pairs of a row and a class in boosting: they sum to 1, up to rounding. A lower
// bound keeps every weight recoverable, and free of subnormal numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "criterion/label_weights.h"
#include "learn/booster.h"

namespace arboleda {

class LabelDistribution {
 public:
  // The initial weight of a pair: that of the row, in equal parts for all classes, or for all
  // but its own.
  enum class Pairs : std::uint8_t { all, wrong };

  // Whole units of weights, for sums that do not depend on their order: sums near 1 fit 63 bits.
  static std::int64_t units(double weight) { return static_cast<std::int64_t>(weight * kUnits); }

  LabelDistribution(const BoosterTask& task, Pairs pairs);

  // row_weights: one a row of the table, summing to 1.
  void set(std::span<const double> row_weights);

  // Of the classes of a row of the table.
  std::span<const double> of_row(RowIndex row) const {
    return std::span(pair_).subspan(row * task_.n_classes, task_.n_classes);
  }
  // The sum of each row of the table.
  std::span<const double> row_weights() const { return row_; }

  // As integers for growing trees. sits_out: one a row of the table, or empty.
  const LabelWeights& fixed(std::span<const std::uint8_t> sits_out);

  // Calls visit(sums, i) for each row that takes part, task.rows[i], in parallel; `sums` has n_sums
  // integers that begin at 0. Returns the totals.
  template <class Visit>
  std::vector<std::int64_t> sums(std::size_t n_sums, const Visit& visit) const {
    const int n_threads = n_threads_to_use();
    std::vector<std::vector<std::int64_t>> of_thread(static_cast<std::size_t>(n_threads));
    parallel_for(n_threads, (task_.rows.size() + block() - 1) / block(),
                 [&](std::size_t number, int worker) {
                   auto& sum = of_thread[static_cast<std::size_t>(worker)];
                   sum.resize(n_sums);
                   const std::size_t end = std::min(task_.rows.size(), (number + 1) * block());
                   for (std::size_t i = number * block(); i < end; ++i) visit(sum, i);
                 });
    std::vector<std::int64_t> total(n_sums);
    for (const auto& sum : of_thread) {
      for (std::size_t s = 0; s < sum.size(); ++s) total[s] += sum[s];
    }
    return total;
  }

  // D <- D x factor. factors_of(i): those of task.rows[i].
  struct Factors {
    const double* of_class;  // of each other class
    double own;              // of the row's own class
  };
  template <class FactorsOf>
  void multiply(const FactorsOf& factors_of) {
    parallel_blocks(n_threads_to_use(), task_.rows.size(), block(),
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; ++i) {
                        multiply_row(task_.rows[i], factors_of(i));
                      }
                    });
  }

 private:
  static constexpr double kUnits = static_cast<double>(std::int64_t{1} << 61);
  static constexpr double kSmallest = std::numeric_limits<double>::min();

  // Pairs that a thread looks at before it takes the next; rows of so many pairs.
  static constexpr std::size_t kBlock = std::size_t{1} << 14;
  std::size_t block() const { return std::max<std::size_t>(1, kBlock / task_.n_classes); }
  int n_threads_to_use() const {
    return task_.rows.size() >= 2 * block() ? task_.context.n_threads() : 1;
  }

  void multiply_row(RowIndex row, const Factors& factors) {
    double* pair = &pair_[row * task_.n_classes];
    const double own = pair[task_.labels[row]] * factors.own;
    for (std::size_t k = 0; k < task_.n_classes; ++k) {
      pair[k] = std::max(pair[k] * factors.of_class[k], kSmallest);
    }
    pair[task_.labels[row]] = pairs_ == Pairs::all ? std::max(own, kSmallest) : 0.0;
    row_[row] = 0.0;
    for (std::size_t k = 0; k < task_.n_classes; ++k) row_[row] += pair[k];
  }

  const BoosterTask& task_;
  const Pairs pairs_;
  std::vector<double> pair_;  // rows of the table x classes; 0 of a row that takes no part
  std::vector<double> row_;
  LabelWeights fixed_;
};

}  // namespace arboleda
