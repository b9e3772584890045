#include "data/code_column.h"

#include <limits>
#include <numeric>
#include <utility>

#include "data/binner.h"

namespace arboleda {

namespace {

// Codes of all rows in the narrowest type: fill(codes) writes them.
template <class Fill>
void store_codes(CodedColumn& column, std::size_t n_rows, const Fill& fill) {
  const auto store = [&]<class T>(T) {
    std::vector<T> codes(n_rows);
    fill(codes);
    column.codes = std::move(codes);
  };
  if (column.n_codes() <= std::size_t{1} << 8) {
    store(std::uint8_t{});
  } else if (column.n_codes() <= std::size_t{1} << 16) {
    store(std::uint16_t{});
  } else {
    store(std::uint32_t{});
  }
}

void code_few(const FewValues& few, std::size_t max_bins, std::size_t rows_a_zero,
              CodedColumn& column) {
  const std::size_t n_rows = few.rank.size();
  column.has_missing = few.has_missing;
  std::vector<std::size_t> count(few.count.begin(), few.count.end());
  for (std::size_t v = 0; v < count.size(); ++v) {
    if (few.values[v] == 0.0) count[v] *= rows_a_zero;
  }
  const std::size_t n_present = std::accumulate(count.begin(), count.end(), std::size_t{0});
  Binner binner(n_present, few.values.size(), max_bins);
  std::vector<Code> code(few.values.size() + 1);
  std::vector<double> upper;
  for (std::size_t v = 0; v < few.values.size(); ++v) {
    if (binner.begins(count[v])) {
      column.values.push_back(few.values[v]);
      upper.push_back(few.values[v]);
    }
    upper.back() = few.values[v];
    code[v] = static_cast<Code>(column.values.size() - 1);
  }
  column.n_values = column.values.size();
  code.back() = column.missing_code();
  if (column.n_values < few.values.size()) column.upper = std::move(upper);
  store_codes(column, n_rows, [&](auto& codes) {
    using T = typename std::remove_reference_t<decltype(codes)>::value_type;
    for (std::size_t i = 0; i < n_rows; ++i) codes[i] = static_cast<T>(code[few.rank[i]]);
  });
}

// Gives the ranks their codes, in place, and finds the values that bound each code.
void bin_ranks(Ranking& ranking, const ColumnValues& x, std::size_t max_bins,
               std::size_t kept_values, std::size_t rows_a_zero, CodedColumn& column) {
  const bool binned = max_bins != 0 && ranking.n_distinct > max_bins;
  const std::size_t n_present = ranking.rows.size() - ranking.n_missing;
  column.has_missing = ranking.n_missing > 0;
  column.n_values = ranking.n_distinct;
  if (!binned && ranking.n_distinct > kept_values) return;

  // Read only where a bin begins or ends: in the order of ranks, rows are far apart.
  const auto value_at = [&](std::size_t i) { return x[row_of(ranking.rows[i])]; };
  Binner binner(n_present + rows_a_zero - 1, ranking.n_distinct, max_bins);
  for (std::size_t begin = 0, end = 0; begin < n_present; begin = end) {
    const auto rank = rank_of(ranking.rows[begin]);
    while (end < n_present && rank_of(ranking.rows[end]) == rank) ++end;
    const bool many_zeros = rows_a_zero != 1 && value_at(begin) == 0.0;
    if (binner.begins((end - begin) * (many_zeros ? rows_a_zero : 1))) {
      if (binned && begin > 0) column.upper.push_back(value_at(begin - 1));
      column.values.push_back(value_at(begin));
    }
    if (!binned) continue;
    const auto code = RankedRow{column.values.size() - 1} << 32;
    for (std::size_t i = begin; i < end; ++i) ranking.rows[i] = code | row_of(ranking.rows[i]);
  }
  if (binned) column.upper.push_back(value_at(n_present - 1));
  column.n_values = column.values.size();
  const auto missing = RankedRow{column.n_values} << 32;
  for (std::size_t i = n_present; i < ranking.rows.size(); ++i) {
    ranking.rows[i] = missing | row_of(ranking.rows[i]);
  }
}

}  // namespace

void code_numeric(const ColumnValues& x, std::size_t max_bins, std::size_t kept_values,
                  CodedColumn& column, std::size_t rows_a_zero) {
  if (const FewValues few = rank_few(x); few.found) {
    code_few(few, max_bins, rows_a_zero, column);
    return;
  }
  Ranking ranking = rank_by_sort(x);
  bin_ranks(ranking, x, max_bins, kept_values, rows_a_zero, column);
  store_codes(column, x.size(), [&](auto& codes) {
    using T = typename std::remove_reference_t<decltype(codes)>::value_type;
    for (const RankedRow r : ranking.rows) codes[row_of(r)] = static_cast<T>(rank_of(r));
  });
}

void code_categorical(const ColumnView& view, std::size_t n_rows, std::uint32_t n_categories,
                      CodedColumn& column) {
  const auto known = [&](double x) { return x >= 0.0 && x < n_categories; };
  column.is_categorical = true;
  column.n_values = n_categories;
  for (std::size_t i = 0; i < n_rows && !column.has_missing; ++i) {
    column.has_missing = !known(view[i]);
  }
  store_codes(column, n_rows, [&](auto& codes) {
    using T = typename std::remove_reference_t<decltype(codes)>::value_type;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const double x = view[i];
      codes[i] = static_cast<T>(known(x) ? static_cast<Code>(x) : column.missing_code());
    }
  });
}

void code_sparse(const SparseLines& lines, std::size_t begin, std::size_t end, std::size_t n_rows,
                 std::size_t max_bins, CodedColumn& column) {
  SparseCodes sparse;
  std::vector<double> x;
  for (std::size_t e = begin; e < end; ++e) {
    const double value = lines.data[e];
    if (value == 0.0) continue;
    x.push_back(value);
    sparse.rows.push_back(static_cast<RowIndex>(lines.index[e]));
  }
  const std::size_t n_zero = n_rows - x.size();
  const bool any_zero = n_zero > 0;
  if (any_zero) x.push_back(0.0);
  code_numeric(ColumnValues(x), max_bins, std::numeric_limits<std::size_t>::max(), column,
               any_zero ? n_zero : 1);
  std::visit(
      [&](const auto& codes) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          sparse.codes.assign(codes.begin(), codes.end());
        }
      },
      column.codes);
  if (any_zero) {
    sparse.default_code = sparse.codes.back();
    sparse.codes.pop_back();
  }
  const std::size_t width = column.n_codes() <= 256 ? 1 : column.n_codes() <= 65536 ? 2 : 4;
  if (width * n_rows > (sizeof(RowIndex) + sizeof(Code)) * sparse.rows.size()) {
    column.codes = std::move(sparse);
    return;
  }
  store_codes(column, n_rows, [&](auto& codes) {
    using T = typename std::remove_reference_t<decltype(codes)>::value_type;
    std::fill(codes.begin(), codes.end(), static_cast<T>(sparse.default_code));
    for (std::size_t e = 0; e < sparse.rows.size(); ++e) {
      codes[sparse.rows[e]] = static_cast<T>(sparse.codes[e]);
    }
  });
}

}  // namespace arboleda
