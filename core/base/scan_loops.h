// Loops over the codes of a column, for its best split; included by base/kernels_loops.h only, under its
// rules, after base/histogram_loops.h.

namespace arboleda {

namespace {

constexpr std::size_t kScanBlock = 256;
constexpr std::size_t kScanStep = 16;   // codes looked at side by side; divides a block
constexpr std::size_t kFindBlock = 64;  // divides a block

// Sums of the left side after each code of a block; the last one is repeated to fill a step.
struct PackedSums {
  alignas(64) Packed sum[kScanBlock];

  double gradient(std::size_t i) const { return static_cast<double>(gradient_of(sum[i])); }
  double hessian(std::size_t i) const { return static_cast<double>(hessian_of(sum[i])); }
};
struct WideSums {
  alignas(64) double left_gradient[kScanBlock], left_hessian[kScanBlock];

  double gradient(std::size_t i) const { return left_gradient[i]; }
  double hessian(std::size_t i) const { return left_hessian[i]; }
};

template <class Cell>
struct SumsOf {
  using Type = WideSums;
};
template <>
struct SumsOf<Packed> {
  using Type = PackedSums;
};

inline std::size_t filled(std::size_t n) { return (n + kScanStep - 1) / kScanStep * kScanStep; }

inline void sum_block(const Packed* cells, std::size_t n, Wide& left, PackedSums& sums) {
  // Sums of packed numbers are packed: both halves at once.
  Packed sum = left.gradient * (Packed{1} << 32) + left.hessian;
  for (std::size_t i = 0; i < n; ++i) {
    sum += cells[i];
    sums.sum[i] = sum;
  }
  for (std::size_t i = n; i < filled(n); ++i) sums.sum[i] = sum;
  left = {gradient_of(sum), hessian_of(sum)};
}

inline void sum_block(const Wide* cells, std::size_t n, Wide& left, WideSums& sums) {
  for (std::size_t i = 0; i < filled(n); ++i) {
    if (i < n) {
      left.gradient += cells[i].gradient;
      left.hessian += cells[i].hessian;
    }
    sums.left_gradient[i] = static_cast<double>(left.gradient);
    sums.left_hessian[i] = static_cast<double>(left.hessian);
  }
}

// Of the whole range, as floating point.
struct ScanNumbers {
  explicit ScanNumbers(const ScanRange& range)
      : gradient(static_cast<double>(range.total.gradient)),
        hessian(static_cast<double>(range.total.hessian)),
        least(static_cast<double>(range.least)),
        enough(static_cast<double>(range.enough)) {}

  double gradient, hessian, least, enough;
};

// Without the unit.
template <class Real>
inline Real split_score(Real gl, Real hl, Real gr, Real hr, Real l2) {
  return (gl * gl * (hr + l2) + gr * gr * (hl + l2)) / ((hl + l2) * (hr + l2));
}

// The scores of a block, negative where there is no split.
template <class Sums>
inline void score_block(const Sums& sums, std::size_t n, const ScanRange& range, double* scores) {
  const ScanNumbers node(range);
  for (std::size_t i = 0; i < filled(n); ++i) {
    const double gl = sums.gradient(i);
    const double hl = sums.hessian(i);
    const double hr = node.hessian - hl;
    const double score = split_score(gl, hl, node.gradient - gl, hr, range.l2) * range.unit;
    scores[i] = (hl >= node.least) & (hr >= node.least) ? score : -1.0;
  }
}

// Scores are not negative, so their bits compare like the numbers; -1 marks what is no split.
//
// Scores in single precision find the few places where the best can be. All terms of a score are
// positive and there are 13 roundings at most, of 2^-24 each, so a rough score is within 2^-20 of the
// score: a place whose rough score is below the best rough one by 2^-18 is not the best.
constexpr float kRoughly = 1.0F - 0x1p-18F;

// Up to here no product of a rough score leaves single precision: |g| <= 2^31, h < 2^31.
constexpr double kMostRoughL2 = 0x1p40;

struct RoughScores {
  alignas(64) std::int32_t of[kScanBlock];
  std::int32_t best, best_certain;
};

inline void score_roughly(const PackedSums& sums, std::size_t n, const ScanRange& range,
                          RoughScores& scores) {
  const auto clamp = [](std::int64_t h) {
    return static_cast<std::int32_t>(h < INT32_MAX ? h : INT32_MAX);
  };
  const auto g = static_cast<std::int32_t>(range.total.gradient);
  const auto h = static_cast<std::int32_t>(range.total.hessian);
  const std::int32_t least = clamp(range.least);
  const std::int32_t enough = clamp(range.enough);
  const auto l2 = static_cast<float>(range.l2);
  std::int32_t best = -1;
  std::int32_t best_certain = -1;
  for (std::size_t i = 0; i < filled(n); ++i) {
    const auto gl = static_cast<std::int32_t>(gradient_of(sums.sum[i]));
    const auto hl = static_cast<std::int32_t>(sums.sum[i]);
    const std::int32_t hr = h - hl;
    const float score = split_score(static_cast<float>(gl), static_cast<float>(hl),
                                    static_cast<float>(g - gl), static_cast<float>(hr), l2);
    const bool allowed = (hl >= least) & (hr >= least);
    const bool sure = (hl >= enough) & (hr >= enough);
    const std::int32_t bits = allowed ? __builtin_bit_cast(std::int32_t, score) : -1;
    const std::int32_t certain_bits = sure ? bits : -1;
    scores.of[i] = bits;
    best = bits > best ? bits : best;
    best_certain = certain_bits > best_certain ? certain_bits : best_certain;
  }
  scores.best = best;
  scores.best_certain = best_certain;
}

// The best split of a block that leaves at least `least` on both sides; rough: its best rough score.
inline void keep_best(const PackedSums& sums, const RoughScores& scores, std::int32_t rough,
                      std::int64_t least, const ScanRange& range, std::size_t first, std::size_t n,
                      ScanBest& best) {
  if (rough < 0) return;
  const float lowest = __builtin_bit_cast(float, rough) * kRoughly;
  const float highest = __builtin_bit_cast(float, rough) / kRoughly;
  if (static_cast<double>(highest) * range.unit < range.floor) return;
  const std::int32_t wanted = __builtin_bit_cast(std::int32_t, lowest);
  const ScanNumbers node(range);
  for (std::size_t from = 0; from < n; from += kFindBlock) {
    const std::size_t end = from + kFindBlock < filled(n) ? from + kFindBlock : filled(n);
    std::int32_t n_found = 0;
    for (std::size_t i = from; i < end; ++i) n_found += scores.of[i] >= wanted;
    for (std::size_t i = from; n_found > 0 && i < end; ++i) {
      if (scores.of[i] < wanted) continue;
      --n_found;
      const double hl = sums.hessian(i);
      const double hr = node.hessian - hl;
      if (hl < static_cast<double>(least) || hr < static_cast<double>(least)) continue;
      const double gl = sums.gradient(i);
      const double score = split_score(gl, hl, node.gradient - gl, hr, range.l2) * range.unit;
      if (score > best.score) best = {score, first + i};
    }
  }
}

// Calls visit(sums, first, n) for the splits after the codes first .. first + n - 1.
template <class Cell, class Visit>
inline void for_each_block(const Cell* cells, const ScanRange& range, const Visit& visit) {
  typename SumsOf<Cell>::Type sums;
  Wide left = range.left;
  for (std::size_t first = 0; first < range.n_codes; first += kScanBlock) {
    const std::size_t rest = range.n_codes - first;
    const std::size_t n = rest < kScanBlock ? rest : kScanBlock;
    sum_block(cells + first, n, left, sums);
    visit(sums, first, n);
  }
}

template <class Cell>
ScanFound scan_exactly(const Cell* cells, const ScanRange& range) {
  ScanFound found;
  const ScanNumbers node(range);
  for_each_block(cells, range, [&](const auto& sums, std::size_t first, std::size_t n) {
    alignas(64) double scores[kScanBlock];
    score_block(sums, n, range, scores);
    for (std::size_t i = 0; i < n; ++i) {
      if (scores[i] > found.any.score) found.any = {scores[i], first + i};
      const double hl = sums.hessian(i);
      const bool sure = hl >= node.enough && node.hessian - hl >= node.enough;
      if (sure && scores[i] > found.sure.score) found.sure = {scores[i], first + i};
    }
  });
  return found;
}

ScanFound scan_packed(const Packed* cells, const ScanRange& range) {
  if (range.l2 > kMostRoughL2) return scan_exactly(cells, range);
  ScanFound found;
  for_each_block(cells, range, [&](const PackedSums& sums, std::size_t first, std::size_t n) {
    RoughScores scores;
    score_roughly(sums, n, range, scores);
    keep_best(sums, scores, scores.best, range.least, range, first, n, found.any);
    keep_best(sums, scores, scores.best_certain, range.enough, range, first, n, found.sure);
  });
  return found;
}

template <class Cell>
void add_scores(const Cell* cells, const ScanRange& range, double without, double* totals) {
  for_each_block(cells, range, [&](const auto& sums, std::size_t first, std::size_t n) {
    alignas(64) double scores[kScanBlock];
    score_block(sums, n, range, scores);
    for (std::size_t i = 0; i < n; ++i) {
      totals[first + i] += scores[i] < 0.0 ? without : scores[i];
    }
  });
}

constexpr HistogramKernels kHistogramKernels{add_bytes<Packed>,
                                             add_bytes<Wide>,
                                             add_listed<Packed>,
                                             add_listed<Wide>,
                                             scan_packed,
                                             scan_exactly<Wide>,
                                             add_scores<Packed>,
                                             add_scores<Wide>,
                                             pack,
                                             total,
                                             largest};

}  // namespace

}  // namespace arboleda
