// Binned codes against a twin that sorts everything, and codes of other rows against a comparison
// with every midpoint.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/ordered_key.h"
#include "base/random.h"
#include "data/binned_dataset.h"
#include "data/binner.h"
#include "data/gather_codes.h"
#include "data/midpoint.h"
#include "data/radix_sort.h"
#include "data/search_edges.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kHuge = std::numeric_limits<double>::max();

std::vector<Code> codes_of(const CodedColumn& column, std::size_t n_rows) {
  std::vector<RowIndex> rows(n_rows);
  std::iota(rows.begin(), rows.end(), 0u);
  std::vector<Code> codes;
  gather_codes(column, rows, codes);
  return codes;
}

struct Edges {
  std::vector<double> values, upper;
};

// The definition: every distinct value with its number of rows, in ascending order.
Edges naive_edges(const ColumnView& x, std::span<const RowIndex> rows, std::size_t max_bins) {
  std::map<double, std::size_t> count;
  std::size_t n_present = 0;
  for (const RowIndex row : rows) {
    if (std::isnan(x[row])) continue;
    ++count[x[row] + 0.0];
    ++n_present;
  }
  std::size_t unit = 0;  // rows that all stand twice count as the half of them
  for (const auto& [value, n] : count) unit = std::gcd(unit, n);
  unit = std::max<std::size_t>(unit, 1);
  Binner binner(n_present / unit, count.size(), max_bins);
  Edges edges;
  for (const auto& [value, n] : count) {
    if (binner.begins(n / unit)) {
      edges.values.push_back(value);
      edges.upper.push_back(value);
    }
    edges.upper.back() = value;
  }
  return edges;
}

// How many midpoints are below the value.
Code naive_code(double x, const Edges& edges) {
  if (std::isnan(x) || edges.values.empty()) return static_cast<Code>(edges.values.size());
  Code code = 0;
  for (std::size_t c = 0; c + 1 < edges.values.size(); ++c) {
    code += x > midpoint(edges.upper[c], edges.values[c + 1]);
  }
  return code;
}

void check_edges(const CodedColumn& column, const Edges& edges) {
  REQUIRE(column.n_values == edges.values.size());
  REQUIRE(column.values == edges.values);
  REQUIRE((column.upper.empty() ? column.values : column.upper) == edges.upper);
}

void check_codes(const CodedColumn& column, const ColumnView& x, std::size_t n_rows,
                 const Edges& edges) {
  const auto codes = codes_of(column, n_rows);
  // With many rows, only some are compared with each midpoint; all with the two at their code.
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (n_rows < 2000 || row % 97 == 0) REQUIRE(codes[row] == naive_code(x[row], edges));
    const Code c = codes[row];
    if (c == edges.values.size()) {
      REQUIRE((std::isnan(x[row]) || edges.values.empty()));
      continue;
    }
    if (c > 0) REQUIRE(x[row] > midpoint(edges.upper[c - 1], edges.values[c]));
    if (c + 1 < edges.values.size()) {
      REQUIRE(x[row] <= midpoint(edges.upper[c], edges.values[c + 1]));
    }
  }
}

std::vector<RowIndex> all_rows(std::size_t n) {
  std::vector<RowIndex> rows(n);
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

// Values of many shapes; kind chooses.
constexpr std::uint32_t kKinds = 14;
double draw(std::uint32_t kind, RandomStream& random) {
  const double uniform = random.next() / 4294967296.0;
  switch (kind) {
    case 0:
      return uniform;
    case 1:
      return std::exp(40 * uniform - 20) * (random.below(2) ? 1 : -1);
    case 2:
      return random.below(3);
    case 3:
      return random.below(300);
    case 4:
      return static_cast<double>(random.below(5000)) - 2500;
    case 5:  // heavy ties among many values
      return random.below(4) == 0 ? uniform : random.below(20) / 4.0;
    case 6:  // few values after many rows of one
      return random.below(400) != 0 ? 7.0 : 7.0 + random.below(400);
    case 7:  // denormals of either sign, and both zeros
      return (random.below(2) ? 1 : -1) * static_cast<double>(random.below(2000)) *
             std::numeric_limits<float>::denorm_min();
    case 8:
      return (random.below(2) ? 1 : -1) * static_cast<double>(random.below(2000)) *
             std::numeric_limits<double>::denorm_min();
    case 9:
      return (random.below(2) ? 1 : -1) * (random.below(9) == 0 ? kHuge : uniform);
    case 10:
      return random.below(3) == 0 ? kNaN : uniform - 0.5;
    case 11:
      return kNaN;
    case 12:
      return 3.25;
    default:  // one far value squeezes the others together
      return random.below(1000) == 0 ? 1e30 : 1.0 + uniform / 1e6;
  }
}

template <class T>
T to(double x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::clamp(x, -static_cast<double>(std::numeric_limits<T>::max()),
                                     static_cast<double>(std::numeric_limits<T>::max())));
  } else {
    if (std::isnan(x)) x = 0;
    return static_cast<T>(std::clamp(100 * x, static_cast<double>(std::numeric_limits<T>::min()),
                                     0.99 * static_cast<double>(std::numeric_limits<T>::max())));
  }
}

// Three columns side by side, rows of 3 values and `padding` bytes.
template <class T>
struct RowMajor {
  std::vector<std::byte> bytes;
  TableView table;

  RowMajor(std::uint32_t kind, std::size_t n, DType dtype, std::size_t padding,
           RandomStream& random) {
    const std::size_t stride = 3 * sizeof(T) + padding;
    bytes.resize(n * stride + 1);
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t c = 0; c < 3; ++c) {
        const T value = to<T>(draw((kind + static_cast<std::uint32_t>(c)) % kKinds, random));
        std::memcpy(&bytes[row * stride + c * sizeof(T)], &value, sizeof value);
      }
    }
    table.n_rows = n;
    for (std::size_t c = 0; c < 3; ++c) {
      table.columns.push_back(
          {bytes.data() + c * sizeof(T), static_cast<std::ptrdiff_t>(stride), dtype});
    }
  }
};

template <class T>
void check_type(DType dtype, RandomStream& random) {
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    for (const std::size_t n : {0u, 1u, 2u, 3u, 255u, 256u, 600u, 3000u}) {
      const RowMajor<T> x(kind, n, dtype, kind % 3, random);
      for (const std::size_t max_bins : {2u, 7u, 255u, 300u}) {
        CAPTURE(kind);
        CAPTURE(n);
        CAPTURE(max_bins);
        const BinnedDataset coded = code_table(x.table, Context(), {{}, max_bins});
        for (std::size_t c = 0; c < 3; ++c) {
          const Edges edges = naive_edges(x.table.columns[c], all_rows(n), max_bins);
          check_edges(coded.columns[c], edges);
          check_codes(coded.columns[c], x.table.columns[c], n, edges);
        }
      }
    }
  }
}

std::vector<RowIndex> some_rows(std::size_t n, std::uint32_t one_in, RandomStream& random) {
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < n; ++row) {
    if (random.below(one_in) == 0) rows.push_back(row);
  }
  if (rows.empty()) rows.push_back(static_cast<RowIndex>(n / 2));
  return rows;
}

}  // namespace

TEST_CASE("binned codes are those of the twin that sorts: every type, stride and shape of values" *
          doctest::test_suite("one thread")) {
  RandomStream random(21, Purpose::feature_subset, 0, 0);
  check_type<double>(DType::float64, random);
  check_type<float>(DType::float32, random);
  check_type<std::int8_t>(DType::int8, random);
  check_type<std::int16_t>(DType::int16, random);
  check_type<std::int32_t>(DType::int32, random);
  check_type<std::int64_t>(DType::int64, random);
  check_type<std::uint8_t>(DType::uint8, random);
  check_type<std::uint16_t>(DType::uint16, random);
  check_type<std::uint32_t>(DType::uint32, random);
  check_type<std::uint64_t>(DType::uint64, random);
}

TEST_CASE("binned codes of many rows are those of the twin, whatever the threads") {
  RandomStream random(22, Purpose::feature_subset, 0, 0);
  constexpr std::size_t kRows = 140000;  // so many that edges are searched for
  for (std::uint32_t kind = 0; kind < kKinds; kind += 3) {
    const RowMajor<float> narrow(kind, kRows, DType::float32, 0, random);
    const RowMajor<double> wide(kind, kRows, DType::float64, 0, random);
    for (const TableView* table : {&narrow.table, &wide.table}) {
      const BinnedDataset one = code_table(*table, Context(1), {{}, 255});
      const BinnedDataset many = code_table(*table, Context(5), {{}, 255});
      for (std::size_t c = 0; c < 3; ++c) {
        CAPTURE(kind);
        const Edges edges = naive_edges(table->columns[c], all_rows(kRows), 255);
        check_edges(one.columns[c], edges);
        check_codes(one.columns[c], table->columns[c], kRows, edges);
        CHECK(one.columns[c].codes == many.columns[c].codes);
      }
    }
  }
}

TEST_CASE("edges come from the given rows alone; the other rows are coded by midpoints" *
          doctest::test_suite("one thread")) {
  RandomStream random(23, Purpose::feature_subset, 0, 0);
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    for (const std::size_t max_bins : {0u, 2u, 40u, 255u}) {
      for (const std::uint32_t one_in : {2u, 5u, 2000u}) {
        const RowMajor<float> x(kind, 1500, DType::float32, 1, random);
        const auto rows = some_rows(1500, one_in, random);
        const BinnedDataset coded = code_table(x.table, Context(), {{}, max_bins, rows});
        for (std::size_t c = 0; c < 3; ++c) {
          const Edges edges = naive_edges(x.table.columns[c], rows, max_bins);
          check_edges(coded.columns[c], edges);
          check_codes(coded.columns[c], x.table.columns[c], 1500, edges);
          bool any_missing = false;
          for (std::size_t row = 0; row < 1500; ++row) {
            any_missing |= std::isnan(x.table.columns[c][row]);
          }
          CHECK(coded.columns[c].has_missing == any_missing);
        }
      }
    }
  }
}

// Compares the columns whose edges a search finds; returns how many they are.
template <class T>
std::size_t check_search(std::uint32_t kind, std::size_t n, DType dtype, std::size_t max_bins,
                         bool of_some, RandomStream& random) {
  const RowMajor<T> x(kind, n, dtype, 0, random);
  const auto rows = of_some ? some_rows(n, 2, random) : std::vector<RowIndex>{};
  const CodingOptions options{{}, max_bins, rows};
  BinnedDataset coded;
  coded.columns.resize(3);
  const std::vector<std::size_t> all{0, 1, 2};
  const auto not_found = search_edges(x.table, all, options, Context(), coded);
  for (const std::size_t c : all) {
    CAPTURE(c);
    if (std::find(not_found.begin(), not_found.end(), c) != not_found.end()) continue;
    const ColumnView& column = x.table.columns[c];
    check_edges(coded.columns[c], naive_edges(column, of_some ? rows : all_rows(n), max_bins));
    bool any_missing = false;
    for (std::size_t row = 0; row < n; ++row) any_missing |= std::isnan(column[row]);
    CHECK(coded.columns[c].has_missing == any_missing);
  }
  return 3 - not_found.size();
}

TEST_CASE("edges that are searched for are those of the twin that sorts" *
          doctest::test_suite("one thread")) {
  RandomStream random(28, Purpose::feature_subset, 0, 0);
  std::size_t n_found = 0, n_columns = 0;
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    for (const std::size_t n : {1u, 3u, 300u, 3000u, 20000u}) {
      for (const std::size_t max_bins : {1u, 2u, 7u, 255u, 300u}) {
        CAPTURE(kind);
        CAPTURE(n);
        CAPTURE(max_bins);
        const bool of_some = (kind + max_bins) % 2 == 0;
        n_found += check_search<float>(kind, n, DType::float32, max_bins, of_some, random);
        n_found += check_search<double>(kind, n, DType::float64, max_bins, !of_some, random);
        n_found += check_search<std::int32_t>(kind, n, DType::int32, max_bins, of_some, random);
        n_columns += 9;
      }
    }
  }
  CHECK(2 * n_found > n_columns);
}

TEST_CASE("rows that all stand k times have the edges of the rows once, whatever their order") {
  RandomStream random(26, Purpose::feature_subset, 0, 0);
  constexpr std::size_t kRows = 900;
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    std::vector<double> once(kRows);
    for (auto& value : once) value = draw(kind, random);
    for (const std::size_t k : {2u, 3u}) {
      std::vector<double> often;
      for (std::size_t i = 0; i < k; ++i) often.insert(often.end(), once.begin(), once.end());
      for (std::size_t i = often.size(); i > 1; --i) {
        std::swap(often[i - 1], often[random.below(static_cast<std::uint32_t>(i))]);
      }
      const auto edges_of = [](const std::vector<double>& x, std::size_t max_bins) {
        const TableView table{
            x.size(),
            {{reinterpret_cast<const std::byte*>(x.data()), sizeof(double), DType::float64}}};
        BinnedDataset coded = code_table(table, Context(), {{}, max_bins});
        return Edges{std::move(coded.columns[0].values), std::move(coded.columns[0].upper)};
      };
      for (const std::size_t max_bins : {2u, 7u, 100u, 255u}) {
        CAPTURE(kind);
        const Edges one = edges_of(once, max_bins), other = edges_of(often, max_bins);
        CHECK(one.values == other.values);
        CHECK(one.upper == other.upper);
      }
    }
  }
}

TEST_CASE("another table is coded by the midpoints of the learned one" *
          doctest::test_suite("one thread")) {
  RandomStream random(24, Purpose::feature_subset, 0, 0);
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    for (const std::size_t max_bins : {0u, 3u, 255u}) {
      const RowMajor<double> x(kind, 800, DType::float64, 0, random);
      const RowMajor<float> y(kind, 900, DType::float32, 0, random);
      const RowMajor<double> z(kind + 1, 700, DType::float64, 0, random);
      const BinnedDataset learned = code_table(x.table, Context(), {{}, max_bins});
      for (const TableView* other : {&x.table, &y.table, &z.table}) {
        const BinnedDataset coded = code_table_like(learned, *other, Context());
        for (std::size_t c = 0; c < 3; ++c) {
          const Edges edges = naive_edges(x.table.columns[c], all_rows(800), max_bins);
          CHECK(coded.columns[c].has_missing);
          check_edges(coded.columns[c], edges);
          check_codes(coded.columns[c], other->columns[c], other->n_rows, edges);
        }
      }
    }
  }
}

TEST_CASE("values that an exact column does not keep are read from its rows") {
  std::vector<double> x(70000);
  std::iota(x.begin(), x.end(), 0.0);
  const TableView table{
      x.size(), {{reinterpret_cast<const std::byte*>(x.data()), sizeof(double), DType::float64}}};
  const BinnedDataset learned = code_table(table, Context());
  REQUIRE(learned.columns[0].values.empty());
  const std::vector<double> y{-5, 0.5, 0.75, 69998.5, 1e9, kNaN};
  const TableView other{
      y.size(), {{reinterpret_cast<const std::byte*>(y.data()), sizeof(double), DType::float64}}};
  const BinnedDataset coded = code_table_like(learned, other, Context());
  CHECK(codes_of(coded.columns[0], 6) == std::vector<Code>{0, 0, 1, 69998, 69999, 70000});
}

TEST_CASE("unknown categories are missing in a table coded like another") {
  const std::vector<std::uint16_t> x{0, 2, 1, 2};
  const std::vector<std::uint16_t> y{2, 3, 65535, 0};
  const auto table_of = [](const std::vector<std::uint16_t>& v) {
    return TableView{v.size(),
                     {{reinterpret_cast<const std::byte*>(v.data()), sizeof v[0], DType::uint16}}};
  };
  const std::vector<std::uint32_t> n_categories{3};
  const BinnedDataset learned = code_table(table_of(x), Context(), {n_categories, 2});
  CHECK_FALSE(learned.columns[0].has_missing);
  const BinnedDataset coded = code_table_like(learned, table_of(y), Context());
  CHECK(coded.columns[0].has_missing);
  CHECK(codes_of(coded.columns[0], 4) == std::vector<Code>{2, 3, 3, 0});
}

TEST_CASE("a sparse table has the codes of the dense one: of given rows, and like another") {
  RandomStream random(25, Purpose::feature_subset, 0, 0);
  constexpr std::size_t kRows = 400;
  for (const std::uint32_t one_in : {1u, 2u, 20u, 1000u}) {
    for (const std::size_t max_bins : {0u, 2u, 7u}) {
      std::vector<double> dense(kRows);
      std::vector<std::int32_t> index;
      std::vector<double> data;
      for (std::size_t row = 0; row < kRows; ++row) {
        if (random.below(one_in) != 0) continue;
        dense[row] = random.below(20) == 0 ? kNaN : random.below(60) - 20.0;
        index.push_back(static_cast<std::int32_t>(row));
        data.push_back(dense[row]);
      }
      const std::vector<std::int64_t> start{0, static_cast<std::int64_t>(data.size())};
      const ColumnView entries{reinterpret_cast<const std::byte*>(data.data()), sizeof(double),
                               DType::float64};
      const SparseColumns sparse{kRows, 1, {start, index, entries}};
      const TableView table{
          kRows,
          {{reinterpret_cast<const std::byte*>(dense.data()), sizeof(double), DType::float64}}};
      const auto rows = some_rows(kRows, 3, random);
      const CodedColumn a = code_table(sparse, Context(), {{}, max_bins, rows}).columns[0];
      const BinnedDataset b = code_table(table, Context(), {{}, max_bins, rows});
      CHECK(a.values == b.columns[0].values);
      CHECK(a.upper == b.columns[0].upper);
      CHECK(a.has_missing == b.columns[0].has_missing);
      CHECK(codes_of(a, kRows) == codes_of(b.columns[0], kRows));
      const BinnedDataset like = code_table_like(b, sparse, Context());
      CHECK(codes_of(like.columns[0], kRows) ==
            codes_of(code_table_like(b, table, Context()).columns[0], kRows));
    }
  }
}

TEST_CASE("rows to learn from that are not ascending or not there are refused") {
  const std::vector<double> x{1, 2, 3};
  const TableView table{
      3, {{reinterpret_cast<const std::byte*>(x.data()), sizeof(double), DType::float64}}};
  for (const std::vector<RowIndex>& rows : {std::vector<RowIndex>{1, 0}, {1, 1}, {0, 3}}) {
    CHECK_THROWS_AS(code_table(table, Context(), {{}, 2, rows}), Error);
  }
  const BinnedDataset learned = code_table(table, Context(), {{}, 2});
  CHECK_THROWS_AS(code_table_like(learned, TableView{0, {}}, Context()), Error);
}

TEST_CASE("the middle of two values is not below the lower and below the upper") {
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{
           {0, tiny}, {-tiny, 0}, {1, std::nextafter(1, 2)}, {-kHuge, kHuge}, {kHuge / 2, kHuge}}) {
    CHECK(midpoint(low, high) >= low);
    CHECK(midpoint(low, high) < high);
  }
  CHECK(midpoint(1, 2) == 1.5);
}

}  // namespace arboleda
