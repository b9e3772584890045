#include "data/code_column.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "data/code_by_edges.h"
#include "data/learn_edges.h"

namespace arboleda {

namespace {

// Codes of all rows in the narrowest type: fill(codes) writes them.
template <class Fill>
void store_codes(CodedColumn& column, std::size_t n_rows, const Fill& fill) {
  allocate_codes(column, n_rows);
  std::visit(
      [&](auto& codes) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) fill(codes);
      },
      column.codes);
}

// The values of the ranks, where they are few enough to be kept.
void keep_values(const Ranking& ranking, const ColumnValues& x, std::size_t kept_values,
                 CodedColumn& column) {
  if (ranking.n_distinct > kept_values) return;
  const std::size_t n_present = ranking.rows.size() - ranking.n_missing;
  for (std::size_t i = 0; i < n_present; ++i) {
    if (i == 0 || rank_of(ranking.rows[i]) != rank_of(ranking.rows[i - 1])) {
      column.values.push_back(x[row_of(ranking.rows[i])]);
    }
  }
}

// The entries in the given rows (empty: all), and a 0 if one of those has none.
struct LearnedFrom {
  std::vector<double> values;
  std::size_t rows_a_zero = 1;
};

LearnedFrom learned_from(const SparseColumn& x, std::span<const RowIndex> rows) {
  LearnedFrom chosen;
  if (rows.empty()) {
    chosen.values = x.entries;
  } else {
    for (std::size_t e = 0, i = 0; e < x.rows.size(); ++e) {
      i = gallop(rows, i, x.rows[e]);
      if (i < rows.size() && rows[i] == x.rows[e]) chosen.values.push_back(x.entries[e]);
    }
  }
  const std::size_t n_zero = (rows.empty() ? x.n_rows : rows.size()) - chosen.values.size();
  if (n_zero > 0) {
    chosen.values.push_back(0.0);
    chosen.rows_a_zero = n_zero;
  }
  return chosen;
}

// codes: of the entries, then of 0 if there is a row without entry.
void store_sparse(const SparseColumn& x, std::vector<Code> codes, bool is_listed,
                  CodedColumn& column) {
  SparseCodes sparse{0, x.rows, std::move(codes)};
  if (sparse.codes.size() > x.rows.size()) {
    sparse.default_code = sparse.codes.back();
    sparse.codes.pop_back();
  }
  if (is_listed) {
    column.codes = std::move(sparse);
    return;
  }
  store_codes(column, x.n_rows, [&](auto& dense) {
    using T = typename std::remove_reference_t<decltype(dense)>::value_type;
    std::fill(dense.begin(), dense.end(), static_cast<T>(sparse.default_code));
    for (std::size_t e = 0; e < sparse.rows.size(); ++e) {
      dense[sparse.rows[e]] = static_cast<T>(sparse.codes[e]);
    }
  });
}

std::vector<double> with_zero(const SparseColumn& x) {
  std::vector<double> values = x.entries;
  if (values.size() < x.n_rows) values.push_back(0.0);
  return values;
}

}  // namespace

void code_numeric(const ColumnValues& x, std::size_t kept_values, CodedColumn& column) {
  if (FewValues few = rank_few(x); few.found) {
    column.has_missing = few.has_missing;
    column.n_values = few.values.size();
    column.values = std::move(few.values);
    store_codes(column, x.size(), [&](auto& codes) {
      using T = typename std::remove_reference_t<decltype(codes)>::value_type;
      for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<T>(few.rank[i]);
    });
    return;
  }
  const Ranking ranking = rank_by_sort(x);
  column.has_missing = ranking.n_missing > 0;
  column.n_values = ranking.n_distinct;
  keep_values(ranking, x, kept_values, column);
  store_codes(column, x.size(), [&](auto& codes) {
    using T = typename std::remove_reference_t<decltype(codes)>::value_type;
    for (const RankedRow r : ranking.rows) codes[row_of(r)] = static_cast<T>(rank_of(r));
  });
}

void learn_categorical(const ColumnView& view, std::size_t n_rows, std::uint32_t n_categories,
                       CodedColumn& column) {
  column.is_categorical = true;
  column.n_values = n_categories;
  for (std::size_t i = 0; i < n_rows && !column.has_missing; ++i) {
    const double x = view[i];
    column.has_missing = !(x >= 0.0 && x < n_categories);
  }
}

SparseColumn read_sparse(const SparseColumns& table, std::size_t column) {
  const SparseLines& lines = table.lines;
  SparseColumn x{table.n_rows, {}, {}};
  for (auto e = static_cast<std::size_t>(lines.start[column]);
       e < static_cast<std::size_t>(lines.start[column + 1]); ++e) {
    const double value = lines.data[e];
    if (value == 0.0) continue;
    x.entries.push_back(value);
    x.rows.push_back(static_cast<RowIndex>(lines.index[e]));
  }
  return x;
}

void code_sparse(const SparseColumn& x, const CodingOptions& options, CodedColumn& column) {
  if (options.max_bins == 0 && options.rows.empty()) {
    code_numeric(ColumnValues(with_zero(x)), std::numeric_limits<std::size_t>::max(), column);
    std::vector<Code> codes;
    std::visit(
        [&](const auto& found) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(found)>, SparseCodes>) {
            codes.assign(found.begin(), found.end());
          }
        },
        column.codes);
    const bool is_listed = takes_less_listed(column, x.n_rows, x.rows.size());
    return store_sparse(x, std::move(codes), is_listed, column);
  }
  const LearnedFrom chosen = learned_from(x, options.rows);
  const ColumnView view{reinterpret_cast<const std::byte*>(chosen.values.data()), sizeof(double),
                        DType::float64};
  EdgeScratch scratch;
  learn_edges(view, chosen.values.size(), {}, options.max_bins, scratch, column,
              chosen.rows_a_zero);
  column.has_missing =
      std::any_of(x.entries.begin(), x.entries.end(), [](double v) { return std::isnan(v); });
  code_sparse_by_edges(x, column);
}

bool takes_less_listed(const CodedColumn& column, std::size_t n_rows, std::size_t n_entries) {
  const std::size_t width = column.n_codes() <= 256 ? 1 : column.n_codes() <= 65536 ? 2 : 4;
  return width * n_rows > (sizeof(RowIndex) + sizeof(Code)) * n_entries;
}

void code_sparse_by_edges(const SparseColumn& x, CodedColumn& column) {
  const bool is_listed = takes_less_listed(column, x.n_rows, x.rows.size());
  store_sparse(x, code_by_edges(with_zero(x), column), is_listed, column);
}

void code_sparse_shard(const SparseColumn& x, bool is_listed, CodedColumn& column) {
  std::vector<double> values = x.entries;
  values.push_back(0.0);  // also where every row of the shard has an entry
  store_sparse(x, code_by_edges(values, column), is_listed, column);
}

}  // namespace arboleda
