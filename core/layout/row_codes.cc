#include "layout/row_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

constexpr std::size_t kBlockRows = 2048;

// In dense codes looked up: what a listed code costs, and beginning a row's list.
constexpr double kListedCode = 1.2;
constexpr double kListedRow = 6.0;

// Codes of a row, on average, that are worth beginning a list: as many bytes as it takes.
constexpr double kWorthAList = 4.0;

using Bytes = CodeArray<std::uint8_t>;

template <class Codes>
UsualCode most_frequent(const Codes& codes, std::size_t n_codes) {
  std::vector<std::size_t> count(n_codes);
  for (const auto code : codes) ++count[code];
  const auto found = std::max_element(count.begin(), count.end());
  return {static_cast<Code>(found - count.begin()), *found};
}

UsualCode most_frequent(const BinnedDataset& table, std::size_t feature) {
  if (table.mapped != nullptr) return table.mapped->usual[feature];
  const CodedColumn& column = table.columns[feature];
  return std::visit(
      [&](const auto& codes) -> UsualCode {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          return {codes.default_code, table.n_rows - codes.rows.size()};
        } else {
          return most_frequent(codes, column.n_codes());
        }
      },
      column.codes);
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

RowCodes::RowCodes(const BinnedDataset& table, const Context& context, std::size_t part_cells) {
  lay_out(table, part_cells);
  if (table.mapped != nullptr) {
    use_mapped(table);
  } else if (has_dense()) {
    copy_bytes(table, context);
  }
  for (Listed& list : listed_) list_cells(table, context, list);
}

std::vector<FeatureIndex> RowCodes::order(const BinnedDataset& table) {
  RowCodes codes;
  codes.lay_out(table, kMostPartCells);
  std::vector<FeatureIndex> features;
  for (const Column& column : codes.columns_) features.push_back(column.feature);
  return features;
}

// The rows of the file, whose columns have this order.
void RowCodes::use_mapped(const BinnedDataset& table) {
  require(table.mapped->bytes != nullptr && all_dense(), "the file has no codes row by row");
  stride_ = table.mapped->stride;
  first_ = table.mapped->bytes;
  const auto same = [](const Column& column, FeatureIndex f) { return column.feature == f; };
  require(std::equal(columns_.begin(), columns_.end(), table.mapped->order.begin(),
                     table.mapped->order.end(), same),
          "the columns of the file's rows have another order");
}

void RowCodes::lay_out(const BinnedDataset& table, std::size_t part_cells) {
  struct Choice {
    Column column;
    double n_listed;  // codes a row, if the column is listed
    bool may_be_dense;
  };
  std::vector<Choice> choices;
  const auto n_rows = static_cast<double>(std::max<std::size_t>(table.n_rows, 1));
  double saved = -kListedRow;
  bool all_may_be_dense = true;
  for (std::size_t f = 0; f < table.columns.size(); ++f) {
    const CodedColumn& column = table.columns[f];
    if (column.n_codes() < 2) continue;
    const UsualCode usual = most_frequent(table, f);
    if (usual.n_rows == table.n_rows) continue;
    const double n_listed = static_cast<double>(table.n_rows - usual.n_rows) / n_rows;
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

void RowCodes::copy_bytes(const BinnedDataset& table, const Context& context) {
  // Rows that would straddle cache lines are widened where that costs little.
  stride_ = n_dense_;
  for (const std::size_t width : {8U, 16U, 32U, 64U}) {
    if (n_dense_ <= width && 8 * n_dense_ >= 7 * width) stride_ = width;
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
