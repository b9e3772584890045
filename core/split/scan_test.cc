#include "split/scan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.h"
#include "criterion/class_weights.h"
#include "criterion/entropy.h"
#include "criterion/gini.h"
#include "criterion/misclassification.h"
#include "criterion/squared_error.h"
#include "data/pair_sorter.h"
#include "grow/row_partition.h"

namespace arboleda {

namespace {

constexpr std::size_t kRows = 300;
constexpr std::size_t kValues = 40;

// Rows with codes below kValues, or kValues for "missing".
std::vector<Code> random_codes(RandomStream& random) {
  std::vector<Code> codes(kRows);
  for (auto& c : codes) c = random.below(kValues + 1);
  return codes;
}

std::vector<RowIndex> all_rows() {
  std::vector<RowIndex> rows(kRows);
  for (std::size_t i = 0; i < kRows; ++i) rows[i] = static_cast<RowIndex>(i);
  return rows;
}

template <class Criterion>
struct Searched {
  Split by_histogram, by_sort, naive;
};

// The three ways to the best split of one feature: histogram, sorted list, and the definition.
template <class Criterion>
Searched<Criterion> search(const Criterion& criterion, const std::vector<Code>& codes,
                           const SplitLimits& limits) {
  using Slot = typename Criterion::Slot;
  const auto rows = all_rows();
  typename Criterion::Local local;
  criterion.gather(rows, local);
  const std::size_t width = criterion.width();
  std::vector<Slot> total(width), histogram((kValues + 1) * width);
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < kRows; ++i) {
    criterion.add(local, i, total.data());
    criterion.add(local, i, &histogram[codes[i] * width]);
    keys.push_back(make_key(codes[i], i));
  }
  PairSorter().sort(keys, kValues);

  Searched<Criterion> result;
  auto sides = criterion.make_sides();
  scan_histogram(criterion, histogram.data(), kValues, true, total.data(), kRows, limits, 3, sides,
                 result.by_histogram);
  scan_sorted(criterion, local, keys, kValues, total.data(), limits, 3, sides, result.by_sort);

  // Definition: for each side of the missing rows and each present code c, left = codes up to c.
  for (const bool missing_left : {false, true}) {
    for (Code c = 0; c < kValues; ++c) {
      sides.reset(total.data(), kRows);
      Code next = Split::kNoCode;
      bool present = false;
      for (std::size_t i = 0; i < kRows; ++i) {
        if (codes[i] == kValues ? missing_left : codes[i] <= c) criterion.move_row(local, i, sides);
        present |= codes[i] == c;
        if (codes[i] > c && codes[i] < kValues) next = std::min(next, codes[i]);
      }
      if (!present || (missing_left && next == Split::kNoCode)) continue;
      if (sides.n_left() < limits.min_rows || sides.n_right() < limits.min_rows) continue;
      if (sides.weight_left() < limits.min_weight || sides.weight_right() < limits.min_weight)
        continue;
      const Split split{sides.score(), sides.tie_break(), 3, c, next, missing_left};
      if (split.better_than(result.naive)) result.naive = split;
    }
  }
  return result;
}

void check_equal(const Split& a, const Split& b) {
  CHECK(a.score == b.score);
  CHECK(a.tie_break == b.tie_break);
  CHECK(a.feature == b.feature);
  CHECK(a.code == b.code);
  CHECK(a.next_code == b.next_code);
  CHECK(a.missing_left == b.missing_left);
}

template <class Criterion>
void check_three_ways(const Criterion& criterion, const std::vector<Code>& codes,
                      const SplitLimits& limits) {
  const auto result = search(criterion, codes, limits);
  CHECK(result.naive.found());
  check_equal(result.by_histogram, result.naive);
  check_equal(result.by_sort, result.naive);
}

}  // namespace

TEST_CASE("histogram, sorted list and definition find the same split, to the last bit") {
  RandomStream random(3, Purpose::feature_subset, 0, 0);
  for (int round = 0; round < 20; ++round) {
    const auto codes = random_codes(random);
    std::vector<std::uint32_t> labels(kRows);
    std::vector<double> y(kRows), w(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
      labels[i] = (codes[i] / 9 + random.below(3)) % 5;
      y[i] = codes[i] * 0.3 + random.below(100) * 0.17;
      w[i] = 0.1 + random.below(1000) * 0.013;
    }
    const FixedWeights unit = fix_weights({}, kRows, 62);
    const FixedWeights weights = fix_weights(w, kRows, 52);
    const FixedTargets narrow = fix_targets(y, {}, 44);
    const FixedTargets wide = fix_targets(y, {}, kWideTargetBits);
    for (const SplitLimits& limits : {SplitLimits{}, SplitLimits{60, 0.0}, SplitLimits{1, 40.0}}) {
      check_three_ways(ClassCriterion<std::uint32_t, Gini>(labels, 5, unit), codes, limits);
      check_three_ways(ClassCriterion<std::uint32_t, Entropy>(labels, 5, unit), codes, limits);
      check_three_ways(ClassCriterion<std::uint32_t, Misclassification>(labels, 5, unit), codes,
                       limits);
      check_three_ways(ClassCriterion<std::uint64_t, Gini>(labels, 5, weights), codes, limits);
      check_three_ways(ClassCriterion<std::uint64_t, Entropy>(labels, 5, weights), codes, limits);
      check_three_ways(SquaredError<std::int64_t, false>(y, narrow, unit), codes, limits);
      check_three_ways(SquaredError<Int128, true>(y, wide, weights), codes, limits);
    }
  }
}

TEST_CASE("scores equal the definition of weighted impurity up to a constant") {
  RandomStream random(4, Purpose::feature_subset, 0, 0);
  std::vector<std::uint32_t> labels(kRows);
  for (auto& k : labels) k = random.below(3);
  const FixedWeights unit = fix_weights({}, kRows, 62);
  const ClassCriterion<std::uint32_t, Gini> gini(labels, 3, unit);
  const ClassCriterion<std::uint32_t, Entropy> entropy(labels, 3, unit);
  ClassCriterion<std::uint32_t, Gini>::Local local;
  gini.gather(all_rows(), local);
  std::vector<std::uint32_t> total(gini.width());
  for (std::size_t i = 0; i < kRows; ++i) gini.add(local, i, total.data());
  auto gini_sides = gini.make_sides();
  gini_sides.reset(total.data(), kRows);
  std::vector<std::uint32_t> left(gini.width()), right = total;
  for (std::size_t i = 0; i + 1 < kRows; ++i) {
    gini.move_row(local, i, gini_sides);
    ++left[labels[i]];
    --right[labels[i]];
    // W - (W_L gini_L + W_R gini_R)
    const double expected =
        kRows - (static_cast<double>(i + 1) * gini.impurity(local, left.data()) +
                 static_cast<double>(kRows - i - 1) * gini.impurity(local, right.data()));
    CHECK(gini_sides.score() == doctest::Approx(expected).epsilon(1e-13));
  }
  CHECK(entropy.impurity({}, std::vector<std::uint32_t>{2, 2, 0}.data()) == 1.0);
  CHECK(entropy.impurity({}, std::vector<std::uint32_t>{4, 0, 0}.data()) == 0.0);
  CHECK(entropy.impurity({}, std::vector<std::uint32_t>{3, 1, 0}.data()) ==
        doctest::Approx(0.811278).epsilon(1e-6));
  CHECK(entropy.impurity({}, std::vector<std::uint32_t>{9, 5, 0}.data()) ==
        doctest::Approx(0.940286).epsilon(1e-6));
}

TEST_CASE("a partition is stable and sends missing rows to the side of the split") {
  CodedColumn column;
  column.n_values = 3;
  column.has_missing = true;
  column.codes = std::vector<std::uint8_t>{2, 3, 0, 1, 3, 0};
  PartitionScratch scratch;
  for (const bool missing_left : {false, true}) {
    std::vector<RowIndex> rows{0, 1, 2, 3, 4, 5};
    const Partition p =
        partition_rows(column, RowLayouts(), Split{0, 0, 0, 0, 1, missing_left}, rows, scratch);
    CHECK(p.n_missing == 2);
    CHECK(p.n_left == (missing_left ? 4 : 2));
    CHECK(rows == (missing_left ? std::vector<RowIndex>{1, 2, 4, 5, 0, 3}
                                : std::vector<RowIndex>{2, 5, 0, 1, 3, 4}));
  }
}

}  // namespace arboleda
