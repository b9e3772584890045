#include "learn/sampling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

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

// Rows of one task, and of a place at least.
constexpr std::size_t kSampledBlockRows = std::size_t{1} << 14;

// Rows whose sizes are kept at hand.
constexpr std::size_t kChunkRows = 256;

// Probabilities are multiples of 1/kDrawUnits.
constexpr double kDrawUnits = 65536.0;

// 16 random bits for each of some rows, from their numbers in the table: a word has those of four neighbours.
void draw_units(const RowWords& words, std::uint64_t offset, std::span<const RowIndex> rows,
                std::int32_t* units) {
  std::size_t i = 0;
  while (i < rows.size()) {
    const std::uint64_t four = (offset + rows[i]) / 4;
    const std::uint64_t word = words(four);
    if (i + 3 < rows.size() && offset + rows[i + 3] == 4 * four + 3) {
      units[i] = word & 0xffff;
      units[i + 1] = word >> 16 & 0xffff;
      units[i + 2] = word >> 32 & 0xffff;
      units[i + 3] = static_cast<std::int32_t>(word >> 48);
      i += 4;
    } else {
      for (; i < rows.size() && (offset + rows[i]) / 4 == four; ++i) {
        units[i] = word >> (16 * ((offset + rows[i]) % 4)) & 0xffff;
      }
    }
  }
}

// Descending: the largest size, or NaN, has the smallest key.
std::uint64_t goss_key(double size) { return ~search_key(size); }

std::uint64_t share_of(double share, std::uint64_t n) {
  return std::max(std::uint64_t{1}, static_cast<std::uint64_t>(share * static_cast<double>(n)));
}

double square(double x) { return x * x; }

bool are_neighbours(std::span<const RowIndex> rows) {
  return rows.back() - rows.front() + 1 == rows.size();
}

// Sets or adds to sums[i] the squares of all outputs of rows[i], each times a factor.
void add_squares(std::span<const double> values, std::size_t n_rows, double factor,
                 std::span<const RowIndex> rows, bool sets, std::span<double> sums) {
  const bool side_by_side = are_neighbours(rows);
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
    : options_(options),
      rows_(rows),
      n_rows_(n_rows),
      n_all_(sum_of_all(context.shards(), rows.size())),
      context_(context) {
  const std::size_t n_places = std::clamp<std::size_t>(
      rows.size() / kSampledBlockRows, 1, static_cast<std::size_t>(context.n_threads()));
  for (std::size_t p = 0; p < n_places; ++p) {
    const std::size_t begin = p * rows.size() / n_places;
    places_.push_back({rows.subspan(begin, (p + 1) * rows.size() / n_places - begin),
                       first_row(context.shards())});
  }
  of_place_.resize(n_places);
  if (options.method == SamplingMethod::goss) {
    top_.resize(n_places);
    others_.resize(n_places);
  }
  if (options.method == SamplingMethod::gradient && !options.takes_all()) {
    const Shards* const shards = context.shards();
    threshold_rows_ = rows_in_runs(rows, first_row(shards), n_all_);
    if (!is_any(shards, !threshold_rows_.empty())) threshold_rows_.assign(rows.begin(), rows.end());
    const std::uint64_t n_own = threshold_rows_.size();
    if (shards != nullptr) n_threshold_rows_ = shards->gather(std::span(&n_own, 1));
  }
}

template <class Body>
void RowSampler::for_each_place(const Body& body) const {
  parallel_for(context_.n_threads(), places_.size(), [&](std::size_t place, int) { body(place); });
}

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
  draw_smallest(places_, share_of(options_.row_share, n_all_),
                RowWords(context_.seed(), Purpose::row_sample, round), context_.n_threads(),
                context_.shards(), of_place_);
  for (const DrawnRows& rows : of_place_) drawn_.insert(drawn_.end(), rows.begin(), rows.end());
}

void RowSampler::draw_goss(std::uint32_t round, std::span<double> gradient,
                           std::span<double> hessian) {
  const std::uint64_t n = n_all_;
  const std::uint64_t n_top = std::min(n, share_of(options_.top_share, n));
  const std::uint64_t n_other = std::min(n - n_top, share_of(options_.other_share, n));
  measure_goss(gradient);
  const std::vector<KeyCutter> cutters = cut_largest(n_top);
  for_each_place([&](std::size_t place) { divide_at(cutters[place], place); });
  std::vector<PlaceRows> others;
  for (std::size_t p = 0; p < places_.size(); ++p)
    others.push_back({others_[p], places_[p].offset});
  draw_smallest(others, n_other, RowWords(context_.seed(), Purpose::row_sample, round),
                context_.n_threads(), context_.shards(), of_place_);

  const double weight =
      n_other == 0 ? 1.0 : static_cast<double>(n - n_top) / static_cast<double>(n_other);
  for_each_place([&](std::size_t place) {
    for (const RowIndex row : of_place_[place]) {
      scale_row(gradient, n_rows_, row, weight);
      scale_row(hessian, n_rows_, row, weight);
    }
  });
  for (std::size_t p = 0; p < places_.size(); ++p) {
    std::merge(top_[p].begin(), top_[p].end(), of_place_[p].begin(), of_place_[p].end(),
               std::back_inserter(drawn_));
  }
}

void RowSampler::measure_goss(std::span<const double> gradient) {
  size_.resize(rows_.size());
  parallel_blocks(context_.n_threads(), rows_.size(), kSampledBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                      double size = 0.0;
                      for (std::size_t j = rows_[i]; j < gradient.size(); j += n_rows_) {
                        size += std::abs(gradient[j]);
                      }
                      size_[i] = size;
                    }
                  });
}

// For each place, of its sizes.
std::vector<KeyCutter> RowSampler::cut_largest(std::size_t n_top) const {
  const auto sizes_of = [&](std::size_t place) {
    return std::span(size_).subspan(
        static_cast<std::size_t>(places_[place].rows.data() - rows_.data()),
        places_[place].rows.size());
  };
  KeySearch search(n_top);
  search.narrow(sum_digits(places_.size(), context_.n_threads(), context_.shards(),
                           [&](std::size_t place, std::span<std::uint64_t> sums) {
                             for (const double size : sizes_of(place))
                               ++sums[search.digit(goss_key(size))];
                           }));
  std::vector<std::vector<UnitItem>> items(places_.size());
  for_each_place([&](std::size_t place) {
    for (const double size : sizes_of(place)) {
      if (search.holds(goss_key(size))) items[place].push_back({goss_key(size)});
    }
  });
  const KeyCut cut = find_key(std::span(items), search, context_.n_threads(), context_.shards());
  std::vector<std::uint64_t> n_at(places_.size());
  for_each_place([&](std::size_t place) {
    for (const double size : sizes_of(place)) n_at[place] += goss_key(size) == cut.key;
  });
  return cut_places(cut, n_top, n_at, context_.shards());
}

// The rows of a place into those of large gradients and the others.
void RowSampler::divide_at(KeyCutter cutter, std::size_t place) {
  const std::span<const RowIndex> rows = places_[place].rows;
  const double* const size = &size_[static_cast<std::size_t>(rows.data() - rows_.data())];
  DrawnRows& top = top_[place];
  DrawnRows& others = others_[place];
  top.resize(rows.size());
  others.resize(rows.size());
  std::size_t n_top = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    top[n_top] = rows[i];
    others[i - n_top] = rows[i];
    n_top += cutter.takes(goss_key(size[i])) ? 1U : 0U;
  }
  top.resize(n_top);
  others.resize(rows.size() - n_top);
}

// The few numbers that it is found from are those of all shards: one after the other in one array.
GradientThreshold RowSampler::find_threshold(std::span<const double> gradient,
                                             std::span<const double> hessian) const {
  SquaredDerivatives squares = squared_derivatives(threshold_rows_, gradient, hessian, n_rows_);
  if (const Shards* const shards = context_.shards(); shards != nullptr) {
    const auto own = n_threshold_rows_.begin() + static_cast<std::ptrdiff_t>(shards->number());
    const auto before = std::accumulate(n_threshold_rows_.begin(), own, std::size_t{0});
    const auto n = std::accumulate(own, n_threshold_rows_.end(), before);
    std::vector<std::uint64_t> bits(2 * n);
    for (std::size_t i = 0; i < threshold_rows_.size(); ++i) {
      bits[before + i] = std::bit_cast<std::uint64_t>(squares.gradient[i]);
      bits[n + before + i] = std::bit_cast<std::uint64_t>(squares.hessian[i]);
    }
    shards->add(bits);
    squares = {std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
      squares.gradient[i] = std::bit_cast<double>(bits[i]);
      squares.hessian[i] = std::bit_cast<double>(bits[n + i]);
    }
  }
  return find_gradient_threshold(std::span(&squares, 1), options_.row_share);
}

void RowSampler::draw_by_gradient(std::uint32_t round, std::span<double> gradient,
                                  std::span<double> hessian) {
  const GradientThreshold threshold = find_threshold(gradient, hessian);
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
  if (!is_any(context_.shards(), !drawn_.empty())) drawn_.assign(rows_.begin(), rows_.end());
}

// Random numbers of 16 bits: row i is drawn where  u < x,  x = 2^16 size_i/mu,  by the squares of both. That
// has the probability ceil(x)/2^16 of at most 1, whose inverse is the weight.
std::size_t RowSampler::draw_block(std::uint32_t round, std::size_t block,
                                   const GradientThreshold& threshold, std::span<double> gradient,
                                   std::span<double> hessian) {
  const std::size_t begin = block * kSampledBlockRows;
  const auto rows = rows_.subspan(begin, std::min(kSampledBlockRows, rows_.size() - begin));
  RowIndex* const drawn = of_block_.data() + begin;
  std::size_t n_drawn = 0;
  const RowWords words(context_.seed(), Purpose::row_sample, round);
  std::array<std::int32_t, kChunkRows> units;
  std::array<RowIndex, kChunkRows> numbers;
  std::array<double, kChunkRows> squares, drawn_squares;  // of sizes in units of mu/2^16
  const double gradient_factor = kDrawUnits / threshold.mu;
  const double hessian_factor = std::sqrt(threshold.lambda) * gradient_factor;
  for (std::size_t first = 0; first < rows.size(); first += kChunkRows) {
    const auto some = rows.subspan(first, std::min(kChunkRows, rows.size() - first));
    add_squares(gradient, n_rows_, gradient_factor, some, true, squares);
    add_squares(hessian, n_rows_, hessian_factor, some, false, squares);
    const std::size_t n_before = n_drawn;
    // Read from memory only where they are not known from the first.
    if (are_neighbours(some)) {
      std::iota(numbers.begin(), numbers.end(), some.front());
    } else {
      std::copy(some.begin(), some.end(), numbers.begin());
    }
    draw_units(words, first_row(context_.shards()), std::span(numbers).first(some.size()),
               units.data());
    for (std::size_t i = 0; i < some.size(); ++i) {
      const double u = units[i];
      drawn[n_drawn] = numbers[i];
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

}  // namespace arboleda
