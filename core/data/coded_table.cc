#include "data/coded_table.h"

#include <algorithm>
#include <limits>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "data/code_column.h"

namespace arboleda {

namespace {

// Columns of one task are read together, so that a row-major table is read by whole cache lines;
// their copies may take this many bytes. Longer columns are read in place, one by one.
constexpr std::size_t kReadBuffer = std::size_t{4} << 20;
constexpr std::size_t kColumnsATask = 16;

// With more distinct values than this a column's values stay in the caller's table.
constexpr std::size_t kKeptValues = std::size_t{1} << 16;

void check_size(std::size_t n_rows, std::size_t n_columns, const CodingOptions& options) {
  require(n_rows <= std::numeric_limits<RowIndex>::max(), "more than 2^32 - 1 rows");
  require(n_columns <= std::numeric_limits<FeatureIndex>::max(), "too many columns");
  require(options.n_categories.empty() || options.n_categories.size() == n_columns,
          "a number of categories is needed for every column");
  for (const auto n : options.n_categories) {
    require(n <= kNoCategory, "a column has more than 65,535 categories");
  }
}

int useful_threads(std::size_t n_rows, std::size_t n_columns, const Context& context) {
  return n_rows * n_columns >= kParallelWork ? context.n_threads() : 1;
}

}  // namespace

std::size_t CodedTable::code_bytes() const {
  std::size_t bytes = 0;
  for (const CodedColumn& column : columns) {
    bytes += std::visit(
        [](const auto& codes) -> std::size_t {
          if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
            return (sizeof(RowIndex) + sizeof(Code)) * codes.rows.size();
          } else {
            return sizeof(codes[0]) * codes.size();
          }
        },
        column.codes);
  }
  return bytes;
}

CodedTable code_table(const TableView& table, const Context& context,
                      const CodingOptions& options) {
  const std::size_t n = table.n_rows;
  const std::size_t n_columns = table.columns.size();
  check_size(n, n_columns, options);

  CodedTable coded;
  coded.n_rows = n;
  coded.columns.resize(n_columns);
  const std::size_t group = std::clamp<std::size_t>(
      kReadBuffer / (sizeof(double) * std::max<std::size_t>(n, 1)), 1, kColumnsATask);
  const std::size_t n_groups = (n_columns + group - 1) / group;
  const auto n_categories = [&](std::size_t c) {
    return options.n_categories.empty() ? 0 : options.n_categories[c];
  };
  parallel_for(useful_threads(n, n_columns, context), n_groups, [&](std::size_t task, int) {
    const std::size_t first = task * group;
    const std::size_t count = std::min(group, n_columns - first);
    std::vector<double> x(group > 1 ? count * n : 0);
    for (std::size_t row = 0; row < n && !x.empty(); ++row) {
      for (std::size_t c = 0; c < count; ++c) x[c * n + row] = table.columns[first + c][row];
    }
    for (std::size_t c = 0; c < count; ++c) {
      context.check();
      const ColumnView& view = table.columns[first + c];
      CodedColumn& column = coded.columns[first + c];
      column.source = view;
      if (n_categories(first + c) > 0) {
        code_categorical(view, n, n_categories(first + c), column);
      } else if (x.empty()) {
        code_numeric(ColumnValues(view, n), options.max_bins, kKeptValues, column);
      } else {
        code_numeric(ColumnValues(std::span<const double>(x).subspan(c * n, n)), options.max_bins,
                     kKeptValues, column);
      }
    }
  });
  return_free_memory(n * n_columns);
  return coded;
}

CodedTable code_table(const SparseColumns& table, const Context& context,
                      const CodingOptions& options) {
  check_size(table.n_rows, table.n_columns, options);
  CodedTable coded;
  coded.n_rows = table.n_rows;
  coded.columns.resize(table.n_columns);
  const SparseLines& lines = table.lines;
  const int n_threads = useful_threads(lines.index.size(), 1, context);
  parallel_for(n_threads, table.n_columns, [&](std::size_t c, int) {
    context.check();
    const auto begin = static_cast<std::size_t>(lines.start[c]);
    const auto end = static_cast<std::size_t>(lines.start[c + 1]);
    code_sparse(lines, begin, end, table.n_rows, options.max_bins, coded.columns[c]);
  });
  return coded;
}

}  // namespace arboleda
