#include "layout/code_rows.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/memory.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

// A table of fewer bytes is read from the caches in any order.
constexpr std::size_t kSmallTable = std::size_t{1} << 21;

// The rows of a node together are at most as large: they stay in the cache while its subtree grows.
constexpr std::size_t kNearBytes = std::size_t{1} << 20;

// Rows at a time, so that those that are written stay in the cache.
constexpr std::size_t kTransposedRows = 256;

const CodeArray<std::uint8_t>* bytes_of(const CodedColumn& column) {
  const bool varies = column.n_codes() > 1;
  return varies ? std::get_if<CodeArray<std::uint8_t>>(&column.codes) : nullptr;
}

}  // namespace

CodeRows::CodeRows(const BinnedDataset& table, FeatureIndex max_features, const Context& context) {
  if (max_features < 0 || max_features >= table.n_features()) return;
  std::vector<const std::uint8_t*> columns;
  std::vector<std::size_t> place(table.columns.size(), kNone);
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const auto* bytes = bytes_of(table.columns[j]);
    if (bytes == nullptr) continue;
    place[j] = columns.size();
    columns.push_back(bytes->data());
  }
  if (columns.size() < 2 || columns.size() * table.n_rows < kSmallTable) return;
  stride_ = columns.size();
  most_rows_ = kNearBytes / stride_;
  place_ = std::move(place);
  reserve_large(codes_, table.n_rows * stride_);
  codes_.resize(table.n_rows * stride_);
  const std::size_t n_blocks = (table.n_rows + kTransposedRows - 1) / kTransposedRows;
  parallel_for(context.n_threads(), n_blocks, [&](std::size_t block, int) {
    context.check();
    const std::size_t end = std::min((block + 1) * kTransposedRows, table.n_rows);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      for (std::size_t i = block * kTransposedRows; i < end; ++i)
        codes_[i * stride_ + j] = columns[j][i];
    }
  });
}

}  // namespace arboleda
