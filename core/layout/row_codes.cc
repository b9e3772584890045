#include "layout/row_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <variant>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/shards.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

constexpr std::size_t kBlockRows = 2048;

// In dense codes looked up: what a listed code costs, and beginning a row's list.
constexpr double kListedCode = 1.2;
constexpr double kListedRow = 6.0;

// Codes of a row, on average, that are worth beginning a list: as many bytes as it takes.
constexpr double kWorthAList = 4.0;

// Gradients lie beside the codes of a row where these are so few that fetching a row's gradient from elsewhere
// takes much of the time, in tables that the nearer caches do not hold.
constexpr std::size_t kMostNearCodes = 32;
constexpr std::size_t kLeastNearBytes = std::size_t{1} << 22;

using Bytes = CodeArray<std::uint8_t>;

UsualCode most_frequent(std::span<const std::uint64_t> count) {
  const auto found = std::max_element(count.begin(), count.end());
  return {static_cast<Code>(found - count.begin()), static_cast<std::size_t>(*found)};
}

// Adds the rows of each code to its count.
void count_codes(const BinnedDataset& table, std::size_t feature, std::span<std::uint64_t> count) {
  if (count.empty()) return;
  std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          count[codes.default_code] += table.n_rows - codes.rows.size();
          for (const Code code : codes.codes) ++count[code];
        } else {
          for (const auto code : codes) ++count[code];
        }
      },
      table.columns[feature].codes);
}

UsualCode find_usual(const BinnedDataset& table, std::size_t feature) {
  if (table.mapped != nullptr) return table.mapped->usual[feature];
  const CodedColumn& column = table.columns[feature];
  if (const auto* sparse = std::get_if<SparseCodes>(&column.codes)) {
    return {sparse->default_code, table.n_rows - sparse->rows.size()};
  }
  std::vector<std::uint64_t> count(column.n_codes());
  count_codes(table, feature, count);
  return count.empty() ? UsualCode{} : most_frequent(count);
}

// Of all columns.
std::vector<UsualCode> find_usual(const BinnedDataset& table, int n_threads) {
  std::vector<UsualCode> usual(table.columns.size());
  parallel_for(n_threads, usual.size(),
               [&](std::size_t f, int) { usual[f] = find_usual(table, f); });
  return usual;
}

// Of the rows of all shards, from the counts of all codes of all columns.
std::vector<UsualCode> find_usual(const BinnedDataset& table, const Shards& shards) {
  std::vector<std::uint64_t> counts;
  for (std::size_t f = 0; f < table.columns.size(); ++f) {
    const std::size_t first = counts.size();
    counts.resize(first + table.columns[f].n_codes());
    count_codes(table, f, std::span(counts).subspan(first));
  }
  shards.add(counts);
  std::vector<UsualCode> usual;
  std::span<const std::uint64_t> rest = counts;
  for (const CodedColumn& column : table.columns) {
    const auto count = rest.first(column.n_codes());
    rest = rest.subspan(column.n_codes());
    if (const auto* sparse = std::get_if<SparseCodes>(&column.codes)) {
      usual.push_back(
          {sparse->default_code, static_cast<std::size_t>(count[sparse->default_code])});
    } else {
      usual.push_back(count.empty() ? UsualCode{} : most_frequent(count));
    }
  }
  return usual;
}

// Calls visit(row, code) for the rows of begin .. end that have another code than the usual one.
template <class Visit>
void for_each_unusual(const CodedColumn& column, Code usual, std::size_t begin, std::size_t end,
                      const Visit& visit) {
  std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          const auto first = std::lower_bound(codes.rows.begin(), codes.rows.end(), begin);
          for (auto i = static_cast<std::size_t>(first - codes.rows.begin());
               i < codes.rows.size() && codes.rows[i] < end; ++i) {
            visit(std::size_t{codes.rows[i]}, codes.codes[i]);
          }
        } else {
          for (std::size_t row = begin; row < end; ++row) {
            if (codes[row] != usual) visit(row, Code{codes[row]});
          }
        }
      },
      column.codes);
}

template <class Body>
void for_each_block(std::size_t n_rows, const Context& context, const Body& body) {
  parallel_blocks(context.n_threads(), n_rows, kBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    context.check();
                    body(begin, end);
                  });
}

}  // namespace

RowCodes::RowCodes(const BinnedDataset& table, const Context& context, std::size_t part_cells,
                   bool has_one_reader) {
  const Shards* const shards = context.shards();
  if (shards != nullptr) check_shards(table, *shards);
  lay_out(table, shards, context.n_threads(), part_cells);
  if (table.mapped != nullptr && (shards == nullptr || has_order_of(*table.mapped))) {
    use_mapped(table);
  } else if (has_dense()) {
    copy_bytes(table, context, has_one_reader);
  }
  for (Listed& list : listed_) list_cells(table, context, list);
}

std::vector<FeatureIndex> RowCodes::order(const BinnedDataset& table) {
  RowCodes codes;
  codes.lay_out(table, nullptr, 1, kMostPartCells);
  std::vector<FeatureIndex> features;
  for (const Column& column : codes.columns_) features.push_back(column.feature);
  return features;
}

// The same cells must mean the same codes everywhere.
void RowCodes::check_shards(const BinnedDataset& table, const Shards& shards) {
  std::uint64_t layout = scatter(table.mapped != nullptr ? 1 : 0);
  for (const CodedColumn& column : table.columns) {
    layout = scatter(layout ^ (2 * column.n_codes() + (column.has_missing ? 1 : 0)));
    layout = scatter(layout ^ column.codes.index());
  }
  std::array<std::uint64_t, 2> ends{layout, ~layout};
  shards.maximum(ends);
  require(ends[0] == layout && ends[1] == ~layout,
          "the shards of a table need the same columns, with the same bins and categories");
}

bool RowCodes::has_order_of(const MappedRows& mapped) const {
  return std::equal(columns_.begin(), columns_.end(), mapped.order.begin(), mapped.order.end(),
                    [](const Column& column, FeatureIndex f) { return column.feature == f; });
}

// The rows of the file, whose columns have this order.
void RowCodes::use_mapped(const BinnedDataset& table) {
  require(table.mapped->bytes != nullptr && all_dense(), "the file has no codes row by row");
  stride_ = table.mapped->stride;
  first_ = table.mapped->bytes;
  require(has_order_of(*table.mapped), "the columns of the file's rows have another order");
}

void RowCodes::lay_out(const BinnedDataset& table, const Shards* shards, int n_threads,
                       std::size_t part_cells) {
  struct Choice {
    Column column;
    double n_listed;  // codes a row, if the column is listed
    bool may_be_dense;
  };
  std::vector<Choice> choices;
  const std::uint64_t n_all = sum_of_all(shards, table.n_rows);
  const auto n_rows = static_cast<double>(std::max<std::uint64_t>(n_all, 1));
  const std::vector<UsualCode> of_columns =
      shards != nullptr ? find_usual(table, *shards) : find_usual(table, n_threads);
  double saved = -kListedRow;
  bool all_may_be_dense = true;
  for (std::size_t f = 0; f < table.columns.size(); ++f) {
    const CodedColumn& column = table.columns[f];
    if (column.n_codes() < 2) continue;
    const UsualCode usual = of_columns[f];
    if (usual.n_rows == n_all) continue;
    const double n_listed = static_cast<double>(n_all - usual.n_rows) / n_rows;
    const bool may_be_dense = std::holds_alternative<Bytes>(column.codes);
    saved += std::max(1.0 - kListedCode * n_listed, 0.0);
    all_may_be_dense &= may_be_dense;
    choices.push_back(
        {{static_cast<FeatureIndex>(f), 0, column.n_codes(), usual.code}, n_listed, may_be_dense});
  }
  const bool lists = saved > 0.0 || !all_may_be_dense;
  double updates = 0.0;
  for (const bool dense : {true, false}) {
    for (Choice& choice : choices) {
      const bool is_dense = choice.may_be_dense && (!lists || kListedCode * choice.n_listed >= 1.0);
      if (is_dense != dense) continue;
      const bool has_byte = dense || table.mapped != nullptr;
      choice.column.first_cell = n_cells_;
      if (has_byte) choice.column.usual = kNoUsual;
      n_cells_ += has_byte ? kDenseCells : choice.column.n_codes;
      updates += has_byte ? 1.0 : kListedCode * choice.n_listed;
      columns_.push_back(choice.column);
      if (!has_byte) add_to_lists(choice.n_listed, part_cells);
    }
    if (dense || table.mapped != nullptr) n_dense_ = columns_.size();
  }
  updates_a_row_ = static_cast<std::size_t>(std::ceil(updates));
  require(n_cells_ <= std::numeric_limits<std::uint32_t>::max(),
          "the columns have too many codes for histograms: fewer bins are needed");
}

void RowCodes::copy_bytes(const BinnedDataset& table, const Context& context, bool has_one_reader) {
  const bool has_near =
      has_one_reader && n_dense_ <= kMostNearCodes && table.n_rows * n_dense_ >= kLeastNearBytes;
  const std::size_t n_bytes = n_dense_ + (has_near ? sizeof(NearGradient) : 0);
  // Rows that would straddle cache lines are widened where that costs little.
  stride_ = n_bytes;
  for (const std::size_t width : {8U, 16U, 32U, 64U}) {
    if (n_bytes <= width && 8 * n_bytes >= 7 * width) stride_ = width;
  }
  if (n_dense_ > 64 && 64 - n_dense_ % 64 <= n_dense_ / 16) stride_ = (n_dense_ + 63) / 64 * 64;
  reserve_large(bytes_, table.n_rows * stride_ + kCodeRun);
  bytes_.resize(table.n_rows * stride_ + kCodeRun);
  for_each_block(table.n_rows, context, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = 0; j < n_dense_; ++j) {
      const auto& codes =
          std::get<Bytes>(table.columns[static_cast<std::size_t>(columns_[j].feature)].codes);
      for (std::size_t row = begin; row < end; ++row) bytes_[row * stride_ + j] = codes[row];
    }
  });
  first_ = bytes_.data();
  if (has_near) near_ = bytes_.data() + n_dense_;
}

// The last column. Parts of few cells: they stay near while the rows go by.
void RowCodes::add_to_lists(double n_codes_a_row, std::size_t part_cells) {
  const Column& column = columns_.back();
  require(column.n_codes <= kMostPartCells,
          "a column has too many codes for histograms: fewer categories are needed");
  const auto has_room = [&](const Listed& list) {
    const std::size_t n_cells = column.first_cell + column.n_codes - list.first_cell;
    return n_cells <= part_cells || (n_cells <= kMostPartCells && list.n_codes_a_row < kWorthAList);
  };
  const std::size_t end = columns_.size();
  if (listed_.empty() || !has_room(listed_.back())) {
    listed_.push_back({end - 1, end, column.first_cell, 0.0});
  }
  listed_.back().end = end;
  listed_.back().n_codes_a_row += n_codes_a_row;
}

void RowCodes::list_cells(const BinnedDataset& table, const Context& context, Listed& list) const {
  const auto for_each = [&](std::size_t begin, std::size_t end, const auto& visit) {
    for (std::size_t j = list.begin; j < list.end; ++j) {
      const Column& column = columns_[j];
      const std::size_t first = column.first_cell - list.first_cell;
      for_each_unusual(table.columns[static_cast<std::size_t>(column.feature)], column.usual, begin,
                       end, [&](std::size_t row, Code code) {
                         visit(row, static_cast<std::uint16_t>(first + code));
                       });
    }
  };
  auto& start = list.start;
  reserve_large(start, table.n_rows + 1);
  start.assign(table.n_rows + 1, 0);
  for_each_block(table.n_rows, context, [&](std::size_t begin, std::size_t end) {
    for_each(begin, end, [&](std::size_t row, std::uint16_t) { ++start[row + 1]; });
  });
  for (std::size_t row = 0; row < table.n_rows; ++row) start[row + 1] += start[row];
  reserve_large(list.cell, start.back());
  list.cell.resize(start.back());
  for_each_block(table.n_rows, context, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint64_t> next(start.begin() + static_cast<std::ptrdiff_t>(begin),
                                    start.begin() + static_cast<std::ptrdiff_t>(end));
    for_each(begin, end,
             [&](std::size_t row, std::uint16_t cell) { list.cell[next[row - begin]++] = cell; });
  });
}

}  // namespace arboleda
