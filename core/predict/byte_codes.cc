#include "predict/byte_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/ordered_key.h"
#include "data/round_down.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

template <class Number>
auto keys_of(std::span<const double> cuts) {
  std::vector<decltype(ordered_key(Number{}))> keys;
  const std::size_t size = std::bit_ceil(cuts.size() + 1) - 1;
  keys.reserve(size);
  for (const double cut : cuts) {
    Number number;
    round_down(cut, number);
    keys.push_back(ordered_key(number));
  }
  keys.resize(size, kMissingKey<typename decltype(keys)::value_type>);
  return keys;
}

std::uint8_t code_of_category(double x) {
  constexpr auto kUnknown = static_cast<double>(ByteCodes::kMostCategories);
  return x >= 0.0 && x < kUnknown ? static_cast<std::uint8_t>(x) : std::uint8_t{255};
}

}  // namespace

ByteCodes::ByteCodes(std::span<const ThresholdTest> tests,
                     std::span<const FeatureIndex> categorical) {
  FeatureIndex last = -1;
  for (const ThresholdTest& q : tests) last = std::max(last, q.feature);
  for (const FeatureIndex feature : categorical) last = std::max(last, feature);
  std::vector<Column> all(static_cast<std::size_t>(last + 1));
  for (const ThresholdTest& q : tests) {
    all[static_cast<std::size_t>(q.feature)].cuts.push_back(q.threshold);
  }
  for (const FeatureIndex feature : categorical) {
    std::uint32_t& line = all[static_cast<std::size_t>(feature)].category_line;
    if (line == kNoLine) line = static_cast<std::uint32_t>(n_lines_++);
  }
  column_at_.assign(all.size(), kNoLine);
  for (std::size_t j = 0; j < all.size(); ++j) {
    Column& column = all[j];
    if (column.cuts.empty() && column.category_line == kNoLine) continue;
    std::sort(column.cuts.begin(), column.cuts.end());
    column.cuts.erase(std::unique(column.cuts.begin(), column.cuts.end()), column.cuts.end());
    column.feature = static_cast<FeatureIndex>(j);
    column.parts.resize((column.cuts.size() + kPartCuts - 1) / kPartCuts);
    column.keys_32 = keys_of<float>(column.cuts);
    column.keys_64 = keys_of<double>(column.cuts);
    column_at_[j] = static_cast<std::uint32_t>(columns_.size());
    columns_.push_back(std::move(column));
  }
  add_lines(tests);
}

const ByteCodes::Column& ByteCodes::column_of(FeatureIndex feature) const {
  return columns_[column_at_[static_cast<std::size_t>(feature)]];
}

// Lines for the tests, those of a column side by side.
void ByteCodes::add_lines(std::span<const ThresholdTest> tests) {
  constexpr std::uint32_t kTested = 0;
  for (const ThresholdTest& q : tests) {
    Column& column = columns_[column_at_[static_cast<std::size_t>(q.feature)]];
    const auto cut = std::lower_bound(column.cuts.begin(), column.cuts.end(), q.threshold);
    Part& part = column.parts[static_cast<std::size_t>(cut - column.cuts.begin()) / kPartCuts];
    (q.missing_left ? part.lowest_line : part.line) = kTested;
  }
  for (Column& column : columns_) {
    for (Part& part : column.parts) {
      for (std::uint32_t* line : {&part.line, &part.lowest_line}) {
        if (*line != kNoLine) *line = static_cast<std::uint32_t>(n_lines_++);
      }
    }
  }
}

ByteCodes::Place ByteCodes::place_of(const ThresholdTest& test) const {
  const Column& column = column_of(test.feature);
  const auto cut = std::lower_bound(column.cuts.begin(), column.cuts.end(), test.threshold);
  const auto number = static_cast<std::size_t>(cut - column.cuts.begin());
  const Part& part = column.parts[number / kPartCuts];
  return {test.missing_left ? part.lowest_line : part.line,
          static_cast<std::uint8_t>(number % kPartCuts)};
}

std::uint32_t ByteCodes::line_of_categories(FeatureIndex feature) const {
  return column_of(feature).category_line;
}

// Codes of keys, whose number is that of the rows.
template <class Key>
bool ByteCodes::put_codes(const Column& column, std::span<Key> keys, const std::vector<Key>& cuts,
                          TreeLine* lines) const {
  const Kernels& loops = kernels();
  std::array<Code, kTreeRows> codes, lowest;
  const std::size_t n = keys.size();
  if constexpr (sizeof(Key) == 4) {
    loops.binning.count_below_32(keys.data(), n, cuts.data(), cuts.size(), codes.data());
  } else {
    loops.binning.count_below_64(keys.data(), n, cuts.data(), cuts.size(), codes.data());
  }
  std::size_t n_missing = 0;
  for (std::size_t i = 0; i < n; ++i) {
    lowest[i] = keys[i] == kMissingKey<Key> ? 0 : codes[i];
    n_missing += keys[i] == kMissingKey<Key> ? std::size_t{1} : std::size_t{0};
  }
  Code first = 0;
  for (const Part& part : column.parts) {
    const auto put = [&](std::uint32_t line, const Code* from) {
      if (line != kNoLine) loops.coded_trees.narrow_codes(from, n, first, lines[line].of_row);
    };
    put(part.line, codes.data());
    put(part.lowest_line, lowest.data());
    first += kPartCuts;
  }
  return n_missing > 0;
}

bool ByteCodes::fill_cuts(const Column& column, const ColumnView& values, std::size_t begin,
                          std::size_t n, TreeLine* lines) const {
  const BinningKernels& loops = kernels().binning;
  if (values.dtype == DType::float32) {
    std::array<std::int32_t, kTreeRows> keys;
    for (std::size_t i = 0; i < n; ++i) keys[i] = values.as<std::int32_t>(begin + i);
    loops.keys_32(keys.data(), n, keys.data());
    return put_codes(column, std::span(keys).first(n), column.keys_32, lines);
  }
  std::array<double, kTreeRows> numbers;
  std::array<std::int64_t, kTreeRows> keys;
  values.copy(begin, begin + n, numbers.data());
  std::memcpy(keys.data(), numbers.data(), n * sizeof(double));
  loops.keys_64(keys.data(), n, keys.data());
  return put_codes(column, std::span(keys).first(n), column.keys_64, lines);
}

bool ByteCodes::fill(const TableView& table, std::size_t begin, std::size_t end,
                     TreeLine* lines) const {
  const std::size_t n = end - begin;
  bool missing = false;
  for (const Column& column : columns_) {
    const ColumnView& values = table.columns[static_cast<std::size_t>(column.feature)];
    if (!column.cuts.empty()) missing |= fill_cuts(column, values, begin, n, lines);
    if (column.category_line == kNoLine) continue;
    std::uint8_t* line = lines[column.category_line].of_row;
    for (std::size_t i = 0; i < n; ++i) line[i] = code_of_category(values[begin + i]);
  }
  return missing;
}

bool ByteCodes::put_one(const Column& column, double x, std::size_t row, TreeLine* lines) const {
  if (column.category_line != kNoLine) {
    lines[column.category_line].of_row[row] = code_of_category(x);
  }
  const std::int64_t key = ordered_key(x);
  const bool missing = key == kMissingKey<std::int64_t>;
  Code first = 0;
  const auto cut = std::lower_bound(column.keys_64.begin(), column.keys_64.end(), key);
  const auto code = static_cast<Code>(cut - column.keys_64.begin());
  for (const Part& part : column.parts) {
    const Code above = code < first ? 0 : std::min<Code>(code - first, 255);
    const auto byte = static_cast<std::uint8_t>(above);
    if (part.line != kNoLine) lines[part.line].of_row[row] = byte;
    if (part.lowest_line != kNoLine) {
      lines[part.lowest_line].of_row[row] = missing ? std::uint8_t{0} : byte;
    }
    first += kPartCuts;
  }
  return missing;
}

// What is not stored is 0: the first row of zeros is copied along each line.
bool ByteCodes::fill(const SparseRows& table, std::size_t begin, std::size_t end,
                     TreeLine* lines) const {
  for (const Column& column : columns_) put_one(column, 0.0, 0, lines);
  for (std::size_t line = 0; line < n_lines_; ++line) {
    std::uint8_t* codes = lines[line].of_row;
    std::memset(codes + 1, codes[0], kTreeRows - 1);
  }
  bool missing = false;
  for (std::size_t row = begin; row < end; ++row) {
    for (auto e = static_cast<std::size_t>(table.lines.start[row]);
         e < static_cast<std::size_t>(table.lines.start[row + 1]); ++e) {
      const auto j = static_cast<std::size_t>(table.lines.index[e]);
      if (j >= column_at_.size() || column_at_[j] == kNoLine) continue;
      missing |= put_one(columns_[column_at_[j]], table.lines.data[e], row - begin, lines);
    }
  }
  return missing;
}

}  // namespace arboleda
