// The loops of base/histogram_kernels.h; included by base/kernels_loops.h only, under its rules.

namespace arboleda {

namespace {

constexpr std::size_t kAhead = 16;  // rows from now whose codes are fetched

inline std::int64_t gradient_of(Packed p) { return p >> 32; }
inline std::int64_t hessian_of(Packed p) { return p & 0xffffffff; }

inline void add_to(Packed& cell, Packed p) { cell += p; }
inline void add_to(Wide& cell, Packed p) {
  cell.gradient += gradient_of(p);
  cell.hessian += hessian_of(p);
}

template <class Cell>
void add_bytes(const ByteRows& table, const RowIndex* rows, std::size_t begin, std::size_t end,
               const Packed* gradients, Cell* cells) {
  const std::size_t n_columns = table.n_columns;
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t row = rows != nullptr ? rows[i] : i;
    if (rows != nullptr && i + kAhead < end) {
      const std::size_t later = rows[i + kAhead];
      __builtin_prefetch(table.bytes + later * table.stride);
      __builtin_prefetch(table.bytes + later * table.stride + table.n_columns - 1);
      __builtin_prefetch(gradients + later);
    }
    const std::uint8_t* codes = table.bytes + row * table.stride;
    const Packed p = gradients[row];
    Cell* cell = cells;
    std::size_t j = 0;
    for (; j + 4 <= n_columns; j += 4, cell += 4 * kDenseCells) {
      add_to(cell[codes[j]], p);
      add_to(cell[kDenseCells + codes[j + 1]], p);
      add_to(cell[2 * kDenseCells + codes[j + 2]], p);
      add_to(cell[3 * kDenseCells + codes[j + 3]], p);
    }
    for (; j < n_columns; ++j, cell += kDenseCells) add_to(cell[codes[j]], p);
  }
}

template <class Cell>
void add_listed(const ListedRows& table, const RowIndex* rows, std::size_t begin, std::size_t end,
                const Packed* gradients, Cell* cells) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t row = rows != nullptr ? rows[i] : i;
    if (rows != nullptr && i + kAhead < end) {
      const std::size_t later = rows[i + kAhead];
      __builtin_prefetch(table.cell + table.start[later]);
      __builtin_prefetch(gradients + later);
    }
    const Packed p = gradients[row];
    const std::uint64_t last = table.start[row + 1];
    for (std::uint64_t e = table.start[row]; e < last; ++e) add_to(cells[table.cell[e]], p);
  }
}

// Scores are not negative, so their bits compare like the numbers; -1 marks what is not allowed.
constexpr std::size_t kScanBlock = 256;

struct ScanBlock {
  double gradient[kScanBlock], hessian[kScanBlock];  // of the left side
  std::int64_t score[kScanBlock];
};

inline std::int64_t best_of(const std::int64_t* score, std::size_t n) {
  std::int64_t best = -1;
  for (std::size_t i = 0; i < n; ++i) best = score[i] > best ? score[i] : best;
  return best;
}

inline void keep(const std::int64_t* score, std::size_t n, std::size_t first, ScanBest& best) {
  const std::int64_t found = best_of(score, n);
  if (found < 0 || __builtin_bit_cast(double, found) <= best.score) return;
  std::size_t i = 0;
  while (score[i] != found) ++i;
  best = {__builtin_bit_cast(double, found), first + i};
}

inline void score_block(ScanBlock& block, std::size_t n, const ScanRange& range) {
  const auto g = static_cast<double>(range.total.gradient);
  const auto h = static_cast<double>(range.total.hessian);
  const auto least = static_cast<double>(range.least);
  const double l2 = range.l2;
  for (std::size_t i = 0; i < n; ++i) {
    const double gl = block.gradient[i];
    const double hl = block.hessian[i];
    const double gr = g - gl;
    const double hr = h - hl;
    const double score =
        (gl * gl * (hr + l2) + gr * gr * (hl + l2)) / ((hl + l2) * (hr + l2)) * range.unit;
    const bool allowed = (hl >= least) & (hr >= least);
    block.score[i] = allowed ? __builtin_bit_cast(std::int64_t, score) : -1;
  }
}

inline void drop_unsure(ScanBlock& block, std::size_t n, const ScanRange& range) {
  const auto h = static_cast<double>(range.total.hessian);
  const auto enough = static_cast<double>(range.enough);
  for (std::size_t i = 0; i < n; ++i) {
    const double hl = block.hessian[i];
    const bool sure = (hl >= enough) & (h - hl >= enough);
    block.score[i] = sure ? block.score[i] : -1;
  }
}

inline void sum_block(const Packed* cells, std::size_t n, Wide& left, ScanBlock& block) {
  // Sums of packed numbers are packed: both halves at once.
  Packed sum = left.gradient * (Packed{1} << 32) + left.hessian;
  std::int32_t gradient[kScanBlock], hessian[kScanBlock];
  for (std::size_t i = 0; i < n; ++i) {
    sum += cells[i];
    gradient[i] = static_cast<std::int32_t>(gradient_of(sum));
    hessian[i] = static_cast<std::int32_t>(hessian_of(sum));
  }
  for (std::size_t i = 0; i < n; ++i) {
    block.gradient[i] = gradient[i];
    block.hessian[i] = hessian[i];
  }
  left = {gradient_of(sum), hessian_of(sum)};
}

inline void sum_block(const Wide* cells, std::size_t n, Wide& left, ScanBlock& block) {
  for (std::size_t i = 0; i < n; ++i) {
    left.gradient += cells[i].gradient;
    left.hessian += cells[i].hessian;
    block.gradient[i] = static_cast<double>(left.gradient);
    block.hessian[i] = static_cast<double>(left.hessian);
  }
}

// Calls visit(block, first, n) for the scores of the splits after the codes first .. first + n - 1.
template <class Cell, class Visit>
inline void for_each_scored(const Cell* cells, const ScanRange& range, const Visit& visit) {
  ScanBlock block;
  Wide left = range.left;
  for (std::size_t first = 0; first < range.n_codes; first += kScanBlock) {
    const std::size_t rest = range.n_codes - first;
    const std::size_t n = rest < kScanBlock ? rest : kScanBlock;
    sum_block(cells + first, n, left, block);
    score_block(block, n, range);
    visit(block, first, n);
  }
}

template <class Cell>
ScanFound scan(const Cell* cells, const ScanRange& range) {
  ScanFound found;
  for_each_scored(cells, range, [&](ScanBlock& block, std::size_t first, std::size_t n) {
    const double before = found.any.score;
    keep(block.score, n, first, found.any);
    if (range.enough > range.least) {
      drop_unsure(block, n, range);
      keep(block.score, n, first, found.sure);
    } else if (found.any.score > before) {
      found.sure = found.any;
    }
  });
  return found;
}

template <class Cell>
void add_scores(const Cell* cells, const ScanRange& range, double without, double* totals) {
  for_each_scored(cells, range, [&](const ScanBlock& block, std::size_t first, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double score = __builtin_bit_cast(double, block.score[i]);
      totals[first + i] += block.score[i] < 0 ? without : score;
    }
  });
}

// Rounds to the nearest integer, ties to even, for |x| < 2^51.
inline std::int64_t to_integer(double x) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
  return __builtin_bit_cast(std::int64_t, x + kShift) - __builtin_bit_cast(std::int64_t, kShift);
}

void pack(const double* gradient, const double* hessian, std::size_t n, double gradient_scale,
          double hessian_scale, Packed* out) {
  if (hessian == nullptr) {
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = to_integer(gradient[i] * gradient_scale) * (Packed{1} << 32) + 1;
    }
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t h = to_integer(hessian[i] * hessian_scale);
    out[i] = to_integer(gradient[i] * gradient_scale) * (Packed{1} << 32) + (h > 1 ? h : 1);
  }
}

constexpr HistogramKernels kHistogramKernels{
    add_bytes<Packed>,  add_bytes<Wide>,  add_listed<Packed>,
    add_listed<Wide>,   scan<Packed>,     scan<Wide>,
    add_scores<Packed>, add_scores<Wide>, pack};

}  // namespace

}  // namespace arboleda
