// Codes of a file are those of the table in memory, and a file that is not sound is refused.
#include "data/mapped_dataset.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "grow/histogram_grower.h"
#include "layout/row_codes.h"
#include "simd/histogram_kernels.h"

namespace arboleda {

namespace {

constexpr std::size_t kFileRows = 40'000;
constexpr std::size_t kFileColumns = 4;

// A column of many values, one with missing values, one that is nearly constant, and categories.
struct FileProblem {
  FileProblem() : values(kFileRows * kFileColumns) {
    RandomStream random(7, Purpose::feature_subset, 0, 0);
    for (std::size_t i = 0; i < kFileRows; ++i) {
      const double u = static_cast<double>(random.below(1u << 20)) / (1u << 20);
      values[i] = u;
      values[kFileRows + i] = random.below(10) == 0 ? std::nan("") : std::floor(u * 30.0);
      values[2 * kFileRows + i] = random.below(50) == 0 ? 1.0 + random.below(3) : 0.0;
      values[3 * kFileRows + i] = random.below(5);
      gradient.push_back(std::sin(9.0 * u) + (values[3 * kFileRows + i] == 2.0 ? 1.0 : 0.0));
      rows.push_back(static_cast<RowIndex>(i));
    }
    TableView table{kFileRows, {}};
    for (std::size_t j = 0; j < kFileColumns; ++j) {
      table.columns.push_back({reinterpret_cast<const std::byte*>(&values[j * kFileRows]),
                               sizeof(double), DType::float64});
    }
    const std::vector<std::uint32_t> n_categories{0, 0, 0, 5};
    in_memory = code_table(table, context, {n_categories, 64, {}});
  }

  // The codes of the columns, then those of the rows.
  std::vector<std::uint8_t> write() {
    std::vector<std::uint8_t> file;
    for (const CodedColumn& column : in_memory.columns) {
      const auto& codes = std::get<CodeArray<std::uint8_t>>(column.codes);
      file.insert(file.end(), codes.begin(), codes.end());
    }
    layout.n_rows = kFileRows;
    layout.rows_at = file.size();
    layout.stride = kFileColumns;
    layout.order = RowCodes::order(in_memory);
    for (std::size_t i = 0; i < kFileRows; ++i) {
      for (const FeatureIndex f : layout.order) {
        file.push_back(file[static_cast<std::size_t>(f) * kFileRows + i]);
      }
    }
    file.resize(file.size() + kCodeRun);
    return file;
  }

  std::vector<CodedColumn> columns() const {
    std::vector<CodedColumn> bare = in_memory.columns;
    for (CodedColumn& column : bare) column.codes = {};
    return bare;
  }

  TreeArrays grow(const BinnedDataset& table, const HistogramOptions& options) const {
    HistogramGrower grower(table, make_row_codes(table, context), options, context);
    LeafRows leaves;
    TreeArrays tree = grower.grow(rows, {gradient, {}}, 0, leaves);
    for (const LeafRows::Leaf& leaf : leaves.leaves) {
      for (std::size_t i = leaf.begin + 1; i < leaf.end; ++i) {
        REQUIRE(leaves.rows[i - 1] < leaves.rows[i]);
      }
    }
    return tree;
  }

  std::vector<double> values, gradient;
  std::vector<RowIndex> rows;
  Context context{2};
  BinnedDataset in_memory;
  MappedLayout layout;
};

// None; and sweeps that read the file where it is mapped, directly, with some windows in the page cache,
// and where a system has no direct reads.
std::vector<std::optional<Sweeps>> list_sweeps(std::span<const std::uint8_t> file) {
  std::vector<std::optional<Sweeps>> all{std::nullopt};
  Sweeps sweeps;
  sweeps.window_bytes = 30'000;
  sweeps.private_bytes = SIZE_MAX / 2;  // the fit takes nothing of what is available
  all.push_back(sweeps);
  sweeps.read = [file](std::uint64_t at, std::span<std::uint8_t> to, std::size_t) {
    const auto part = file.subspan(at);
    std::copy_n(part.begin(), std::min(part.size(), to.size()), to.begin());
    return true;
  };
  all.push_back(sweeps);
  sweeps.available = kFileRows * kFileColumns / 2;
  all.push_back(sweeps);
  sweeps.read = [](std::uint64_t, std::span<std::uint8_t>, std::size_t) { return false; };
  sweeps.available = 0;
  all.push_back(sweeps);
  return all;
}

void check_refused(FileProblem& problem, const std::vector<std::uint8_t>& file,
                   std::vector<CodedColumn> columns) {
  try {
    map_dataset(file, problem.layout, std::move(columns), std::nullopt, problem.context);
    FAIL("the file was not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::bad_format);
  }
}

}  // namespace

TEST_CASE("trees of a file are those of memory, in sweeps and without") {
  FileProblem problem;
  const std::vector<std::uint8_t> file = problem.write();
  REQUIRE(problem.layout.order.size() == kFileColumns);
  for (const auto growth :
       {BoostedGrowth::leaf_wise, BoostedGrowth::level_wise, BoostedGrowth::symmetric}) {
    for (const std::int64_t most_leaves : {std::int64_t{2}, std::int64_t{23}, std::int64_t{64}}) {
      HistogramOptions options;
      options.growth = growth;
      options.max_leaf_nodes = most_leaves;
      options.min_samples_leaf = 20;
      options.column_share_node = 0.8;
      const TreeArrays expected = problem.grow(problem.in_memory, options);
      for (const std::optional<Sweeps>& sweeps : list_sweeps(file)) {
        const BinnedDataset mapped =
            map_dataset(file, problem.layout, problem.columns(), sweeps, problem.context);
        const TreeArrays tree = problem.grow(mapped, options);
        CHECK(tree.feature == expected.feature);
        CHECK(tree.threshold == expected.threshold);
        CHECK(tree.value == expected.value);
        CHECK(tree.n_node_samples == expected.n_node_samples);
        CHECK(tree.category == expected.category);
      }
    }
  }
}

TEST_CASE("trees of several outputs are those of memory, in sweeps and without") {
  FileProblem problem;
  const std::vector<std::uint8_t> file = problem.write();
  std::vector<double> gradient = problem.gradient;
  for (const double g : problem.gradient) gradient.push_back(g * g - 0.3);
  const VectorDerivatives derivatives{2, gradient, {}};
  HistogramOptions options;
  options.max_leaf_nodes = 23;
  const auto grow = [&](const BinnedDataset& table) {
    LeafRows leaves;
    VectorGrower grower(table, options, 2, problem.context);
    return grower.grow(problem.rows, derivatives, derivatives, 0, leaves);
  };
  const std::vector<TreeArrays> expected = grow(problem.in_memory);
  for (const std::optional<Sweeps>& sweeps : list_sweeps(file)) {
    const std::vector<TreeArrays> trees =
        grow(map_dataset(file, problem.layout, problem.columns(), sweeps, problem.context));
    for (std::size_t k = 0; k < 2; ++k) {
      CHECK(trees[k].feature == expected[k].feature);
      CHECK(trees[k].value == expected[k].value);
    }
  }
}

TEST_CASE("a file that changes after it was checked does not make a tree read beyond its tables") {
  FileProblem problem;
  const std::vector<std::uint8_t> file = problem.write();
  std::atomic<std::size_t> n_changed = SIZE_MAX;
  Sweeps sweeps;
  sweeps.read = [&](std::uint64_t at, std::span<std::uint8_t> to, std::size_t) {
    const auto part = std::span(file).subspan(at);
    std::copy_n(part.begin(), std::min(part.size(), to.size()), to.begin());
    if (n_changed == SIZE_MAX) return true;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::uint8_t>((at + i) / 3);
    ++n_changed;
    return true;
  };
  const BinnedDataset mapped =
      map_dataset(file, problem.layout, problem.columns(), sweeps, problem.context);
  n_changed = 0;
  HistogramOptions options;
  options.max_leaf_nodes = 23;
  try {
    problem.grow(mapped, options);
  } catch (const Error&) {
  }
  CHECK(n_changed > 0);
}

TEST_CASE("a file that is not sound is refused") {
  FileProblem problem;
  const std::vector<std::uint8_t> file = problem.write();
  const auto with_byte = [&](std::size_t at, std::uint8_t value) {
    std::vector<std::uint8_t> changed = file;
    changed[at] = value;
    return changed;
  };
  check_refused(problem, with_byte(kFileRows - 1, 255), problem.columns());          // no such code
  check_refused(problem, with_byte(problem.layout.rows_at, 63), problem.columns());  // other codes
  check_refused(problem, {file.begin(), file.end() - 1}, problem.columns());
  std::vector<CodedColumn> columns = problem.columns();
  columns[0].values[3] = columns[0].values[2];
  check_refused(problem, file, columns);
  columns = problem.columns();
  columns[0].upper.pop_back();
  check_refused(problem, file, columns);
  columns = problem.columns();
  columns[3].n_values = SIZE_MAX;
  check_refused(problem, file, columns);
  columns = problem.columns();
  columns[0].has_missing = true;
  check_refused(problem, file, columns);
  problem.layout.order = {0, 1, 2, 9};
  check_refused(problem, file, problem.columns());
  problem.layout.order = {0, 1, 2, 3};
  problem.layout.n_rows = SIZE_MAX / 2;
  check_refused(problem, file, problem.columns());
}

}  // namespace arboleda
