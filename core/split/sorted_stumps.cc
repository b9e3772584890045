#include "split/sorted_stumps.h"

#include <algorithm>
#include <utility>

namespace arboleda {

namespace {

// What packed weights sum to, but for half a unit a row that is rounded.
constexpr double kPackedTotal = 0x1p30;

// Places that are scored together, at least.
constexpr std::size_t kTogether = 256;

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

// Four sums, so that none waits for the one before.
PackedWeights sum_of(const PackedWeights* packed, const RowIndex* row, const RowIndex* end) {
  PackedWeights sum[4] = {};
  for (; end - row >= 4; row += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += packed[row[k]];
  }
  for (; row != end; ++row) sum[0] += packed[*row];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

void SortedStumps::add(StumpColumn column) {
  const std::size_t n_blocks = column.blocks.size() - 1;
  const bool any_missing = column.n_present < column.rows.size();
  Column added;
  added.sorted = std::move(column);
  added.sums.resize(n_blocks + 1);
  added.bounds[0].resize(n_blocks);
  if (any_missing) added.bounds[1].resize(n_blocks);
  columns_.push_back(std::move(added));
}

void SortedStumps::begin(std::span<const std::uint64_t> weight, ClassPair total) {
  weight_ = weight;
  packed_.resize(table_.n_rows);
  packed_total_ =
      kernels_.stumps.pack(weight.data(), labels_.data(), weight.size(),
                           kPackedTotal / static_cast<double>(total.whole()), packed_.data());
}

// A share of the packed total is off by at most half a unit a row, and a gain by at most 7 times that:
// it changes with the share of a side no faster than by 3, and with those of the second class on it and
// in all by 2.
double SortedStumps::rounding() const {
  const double half = static_cast<double>(table_.n_rows) / 2;
  return 7 * half / (kPackedTotal - half) + kGainRounding;
}

double SortedStumps::bound(std::size_t c) {
  Column& column = columns_[c];
  const StumpColumn& sorted = column.sorted;
  const RowIndex* rows = sorted.rows.data();
  const std::size_t n_blocks = column.bounds[0].size();
  PackedWeights sum = 0;
  for (std::size_t b = 0; b < n_blocks; ++b) {
    column.sums[b] = sum;
    sum += sum_of(packed_.data(), rows + sorted.blocks[b], rows + sorted.blocks[b + 1]);
  }
  column.sums[n_blocks] = sum;
  column.missing = packed_total_ - sum;
  float largest = -1.0F;
  for (const bool missing_left : {false, true}) {
    std::vector<float>& bounds = column.bounds[missing_left];
    const PackedWeights before = missing_left ? column.missing : 0;
    largest = std::max(largest, kernels_.stumps.bounds(column.sums.data(), bounds.size(), before,
                                                       packed_total_, bounds.data()));
  }
  return static_cast<double>(largest);
}

double SortedStumps::look_into(std::size_t c, double floor) {
  Column& column = columns_[c];
  column.places.clear();
  float largest = -1.0F;
  for (const bool missing_left : {false, true}) {
    look_into(column, missing_left, static_cast<float>(floor), largest);
  }
  return static_cast<double>(largest);
}

void SortedStumps::look_into(Column& column, bool missing_left, float floor, float& largest) const {
  const StumpColumn& sorted = column.sorted;
  const PackedWeights before = missing_left ? column.missing : 0;
  std::uint32_t at[kTogether + StumpColumn::kBlock];
  PackedWeights sums[kTogether + StumpColumn::kBlock];
  float gains[kTogether + StumpColumn::kBlock];
  std::size_t n = 0;
  const auto score = [&] {
    if (n == 0) return;
    const float best = kernels_.stumps.gains(sums, n, packed_total_, gains);
    largest = std::max(largest, best);
    for (std::size_t i = 0; best >= floor && i < n; ++i) {
      if (gains[i] >= floor) column.places.push_back({at[i], gains[i], missing_left});
    }
    n = 0;
  };
  const std::vector<float>& bounds = column.bounds[missing_left];
  for (std::size_t b = 0; b < bounds.size(); ++b) {
    if (bounds[b] < floor) continue;
    PackedWeights sum = column.sums[b] + before;
    for (std::uint32_t i = sorted.blocks[b]; i < sorted.blocks[b + 1]; ++i) {
      sum += packed_[sorted.rows[i]];
      sums[n] = sum;
      at[n] = i;
      n += sorted.is_last_of_code(i);
    }
    if (n >= kTogether) score();
  }
  score();
}

ClassPair SortedStumps::exact_sum_of(std::span<const RowIndex> rows) const {
  std::uint64_t whole = 0, second = 0;
  for (const RowIndex row : rows) {
    whole += weight_[row];
    second += weight_[row] & (std::uint64_t{0} - labels_[row]);
  }
  return {whole - second, second};
}

void SortedStumps::search(std::size_t c, double floor, BestStump& best) const {
  const Column& column = columns_[c];
  const StumpColumn& sorted = column.sorted;
  const auto rows = std::span(sorted.rows);
  const ClassPair of_missing = exact_sum_of(rows.subspan(sorted.n_present));
  Split candidate;
  candidate.feature = sorted.feature;
  ClassPair left;
  std::size_t n_summed = 0;
  for (const Place& place : column.places) {
    if (place.gain < static_cast<float>(floor)) continue;
    if (place.missing_left && !candidate.missing_left) {
      if (of_missing.whole() == 0) return;  // the same splits again
      candidate.missing_left = true;
      left = of_missing;
      n_summed = 0;
    }
    left = left + exact_sum_of(rows.subspan(n_summed, place.at + 1 - n_summed));
    n_summed = place.at + 1;
    const bool all_present = n_summed == sorted.n_present;
    if (all_present && (place.missing_left || of_missing.whole() == 0)) continue;
    if (find_codes(sorted, place.at, candidate)) best.consider(candidate, left);
  }
}

// The codes of the rows that count on both sides of a place; after the last present row there is none
// on the right. False where there is none on one side.
bool SortedStumps::find_codes(const StumpColumn& column, std::size_t place,
                              Split& candidate) const {
  const auto counts = [&](std::size_t at) { return weight_[column.rows[at]] != 0; };
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  std::size_t left = place + 1;
  while (left > 0 && !counts(left - 1)) --left;
  if (left == 0) return false;
  candidate.code = code_of(codes, column.rows[left - 1]);
  candidate.next_code = Split::kNoCode;
  if (place + 1 == column.n_present) return true;
  std::size_t right = place + 1;
  while (right < column.n_present && !counts(right)) ++right;
  if (right == column.n_present) return false;
  candidate.next_code = code_of(codes, column.rows[right]);
  return true;
}

}  // namespace arboleda
