#include "split/row_derivatives.h"

#include <algorithm>
#include <array>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "tree/leaf_sums.h"

namespace arboleda {

namespace {

// Rows of one task, whose derivatives stay near.
constexpr std::size_t kComputedRows = std::size_t{1} << 14;

// Rows from now whose values are fetched.
constexpr std::size_t kAhead = 64;

// Each run of rows with small gaps is computed with its gaps.
void compute_rows(const ComputedDerivatives& computed, std::span<const RowIndex> rows,
                  double* gradient, double* hessian) {
  std::array<double, kReadRows> g, h;
  for (std::size_t i = 0; i < rows.size();) {
    const std::size_t begin = rows[i];
    std::size_t stop = i + 1;
    while (stop < rows.size() && rows[stop] < begin + kReadRows) ++stop;
    const std::size_t n = rows[stop - 1] + 1 - begin;
    computed.compute(begin, begin + n, std::span(g).first(n),
                     std::span(h).first(computed.has_hessian ? n : 0));
    for (; i < stop; ++i) {
      gradient[i] = g[rows[i] - begin];
      if (computed.has_hessian) hessian[i] = h[rows[i] - begin];
    }
  }
}

// Of rows' values, the first of which is that of row `first`.
ExactSum sum_rows(std::span<const double> values, std::span<const RowIndex> rows, std::size_t first,
                  const SumScale& scale) {
  ExactSum sum;
  const auto value = [&](std::size_t i) { return values[rows[i] - first]; };
  std::size_t i = 0;
  for (; i + 1 < rows.size(); i += 2) {
    if (i + kAhead + 1 < rows.size()) {
      ARBOLEDA_PREFETCH(&values[rows[i + kAhead] - first]);
      ARBOLEDA_PREFETCH(&values[rows[i + kAhead + 1] - first]);
    }
    sum.add(scale, value(i), value(i + 1));
  }
  if (i < rows.size()) sum.add(scale, value(i));
  return sum;
}

}  // namespace

void read_derivatives(const RowDerivatives& derivatives, std::span<const RowIndex> rows,
                      double* gradient, double* hessian) {
  if (derivatives.computed != nullptr) {
    return compute_rows(*derivatives.computed, rows, gradient, hessian);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) gradient[i] = derivatives.gradient[rows[i]];
  if (derivatives.hessian.empty()) return;
  for (std::size_t i = 0; i < rows.size(); ++i) hessian[i] = derivatives.hessian[rows[i]];
}

DerivativeMagnitudes magnitudes_of_rows(const RowDerivatives& derivatives,
                                        std::span<const RowIndex> rows, const Context& context) {
  if (derivatives.largest != nullptr && rows.size() == derivatives.n_rows()) {
    return *derivatives.largest;
  }
  if (derivatives.computed == nullptr) {
    return {magnitude_of_rows(derivatives.gradient, rows, context),
            magnitude_of_rows(derivatives.hessian, rows, context)};
  }
  std::vector<DerivativeMagnitudes> parts((rows.size() + kComputedRows - 1) / kComputedRows);
  parallel_blocks(context.n_threads(), rows.size(), kComputedRows,
                  [&](std::size_t block, std::size_t begin, std::size_t end) {
                    std::array<double, kReadRows> g, h;
                    for (std::size_t i = begin; i < end; i += kReadRows) {
                      const std::size_t n = std::min(kReadRows, end - i);
                      read_derivatives(derivatives, rows.subspan(i, n), g.data(), h.data());
                      parts[block].gradient.see(magnitude_of(std::span(g).first(n)));
                      if (!derivatives.has_hessian()) continue;
                      parts[block].hessian.see(magnitude_of(std::span(h).first(n)));
                    }
                  });
  DerivativeMagnitudes largest;
  for (const DerivativeMagnitudes& part : parts) {
    largest.gradient.see(part.gradient);
    largest.hessian.see(part.hessian);
  }
  return largest;
}

// A block of rows is computed or fetched once, and then read for the rows of each leaf that it has.
std::vector<ExactSum> sum_leaves(const RowDerivatives& derivatives, const SumScale& gradient_scale,
                                 const SumScale& hessian_scale, const LeafRows& leaves,
                                 const Context& context) {
  struct Worker {
    std::size_t first = 0;  // row of the block
    std::vector<double> gradient, hessian;
    std::vector<ExactSum> sums;
  };
  const ComputedDerivatives* const computed = derivatives.computed;
  const bool has_hessian = derivatives.has_hessian();
  const std::size_t n_leaves = leaves.leaves.size();
  std::vector<Worker> workers(static_cast<std::size_t>(context.n_threads()));
  // More than one block, where they are computed: with one alone, there would be no call before its leaves.
  const std::size_t n_blocks = computed != nullptr ? 2 + leaves.end_of_rows() / kComputedRows
                                                   : count_row_blocks(leaves, kComputedRows);
  for_each_leaf_by_blocks(
      leaves, n_blocks, leaves.rows.size() > kComputedRows ? context.n_threads() : 1,
      [&](std::size_t first, std::size_t last, int worker) {
        if (computed == nullptr) {
          fetch(derivatives.gradient.subspan(first, last - first));
          if (has_hessian) fetch(derivatives.hessian.subspan(first, last - first));
          return;
        }
        Worker& mine = workers[static_cast<std::size_t>(worker)];
        mine.first = first;
        mine.gradient.resize(last - first);
        if (has_hessian) mine.hessian.resize(last - first);
        computed->compute(first, last, mine.gradient, mine.hessian);
      },
      [&](std::size_t leaf, std::size_t begin, std::size_t end, int worker) {
        Worker& mine = workers[static_cast<std::size_t>(worker)];
        if (mine.sums.empty()) mine.sums.resize(2 * n_leaves);
        const auto rows = std::span(leaves.rows).subspan(begin, end - begin);
        const auto sum = [&](std::span<const double> all, std::span<const double> block,
                             const SumScale& scale) {
          return computed == nullptr ? sum_rows(all, rows, 0, scale)
                                     : sum_rows(block, rows, mine.first, scale);
        };
        mine.sums[leaf].add(sum(derivatives.gradient, mine.gradient, gradient_scale));
        if (!has_hessian) return;
        mine.sums[n_leaves + leaf].add(sum(derivatives.hessian, mine.hessian, hessian_scale));
      });
  std::vector<ExactSum> sums(2 * n_leaves);
  for (const Worker& worker : workers) {
    for (std::size_t i = 0; i < worker.sums.size(); ++i) sums[i].add(worker.sums[i]);
  }
  return sums;
}

}  // namespace arboleda
