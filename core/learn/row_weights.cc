#include "learn/row_weights.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/thread_pool.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Weights of a sum near 1: sums of their units fit 63 bits.
constexpr double kUnits = static_cast<double>(std::int64_t{1} << 61);

constexpr double kSmallestWeight = std::numeric_limits<double>::epsilon();

// Rows that a thread looks at before it takes the next.
constexpr std::size_t kLeafBlock = std::size_t{1} << 14;

// Cells of a stump of two classes: after those of the root come the left side's, and the right side's.
constexpr std::size_t kSides = 2;

}  // namespace

LeafWeights::LeafWeights(std::vector<std::int64_t> units, std::size_t n_classes)
    : n_classes_(n_classes), units_(std::move(units)) {
  for (const std::int64_t x : units_) whole_ += x;
}

double LeafWeights::whole() const { return static_cast<double>(whole_) / kUnits; }

double LeafWeights::share_but(std::span<const std::size_t> choices) const {
  std::int64_t others = 0;
  for (std::size_t node = 0; node < choices.size(); ++node) {
    for (std::size_t k = 0; k < n_classes_; ++k) {
      if (k != choices[node]) others += units_[node * n_classes_ + k];
    }
  }
  return static_cast<double>(others) / static_cast<double>(whole_);
}

std::vector<std::size_t> largest_classes(const TreeArrays& tree, std::size_t n_classes) {
  std::vector<std::size_t> largest(tree.right.size());
  for (std::size_t node = 0; node < largest.size(); ++node) {
    const auto shares = std::span(tree.value).subspan(node * n_classes, n_classes);
    largest[node] =
        static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  }
  return largest;
}

RowWeights::RowWeights(const BoosterTask& task)
    : task_(task), weight_(task.row_weights.begin(), task.row_weights.end()) {}

FixedWeights RowWeights::fixed(std::span<const std::uint8_t> sits_out, int max_bits) const {
  if (sits_out.empty()) return fix_weights(weight_, weight_.size(), max_bits);
  std::vector<double> kept(weight_);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (sits_out[i] != 0) kept[i] = 0.0;
  }
  return fix_weights(kept, kept.size(), max_bits);
}

LeafWeights RowWeights::sums(std::span<const NodeIndex> leaf, std::size_t n_nodes) const {
  const std::size_t n_classes = task_.n_classes;
  const std::size_t n_cells = n_nodes * n_classes;
  const bool two_sides = has_two_sides(leaf, n_cells);
  const int n_threads = leaf.size() >= 2 * kLeafBlock ? task_.context.n_threads() : 1;
  std::vector<std::vector<std::int64_t>> of_thread(static_cast<std::size_t>(n_threads));
  parallel_for(n_threads, (leaf.size() + kLeafBlock - 1) / kLeafBlock,
               [&](std::size_t block, int worker) {
                 auto& sum = of_thread[static_cast<std::size_t>(worker)];
                 sum.resize(n_cells);
                 const std::size_t begin = block * kLeafBlock;
                 const std::size_t end = std::min(leaf.size(), begin + kLeafBlock);
                 if (two_sides) {
                   kernels().stumps.side_sums({&leaf[begin], &task_.labels[begin], end - begin},
                                              &weight_[begin], kUnits, &sum[kSides]);
                   return;
                 }
                 for (std::size_t i = begin; i < end; ++i) {
                   const RowIndex row = task_.rows[i];
                   sum[static_cast<std::size_t>(leaf[i]) * n_classes + task_.labels[row]] +=
                       static_cast<std::int64_t>(weight_[row] * kUnits);
                 }
               });
  std::vector<std::int64_t> total(n_cells);
  for (const auto& sum : of_thread) {
    for (std::size_t c = 0; c < sum.size(); ++c) total[c] += sum[c];
  }
  return {std::move(total), n_classes};
}

void RowWeights::multiply(std::span<const NodeIndex> leaf, std::span<const double> factor) {
  const bool two_sides = has_two_sides(leaf, factor.size());
  const int n_threads = leaf.size() >= 2 * kLeafBlock ? task_.context.n_threads() : 1;
  parallel_blocks(
      n_threads, leaf.size(), kLeafBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        if (two_sides) {
          kernels().stumps.multiply_sides({&leaf[begin], &task_.labels[begin], end - begin},
                                          &factor[kSides], kSmallestWeight, &weight_[begin]);
          return;
        }
        for (std::size_t i = begin; i < end; ++i) {
          const RowIndex row = task_.rows[i];
          double& w = weight_[row];
          const double x =
              w * factor[static_cast<std::size_t>(leaf[i]) * task_.n_classes + task_.labels[row]];
          w = w > 0.0 ? std::max(x, kSmallestWeight) : 0.0;
        }
      });
}

// Whether the member is a stump of two classes and all rows take part: then there are faster loops.
bool RowWeights::has_two_sides(std::span<const NodeIndex> leaf, std::size_t n_cells) const {
  return task_.n_classes == 2 && n_cells == kSides + 4 && leaf.size() == weight_.size();
}

}  // namespace arboleda
