#include "learn/gradient_sketch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/compiler.h"
#include "base/error.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/shards.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

// Rows of one task. Fixed, so that sums of blocks are the same on any number of threads.
constexpr std::size_t kSketchedBlockRows = std::size_t{1} << 12;

// Rows of a step, and outputs added at a time: both stay in the nearest cache while all projections are
// updated.
constexpr std::size_t kNearRows = 512;
constexpr std::size_t kOutputsAtOnce = 4;

// sums += sign * gradient of outputs one after the other.
template <std::size_t kOutputs>
void add_signed(const double* const* gradient, const double* sign, std::size_t n_rows,
                double* ARBOLEDA_RESTRICT sums) {
  for (std::size_t i = 0; i < n_rows; ++i) {
    double sum = sums[i];
    for (std::size_t k = 0; k < kOutputs; ++k) sum += sign[k] * gradient[k][i];
    sums[i] = sum;
  }
}

}  // namespace

GradientSketch::GradientSketch(const SketchOptions& options, const Context& context)
    : options_(options), context_(context) {
  require(options.n_dims > 0, "a sketch of gradients needs a column");
}

VectorDerivatives GradientSketch::draw(std::uint32_t round, std::span<const RowIndex> rows,
                                       const VectorDerivatives& all) {
  if (options_.n_searched(all.n_outputs) == all.n_outputs) return all;
  reserve_large(gradient_, options_.n_dims * all.n_rows());
  gradient_.resize(options_.n_dims * all.n_rows());
  if (options_.method == SketchMethod::projection) {
    project(round, all);
  } else if (options_.method == SketchMethod::top) {
    take_largest(sum_squares(rows, all), all);
  } else {
    draw_outputs(round, sum_squares(rows, all), all);
  }
  average_hessians(all);
  return {options_.n_dims, gradient_, hessian_};
}

// Of each output's gradients. Exact: they do not depend on the order of the rows.
std::vector<double> GradientSketch::sum_squares(std::span<const RowIndex> rows,
                                                const VectorDerivatives& all) const {
  const auto square = [&](std::size_t k, RowIndex row) {
    const double g = all.gradient[k * all.n_rows() + row];
    return g * g;
  };
  std::vector<Magnitude> largest(all.n_outputs);
  parallel_for(context_.n_threads(), all.n_outputs, [&](std::size_t k, int) {
    for (const RowIndex row : rows) largest[k].see(square(k, row));
  });
  see_all(context_.shards(), largest);
  std::vector<ExactSum> sums(all.n_outputs);
  parallel_for(context_.n_threads(), all.n_outputs, [&](std::size_t k, int) {
    const SumScale scale(largest[k]);
    ExactSum sum;
    for (const RowIndex row : rows) sum.add(scale, square(k, row));
    sums[k] = sum;
  });
  add_all(context_.shards(), std::span(sums));
  std::vector<double> squares;
  for (std::size_t k = 0; k < all.n_outputs; ++k) {
    squares.push_back(sums[k].to_real(SumScale(largest[k])));
  }
  return squares;
}

void GradientSketch::copy_outputs(const VectorDerivatives& all,
                                  const std::vector<std::size_t>& outputs,
                                  const std::vector<double>& factors) {
  parallel_for(context_.n_threads(), outputs.size(), [&](std::size_t j, int) {
    const auto from = all.gradient_of(outputs[j]);
    std::transform(from.begin(), from.end(),
                   gradient_.begin() + static_cast<std::ptrdiff_t>(j * all.n_rows()),
                   [&](double g) { return g * factors[j]; });
  });
}

void GradientSketch::take_largest(const std::vector<double>& squares,
                                  const VectorDerivatives& all) {
  std::vector<std::size_t> order(all.n_outputs);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return squares[a] > squares[b]; });
  order.resize(options_.n_dims);
  copy_outputs(all, order, std::vector<double>(options_.n_dims, 1.0));
}

void GradientSketch::draw_outputs(std::uint32_t round, const std::vector<double>& squares,
                                  const VectorDerivatives& all) {
  std::vector<double> below(all.n_outputs);  // sums up to each output
  std::partial_sum(squares.begin(), squares.end(), below.begin());
  const double total = below.back();
  RandomStream random(context_.seed(), Purpose::gradient_sketch, round, 0);
  std::vector<std::size_t> outputs(options_.n_dims);
  std::vector<double> factors(options_.n_dims, 1.0);
  for (std::size_t j = 0; j < options_.n_dims; ++j) {
    const double drawn = random.uniform() * total;
    const auto found = std::upper_bound(below.begin(), below.end(), drawn);
    outputs[j] = std::min(static_cast<std::size_t>(found - below.begin()), all.n_outputs - 1);
    const double share = squares[outputs[j]] / total;
    if (share > 0.0) factors[j] = 1.0 / std::sqrt(static_cast<double>(options_.n_dims) * share);
  }
  copy_outputs(all, outputs, factors);
}

// Every gradient is read from memory once, whatever the number of dimensions.
void GradientSketch::project(std::uint32_t round, const VectorDerivatives& all) {
  const std::size_t n_dims = options_.n_dims;
  const std::size_t n_outputs = all.n_outputs;
  RandomStream random(context_.seed(), Purpose::gradient_sketch, round, 0);
  std::vector<double> signs(n_outputs * n_dims);  // those of a dimension side by side
  const double size = 1.0 / std::sqrt(static_cast<double>(n_dims));
  for (std::size_t k = 0; k < n_outputs; ++k) {
    for (std::size_t j = 0; j < n_dims; ++j) {
      signs[j * n_outputs + k] = random.next() % 2 == 0 ? size : -size;
    }
  }
  parallel_blocks(context_.n_threads(), all.n_rows(), kNearRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    project_rows(begin, end, signs, all);
                  });
}

void GradientSketch::project_rows(std::size_t begin, std::size_t end,
                                  const std::vector<double>& signs, const VectorDerivatives& all) {
  const std::size_t n_rows = all.n_rows();
  for (std::size_t j = 0; j < options_.n_dims; ++j) {
    std::fill_n(&gradient_[j * n_rows + begin], end - begin, 0.0);
  }
  for (std::size_t first = 0; first < all.n_outputs; first += kOutputsAtOnce) {
    const std::size_t n = std::min(kOutputsAtOnce, all.n_outputs - first);
    const double* gradient[kOutputsAtOnce];
    for (std::size_t k = 0; k < n; ++k) gradient[k] = &all.gradient_of(first + k)[begin];
    for (std::size_t j = 0; j < options_.n_dims; ++j) {
      const double* sign = &signs[j * all.n_outputs + first];
      double* sums = &gradient_[j * n_rows + begin];
      if (n == kOutputsAtOnce) {
        add_signed<kOutputsAtOnce>(gradient, sign, end - begin, sums);
      } else {
        for (std::size_t k = 0; k < n; ++k) {
          add_signed<1>(gradient + k, sign + k, end - begin, sums);
        }
      }
    }
  }
}

void GradientSketch::average_hessians(const VectorDerivatives& all) {
  const std::size_t n_rows = all.n_rows();
  hessian_.clear();
  if (all.hessian.empty()) return;
  hessian_.resize(n_rows);
  parallel_blocks(context_.n_threads(), n_rows, kSketchedBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    for (std::size_t k = 0; k < all.n_outputs; ++k) {
                      const double* from = all.hessian_of(k).data();
                      for (std::size_t i = begin; i < end; ++i) hessian_[i] += from[i];
                    }
                    for (std::size_t i = begin; i < end; ++i) {
                      hessian_[i] /= static_cast<double>(all.n_outputs);
                    }
                  });
}

}  // namespace arboleda
