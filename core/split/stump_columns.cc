#include "split/stump_columns.h"

#include <algorithm>

#include "data/gather_codes.h"

namespace arboleda {

namespace {

// With more codes than one for so many rows, sums of each code do not pay.
constexpr std::size_t kRowsACode = 4;

// Listing a row costs as much as adding up this many.
constexpr std::size_t kListedCost = 2;

class ColumnMaker {
 public:
  ColumnMaker(const CodedColumn& column, std::span<const std::uint32_t> labels,
              std::span<const RowIndex> rows)
      : column_(column), labels_(labels), rows_(rows), count_(column.n_codes()) {
    gather_codes(column, rows, codes_);
    for (const Code code : codes_) ++count_[code];
  }

  StumpColumn make(FeatureIndex feature) const {
    StumpColumn made;
    made.feature = feature;
    const auto most = std::max_element(count_.begin(), count_.end());
    const std::size_t n_listed = rows_.size() - *most;
    if (n_listed == 0) return made;
    made.usual = static_cast<Code>(most - count_.begin());
    if (count_.size() * kRowsACode > rows_.size()) {
      sort(made);
    } else if (n_listed * kListedCost <= rows_.size()) {
      list(made);
    } else {
      made.kind = StumpColumnKind::cells;
    }
    return made;
  }

 private:
  void list(StumpColumn& made) const {
    made.kind = StumpColumnKind::listed;
    made.begin.assign(2 * count_.size() + 1, 0);
    const auto cell = [&](std::size_t i) { return 2 * codes_[i] + labels_[rows_[i]]; };
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (codes_[i] != made.usual) ++made.begin[cell(i) + 1];
    }
    for (std::size_t c = 1; c < made.begin.size(); ++c) made.begin[c] += made.begin[c - 1];
    std::vector<std::uint32_t> next = made.begin;
    made.rows.resize(made.begin.back());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (codes_[i] != made.usual) made.rows[next[cell(i)]++] = rows_[i];
    }
  }

  void sort(StumpColumn& made) const {
    made.kind = StumpColumnKind::sorted;
    std::vector<std::uint32_t> next(count_.size() + 1, 0);
    for (std::size_t c = 0; c < count_.size(); ++c) next[c + 1] = next[c] + count_[c];
    made.n_present = next[column_.n_values];
    made.rows.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) made.rows[next[codes_[i]]++] = rows_[i];
    // Now next[c] is where code c ends.
    const bool is_distinct = std::all_of(count_.begin(), count_.begin() + n_values(),
                                         [](std::uint32_t n) { return n <= 1; });
    if (!is_distinct) made.last_of_code.resize(made.n_present);
    made.blocks.push_back(0);
    for (std::size_t c = 0; c < column_.n_values; ++c) {
      if (count_[c] == 0) continue;
      if (!is_distinct) made.last_of_code[next[c] - 1] = 1;
      if (next[c] - made.blocks.back() >= StumpColumn::kBlock || next[c] == made.n_present) {
        made.blocks.push_back(next[c]);
      }
    }
  }

  std::ptrdiff_t n_values() const { return static_cast<std::ptrdiff_t>(column_.n_values); }

  const CodedColumn& column_;
  const std::span<const std::uint32_t> labels_;
  const std::span<const RowIndex> rows_;
  std::vector<std::uint32_t> count_;  // rows of each code
  std::vector<Code> codes_;           // of each row
};

}  // namespace

StumpColumn stump_column(const BinnedDataset& table, FeatureIndex feature,
                         std::span<const std::uint32_t> labels, std::span<const RowIndex> rows) {
  const CodedColumn& column = table.columns[static_cast<std::size_t>(feature)];
  if (column.n_codes() < 2) return {};
  return ColumnMaker(column, labels, rows).make(feature);
}

}  // namespace arboleda
