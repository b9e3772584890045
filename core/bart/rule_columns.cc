#include "bart/rule_columns.h"

#include <algorithm>

#include "base/error.h"
#include "data/gather_codes.h"
#include "data/midpoint.h"

namespace arboleda {

namespace {

constexpr Code kMostCodes = 65535;  // and one for missing values

// As code_by_edges.h divides the gaps between codes.
std::vector<double> cuts_between(const CodedColumn& column) {
  std::vector<double> cuts;
  const auto& upper = column.upper.empty() ? column.values : column.upper;
  for (std::size_t c = 0; c + 1 < column.values.size(); ++c) {
    cuts.push_back(midpoint(upper[c], column.values[c + 1]));
  }
  return cuts;
}

template <class Narrow>
std::vector<Narrow> narrowed(const std::vector<Code>& codes) {
  std::vector<Narrow> narrow(codes.size());
  std::transform(codes.begin(), codes.end(), narrow.begin(),
                 [](Code code) { return static_cast<Narrow>(code); });
  return narrow;
}

}  // namespace

RuleColumns rule_columns(const BinnedDataset& table, std::span<const RowIndex> rows) {
  RuleColumns found{rows.size(), {}};
  std::vector<Code> codes;
  for (const CodedColumn& coded : table.columns) {
    require(coded.n_values <= kMostCodes, "a column has more than 65,535 codes: use bins");
    RuleColumn& column = found.columns.emplace_back();
    column.is_categorical = coded.is_categorical;
    column.n_values = static_cast<Code>(coded.n_values);
    if (!coded.is_categorical) column.cuts = cuts_between(coded);
    gather_codes(coded, rows, codes);
    column.has_missing =
        std::find(codes.begin(), codes.end(), column.get_missing_code()) != codes.end();
    if (column.n_values <= 255) {
      column.codes = narrowed<std::uint8_t>(codes);
    } else {
      column.codes = narrowed<std::uint16_t>(codes);
    }
  }
  return found;
}

}  // namespace arboleda
