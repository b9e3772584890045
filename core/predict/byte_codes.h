// Numbers of a table as bytes that decide the tests of trees: x <= threshold exactly where the
// number's code is at most the threshold's. The code of x is how many of the thresholds that trees test
// of its column are below it.
//
//   thresholds        t0      t1      t2
//   code of x      0   |   1   |   2   |   3        x <= t1: code <= 1
//
// A column of more than 255 thresholds has several lines of bytes, of 255 thresholds each; what lies
// below or above those of a line has the least or the largest code. Missing values have the largest
// code, so that they go right; where a node sends them left it reads a line in which theirs is 0. A
// category has its number as code, 255 where no node can test it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/column.h"
#include "simd/coded_tree_kernels.h"

namespace arboleda {

struct ThresholdTest {
  FeatureIndex feature;
  double threshold;
  bool missing_left;
};

class ByteCodes {
 public:
  static constexpr std::size_t kMostCategories = 255;  // of a column: 0 .. 254

  // All tests by threshold, and the columns that are tested by category.
  ByteCodes(std::span<const ThresholdTest> tests, std::span<const FeatureIndex> categorical);

  struct Place {
    std::uint32_t line;
    std::uint8_t last;  // the largest code that goes left
  };
  Place place_of(const ThresholdTest& test) const;
  std::uint32_t line_of_categories(FeatureIndex feature) const;

  std::size_t n_lines() const { return n_lines_; }
  std::size_t n_columns() const { return columns_.size(); }

  // Codes of the rows [begin, end), at most kTreeRows, into n_lines() lines. Returns whether a number is
  // missing: if none is, the side of missing values does not matter.
  bool fill(const TableView& table, std::size_t begin, std::size_t end, TreeLine* lines) const;
  bool fill(const SparseRows& table, std::size_t begin, std::size_t end, TreeLine* lines) const;

 private:
  static constexpr std::size_t kPartCuts = 255;
  static constexpr std::uint32_t kNoLine = std::numeric_limits<std::uint32_t>::max();

  // Thresholds of a column that share a line.
  struct Part {
    std::uint32_t line = kNoLine;         // missing values go right
    std::uint32_t lowest_line = kNoLine;  // missing values go left
  };

  struct Column {
    FeatureIndex feature = 0;
    std::vector<double> cuts = {};  // ascending, distinct
    std::vector<Part> parts = {};
    std::uint32_t category_line = kNoLine;

    // The cuts as keys (ordered_key.h) of either type of numbers, filled up with keys that are below
    // none to a power of two less one.
    std::vector<std::int32_t> keys_32 = {};
    std::vector<std::int64_t> keys_64 = {};
  };

  const Column& column_of(FeatureIndex feature) const;
  void add_lines(std::span<const ThresholdTest> tests);

  bool fill_cuts(const Column& column, const ColumnView& values, std::size_t begin, std::size_t n,
                 TreeLine* lines) const;
  template <class Key>
  bool put_codes(const Column& column, std::span<Key> keys, const std::vector<Key>& cuts,
                 TreeLine* lines) const;
  bool put_one(const Column& column, double x, std::size_t row, TreeLine* lines) const;

  std::vector<Column> columns_;           // that are tested
  std::vector<std::uint32_t> column_at_;  // of each feature, its place in columns_; kNoLine: none
  std::size_t n_lines_ = 0;
};

}  // namespace arboleda
