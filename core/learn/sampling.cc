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

// `automatic`: so many rows for each leaf, this share of all rows and so many rows are drawn at least;
// where that is more than the largest share, all. docs/decisions/sampling.md has what was measured.
constexpr double kRowsALeaf = 800.0;
constexpr double kLeastShare = 0.05;
constexpr double kLeastRows = 50'000.0;
constexpr double kMostShare = 0.5;

// Rows of one task: fixed, so that sums of blocks are the same on any number of threads.
constexpr std::size_t kSampledBlockRows = std::size_t{1} << 14;

// Rows whose sizes are kept at hand.
constexpr std::size_t kChunkRows = 256;

// Probabilities are multiples of 1/kDrawUnits.
constexpr double kDrawUnits = 65536.0;

// Rows that the threshold is found from, in runs of neighbours: a cache line or two of each array.
constexpr std::size_t kThresholdRows = std::size_t{1} << 15;
constexpr std::size_t kRunRows = 16;

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

// The sum over outputs.
double sum_squares(std::span<const double> values, std::size_t n_rows, RowIndex row) {
  double sum = 0.0;
  for (std::size_t i = row; i < values.size(); i += n_rows) sum += values[i] * values[i];
  return sum;
}

double square(double x) { return x * x; }

// Sets or adds to sums[i] the squares of all outputs of rows[i], each times a factor.
void add_squares(std::span<const double> values, std::size_t n_rows, double factor,
                 std::span<const RowIndex> rows, bool sets, std::span<double> sums) {
  const bool side_by_side = rows.back() - rows.front() + 1 == rows.size();
  for (std::size_t at = 0; at < values.size(); at += n_rows, sets = false) {
    const double* const all = &values[at];
    if (sets) std::fill_n(sums.begin(), rows.size(), 0.0);
    if (side_by_side) {
      const double* const x = all + rows.front();
      for (std::size_t i = 0; i < rows.size(); ++i) sums[i] += square(factor * x[i]);
    } else {
      for (std::size_t i = 0; i < rows.size(); ++i) sums[i] += square(factor * all[rows[i]]);
    }
  }
}

void scale_row(std::span<double> derivatives, std::size_t n_rows, RowIndex row, double weight) {
  for (std::size_t i = row; i < derivatives.size(); i += n_rows) derivatives[i] *= weight;
}

}  // namespace

SamplingOptions resolve(const SamplingOptions& options, std::size_t n_rows,
                        std::int64_t max_leaves) {
  if (options.method != SamplingMethod::automatic) return options;
  const auto all = static_cast<double>(n_rows);
  const double wanted =
      std::max({kRowsALeaf * static_cast<double>(max_leaves), kLeastShare * all, kLeastRows});
  SamplingOptions resolved = options;
  const bool pays = wanted <= kMostShare * all;
  resolved.method = pays ? SamplingMethod::gradient : SamplingMethod::uniform;
  resolved.row_share = pays ? wanted / all : 1.0;
  return resolved;
}

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
    case SamplingMethod::automatic:
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
  const Threshold threshold = find_threshold(gradient, hessian);
  const std::size_t n_blocks = (rows_.size() + kSampledBlockRows - 1) / kSampledBlockRows;
  of_block_.resize(rows_.size());
  std::vector<std::size_t> n_drawn(n_blocks);
  parallel_for(context_.n_threads(), n_blocks, [&](std::size_t block, int) {
    n_drawn[block] = draw_block(round, block, threshold, gradient, hessian);
  });
  for (std::size_t block = 0; block < n_blocks; ++block) {
    const auto begin = of_block_.begin() + static_cast<std::ptrdiff_t>(block * kSampledBlockRows);
    drawn_.insert(drawn_.end(), begin, begin + static_cast<std::ptrdiff_t>(n_drawn[block]));
  }
  if (drawn_.empty()) drawn_.assign(rows_.begin(), rows_.end());
}

// Random numbers of 16 bits: row i is drawn where  u < x,  x = 2^16 size_i/mu,  by the squares of both. That
// has the probability ceil(x)/2^16 of at most 1, whose inverse is the weight.
std::size_t RowSampler::draw_block(std::uint32_t round, std::size_t block,
                                   const Threshold& threshold, std::span<double> gradient,
                                   std::span<double> hessian) {
  const std::size_t begin = block * kSampledBlockRows;
  const auto rows = rows_.subspan(begin, std::min(kSampledBlockRows, rows_.size() - begin));
  RowIndex* const drawn = of_block_.data() + begin;
  std::size_t n_drawn = 0;
  QuickStream random(QuickStream::root(context_.seed(), Purpose::row_sample, round), block);
  std::array<double, kChunkRows> squares, drawn_squares;  // of sizes in units of mu/2^16
  const double gradient_factor = kDrawUnits / threshold.mu;
  const double hessian_factor = std::sqrt(threshold.lambda) * gradient_factor;
  for (std::size_t first = 0; first < rows.size(); first += kChunkRows) {
    const auto some = rows.subspan(first, std::min(kChunkRows, rows.size() - first));
    add_squares(gradient, n_rows_, gradient_factor, some, true, squares);
    add_squares(hessian, n_rows_, hessian_factor, some, false, squares);
    const std::size_t n_before = n_drawn;
    std::uint32_t numbers = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (i % 2 == 0) numbers = random.next();
      const double u = numbers & 0xffff;
      numbers >>= 16;
      drawn[n_drawn] = some[i];
      drawn_squares[n_drawn - n_before] = squares[i];
      n_drawn += squares[i] <= u * u ? 0U : 1U;  // NaN is drawn, and refused where it is packed
    }
    for (std::size_t i = n_before; i < n_drawn; ++i) {
      const double chances = std::ceil(std::sqrt(drawn_squares[i - n_before]));
      if (chances >= kDrawUnits) continue;
      scale_row(gradient, n_rows_, drawn[i], kDrawUnits / chances);
      scale_row(hessian, n_rows_, drawn[i], kDrawUnits / chances);
    }
  }
  return n_drawn;
}

RowSampler::Threshold RowSampler::find_threshold(std::span<const double> gradient,
                                                 std::span<const double> hessian) {
  std::vector<RowIndex> some;
  const std::size_t n_runs = (rows_.size() + kRunRows - 1) / kRunRows;
  const std::size_t n_seen = std::min(n_runs, kThresholdRows / kRunRows);
  for (std::size_t run = 0; run < n_seen; ++run) {
    const std::size_t first = run * n_runs / n_seen * kRunRows;
    const auto rows = rows_.subspan(first, std::min(kRunRows, rows_.size() - first));
    some.insert(some.end(), rows.begin(), rows.end());
  }
  double g = 0.0, h = 0.0;
  for (const RowIndex row : some) {
    g += sum_squares(gradient, n_rows_, row);
    h += sum_squares(hessian, n_rows_, row);
  }
  const double lambda = h > 0.0 ? kHessianShare * g / h : 0.0;
  size_.clear();
  for (const RowIndex row : some) {
    size_.push_back(std::sqrt(sum_squares(gradient, n_rows_, row) +
                              lambda * sum_squares(hessian, n_rows_, row)));
  }
  return {lambda, find_mu(options_.row_share * static_cast<double>(size_.size()))};
}

// The mu with  sum over sizes of min(1, size/mu) = wanted. Rows of at least mu count 1 each, the others
// share what is left of the wanted sum; that lowers mu, until no further row reaches it.
double RowSampler::find_mu(double wanted) const {
  double mu = std::numeric_limits<double>::infinity();
  for (std::size_t n_certain = 0;;) {
    std::size_t certain = 0;
    double rest = 0.0;
    for (const double size : size_) {
      const bool is_certain = size >= mu;
      certain += is_certain ? 1 : 0;
      rest += is_certain ? 0.0 : size;
    }
    const double others = wanted - static_cast<double>(certain);
    if (mu != std::numeric_limits<double>::infinity() && certain == n_certain) return mu;
    if (others <= 0.0 || rest <= 0.0) return mu;
    n_certain = certain;
    mu = rest / others;
  }
}

}  // namespace arboleda
