// The codes of a feature in the rows of a node, wherever they are kept: row by row, in a column of one of
// three widths, or as a list of those that are not the usual one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "layout/code_rows.h"
#include "split/code_prefetch.h"
#include "split/scan.h"

namespace arboleda {

class NodeCodes {
 public:
  NodeCodes(const BinnedDataset& table, const CodeRows& code_rows)
      : table_(table), code_rows_(code_rows), ahead_(table) {}

  // Announces the feature that will be searched after the next one, so that its codes are prefetched.
  void look_ahead(FeatureIndex feature, std::size_t n_rows) {
    if (ahead_.helps()) ahead_.point_at(feature, code_rows_, n_rows);
  }
  const CodePrefetch& ahead() const { return ahead_; }

  // Whether only the rows are listed whose code is not the usual one.
  bool are_listed(FeatureIndex feature) const {
    return std::holds_alternative<SparseCodes>(column(feature).codes);
  }

  // Calls action(codes), where codes[row] is the code of a row of the table. Not for listed codes.
  template <class Action>
  void visit(FeatureIndex feature, std::size_t n_rows, const Action& action) const {
    if (code_rows_.serves(feature, n_rows)) return action(code_rows_.column(feature));
    const auto& codes = column(feature).codes;
    if (const auto* bytes = std::get_if<CodeArray<std::uint8_t>>(&codes)) {
      action(bytes->data());
    } else if (const auto* shorts = std::get_if<CodeArray<std::uint16_t>>(&codes)) {
      action(shorts->data());
    } else {
      action(std::get<CodeArray<std::uint32_t>>(codes).data());
    }
  }

  // rows: ascending, here and below.
  void gather(std::span<const RowIndex> rows, FeatureIndex feature, std::vector<Code>& codes) const;

  // A guess from a few rows. Not for listed codes.
  bool are_mostly_zero(std::span<const RowIndex> rows, FeatureIndex feature) const;

  // A key for every row whose code is not 0. Not for listed codes.
  void list_nonzero(std::span<const RowIndex> rows, FeatureIndex feature,
                    UnfilledVector<SortKey>& keys) const;

  // A key for every row that is listed; returns the code of the others.
  Code list_listed(std::span<const RowIndex> rows, FeatureIndex feature,
                   UnfilledVector<SortKey>& keys) const;

 private:
  const CodedColumn& column(FeatureIndex feature) const {
    return table_.columns[static_cast<std::size_t>(feature)];
  }

  const BinnedDataset& table_;
  const CodeRows& code_rows_;
  CodePrefetch ahead_;
};

}  // namespace arboleda
