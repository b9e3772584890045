// Random splits of a node by one feature, before they are scored: a threshold uniform between the smallest
// and the largest value in the node, or a random half of the categories present.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "split/split.h"

namespace arboleda {

// The largest code whose values are not above t, where those of `lowest` are not and those of `highest` are.
inline Code last_not_above(const CodedColumn& column, Code lowest, Code highest, double t) {
  const double* values = column.values.data();
  Code code = lowest;
  // Bisection without a branch: where a random number lies is unpredictable.
  for (Code n = highest - lowest; n > 1; n -= n / 2) code += values[code + n / 2] <= t ? n / 2 : 0;
  return code;
}

// Rows of a node whose codes are gone through; of more, the code is searched for among all codes.
inline constexpr std::size_t kFewDrawnRows = 16;

// The largest of the codes code_of(i), i < n, whose values are not above t. The codes are not all the same,
// and `lowest` is the smallest. They are looked up all at once; of halves, each has to wait for the one
// before. Not for columns where a code stands for several values: threshold_from() may then depend on a code
// that no row of the node has.
template <class CodeOf>
Code last_among(const CodedColumn& column, Code lowest, double t, std::size_t n,
                const CodeOf& code_of) {
  if (n == 2) return lowest;
  Code last = lowest;
  for (std::size_t i = 0; i < n; ++i) {
    const Code code = code_of(i);
    last = std::max(last, code & (Code{0} - static_cast<Code>(column.values[code] <= t)));
  }
  return last;
}

// The threshold that parts the rows as t does: where a code stands for several values, it is above all of
// these.
inline double threshold_from(const CodedColumn& column, Code last, double t) {
  return column.upper.empty() ? t : std::max(t, column.upper[last]);
}

// The smallest and the largest present code of a node's rows.
struct PresentCodes {
  Code lowest = std::numeric_limits<Code>::max();
  Code highest = 0;
  std::size_t n_present = 0;
  bool is_one_code = true;  // then the only split is "present or missing"
};

// Scratch of one thread.
class RandomDraw {
 public:
  RandomDraw(std::uint64_t seed, std::uint32_t tree)
      : root_(QuickStream::root(seed, Purpose::random_split, tree)) {}

  // Draws a split of the rows of the node with that key. codes: one a row. False when all rows have the same
  // code.
  bool draw_split(std::span<const RowIndex> rows, std::uint64_t key, FeatureIndex feature,
                  const CodedColumn& column, std::span<const Code> codes, Split& drawn);

  // Of the node that was drawn for last.
  const PresentCodes& present_codes() const { return range_; }
  bool category_goes_left(Code code) const { return goes_left_[code] != 0; }

  // Between two codes of a column whose values are kept: those that occur in the node and have all others
  // between them.
  double draw_threshold(std::uint64_t key, FeatureIndex feature, const CodedColumn& column,
                        Code lowest, Code highest) const;

  // The threshold of a column of two codes that both occur in the node: the split is the same for
  // every one that can be drawn.
  double threshold_of_binary_feature(std::uint64_t key, FeatureIndex feature,
                                     const CodedColumn& column) const;

 private:
  QuickStream stream_of(std::uint64_t key, FeatureIndex feature) const {
    return QuickStream(root_, feature_key(key, static_cast<std::uint32_t>(feature)));
  }
  void draw_number(std::span<const RowIndex> rows, const CodedColumn& column,
                   std::span<const Code> codes, QuickStream& random, Split& drawn) const;
  void draw_categories(const CodedColumn& column, std::span<const Code> codes, QuickStream& random,
                       Split& drawn);
  void find_present(const CodedColumn& column, std::span<const Code> codes);

  const std::uint64_t root_;  // of the streams
  PresentCodes range_;
  std::vector<Code> present_;            // the categories of the node, ascending
  std::vector<std::uint8_t> goes_left_;  // for each category; 0 for those of no node
};

}  // namespace arboleda
