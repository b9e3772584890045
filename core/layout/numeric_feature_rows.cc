#include "layout/numeric_feature_rows.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "data/gather_codes.h"

namespace arboleda {

namespace {

// So many blocks are worth reading even if only one of their columns is needed.
constexpr std::size_t kFewBlocks = 4;

// Rows at a time, so that those that are written stay in the cache.
constexpr std::size_t kNumericTaskRows = 512;

bool is_number(const CodedColumn& column) {
  const bool is_short = std::holds_alternative<CodeArray<std::uint8_t>>(column.codes) ||
                        std::holds_alternative<CodeArray<std::uint16_t>>(column.codes);
  return is_short && !column.is_categorical && !column.has_missing && column.n_values > 2 &&
         !column.values.empty();
}

}  // namespace

NumericFeatureRows::NumericFeatureRows(const BinnedDataset& table, FeatureIndex max_features,
                                       const Context& context) {
  constexpr std::size_t kColumns = NumericFeatureBlock::kColumns;
  std::vector<const CodedColumn*> columns;
  std::vector<std::size_t> place(table.columns.size(), kNone);
  std::vector<FeatureIndex> feature;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    if (!is_number(table.columns[j])) continue;
    place[j] = columns.size();
    columns.push_back(&table.columns[j]);
    feature.push_back(static_cast<FeatureIndex>(j));
  }
  const std::size_t n_looks =
      max_features < 0 ? table.columns.size() : static_cast<std::size_t>(max_features);
  const std::size_t n_blocks = (columns.size() + kColumns - 1) / kColumns;
  if (columns.size() < 2 || n_blocks > std::max(kFewBlocks, n_looks)) return;
  stride_ = n_blocks * kColumns;
  place_ = std::move(place);
  feature_ = std::move(feature);
  reserve_large(codes_, table.n_rows * stride_);
  codes_.resize(table.n_rows * stride_);
  const std::size_t n_tasks = (table.n_rows + kNumericTaskRows - 1) / kNumericTaskRows;
  parallel_for(context.n_threads(), n_tasks, [&](std::size_t task, int) {
    context.check();
    const std::size_t end = std::min((task + 1) * kNumericTaskRows, table.n_rows);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      std::visit(
          [&](const auto& codes) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
              for (std::size_t i = task * kNumericTaskRows; i < end; ++i) {
                codes_[i * stride_ + j] = static_cast<std::uint16_t>(codes[i]);
              }
            }
          },
          columns[j]->codes);
    }
  });
}

}  // namespace arboleda
