#include "split/row_derivatives.h"

#include <algorithm>
#include <array>

#include "base/thread_pool.h"
#include "tree/leaf_sums.h"

namespace arboleda {

namespace {

// Rows of one task, whose derivatives stay near.
constexpr std::size_t kComputedRows = std::size_t{1} << 14;

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

// A block of rows is computed once, and then read for the rows of each leaf that it has.
std::vector<ExactSum> sum_computed(const ComputedDerivatives& computed,
                                   const SumScale& gradient_scale, const SumScale& hessian_scale,
                                   const LeafRows& leaves, const Context& context) {
  struct Worker {
    std::size_t first = 0;  // row of the block
    std::vector<double> gradient, hessian;
    std::vector<ExactSum> sums;
  };
  const std::size_t n_leaves = leaves.leaves.size();
  std::vector<Worker> workers(static_cast<std::size_t>(context.n_threads()));
  // More than one block: with one alone, there would be no call before its leaves.
  const std::size_t n_blocks = 2 + leaves.end_of_rows() / kComputedRows;
  for_each_leaf_by_blocks(
      leaves, n_blocks, context.n_threads(),
      [&](std::size_t first, std::size_t last, int worker) {
        Worker& mine = workers[static_cast<std::size_t>(worker)];
        mine.first = first;
        mine.gradient.resize(last - first);
        if (computed.has_hessian) mine.hessian.resize(last - first);
        computed.compute(first, last, mine.gradient, mine.hessian);
        mine.sums.resize(2 * n_leaves);
      },
      [&](std::size_t leaf, std::size_t begin, std::size_t end, int worker) {
        Worker& mine = workers[static_cast<std::size_t>(worker)];
        ExactSum gradient, hessian;
        for (std::size_t i = begin; i < end; ++i) {
          const std::size_t place = leaves.rows[i] - mine.first;
          gradient.add(gradient_scale, mine.gradient[place]);
          if (computed.has_hessian) hessian.add(hessian_scale, mine.hessian[place]);
        }
        mine.sums[leaf].add(gradient);
        mine.sums[n_leaves + leaf].add(hessian);
      });
  std::vector<ExactSum> sums(2 * n_leaves);
  for (const Worker& worker : workers) {
    for (std::size_t i = 0; i < worker.sums.size(); ++i) sums[i].add(worker.sums[i]);
  }
  return sums;
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

std::vector<ExactSum> sum_leaves(const RowDerivatives& derivatives, const SumScale& gradient_scale,
                                 const SumScale& hessian_scale, const LeafRows& leaves,
                                 const Context& context) {
  if (derivatives.computed != nullptr) {
    return sum_computed(*derivatives.computed, gradient_scale, hessian_scale, leaves, context);
  }
  auto sums = sum_leaves(derivatives.gradient, gradient_scale, leaves, context);
  const auto of_hessian = sum_leaves(derivatives.hessian, hessian_scale, leaves, context);
  sums.insert(sums.end(), of_hessian.begin(), of_hessian.end());
  return sums;
}

}  // namespace arboleda
