#include "learn/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "base/random.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

// Rows of one task: fixed, so that sums of blocks are the same on any number of threads.
constexpr std::size_t kSampledBlockRows = std::size_t{1} << 14;

// How much a hessian counts beside a gradient, in the ratio of their mean squares.
constexpr double kHessianShare = 0.1;

// One random number for each row; cheapest when rows come in order.
class RowRandom {
 public:
  RowRandom(std::uint64_t seed, std::uint32_t round) : seed_(seed), round_(round) {}

  std::uint32_t operator()(RowIndex row) {
    if (row / 4 != block_) {
      block_ = row / 4;
      RandomStream stream(seed_, Purpose::row_sample, round_, block_);
      for (auto& number : numbers_) number = stream.next();
    }
    return numbers_[row % 4];
  }

 private:
  std::uint64_t seed_;
  std::uint32_t round_;
  std::uint64_t block_ = ~std::uint64_t{0};
  std::array<std::uint32_t, 4> numbers_{};
};

// Draws a fixed number of rows that are seen one after the other, every set of them as likely as any:
// Knuth, The Art of Computer Programming 2, section 3.4.2, algorithm S.
class SelectionSampling {
 public:
  SelectionSampling(std::size_t n_wanted, std::size_t n_rows) : wanted_(n_wanted), left_(n_rows) {}

  bool takes(std::uint32_t random) {
    const bool taken = (std::uint64_t{random} * left_) >> 32 < wanted_;
    --left_;
    if (taken) --wanted_;
    return taken;
  }

 private:
  std::uint64_t wanted_, left_;
};

std::size_t share_of(double share, std::size_t n) {
  return std::max(std::size_t{1}, static_cast<std::size_t>(share * static_cast<double>(n)));
}

void scale_row(std::span<double> derivatives, std::size_t n_rows, RowIndex row, double weight) {
  for (std::size_t i = row; i < derivatives.size(); i += n_rows) derivatives[i] *= weight;
}

}  // namespace

RowSampler::RowSampler(const SamplingOptions& options, std::span<const RowIndex> rows,
                       std::size_t n_rows, const Context& context)
    : options_(options), rows_(rows), n_rows_(n_rows), context_(context) {}

std::span<const RowIndex> RowSampler::draw(std::uint32_t round, std::span<double> gradient,
                                           std::vector<double>& hessian) {
  if (options_.takes_all()) return rows_;
  if (options_.weighs() && hessian.empty()) hessian.assign(gradient.size(), 1.0);
  drawn_.clear();
  switch (options_.method) {
    case SamplingMethod::uniform:
      draw_uniform(round);
      break;
    case SamplingMethod::goss:
      draw_goss(round, gradient, hessian);
      break;
    case SamplingMethod::gradient:
      draw_by_gradient(round, gradient, hessian);
      break;
  }
  return drawn_;
}

void RowSampler::draw_uniform(std::uint32_t round) {
  RowRandom random(context_.seed(), round);
  SelectionSampling selection(share_of(options_.row_share, rows_.size()), rows_.size());
  for (const RowIndex row : rows_) {
    if (selection.takes(random(row))) drawn_.push_back(row);
  }
}

void RowSampler::draw_goss(std::uint32_t round, std::span<double> gradient,
                           std::span<double> hessian) {
  const std::size_t n = rows_.size();
  const std::size_t n_top = std::min(n, share_of(options_.top_share, n));
  const std::size_t n_other = std::min(n - n_top, share_of(options_.other_share, n));
  measure_goss(gradient);
  largest_ = size_;
  const auto least = largest_.begin() + static_cast<std::ptrdiff_t>(n_top - 1);
  std::nth_element(largest_.begin(), least, largest_.end(), std::greater<>());
  const double smallest_top = *least;
  auto ties = n_top - static_cast<std::size_t>(std::count_if(
                          largest_.begin(), least, [&](double x) { return x > smallest_top; }));

  const double weight =
      n_other == 0 ? 1.0 : static_cast<double>(n - n_top) / static_cast<double>(n_other);
  RowRandom random(context_.seed(), round);
  SelectionSampling selection(n_other, n - n_top);
  for (std::size_t i = 0; i < n; ++i) {
    const bool tied = size_[i] == smallest_top && ties > 0;
    if (tied) --ties;
    if (tied || size_[i] > smallest_top) {
      drawn_.push_back(rows_[i]);
    } else if (selection.takes(random(rows_[i]))) {
      drawn_.push_back(rows_[i]);
      scale_row(gradient, n_rows_, rows_[i], weight);
      scale_row(hessian, n_rows_, rows_[i], weight);
    }
  }
}

void RowSampler::measure_goss(std::span<const double> gradient) {
  size_.assign(rows_.size(), 0.0);
  parallel_blocks(context_.n_threads(), rows_.size(), kSampledBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                      for (std::size_t j = rows_[i]; j < gradient.size(); j += n_rows_) {
                        size_[i] += std::abs(gradient[j]);
                      }
                    }
                  });
}

void RowSampler::draw_by_gradient(std::uint32_t round, std::span<double> gradient,
                                  std::span<double> hessian) {
  measure_gradient(gradient, hessian);
  const double mu = threshold_of_gradient(options_.row_share * static_cast<double>(rows_.size()));
  RowRandom random(context_.seed(), round);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (size_[i] >= mu) {
      drawn_.push_back(rows_[i]);
    } else if (const double p = size_[i] / mu; random(rows_[i]) * 0x1p-32 < p) {
      drawn_.push_back(rows_[i]);
      scale_row(gradient, n_rows_, rows_[i], 1.0 / p);
      scale_row(hessian, n_rows_, rows_[i], 1.0 / p);
    }
  }
  if (drawn_.empty()) drawn_.assign(rows_.begin(), rows_.end());
}

void RowSampler::measure_gradient(std::span<const double> gradient,
                                  std::span<const double> hessian) {
  const std::size_t n_blocks = (rows_.size() + kSampledBlockRows - 1) / kSampledBlockRows;
  std::vector<double> of_gradient(n_blocks), of_hessian(n_blocks);
  const auto squares = [&](std::span<const double> values, RowIndex row) {
    double sum = 0.0;
    for (std::size_t j = row; j < values.size(); j += n_rows_) sum += values[j] * values[j];
    return sum;
  };
  parallel_blocks(context_.n_threads(), rows_.size(), kSampledBlockRows,
                  [&](std::size_t block, std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                      of_gradient[block] += squares(gradient, rows_[i]);
                      of_hessian[block] += squares(hessian, rows_[i]);
                    }
                  });
  double g = 0.0, h = 0.0;
  for (std::size_t block = 0; block < n_blocks; ++block) {
    g += of_gradient[block];
    h += of_hessian[block];
  }
  const double lambda = h > 0.0 ? kHessianShare * g / h : 0.0;
  size_.resize(rows_.size());
  parallel_blocks(
      context_.n_threads(), rows_.size(), kSampledBlockRows,
      [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          size_[i] = std::sqrt(squares(gradient, rows_[i]) + lambda * squares(hessian, rows_[i]));
        }
      });
}

// The mu with  sum over rows of min(1, size/mu) = wanted. Rows of at least mu count 1 each, the others
// share what is left of the wanted sum; that lowers mu, until no further row reaches it.
double RowSampler::threshold_of_gradient(double wanted) const {
  double mu = std::numeric_limits<double>::infinity();
  for (std::size_t n_certain = 0;;) {
    std::size_t certain = 0;
    double rest = 0.0;
    for (const double size : size_) {
      if (size >= mu)
        ++certain;
      else
        rest += size;
    }
    const double others = wanted - static_cast<double>(certain);
    if (mu != std::numeric_limits<double>::infinity() && certain == n_certain) return mu;
    if (others <= 0.0 || rest <= 0.0) return mu;
    n_certain = certain;
    mu = rest / others;
  }
}

}  // namespace arboleda
