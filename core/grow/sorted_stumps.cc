#include "grow/sorted_stumps.h"

#include <algorithm>

namespace arboleda {

namespace {

// What packed weights sum to, but for half a unit a row that is rounded.
constexpr double kPackedTotal = 0x1p30;

// Places that are scored together.
constexpr std::size_t kBlock = 512;

RowIndex row_of(RowIndex listed) { return listed & StumpColumn::kRow; }

// Sums up to the last row of each code, of a block of rows.
struct Block {
  PackedWeights sums[kBlock];
  float gains[kBlock];
};

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
    packed_[row] = rounded << 32 | (labels_[row] == 0 ? 0 : rounded);
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

double SortedStumps::rough_gain(const StumpColumn& column) const {
  const auto rows = std::span(column.rows);
  const auto present = rows.first(column.n_present);
  Block block;
  float largest = -1.0F;
  const auto scan = [&](PackedWeights sum) {
    for (std::size_t first = 0; first < present.size(); first += kBlock) {
      std::size_t n = 0;
      for (const RowIndex listed :
           present.subspan(first, std::min(kBlock, present.size() - first))) {
        sum += packed_[row_of(listed)];
        block.sums[n] = sum;
        n += listed / StumpColumn::kLastOfCode;
      }
      largest = std::max(largest, kernels_.stump.gains(block.sums, n, packed_total_, block.gains));
    }
  };
  scan(0);
  if (present.size() < rows.size()) {
    const PackedWeights missing = packed_sum(rows.subspan(column.n_present));
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
  const auto present = std::span(column.rows).first(column.n_present);
  const auto floor = static_cast<float>(scan.floor);
  Block block;
  ClassPair left[kBlock];
  std::size_t place[kBlock];  // of the last row
  PackedWeights packed = scan.packed;
  ClassPair exact = scan.left;
  Split candidate;
  candidate.feature = column.feature;
  candidate.missing_left = scan.missing_left;
  for (std::size_t first = 0; first < present.size(); first += kBlock) {
    std::size_t n = 0;
    for (std::size_t i = first; i < std::min(first + kBlock, present.size()); ++i) {
      const RowIndex row = row_of(present[i]);
      packed += packed_[row];
      exact.move(labels_[row], weight_[row]);
      block.sums[n] = packed;
      left[n] = exact;
      place[n] = i;
      n += present[i] / StumpColumn::kLastOfCode;
    }
    kernels_.stump.gains(block.sums, n, packed_total_, block.gains);
    for (std::size_t i = 0; i < n; ++i) {
      if (block.gains[i] < floor) continue;
      if (find_codes(column, place[i], candidate)) best.consider(candidate, left[i]);
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
