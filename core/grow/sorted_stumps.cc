#include "grow/sorted_stumps.h"

#include <algorithm>

namespace arboleda {

namespace {

// What packed weights sum to, but for half a unit a row that is rounded.
constexpr double kPackedTotal = 0x1p30;

// Places that are scored together.
constexpr std::size_t kBlock = 512;

RowIndex row_of(RowIndex listed) { return listed & StumpColumn::kRow; }

Code code_of(const CodedColumn& column, RowIndex row) {
  return std::visit(
      [&](const auto& codes) -> Code {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          return code_at(codes, row);
        } else {
          return codes[row];
        }
      },
      column.codes);
}

}  // namespace

void SortedStumps::begin(std::span<const std::uint64_t> weight, ClassPair total) {
  weight_ = weight;
  packed_.resize(table_.n_rows);
  packed_total_ = 0;
  const double scale = kPackedTotal / static_cast<double>(total.whole());
  for (const RowIndex row : rows_) {
    const double units = static_cast<double>(static_cast<std::int64_t>(weight[row])) * scale;
    const auto rounded = static_cast<PackedWeights>(static_cast<std::int64_t>(units + 0.5));
    packed_[row] = rounded << 32 | (rounded & (PackedWeights{0} - labels_[row]));
    packed_total_ += packed_[row];
  }
}

// A share of the packed total is off by at most half a unit a row, and a gain by at most 7 times that:
// it changes with the share of a side no faster than by 3, and with those of the second class on it and
// in all by 2.
double SortedStumps::rounding() const {
  const double half = static_cast<double>(rows_.size()) / 2;
  return 7 * half / (kPackedTotal - half) + kGainRounding;
}

// Some present rows of a column.
struct SortedStumps::Block {
  std::size_t end;             // after the last of them
  std::size_t n;               // places where a split may be: after the last row of a code
  PackedWeights sums[kBlock];  // of all rows up to there
  float gains[kBlock];
};

void SortedStumps::sum_block(const StumpColumn& column, std::size_t first, PackedWeights& sum,
                             Block& block) const {
  block.end = std::min(first + kBlock, column.n_present);
  const RowIndex* listed = column.rows.data();
  PackedWeights so_far = sum;
  if (column.is_distinct) {
    for (std::size_t i = first; i < block.end; ++i) {
      so_far += packed_[row_of(listed[i])];
      block.sums[i - first] = so_far;
    }
    block.n = block.end - first - (block.end == column.n_present);
  } else {
    block.n = 0;
    for (std::size_t i = first; i < block.end; ++i) {
      so_far += packed_[row_of(listed[i])];
      block.sums[block.n] = so_far;
      block.n += listed[i] / StumpColumn::kLastOfCode;
    }
  }
  sum = so_far;
}

double SortedStumps::rough_gain(const StumpColumn& column) const {
  Block block;
  float largest = -1.0F;
  const auto scan = [&](PackedWeights sum) {
    for (std::size_t first = 0; first < column.n_present; first = block.end) {
      sum_block(column, first, sum, block);
      largest =
          std::max(largest, kernels_.stump.gains(block.sums, block.n, packed_total_, block.gains));
    }
  };
  scan(0);
  if (column.n_present < column.rows.size()) {
    const PackedWeights missing = packed_sum(std::span(column.rows).subspan(column.n_present));
    largest = std::max(largest, kernels_.stump.gains(&missing, 1, packed_total_, block.gains));
    scan(missing);
  }
  return static_cast<double>(largest);
}

PackedWeights SortedStumps::packed_sum(std::span<const RowIndex> rows) const {
  PackedWeights sum = 0;
  for (const RowIndex listed : rows) sum += packed_[row_of(listed)];
  return sum;
}

ClassPair SortedStumps::exact_sum_of(std::span<const RowIndex> rows) const {
  ClassPair sum;
  for (const RowIndex listed : rows) {
    const RowIndex row = row_of(listed);
    sum.move(labels_[row], weight_[row]);
  }
  return sum;
}

struct SortedStumps::Scan {
  PackedWeights packed = 0;  // of what is on the left from the beginning
  ClassPair left = {};
  bool missing_left = false;
  double floor = 0.0;
};

void SortedStumps::search(const StumpColumn& column, double floor, BestStump& best) const {
  const auto rows = std::span(column.rows);
  const auto present = rows.first(column.n_present);
  const auto missing = rows.subspan(column.n_present);
  scan(column, {.floor = floor}, best);
  const ClassPair of_missing = exact_sum_of(missing);
  if (of_missing.whole() == 0) return;
  const ClassPair of_present = exact_sum_of(present);
  Split candidate;
  candidate.feature = column.feature;
  if (find_codes(column, present.size() - 1, candidate)) best.consider(candidate, of_present);
  scan(column, {packed_sum(missing), of_missing, true, floor}, best);
}

void SortedStumps::scan(const StumpColumn& column, const Scan& scan, BestStump& best) const {
  const auto floor = static_cast<float>(scan.floor);
  Block block;
  PackedWeights packed = scan.packed;
  ClassPair left = scan.left;
  Split candidate;
  candidate.feature = column.feature;
  candidate.missing_left = scan.missing_left;
  for (std::size_t first = 0; first < column.n_present; first = block.end) {
    sum_block(column, first, packed, block);
    if (kernels_.stump.gains(block.sums, block.n, packed_total_, block.gains) < floor) {
      left = left + exact_sum_of(std::span(column.rows).subspan(first, block.end - first));
      continue;
    }
    std::size_t n = 0;
    for (std::size_t i = first; i < block.end; ++i) {
      const RowIndex row = row_of(column.rows[i]);
      left.move(labels_[row], weight_[row]);
      if (column.rows[i] < StumpColumn::kLastOfCode) continue;
      if (block.gains[n++] < floor) continue;
      if (find_codes(column, i, candidate)) best.consider(candidate, left);
    }
  }
}

// The codes of the rows that count on both sides of a place, which is that of the last row on the left;
// after the last present row there is none on the right. False where there is none on one side.
bool SortedStumps::find_codes(const StumpColumn& column, std::size_t place,
                              Split& candidate) const {
  const auto counts = [&](std::size_t at) { return weight_[row_of(column.rows[at])] != 0; };
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  std::size_t left = place + 1;
  while (left > 0 && !counts(left - 1)) --left;
  if (left == 0) return false;
  candidate.code = code_of(codes, row_of(column.rows[left - 1]));
  candidate.next_code = Split::kNoCode;
  if (place + 1 == column.n_present) return true;
  std::size_t right = place + 1;
  while (right < column.n_present && !counts(right)) ++right;
  if (right == column.n_present) return false;
  candidate.next_code = code_of(codes, row_of(column.rows[right]));
  return true;
}

}  // namespace arboleda
