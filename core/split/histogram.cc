#include "split/histogram.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "simd/kernels.h"

namespace arboleda {

namespace {

inline bool has_rows(Packed count) { return count != 0; }
inline bool has_rows(Wide count) { return count.hessian != 0; }

// From the numbers at `usual`, so many a code, those of the other codes from `begin` to `end`. The last of a
// code's numbers counts rows.
template <class Cell>
void subtract_others(Cell* cells, std::size_t begin, std::size_t end, std::size_t usual,
                     std::size_t width) {
  Cell* rest = cells + usual;
  for (const Cell* other = cells + begin; other != cells + end; other += width) {
    if (other == rest || !has_rows(other[width - 1])) continue;
    for (std::size_t i = 0; i < width; ++i) rest[i] = rest[i] - other[i];
  }
}

// Rows whose gradients are put beside their codes while these are in the caches.
constexpr std::size_t kNearBlockRows = 1024;

void put_near(const RowCodes& codes, std::size_t begin, std::size_t end, const Packed* packed) {
  const std::size_t stride = codes.dense().stride;
  for (std::size_t row = begin; row < end; ++row) {
    const Wide sum = to_wide(packed[row]);
    const NearGradient near{static_cast<std::int16_t>(sum.gradient),
                            static_cast<std::uint16_t>(sum.hessian)};
    std::memcpy(codes.near_gradients() + row * stride, &near, sizeof near);
  }
}

}  // namespace

void Histogram::resize(std::size_t n_cells, bool is_wide) {
  is_wide_ = is_wide;
  if (is_wide) {
    wide_.resize(n_cells);
  } else {
    packed_.resize(n_cells);
  }
}

void Histogram::clear(std::size_t n_cells, bool is_wide) {
  is_wide_ = is_wide;
  if (is_wide) {
    wide_.assign(n_cells, {});
  } else {
    packed_.assign(n_cells, 0);
  }
}

void Histogram::clear_cells(std::size_t begin, std::size_t end) {
  if (is_wide_) {
    std::fill_n(wide() + begin, end - begin, Wide{});
  } else {
    std::fill_n(packed() + begin, end - begin, Packed{0});
  }
}

void Histogram::add_block(const AlignedVector<Packed>& cells, std::size_t begin) {
  Wide* sums = wide() + begin;
  for (std::size_t i = 0; i < cells.size(); ++i) sums[i] = sums[i] + to_wide(cells[i]);
}

Wide Histogram::at(std::size_t cell) const {
  return is_wide_ ? wide_[cell] : to_wide(packed_[cell]);
}

void Histogram::set(std::size_t cell, Wide sum) {
  if (is_wide_) {
    wide_[cell] = sum;
  } else {
    packed_[cell] = to_packed(sum);
  }
}

void Histogram::add(const Histogram& part, std::size_t begin, std::size_t end) {
  if (is_wide_) {
    for (std::size_t i = begin; i < end; ++i) {
      wide_[i] = wide_[i] + part.wide_[i];
    }
  } else {
    for (std::size_t i = begin; i < end; ++i) packed_[i] += part.packed_[i];
  }
}

void Histogram::append(std::size_t begin, std::size_t end,
                       std::vector<std::uint64_t>& numbers) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (!is_wide_) {
      numbers.push_back(static_cast<std::uint64_t>(packed_[i]));
    } else {
      numbers.push_back(static_cast<std::uint64_t>(wide_[i].gradient));
      numbers.push_back(static_cast<std::uint64_t>(wide_[i].hessian));
    }
  }
}

const std::uint64_t* Histogram::take(std::size_t begin, std::size_t end,
                                     const std::uint64_t* numbers) {
  const auto next = [&numbers] { return static_cast<std::int64_t>(*numbers++); };
  for (std::size_t i = begin; i < end; ++i) {
    if (!is_wide_) {
      packed_[i] = next();
    } else {
      wide_[i].gradient = next();
      wide_[i].hessian = next();
    }
  }
  return numbers;
}

void Histogram::subtract(const Histogram& child, std::size_t begin, std::size_t end,
                         std::size_t width, Histogram& sibling) const {
  if (&sibling == this && width > 1 && !is_wide_ && !child.is_wide_) {
    // The codes of no row of the child stay as they are, unread.
    for (std::size_t code = begin; code < end; code += width) {
      if (!has_rows(child.packed_[code + width - 1])) continue;
      for (std::size_t i = code; i < code + width; ++i) sibling.packed_[i] -= child.packed_[i];
    }
    return;
  }
  if (!is_wide_ && !child.is_wide_ && !sibling.is_wide_) {
    for (std::size_t i = begin; i < end; ++i) {
      sibling.packed_[i] = packed_[i] - child.packed_[i];
    }
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const Wide all = at(i);
    const Wide part = child.at(i);
    sibling.set(i, all - part);
  }
}

Wide Histogram::sum(std::size_t begin, std::size_t end) const {
  if (is_wide_) return std::accumulate(&wide_[begin], &wide_[begin] + (end - begin), Wide{});
  return to_wide(std::accumulate(&packed_[begin], &packed_[begin] + (end - begin), Packed{0}));
}

void Histogram::complete(const RowCodes::Column& column, Wide total) {
  if (column.usual == RowCodes::kNoUsual) return;
  set(column.first_cell + column.usual,
      total - sum(column.first_cell, column.first_cell + column.n_codes));
}

void Histogram::complete(std::size_t begin, std::size_t end, std::size_t usual,
                         std::span<const Wide> totals) {
  for (std::size_t i = 0; i < totals.size(); ++i) set(usual + i, totals[i]);
  if (is_wide_) {
    subtract_others(wide(), begin, end, usual, totals.size());
  } else {
    subtract_others(packed(), begin, end, usual, totals.size());
  }
}

void add_rows(const RowCodes& codes, const RowIndex* rows, std::size_t begin, std::size_t end,
              const PackedGradients& gradients, Histogram& histogram, const RowWindow& window) {
  const auto& loops = kernels().histograms;
  const Packed* const packed = gradients.data() + window.begin;
  // They lie beside the codes from when the rows of the whole table were added, which is before any others.
  const bool is_near = codes.near_gradients() != nullptr && gradients.fit_near();
  ByteRows dense = codes.dense(0, codes.n_dense(), window);
  if (is_near && rows != nullptr) dense.near = codes.n_dense();
  const auto add = [&](const auto& add_bytes, const auto& add_listed, std::size_t from,
                       std::size_t to, auto* cells) {
    const std::size_t block = is_near && rows == nullptr ? kNearBlockRows : to - from;
    for (std::size_t first = from; codes.has_dense() && first < to; first += block) {
      const std::size_t last = std::min(first + block, to);
      add_bytes(dense, rows, first, last, packed, cells);
      if (is_near && rows == nullptr) put_near(codes, first, last, packed);
    }
    for (std::size_t part = 0; part < codes.n_listed_parts(); ++part) {
      add_listed(codes.listed(part), rows, from, to, packed, cells);
    }
  };
  const std::size_t block = gradients.most_packed_rows();
  if (!histogram.is_wide()) {
    add(loops.add_bytes, loops.add_listed, begin, end, histogram.packed());
  } else if (std::min(block, end - begin) * codes.updates_a_row() <
             kLeastUpdatesACell * codes.n_cells()) {
    add(loops.add_bytes_wide, loops.add_listed_wide, begin, end, histogram.wide());
  } else {
    AlignedVector<Packed> cells;
    for (std::size_t from = begin; from < end; from += block) {
      cells.assign(codes.n_cells(), 0);
      add(loops.add_bytes, loops.add_listed, from, std::min(from + block, end), cells.data());
      histogram.add_block(cells, 0);
    }
  }
}

}  // namespace arboleda
