#include "split/histogram.h"

#include <algorithm>
#include <numeric>

#include "simd/kernels.h"

namespace arboleda {

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

void Histogram::clear_packed(std::size_t begin, std::size_t end) {
  std::fill(packed_.begin() + static_cast<std::ptrdiff_t>(begin),
            packed_.begin() + static_cast<std::ptrdiff_t>(end), 0);
}

void Histogram::add_block(const std::vector<Packed>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) wide_[i] = wide_[i] + to_wide(cells[i]);
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

void Histogram::subtract(const Histogram& child, std::size_t begin, std::size_t end,
                         Histogram& sibling) const {
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
  const std::size_t width = totals.size();
  for (std::size_t i = 0; i < width; ++i) set(usual + i, totals[i]);
  for (std::size_t cell = begin; cell < end; cell += width) {
    if (cell == usual) continue;
    for (std::size_t i = 0; i < width; ++i) {
      if (is_wide_) {
        wide_[usual + i] = wide_[usual + i] - wide_[cell + i];
      } else {
        packed_[usual + i] -= packed_[cell + i];
      }
    }
  }
}

void add_rows(const RowCodes& codes, const RowIndex* rows, std::size_t begin, std::size_t end,
              const PackedGradients& gradients, Histogram& histogram) {
  const auto& loops = kernels().histograms;
  const auto add = [&](const auto& add_bytes, const auto& add_listed, std::size_t from,
                       std::size_t to, auto* cells) {
    if (codes.has_dense()) add_bytes(codes.dense(), rows, from, to, gradients.data(), cells);
    for (std::size_t part = 0; part < codes.n_listed_parts(); ++part) {
      add_listed(codes.listed(part), rows, from, to, gradients.data(), cells);
    }
  };
  const std::size_t block = gradients.most_packed_rows();
  if (!histogram.is_wide()) {
    add(loops.add_bytes, loops.add_listed, begin, end, histogram.packed());
  } else if (block * codes.updates_a_row() < kLeastUpdatesACell * codes.n_cells()) {
    add(loops.add_bytes_wide, loops.add_listed_wide, begin, end, histogram.wide());
  } else {
    std::vector<Packed> cells;
    for (std::size_t from = begin; from < end; from += block) {
      cells.assign(codes.n_cells(), 0);
      add(loops.add_bytes, loops.add_listed, from, std::min(from + block, end), cells.data());
      histogram.add_block(cells);
    }
  }
}

}  // namespace arboleda
