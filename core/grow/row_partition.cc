#include "grow/row_partition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "data/gather_codes.h"
#include "data/midpoint.h"

namespace arboleda {

namespace {

// Rows that are parted with a buffer; more are halved, and the halves joined by a rotation. A buffer
// as long as the whole list would be among the largest arrays of a fit.
constexpr std::size_t kBuffered = std::size_t{1} << 16;

// kTold: missing rows are counted, and rows of the two codes at the threshold are found.
template <bool kCountsMissing, class CodeAt, class GoesLeft>
class Parter {
 public:
  Parter(const Split& split, Code missing, const CodeAt& code_at, const GoesLeft& goes_left,
         std::vector<RowIndex>& scratch)
      : split_(split),
        missing_(missing),
        code_at_(code_at),
        goes_left_(goes_left),
        scratch_(scratch) {}

  // first: place of the first of these rows in the node.
  Partition part(std::span<RowIndex> rows, std::size_t first) {
    if (rows.size() <= kBuffered) return part_buffered(rows, first);
    const std::size_t half = rows.size() / 2;
    Partition whole = part(rows.first(half), first);
    const Partition second = part(rows.subspan(half), first + half);
    const auto at = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
    std::rotate(at(whole.n_left), at(half), at(half + second.n_left));
    whole.n_left += second.n_left;
    whole.n_missing += second.n_missing;
    if (second.low_row != kNoRow) whole.low_row = second.low_row;
    if (second.high_row != kNoRow) whole.high_row = second.high_row;
    return whole;
  }

 private:
  Partition part_buffered(std::span<RowIndex> rows, std::size_t first) {
    if (scratch_.size() < rows.size()) scratch_.resize(rows.size());
    Partition partition;
    std::size_t n_right = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RowIndex row = rows[i];
      const Code code = code_at_(first + i, row);
      const bool left = goes_left_(code);
      if constexpr (kCountsMissing) {
        partition.n_missing += code == missing_;
        if (code == split_.code) partition.low_row = row;
        if (code == split_.next_code) partition.high_row = row;
      }
      // Both are written and one kept: no branch to predict.
      rows[partition.n_left] = row;
      scratch_[n_right] = row;
      partition.n_left += left;
      n_right += !left;
    }
    std::copy_n(scratch_.begin(), n_right,
                rows.begin() + static_cast<std::ptrdiff_t>(partition.n_left));
    return partition;
  }

  const Split& split_;
  Code missing_;
  const CodeAt& code_at_;
  const GoesLeft& goes_left_;
  std::vector<RowIndex>& scratch_;
};

template <class CodeAt>
Partition part_by(const CodedColumn& column, const CodeAt& code_at, const Split& split,
                  std::span<RowIndex> rows, PartitionScratch& scratch) {
  const Code missing = column.get_missing_code();
  const auto part = [&]<bool kCountsMissing>(const auto& goes_left,
                                             std::bool_constant<kCountsMissing>) {
    using GoesLeft = std::decay_t<decltype(goes_left)>;
    return Parter<kCountsMissing, CodeAt, GoesLeft>(split, missing, code_at, goes_left,
                                                    scratch.rows)
        .part(rows, 0);
  };
  if (!split.left_codes.empty()) {
    auto& goes_left = scratch.goes_left;
    goes_left.resize(std::max(goes_left.size(), column.n_codes()), 0);
    for (const Code code : split.left_codes) goes_left[code] = 1;
    const Partition parted =
        part([&](Code code) { return goes_left[code] != 0; }, std::true_type());
    for (const Code code : split.left_codes) goes_left[code] = 0;
    return parted;
  }
  const Code last = split.code;
  if (!column.has_missing && !column.values.empty()) {
    return part([=](Code code) { return code <= last; }, std::false_type());
  }
  const bool missing_left = split.missing_left;
  return part([=](Code code) { return code == missing ? missing_left : code <= last; },
              std::true_type());
}

}  // namespace

Partition partition_rows(const CodedColumn& column, const RowLayouts& layouts, const Split& split,
                         std::span<RowIndex> rows, PartitionScratch& scratch) {
  const auto part = [&](const auto& codes) {
    const auto code_at = [&](std::size_t, RowIndex row) { return Code{codes[row]}; };
    return part_by(column, code_at, split, rows, scratch);
  };
  const std::size_t place = layouts.binary_features.place(split.feature);
  if (place != BinaryFeatureTable::kNone && !layouts.binary_features.sums_all()) {
    return part(layouts.binary_features.codes_at(place));
  }
  const std::size_t number = layouts.numeric_features.place(split.feature);
  if (number != NumericFeatureRows::kNone) return part(layouts.numeric_features.codes_at(number));
  if (layouts.codes.serves(split.feature, rows.size())) {
    return part(layouts.codes.column(split.feature));
  }
  if (std::holds_alternative<SparseCodes>(column.codes)) {
    gather_codes(column, rows, scratch.codes);
    const auto code_at = [&](std::size_t i, RowIndex) { return scratch.codes[i]; };
    return part_by(column, code_at, split, rows, scratch);
  }
  return std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          return Partition();
        } else {
          return part(codes);
        }
      },
      column.codes);
}

double threshold_between(const CodedColumn& column, const Split& split,
                         const Partition& partition) {
  if (split.next_code == Split::kNoCode) return std::numeric_limits<double>::infinity();
  if (!std::isnan(split.threshold)) return split.threshold;
  const bool kept = !column.values.empty();
  const double low = !kept                  ? column.source[partition.low_row] + 0.0
                     : column.upper.empty() ? column.values[split.code]
                                            : column.upper[split.code];
  const double high =
      kept ? column.values[split.next_code] : column.source[partition.high_row] + 0.0;
  return midpoint(low, high);
}

std::vector<CategoryIndex> categories_among(const CodedColumn& column,
                                            std::span<const RowIndex> rows,
                                            PartitionScratch& scratch) {
  gather_codes(column, rows, scratch.codes);
  std::sort(scratch.codes.begin(), scratch.codes.end());
  std::vector<CategoryIndex> categories;
  for (const Code code : scratch.codes) {
    if (code == column.get_missing_code()) break;
    const auto category = static_cast<CategoryIndex>(code);
    if (categories.empty() || categories.back() != category) categories.push_back(category);
  }
  return categories;
}

}  // namespace arboleda
