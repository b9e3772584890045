#include "data/binned_dataset.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "data/code_by_edges.h"
#include "data/code_column.h"
#include "data/learn_edges.h"
#include "data/search_edges.h"

namespace arboleda {

namespace {

// Columns of one task are read together, so that a row-major table is read by whole cache lines;
// their copies may take this many bytes. Longer columns are read in place, one by one.
constexpr std::size_t kReadBuffer = std::size_t{8} << 20;
constexpr std::size_t kColumnsATask = 16;

// Rows at a time, so that what is read of them for the first column is near for the next.
constexpr std::size_t kCopiedRows = 256;

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
  const auto rows = options.rows;
  require(rows.empty() ||
              (rows.back() < n_rows &&
               std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end()),
          "the rows to learn codes from are not ascending or not in the table");
}

int useful_threads(std::size_t n_rows, std::size_t n_columns, const Context& context) {
  return n_rows * n_columns >= kParallelWork ? context.n_threads() : 1;
}

}  // namespace

std::size_t BinnedDataset::code_bytes() const {
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

namespace {

// Columns that keep a view of their source.
BinnedDataset begin_table(const TableView& table) {
  BinnedDataset coded;
  coded.n_rows = table.n_rows;
  coded.columns.resize(table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    coded.columns[c].source = table.columns[c];
  }
  return coded;
}

std::uint32_t n_categories(const CodingOptions& options, std::size_t c) {
  return options.n_categories.empty() ? 0 : options.n_categories[c];
}

// By ranks.
BinnedDataset code_exactly(const TableView& table, const Context& context,
                           const CodingOptions& options) {
  const std::size_t n = table.n_rows;
  const std::size_t n_columns = table.columns.size();
  BinnedDataset coded = begin_table(table);
  const std::size_t group = std::clamp<std::size_t>(
      kReadBuffer / (sizeof(double) * std::max<std::size_t>(n, 1)), 1, kColumnsATask);
  const std::size_t n_groups = (n_columns + group - 1) / group;
  parallel_for(useful_threads(n, n_columns, context), n_groups, [&](std::size_t task, int) {
    const std::size_t first = task * group;
    const std::size_t count = std::min(group, n_columns - first);
    UnfilledVector<double> x(group > 1 ? count * n : 0);
    for (std::size_t row = 0; row < n && !x.empty(); row += kCopiedRows) {
      for (std::size_t c = 0; c < count; ++c) {
        table.columns[first + c].copy(row, std::min(row + kCopiedRows, n), &x[c * n + row]);
      }
    }
    for (std::size_t c = 0; c < count; ++c) {
      context.check();
      const ColumnView& view = table.columns[first + c];
      CodedColumn& column = coded.columns[first + c];
      if (const auto n_levels = n_categories(options, first + c); n_levels > 0) {
        learn_categorical(view, n, n_levels, column);
        code_by_edges(view, n, column);
      } else if (x.empty()) {
        code_numeric(ColumnValues(view, n), kKeptValues, column);
      } else {
        code_numeric(ColumnValues(std::span<const double>(x).subspan(c * n, n)), kKeptValues,
                     column);
      }
    }
  });
  return coded;
}

// Those that can be read from the caller's table.
void forget_values(BinnedDataset& coded) {
  for (CodedColumn& column : coded.columns) {
    if (column.upper.empty() && column.n_values > kKeptValues) column.values = {};
  }
}

// Of so many rows and more, the edges of few bins are searched for; else the columns are sorted, which takes less
// time and memory for 1,024 bins of 32-bit values.
constexpr std::size_t kSearchedRows = std::size_t{1} << 17;
constexpr std::size_t kSearchedBins = 512;

// Columns that are searched at a time, so that what is known of them stays in the cache, and together takes about
// as much memory as to sort one of them: that is two keys a row, and a search takes 2^18 keys and up to one for
// eight rows.
constexpr std::size_t kSearchedColumns = 16;
constexpr std::size_t kSearchKeys = std::size_t{1} << 18;

std::size_t count_columns_together(std::size_t n_rows) {
  return std::clamp<std::size_t>(2 * n_rows / (kSearchKeys + n_rows / 8), 1, kSearchedColumns);
}

// What bounds the codes of some columns.
void learn_columns(const TableView& table, std::size_t begin, std::size_t end, bool search,
                   const Context& context, const CodingOptions& options, EdgeScratch& scratch,
                   BinnedDataset& coded) {
  std::vector<std::size_t> numeric;
  for (std::size_t c = begin; c < end; ++c) {
    if (const auto n_levels = n_categories(options, c); n_levels > 0) {
      context.check();
      learn_categorical(table.columns[c], table.n_rows, n_levels, coded.columns[c]);
    } else {
      numeric.push_back(c);
    }
  }
  if (search) numeric = search_edges(table, numeric, options, context, coded);
  for (const std::size_t c : numeric) {
    context.check();
    learn_edges(table.columns[c], table.n_rows, options.rows, options.max_bins, scratch,
                coded.columns[c]);
  }
}

// First what bounds the codes of each column, then the codes, row by row.
BinnedDataset code_by_learning(const TableView& table, const Context& context,
                               const CodingOptions& options) {
  const std::size_t n = table.n_rows;
  const std::size_t n_columns = table.columns.size();
  BinnedDataset coded = begin_table(table);
  const int n_threads = useful_threads(n, n_columns, context);
  const std::size_t n_learned = options.rows.empty() ? n : options.rows.size();
  const bool search =
      n_learned >= kSearchedRows && options.max_bins > 0 && options.max_bins <= kSearchedBins;
  std::size_t group = 1;
  if (search) {
    // As many for each thread.
    const auto threads = static_cast<std::size_t>(n_threads);
    const std::size_t most = count_columns_together(n_learned);
    const std::size_t n_groups = (n_columns + most * threads - 1) / (most * threads) * threads;
    group = (n_columns + n_groups - 1) / n_groups;
  }
  std::vector<EdgeScratch> scratch(static_cast<std::size_t>(n_threads));
  parallel_for(n_threads, (n_columns + group - 1) / group, [&](std::size_t task, int worker) {
    learn_columns(table, task * group, std::min((task + 1) * group, n_columns), search, context,
                  options, scratch[static_cast<std::size_t>(worker)], coded);
  });
  scratch = {};
  code_by_edges(table, context, n_threads, coded);
  forget_values(coded);
  return coded;
}

// The values of the codes of an exact column that does not keep them, read from its rows.
std::vector<double> values_of(const CodedColumn& column) {
  std::vector<double> values(column.n_values);
  std::visit(
      [&](const auto& codes) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          for (std::size_t i = 0; i < codes.size(); ++i) {
            if (codes[i] < values.size()) values[codes[i]] = column.source[i] + 0.0;
          }
        }
      },
      column.codes);
  return values;
}

// All of a learned column but its codes and where it comes from.
CodedColumn like(const CodedColumn& learned) {
  CodedColumn column;
  column.is_categorical = learned.is_categorical;
  column.has_missing = true;
  column.n_values = learned.n_values;
  column.values = learned.values;
  column.upper = learned.upper;
  if (!column.is_categorical && column.values.empty() && column.n_values > 0) {
    column.values = values_of(learned);
  }
  return column;
}

void check_like(const BinnedDataset& learned, std::size_t n_rows, std::size_t n_columns) {
  check_size(n_rows, n_columns, {});
  require(n_columns == learned.columns.size(),
          "the columns differ from those of the table whose codes are reused");
}

}  // namespace

BinnedDataset code_table(const TableView& table, const Context& context,
                         const CodingOptions& options) {
  check_size(table.n_rows, table.n_columns(), options);
  const bool by_ranks = options.max_bins == 0 && options.rows.empty();
  BinnedDataset coded =
      by_ranks ? code_exactly(table, context, options) : code_by_learning(table, context, options);
  return_free_memory(table.n_rows * table.n_columns());
  return coded;
}

BinnedDataset code_table(const SparseColumns& table, const Context& context,
                         const CodingOptions& options) {
  check_size(table.n_rows, table.n_columns, options);
  BinnedDataset coded;
  coded.n_rows = table.n_rows;
  coded.columns.resize(table.n_columns);
  const int n_threads = useful_threads(table.lines.index.size(), 1, context);
  parallel_for(n_threads, table.n_columns, [&](std::size_t c, int) {
    context.check();
    code_sparse(read_sparse(table, c), options, coded.columns[c]);
  });
  return coded;
}

BinnedDataset code_table_like(const BinnedDataset& learned, const TableView& table,
                              const Context& context) {
  check_like(learned, table.n_rows, table.n_columns());
  BinnedDataset coded;
  coded.n_rows = table.n_rows;
  for (std::size_t c = 0; c < table.n_columns(); ++c) {
    coded.columns.push_back(like(learned.columns[c]));
    coded.columns[c].source = table.columns[c];
  }
  code_by_edges(table, context, useful_threads(table.n_rows, table.n_columns(), context), coded);
  return coded;
}

BinnedDataset code_table_like(const BinnedDataset& learned, const SparseColumns& table,
                              const Context& context) {
  check_like(learned, table.n_rows, table.n_columns);
  BinnedDataset coded;
  coded.n_rows = table.n_rows;
  coded.columns.resize(table.n_columns);
  const int n_threads = useful_threads(table.lines.index.size(), 1, context);
  parallel_for(n_threads, table.n_columns, [&](std::size_t c, int) {
    context.check();
    coded.columns[c] = like(learned.columns[c]);
    code_sparse_by_edges(read_sparse(table, c), coded.columns[c]);
  });
  return coded;
}

BinnedDataset code_shard(const SparseColumns& table, std::vector<CodedColumn> columns,
                         std::span<const std::int64_t> n_entries, std::uint64_t n_rows,
                         const Context& context) {
  check_size(table.n_rows, table.n_columns, {});
  require(columns.size() == table.n_columns && n_entries.size() == table.n_columns,
          "edges and numbers of entries are needed for every column");
  BinnedDataset coded;
  coded.n_rows = table.n_rows;
  coded.columns = std::move(columns);
  const int n_threads = useful_threads(table.lines.index.size(), 1, context);
  parallel_for(n_threads, table.n_columns, [&](std::size_t c, int) {
    context.check();
    CodedColumn& column = coded.columns[c];
    const auto n_listed = static_cast<std::size_t>(n_entries[c]);
    code_sparse_shard(read_sparse(table, c), takes_less_listed(column, n_rows, n_listed), column);
  });
  return coded;
}

BinnedDataset slice_rows(const BinnedDataset& table, std::size_t begin, std::size_t end) {
  require(begin <= end && end <= table.n_rows, "the table does not have these rows");
  BinnedDataset part;
  part.n_rows = end - begin;
  part.columns = table.columns;
  for (CodedColumn& column : part.columns) {
    if (column.source.data != nullptr) {
      column.source.data += static_cast<std::ptrdiff_t>(begin) * column.source.stride;
    }
    std::visit(
        [&](auto& codes) {
          if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
            const auto place = [&](std::size_t row) {
              return std::lower_bound(codes.rows.begin(), codes.rows.end(), row) -
                     codes.rows.begin();
            };
            const auto first = place(begin), last = place(end);
            codes.rows = {codes.rows.begin() + first, codes.rows.begin() + last};
            codes.codes = {codes.codes.begin() + first, codes.codes.begin() + last};
            for (RowIndex& row : codes.rows) row -= static_cast<RowIndex>(begin);
          } else {
            codes = codes.slice(begin, end);
          }
        },
        column.codes);
  }
  return part;
}

}  // namespace arboleda
