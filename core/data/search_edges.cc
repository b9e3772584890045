#include "data/search_edges.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/ordered_key.h"
#include "data/column_keys.h"
#include "data/edge_search.h"

namespace arboleda {

namespace {

// Rows that are read of one column after the other: a row-major table comes in by whole cache lines.
constexpr std::size_t kSweptRows = 512;

// The search of one column, whatever the type of its keys.
class ColumnSearch {
 public:
  virtual ~ColumnSearch() = default;
  virtual bool goes_on() const = 0;
  // The rows [begin, end); null: all are learned from.
  virtual void take(std::size_t begin, std::size_t end,
                    const std::span<const RowIndex>* chosen) = 0;
  virtual void end_sweep() = 0;
  virtual bool write() = 0;
};

template <class Key>
class SearchOf final : public ColumnSearch {
 public:
  SearchOf(const ColumnView& view, std::size_t n_rows, std::size_t max_bins, CodedColumn& column)
      : view_(view), column_(column), search_(n_rows, max_bins) {}

  bool goes_on() const override { return search_.goes_on(); }

  void take(std::size_t begin, std::size_t end, const std::span<const RowIndex>* chosen) override {
    if (!goes_on()) return;
    std::size_t n = end - begin;
    read_keys(view_, begin, n, keys_.data());
    const auto last = keys_.begin() + static_cast<std::ptrdiff_t>(n);
    if (is_first_ && !column_.has_missing) {
      column_.has_missing = std::find(keys_.begin(), last, kMissingKey<Key>) != last;
    }
    if (chosen != nullptr) {
      n = chosen->size();
      for (std::size_t i = 0; i < n; ++i) keys_[i] = keys_[(*chosen)[i] - begin];  // i or later
    }
    search_.take(std::span<const Key>(keys_).first(n));
  }

  void end_sweep() override {
    if (goes_on()) search_.end_sweep();
    is_first_ = false;
  }

  bool write() override { return search_.write(column_); }

 private:
  const ColumnView& view_;
  CodedColumn& column_;
  EdgeSearch<Key> search_;
  bool is_first_ = true;
  std::array<Key, kSweptRows> keys_;
};

std::unique_ptr<ColumnSearch> begin_search(const ColumnView& view, std::size_t n_rows,
                                           std::size_t max_bins, CodedColumn& column) {
  if (view.dtype == DType::float32) {
    return std::make_unique<SearchOf<std::int32_t>>(view, n_rows, max_bins, column);
  }
  return std::make_unique<SearchOf<std::int64_t>>(view, n_rows, max_bins, column);
}

}  // namespace

std::vector<std::size_t> search_edges(const TableView& table, std::span<const std::size_t> columns,
                                      const CodingOptions& options, const Context& context,
                                      BinnedDataset& coded) {
  const std::span<const RowIndex> rows = options.rows;
  const std::size_t n_learned = rows.empty() ? table.n_rows : rows.size();
  std::vector<std::unique_ptr<ColumnSearch>> searches;
  for (const std::size_t c : columns) {
    searches.push_back(
        begin_search(table.columns[c], n_learned, options.max_bins, coded.columns[c]));
  }
  for (bool goes_on = !columns.empty(); std::exchange(goes_on, false);) {
    auto next = rows.begin();
    for (std::size_t begin = 0; begin < table.n_rows; begin += kSweptRows) {
      context.check();
      const std::size_t end = std::min(begin + kSweptRows, table.n_rows);
      const auto last = std::lower_bound(next, rows.end(), end);
      const std::span<const RowIndex> chosen(next, last);
      for (const auto& search : searches)
        search->take(begin, end, rows.empty() ? nullptr : &chosen);
      next = last;
    }
    for (const auto& search : searches) {
      search->end_sweep();
      goes_on |= search->goes_on();
    }
  }
  std::vector<std::size_t> not_found;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!searches[i]->write()) not_found.push_back(columns[i]);
  }
  return not_found;
}

}  // namespace arboleda
