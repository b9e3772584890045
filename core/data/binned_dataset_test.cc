#include "data/binned_dataset.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "data/gather_codes.h"

namespace arboleda {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
ColumnView view(const std::vector<T>& x, DType dtype) {
  return {reinterpret_cast<const std::byte*>(x.data()), sizeof(T), dtype};
}

CodedColumn code(const std::vector<double>& x) {
  return code_table({x.size(), {view(x, DType::float64)}}, Context()).columns[0];
}

std::vector<Code> codes_of(const CodedColumn& column, std::size_t n_rows) {
  std::vector<RowIndex> rows(n_rows);
  std::iota(rows.begin(), rows.end(), 0u);
  std::vector<Code> codes;
  gather_codes(column, rows, codes);
  return codes;
}

// The definition: sort the distinct values and look each one up.
void check_against_naive(const std::vector<double>& x) {
  std::vector<double> values;
  for (const double v : x) {
    if (!std::isnan(v)) values.push_back(v);
  }
  const bool has_missing = values.size() < x.size();
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());

  const CodedColumn column = code(x);
  REQUIRE(column.n_values == values.size());
  CHECK(column.upper.empty());
  if (values.size() <= 65536) {
    REQUIRE(column.values == values);
  } else {
    CHECK(column.values.empty());
  }
  CHECK(column.has_missing == has_missing);
  const auto codes = codes_of(column, x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Code expected =
        std::isnan(x[i]) ? static_cast<Code>(values.size())
                         : static_cast<Code>(std::lower_bound(values.begin(), values.end(), x[i]) -
                                             values.begin());
    REQUIRE(codes[i] == expected);
  }
}

}  // namespace

TEST_CASE("codes are ranks among distinct values; missing comes last") {
  const CodedColumn column = code({3.5, 1.0, kNaN, 1.0});
  CHECK(column.values == std::vector<double>{1.0, 3.5});
  CHECK(codes_of(column, 4) == std::vector<Code>{1, 0, 2, 0});
  CHECK(column.n_codes() == 3);
}

TEST_CASE(
    "codes equal the naive definition: few values, many, float32, float64, negative, missing") {
  RandomStream random(1, Purpose::feature_subset, 0, 0);
  for (const std::uint32_t n_values : {1u, 2u, 255u, 256u, 257u, 1024u, 1025u, 5000u, 70000u}) {
    for (const double scale : {0.25, 0.1, 1e300}) {
      std::vector<double> x(n_values < 10000 ? 6000 : 150000);
      for (auto& v : x) {
        v = (static_cast<double>(random.below(n_values)) - n_values / 2.0) * scale;
        if (random.below(50) == 0) v = kNaN;
      }
      check_against_naive(x);
    }
  }
}

TEST_CASE("the width of the codes follows their number") {
  for (const std::size_t n : {256, 257, 65536, 65537}) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i);
    CHECK(code(x).codes.index() == (n <= 256 ? 0 : n <= 65536 ? 1 : 2));
  }
  std::vector<double> x(257, kNaN);  // 256 values and missing need 257 codes
  for (std::size_t i = 0; i < 256; ++i) x[i] = static_cast<double>(i);
  CHECK(code(x).codes.index() == 1);
}

TEST_CASE("negative zero is zero, denormals are values, an empty column has none") {
  CHECK(code({0.0, -0.0}).values.size() == 1);
  CHECK(code({5e-324, 0.0, -5e-324}).values.size() == 3);
  const CodedColumn missing = code({kNaN, kNaN});
  CHECK(missing.n_values == 0);
  CHECK(missing.n_codes() == 1);
}

TEST_CASE("every type and stride gives the codes of its values") {
  const std::vector<double> x{5, 1, 3, 1, 0};
  const std::vector<Code> expected{3, 1, 2, 1, 0};
  const auto check = [&]<class T>(DType dtype, T) {
    std::vector<T> strided(2 * x.size(), T(7));
    std::vector<T> reversed(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      strided[2 * i] = static_cast<T>(x[i]);
      reversed[x.size() - 1 - i] = static_cast<T>(x[i]);
    }
    TableView table{x.size(), {view(strided, dtype), view(reversed, dtype)}};
    table.columns[0].stride *= 2;
    table.columns[1].data += sizeof(T) * (x.size() - 1);
    table.columns[1].stride *= -1;
    for (const auto& column : code_table(table, Context()).columns) {
      CHECK(codes_of(column, x.size()) == expected);
    }
  };
  check(DType::float64, double{});
  check(DType::float32, float{});
  check(DType::int8, std::int8_t{});
  check(DType::int16, std::int16_t{});
  check(DType::int32, std::int32_t{});
  check(DType::int64, std::int64_t{});
  check(DType::uint8, std::uint8_t{});
  check(DType::uint16, std::uint16_t{});
  check(DType::uint32, std::uint32_t{});
  check(DType::uint64, std::uint64_t{});
}

TEST_CASE("codes do not depend on the number of threads") {
  RandomStream random(2, Purpose::feature_subset, 0, 0);
  std::vector<double> x(40 * 3000);
  for (auto& v : x) v = random.below(2000);
  TableView table{3000, {}};
  for (std::size_t c = 0; c < 40; ++c) {
    table.columns.push_back(
        {reinterpret_cast<const std::byte*>(x.data() + c), 40 * 8, DType::float64});
  }
  const BinnedDataset one = code_table(table, Context(1));
  const BinnedDataset eight = code_table(table, Context(8));
  for (std::size_t c = 0; c < 40; ++c) {
    CHECK(one.columns[c].values == eight.columns[c].values);
    CHECK(one.columns[c].codes == eight.columns[c].codes);
  }
}

TEST_CASE("categories are their own codes; anything else is missing") {
  const std::vector<double> x{2, 0, 3, kNaN, -1, 1e300};
  const std::vector<std::uint32_t> n_categories{3};
  const TableView table{x.size(), {view(x, DType::float64)}};
  const CodedColumn column = code_table(table, Context(), {n_categories, 0}).columns[0];
  CHECK(column.is_categorical);
  CHECK(column.n_codes() == 4);
  CHECK(codes_of(column, x.size()) == std::vector<Code>{2, 0, 3, 3, 3, 3});
  const std::vector<std::uint32_t> too_many{65536};
  CHECK_THROWS_AS(code_table(table, Context(), {too_many, 0}), Error);
}

TEST_CASE("bins hold about equally many rows, and a frequent value has its own") {
  std::vector<double> x(10000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i) / 7;
  for (std::size_t i = 0; i < 4000; ++i) x[2 * i] = 100;
  x[9999] = kNaN;
  const TableView table{x.size(), {view(x, DType::float64)}};
  for (const std::size_t max_bins : {2, 10, 255, 1000, 5000}) {
    const CodedColumn column = code_table(table, Context(), {{}, max_bins}).columns[0];
    REQUIRE(column.n_values == max_bins);
    REQUIRE(column.values.size() == max_bins);
    REQUIRE(column.upper.size() == max_bins);
    const auto codes = codes_of(column, x.size());
    std::vector<std::size_t> count(max_bins + 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ++count[codes[i]];
      if (codes[i] == max_bins) {
        CHECK(std::isnan(x[i]));
      } else {
        CHECK(column.values[codes[i]] <= x[i]);
        CHECK(x[i] <= column.upper[codes[i]]);
      }
    }
    CHECK(count[max_bins] == 1);
    for (std::size_t c = 0; c < max_bins; ++c) {
      if (max_bins > 2 && column.values[c] != 100) CHECK(count[c] <= 2 * 10000 / max_bins + 1);
      if (c + 1 < max_bins) CHECK(column.upper[c] < column.values[c + 1]);
      if (max_bins > 2 && column.values[c] == 100) CHECK(column.upper[c] == 100);
    }
  }
}

TEST_CASE("rows that miss the value take no room in bins") {
  std::vector<double> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i < 800 ? kNaN : static_cast<double>(i);
  for (const std::size_t copies : {1u, 10u}) {  // few distinct values, and many
    std::vector<double> long_x;
    for (std::size_t i = 0; i < copies * x.size(); ++i) {
      long_x.push_back(x[i % x.size()] + static_cast<double>(i / x.size()) / 16);
    }
    const TableView table{long_x.size(), {view(long_x, DType::float64)}};
    const CodedColumn column = code_table(table, Context(), {{}, 10}).columns[0];
    std::vector<std::size_t> count(11);
    for (const Code code : codes_of(column, long_x.size())) ++count[code];
    CHECK(count == std::vector<std::size_t>{20 * copies, 20 * copies, 20 * copies, 20 * copies,
                                            20 * copies, 20 * copies, 20 * copies, 20 * copies,
                                            20 * copies, 20 * copies, 800 * copies});
  }
}

TEST_CASE("with enough bins every value has its own") {
  const std::vector<double> x{3, 1, 2, 1, kNaN};
  const TableView table{x.size(), {view(x, DType::float64)}};
  const CodedColumn exact = code(x);
  const CodedColumn binned = code_table(table, Context(), {{}, 3}).columns[0];
  CHECK(binned.values == exact.values);
  CHECK(binned.upper.empty());
  CHECK(binned.codes == exact.codes);
}

TEST_CASE("a sparse table has the codes of the dense one") {
  RandomStream random(3, Purpose::feature_subset, 0, 0);
  constexpr std::size_t kRows = 500;
  for (const std::uint32_t one_in : {2u, 20u, 1000u}) {
    for (const std::size_t max_bins : {std::size_t{0}, std::size_t{7}}) {
      std::vector<std::vector<double>> dense;
      std::vector<std::int64_t> start{0};
      std::vector<std::int32_t> index;
      std::vector<double> data;
      for (std::uint32_t c = 0; c < 6; ++c) {
        std::vector<double> column(kRows);
        for (std::size_t row = 0; row < kRows; ++row) {
          if (random.below(one_in) != 0) continue;
          const double value = random.below(20) == 0 ? kNaN : random.below(9 + 40 * c) - 4.0;
          column[row] = value;
          index.push_back(static_cast<std::int32_t>(row));
          data.push_back(value);
        }
        start.push_back(static_cast<std::int64_t>(index.size()));
        dense.push_back(std::move(column));
      }
      const SparseLines lines{start, index, view(data, DType::float64)};
      lines.check(6, kRows, data.size());
      const BinnedDataset sparse =
          code_table(SparseColumns{kRows, 6, lines}, Context(2), {{}, max_bins});
      TableView table{kRows, {}};
      for (const auto& column : dense) table.columns.push_back(view(column, DType::float64));
      const BinnedDataset expected = code_table(table, Context(), {{}, max_bins});
      for (std::size_t c = 0; c < 6; ++c) {
        const CodedColumn& a = sparse.columns[c];
        CHECK(a.has_missing == expected.columns[c].has_missing);
        CHECK(a.values == expected.columns[c].values);
        CHECK(a.upper == expected.columns[c].upper);
        CHECK(codes_of(a, kRows) == codes_of(expected.columns[c], kRows));
        const auto codes = codes_of(a, kRows);
        for (std::size_t row = 0; row < kRows; ++row) {
          const double x = dense[c][row];
          if (std::isnan(x)) {
            CHECK(codes[row] == a.get_missing_code());
          } else {
            CHECK(a.values[codes[row]] <= x);
            CHECK(x <= (a.upper.empty() ? a.values : a.upper)[codes[row]]);
          }
        }
      }
      if (one_in == 1000) CHECK(sparse.code_bytes() < 6 * kRows / 2);
    }
  }
}

TEST_CASE("sparse tables whose parts do not fit are refused") {
  const std::vector<double> data{1, 2, 3};
  const std::vector<std::int32_t> index{0, 2, 1};
  const auto check = [&](std::vector<std::int64_t> start, std::vector<std::int32_t> i,
                         std::size_t n_data) {
    SparseLines{start, i, view(data, DType::float64)}.check(2, 3, n_data);
  };
  CHECK_NOTHROW(check({0, 2, 3}, index, 3));
  CHECK_THROWS_AS(check({0, 2}, index, 3), Error);
  CHECK_THROWS_AS(check({0, 4, 3}, index, 3), Error);
  CHECK_THROWS_AS(check({0, 2, 4}, index, 3), Error);
  CHECK_THROWS_AS(check({1, 2, 3}, index, 3), Error);
  CHECK_THROWS_AS(check({0, 2, 3}, index, 2), Error);
  CHECK_THROWS_AS(check({0, 3, 3}, index, 3), Error);      // not ascending
  CHECK_THROWS_AS(check({0, 2, 3}, {0, 3, 1}, 3), Error);  // row 3 of 3
  CHECK_THROWS_AS(check({0, 2, 3}, {-1, 2, 1}, 3), Error);
  CHECK_THROWS_AS(check({0, 2, 3}, {2, 2, 1}, 3), Error);
}

TEST_CASE("galloping finds what a binary search finds") {
  RandomStream random(4, Purpose::feature_subset, 0, 0);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<RowIndex> sorted(random.below(60));
    for (auto& v : sorted) v = random.below(100);
    std::sort(sorted.begin(), sorted.end());
    const std::size_t begin = random.below(static_cast<std::uint32_t>(sorted.size() + 1));
    const RowIndex value = random.below(110);
    const auto expected = static_cast<std::size_t>(
        std::lower_bound(sorted.begin() + static_cast<std::ptrdiff_t>(begin), sorted.end(), value) -
        sorted.begin());
    CHECK(gallop(std::span<const RowIndex>(sorted), begin, value) == expected);
  }
}

}  // namespace arboleda
