#include "simd/histogram_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

Packed pack_up(std::int64_t gradient, std::int64_t hessian) {
  return gradient * (Packed{1} << 32) + hessian;
}

// Sums of the left side after each code, and the score of the split there, by the definition.
struct Expected {
  std::vector<double> score;
  std::vector<bool> allowed, certain;
};

Expected by_definition(const std::vector<Wide>& cells, const ScanRange& range) {
  Expected expected;
  Wide left = range.left;
  for (std::size_t c = 0; c < range.n_codes; ++c) {
    left.gradient += cells[c].gradient;
    left.hessian += cells[c].hessian;
    const auto gl = static_cast<double>(left.gradient);
    const auto hl = static_cast<double>(left.hessian);
    const double gr = static_cast<double>(range.total.gradient) - gl;
    const double hr = static_cast<double>(range.total.hessian) - hl;
    expected.score.push_back((gl * gl / (hl + range.l2) + gr * gr / (hr + range.l2)) * range.unit);
    const auto least = static_cast<double>(range.least);
    const auto enough = static_cast<double>(range.enough);
    expected.allowed.push_back(hl >= least && hr >= least);
    expected.certain.push_back(hl >= enough && hr >= enough);
  }
  return expected;
}

void check_best(const ScanBest& best, const Expected& expected, const std::vector<bool>& allowed) {
  double most = -1.0;
  for (std::size_t c = 0; c < allowed.size(); ++c) {
    if (allowed[c]) most = std::max(most, expected.score[c]);
  }
  if (most < 0.0) {
    CHECK(best.score < 0.0);
    return;
  }
  CHECK(best.score == doctest::Approx(most).epsilon(1e-12));
  REQUIRE(best.code < allowed.size());
  CHECK(allowed[best.code]);
  CHECK(expected.score[best.code] == doctest::Approx(most).epsilon(1e-12));
}

}  // namespace

TEST_CASE("a scan finds the best split at every level") {
  RandomStream random(4, Purpose::feature_subset, 0, 0);
  for (const std::size_t n : {1u, 2u, 7u, 8u, 63u, 255u, 256u, 257u, 700u}) {
    for (int repetition = 0; repetition < 6; ++repetition) {
      std::vector<Wide> wide(n);
      std::vector<Packed> packed;
      ScanRange range{n, {-70, 40}, {-70, 40}, repetition * 0.75, 1 + repetition * 10, 0, 0.125};
      for (Wide& cell : wide) {
        if (random.below(4) > 0) {
          cell = {static_cast<std::int64_t>(random.below(2001)) - 1000,
                  static_cast<std::int64_t>(1 + random.below(50))};
        }
        packed.push_back(pack_up(cell.gradient, cell.hessian));
        range.total.gradient += cell.gradient;
        range.total.hessian += cell.hessian;
      }
      range.enough = range.least * (1 + repetition);
      const Expected expected = by_definition(wide, range);
      for (const Kernels* level : all_kernels()) {
        CAPTURE(std::string(level->level));
        CAPTURE(n);
        const ScanResult found = level->histograms.scan(packed.data(), range);
        check_best(found.any, expected, expected.allowed);
        check_best(found.certain, expected, expected.certain);
        // The same bits at every level and width.
        const ScanResult reference = all_kernels()[0]->histograms.scan_wide(wide.data(), range);
        CHECK(found.any.score == reference.any.score);
        CHECK(found.any.code == reference.any.code);
        CHECK(found.certain.score == reference.certain.score);
        CHECK(found.certain.code == reference.certain.code);

        std::vector<double> totals(n, 5.0);
        level->histograms.add_scores(packed.data(), range, 3.0, totals.data());
        for (std::size_t c = 0; c < n; ++c) {
          const double score = expected.allowed[c] ? expected.score[c] : 3.0;
          REQUIRE(totals[c] == doctest::Approx(5.0 + score).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("scores that differ in their last bits only are distinguished") {
  RandomStream random(6, Purpose::feature_subset, 0, 0);
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  for (int repetition = 0; repetition < 400; ++repetition) {
    // Nearly the same ratio everywhere, with sums up to the limits of packed numbers.
    const std::size_t n = 2 + random.below(600);
    const std::int64_t each = kMost / static_cast<std::int64_t>(n);
    const double l2 = repetition % 4 == 0 ? 0.0 : std::ldexp(1.0, repetition % 80);
    std::vector<Wide> wide(n);
    std::vector<Packed> packed;
    ScanRange range{n, {}, {}, l2, 1 + random.below(3), 1 + random.below(1000), 0.5};
    for (Wide& cell : wide) {
      const std::int64_t sign = random.below(2) == 0 ? 1 : -1;
      cell = {sign * (each - random.below(2)), each - random.below(2)};
      packed.push_back(pack_up(cell.gradient, cell.hessian));
      range.total = {range.total.gradient + cell.gradient, range.total.hessian + cell.hessian};
    }
    range.enough = std::max(range.enough, range.least);
    const ScanResult exact = all_kernels()[0]->histograms.scan_wide(wide.data(), range);
    for (const Kernels* level : all_kernels()) {
      CAPTURE(std::string(level->level));
      const ScanResult found = level->histograms.scan(packed.data(), range);
      REQUIRE(found.any.score == exact.any.score);
      REQUIRE(found.any.code == exact.any.code);
      REQUIRE(found.certain.score == exact.certain.score);
      REQUIRE(found.certain.code == exact.certain.code);
      // Up to its own score a floor hides nothing; above it there is nothing to find.
      range.floor = exact.any.score;
      CHECK(level->histograms.scan(packed.data(), range).any.code == exact.any.code);
      range.floor = 2.0 * exact.any.score + 1.0;
      CHECK(level->histograms.scan(packed.data(), range).any.score < range.floor);
      range.floor = 0.0;
    }
  }
}

TEST_CASE("totals and magnitudes are the same at every level") {
  RandomStream random(7, Purpose::feature_subset, 0, 0);
  std::vector<Packed> packed;
  std::vector<double> x;
  PackedTotals expected;
  for (int i = 0; i < 77; ++i) {
    const auto g = static_cast<std::int64_t>(random.below(2001)) - 1000;
    const auto h = static_cast<std::int64_t>(random.below(900));
    packed.push_back(pack_up(g, h));
    x.push_back(static_cast<double>(g) * 1e-3);
    expected.gradient += g;
    expected.hessian += h;
    expected.seen_gradient += std::min(std::abs(g), std::int64_t{100});
    expected.seen_hessian += std::min(h, std::int64_t{100});
    expected.largest_gradient = std::max(expected.largest_gradient, std::abs(g));
    expected.largest_hessian = std::max(expected.largest_hessian, h);
  }
  for (const Kernels* level : all_kernels()) {
    const PackedTotals found = level->histograms.total(packed.data(), packed.size(), 100);
    CHECK(found.gradient == expected.gradient);
    CHECK(found.hessian == expected.hessian);
    CHECK(found.seen_gradient == expected.seen_gradient);
    CHECK(found.seen_hessian == expected.seen_hessian);
    CHECK(found.largest_gradient == expected.largest_gradient);
    CHECK(found.largest_hessian == expected.largest_hessian);
    CHECK(std::bit_cast<double>(level->histograms.largest(x.data(), x.size())) ==
          static_cast<double>(expected.largest_gradient) * 1e-3);
    x[5] = -std::numeric_limits<double>::infinity();
    CHECK(level->histograms.largest(x.data(), x.size()) ==
          std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()));
    x[5] = 0.0;
    CHECK(level->histograms.largest(x.data(), 0) == 0);
  }
}

TEST_CASE("of equal splits the first is found") {
  // The second and third codes are empty: splits after the first three codes are the same.
  const std::vector<Packed> cells{pack_up(5, 3), 0, 0, pack_up(-5, 3)};
  for (const Kernels* level : all_kernels()) {
    const ScanResult found = level->histograms.scan(cells.data(), {4, {}, {0, 6}, 1.0, 1, 1, 1.0});
    CHECK(found.any.code == 0);
    CHECK(found.any.score == 25.0 / 4.0 + 25.0 / 4.0);
  }
}

TEST_CASE("packed sums hold their limits") {
  // 2^31 - 1 of each sign beside the largest hessian: neither half disturbs the other.
  const std::int64_t most = (std::int64_t{1} << 31) - 1;
  for (const std::int64_t sign : {1, -1}) {
    const std::vector<Packed> cells{pack_up(sign * most, 1), pack_up(-sign * most, most - 1)};
    for (const Kernels* level : all_kernels()) {
      const ScanResult found =
          level->histograms.scan(cells.data(), {2, {}, {0, most}, 0.0, 1, 1, 1.0});
      const auto g = static_cast<double>(most);
      CHECK(found.any.code == 0);
      CHECK(found.any.score == doctest::Approx(g * g + g * g / (g - 1.0)));
    }
  }
}

TEST_CASE("rows are added to the cells of their codes at every level") {
  RandomStream random(5, Purpose::feature_subset, 0, 0);
  struct Shape {
    std::size_t n_columns, n_rows;
    std::uint32_t step;  // about one row in so many is listed
  };
  // Few rows, or columns, are added at once; many in blocks, unless they lie far apart.
  for (const Shape& shape :
       {Shape{1, 100, 2}, Shape{3, 100, 2}, Shape{4, 100, 2}, Shape{9, 100, 2}, Shape{20, 2500, 2},
        Shape{32, 1024, 1}, Shape{40, 2500, 2}, Shape{64, 600, 2}, Shape{70, 1700, 2},
        Shape{141, 1100, 3}, Shape{30, 150000, 400}}) {
    const auto [n_columns, n_rows, step] = shape;
    CAPTURE(shape.n_columns);
    const std::size_t stride = n_columns + 2;
    constexpr std::size_t kFirst = 7;
    std::vector<std::uint8_t> bytes(n_rows * stride + kCodeRun);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
    std::vector<std::uint64_t> start{0};
    std::vector<std::uint16_t> listed;
    std::vector<Packed> gradients;
    std::vector<RowIndex> rows;
    for (std::size_t row = 0; row < n_rows; ++row) {
      for (std::uint32_t e = random.below(4); e > 0; --e)
        listed.push_back(static_cast<std::uint16_t>(random.below(50)));
      start.push_back(listed.size());
      gradients.push_back(pack_up(static_cast<std::int64_t>(random.below(99)) - 49,
                                  static_cast<std::int64_t>(random.below(9))));
      if (random.below(step) == 0) rows.push_back(static_cast<RowIndex>(row));
    }
    const std::size_t n_cells = kDenseCells * n_columns;
    for (const bool all : {true, false}) {
      const std::size_t end = all ? n_rows : rows.size();
      std::vector<Packed> expected(n_cells), expected_listed(kFirst + 50);
      for (std::size_t i = 3; i < end; ++i) {
        const std::size_t row = all ? i : rows[i];
        for (std::size_t j = 0; j < n_columns; ++j) {
          expected[kDenseCells * j + bytes[row * stride + j]] += gradients[row];
        }
        for (std::uint64_t e = start[row]; e < start[row + 1]; ++e) {
          expected_listed[kFirst + listed[e]] += gradients[row];
        }
      }
      const RowIndex* list = all ? nullptr : rows.data();
      const ByteRows dense{bytes.data(), stride, n_columns};
      const ListedRows sparse{start.data(), listed.data(), kFirst};
      for (const Kernels* level : all_kernels()) {
        std::vector<Packed> cells(n_cells), cells_listed(kFirst + 50);
        level->histograms.add_bytes(dense, list, 3, end, gradients.data(), cells.data());
        level->histograms.add_listed(sparse, list, 3, end, gradients.data(), cells_listed.data());
        CHECK(cells == expected);
        CHECK(cells_listed == expected_listed);
        std::vector<Wide> wide(n_cells), wide_listed(kFirst + 50);
        level->histograms.add_bytes_wide(dense, list, 3, end, gradients.data(), wide.data());
        level->histograms.add_listed_wide(sparse, list, 3, end, gradients.data(),
                                          wide_listed.data());
        for (std::size_t c = 0; c < n_cells; ++c) {
          REQUIRE(pack_up(wide[c].gradient, wide[c].hessian) == expected[c]);
        }
        for (std::size_t c = 0; c < kFirst + 50; ++c) {
          REQUIRE(pack_up(wide_listed[c].gradient, wide_listed[c].hessian) == expected_listed[c]);
        }
      }
    }
  }
}

TEST_CASE("gradients beside the codes of rows that lie far apart are those that are added") {
  RandomStream random(12, Purpose::feature_subset, 0, 0);
  constexpr std::size_t kRows = 200'000, kStride = 24, kColumns = 19, kNear = 19;
  std::vector<std::uint8_t> bytes(kRows * kStride + kCodeRun);
  for (auto& code : bytes) code = static_cast<std::uint8_t>(random.below(256));
  const std::vector<Packed> others(kRows, 1);  // are not read
  std::vector<RowIndex> rows;
  std::vector<Packed> expected(kDenseCells * kColumns);
  for (std::size_t row = 0; row < kRows; ++row) {
    if (random.below(5) > 0) continue;
    const auto extreme = [&](int number, int most) { return random.below(9) == 0 ? most : number; };
    const NearGradient near{
        static_cast<std::int16_t>(extreme(static_cast<int>(random.below(999)) - 499, INT16_MIN)),
        static_cast<std::uint16_t>(extreme(static_cast<int>(random.below(99)), UINT16_MAX))};
    std::memcpy(&bytes[row * kStride + kNear], &near, sizeof near);
    rows.push_back(static_cast<RowIndex>(row));
    for (std::size_t j = 0; j < kColumns; ++j) {
      expected[kDenseCells * j + bytes[row * kStride + j]] += pack_up(near.gradient, near.hessian);
    }
  }
  for (const Kernels* level : all_kernels()) {
    std::vector<Packed> cells(expected.size());
    level->histograms.add_bytes({bytes.data(), kStride, kColumns, kNear}, rows.data(), 0,
                                rows.size(), others.data(), cells.data());
    CHECK(cells == expected);
  }
}

TEST_CASE("of no rows nothing is added, and nothing read") {
  const std::vector<std::uint8_t> bytes(16 * 4 + kCodeRun);
  const std::vector<Packed> gradients(4, 1);
  for (const std::size_t n_columns : {3u, 16u}) {
    for (const Kernels* level : all_kernels()) {
      std::vector<Packed> cells(kDenseCells * n_columns);
      const auto rows = std::make_unique<RowIndex[]>(0);
      level->histograms.add_bytes({bytes.data(), 16, n_columns}, rows.get(), 0, 0, gradients.data(),
                                  cells.data());
      CHECK(std::count(cells.begin(), cells.end(), 0) == static_cast<std::ptrdiff_t>(cells.size()));
    }
  }
}

TEST_CASE("gradients are rounded to the nearest unit, hessians to one or more") {
  const std::vector<double> gradient{0.0, 0.24, 0.26, -0.26, 0.75, -100.0, 0.25, 536870911.5};
  const std::vector<double> hessian{0.0, 0.1, 1.3, 0.6, 2.5, 1e-300, 0.5, 536870911.75};
  for (const Kernels* level : all_kernels()) {
    std::vector<Packed> packed(gradient.size());
    level->histograms.pack(gradient.data(), hessian.data(), packed.size(), 2.0, 2.0, packed.data());
    for (std::size_t i = 0; i < packed.size(); ++i) {
      const auto g = static_cast<std::int64_t>(std::nearbyint(2.0 * gradient[i]));
      const auto h = static_cast<std::int64_t>(std::nearbyint(2.0 * hessian[i]));
      CHECK(packed[i] == pack_up(g, std::max<std::int64_t>(h, 1)));
    }
    level->histograms.pack(gradient.data(), nullptr, packed.size(), 2.0, 2.0, packed.data());
    CHECK(packed[5] == pack_up(-200, 1));
  }
}

}  // namespace arboleda
