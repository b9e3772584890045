// The loops of base/histogram_kernels.h; included by base/kernels_loops.h only, under its rules.

namespace arboleda {

namespace {

constexpr std::size_t kAhead = 32;  // rows from now whose codes are fetched

// Of a list of cells, as much is fetched as is likely to be there.
constexpr std::size_t kListLines = 3;
constexpr std::size_t kCellsALine = 64 / sizeof(std::uint16_t);

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
  cells += table.first_cell;
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t row = rows != nullptr ? rows[i] : i;
    if (rows != nullptr && i + 2 * kAhead < end) {
      // The list of a row can be fetched when it is known where it starts.
      __builtin_prefetch(table.start + rows[i + 2 * kAhead]);
      const std::size_t later = rows[i + kAhead];
      const std::uint16_t* list = table.cell + table.start[later];
      for (std::size_t line = 0; line < kListLines; ++line) {
        __builtin_prefetch(list + line * kCellsALine);
      }
      __builtin_prefetch(gradients + later);
    }
    const Packed p = gradients[row];
    const std::uint64_t last = table.start[row + 1];
    std::uint64_t e = table.start[row];
    for (; e + 4 <= last; e += 4) {
      add_to(cells[table.cell[e]], p);
      add_to(cells[table.cell[e + 1]], p);
      add_to(cells[table.cell[e + 2]], p);
      add_to(cells[table.cell[e + 3]], p);
    }
    for (; e < last; ++e) add_to(cells[table.cell[e]], p);
  }
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

PackedTotals total(const Packed* packed, std::size_t n, std::int64_t limit) {
  PackedTotals sum;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t g = gradient_of(packed[i]);
    const std::int64_t h = hessian_of(packed[i]);
    const std::int64_t size = g < 0 ? -g : g;
    sum.gradient += g;
    sum.hessian += h;
    sum.seen_gradient += size < limit ? size : limit;
    sum.seen_hessian += h < limit ? h : limit;
    sum.largest_gradient = size > sum.largest_gradient ? size : sum.largest_gradient;
    sum.largest_hessian = h > sum.largest_hessian ? h : sum.largest_hessian;
  }
  return sum;
}

std::uint64_t largest(const double* x, std::size_t n) {
  std::int64_t most = 0;  // without their sign, bits compare like the numbers
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t bits = __builtin_bit_cast(std::int64_t, x[i]) & INT64_MAX;
    most = bits > most ? bits : most;
  }
  return static_cast<std::uint64_t>(most);
}

}  // namespace

}  // namespace arboleda
