#include "data/coded_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

std::vector<Code> codes_of(const CodedColumn& column) {
  const std::size_t n = std::visit(
      [](const auto& codes) {
        if constexpr (requires { codes.size(); }) return codes.size();
        return std::size_t{0};
      },
      column.codes);
  std::vector<RowIndex> rows(n);
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
  const auto codes = codes_of(column);
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
  CHECK(codes_of(column) == std::vector<Code>{1, 0, 2, 0});
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
      CHECK(codes_of(column) == expected);
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
  const CodedTable one = code_table(table, Context(1));
  const CodedTable eight = code_table(table, Context(8));
  for (std::size_t c = 0; c < 40; ++c) {
    CHECK(one.columns[c].values == eight.columns[c].values);
    CHECK(one.columns[c].codes == eight.columns[c].codes);
  }
}

}  // namespace arboleda
