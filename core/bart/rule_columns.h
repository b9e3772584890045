// The columns of a table as the splitting rules of BART read them: dense codes and cut points.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/types.h"
#include "data/binned_dataset.h"

namespace arboleda {

// A rule sends a row to the left child or to the right one by its code in one column.
//   numeric column      left: code <= cut. The cut n_values - 1 splits "present | missing".
//   categorical column  left: code == cut. The cut n_values splits "missing | present".
// A missing value goes left if `missing_left` (Kapelner & Bleich 2015, "Prediction with missing data
// via Bayesian additive regression trees", section 4: missingness incorporated in attributes).
struct Rule {
  FeatureIndex feature = -1;
  Code cut = 0;
  bool missing_left = false;

  friend bool operator==(const Rule&, const Rule&) = default;
};

struct RuleColumn {
  bool is_categorical = false;
  bool has_missing = false;  // among the training rows; they have the code n_values
  Code n_values = 0;         // codes of present values are below this
  std::vector<double> cuts;  // of a numeric column, ascending: x <= cuts[c] has a code <= c
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>> codes;

  Code get_missing_code() const { return n_values; }
  Code missing_cut() const { return is_categorical ? n_values : n_values - 1; }  // if n_values > 0
  bool is_missing_rule(const Rule& rule) const { return rule.cut == missing_cut(); }
  bool goes_left(Code code, const Rule& rule) const {
    if (code == get_missing_code()) return rule.missing_left;
    return is_categorical ? code == rule.cut : code <= rule.cut;
  }
};

struct RuleColumns {
  std::size_t n_rows = 0;
  std::vector<RuleColumn> columns;

  FeatureIndex n_features() const { return static_cast<FeatureIndex>(columns.size()); }
  const RuleColumn& operator[](FeatureIndex j) const {
    return columns[static_cast<std::size_t>(j)];
  }
};

// The given rows (ascending) of a table. Throws Error(invalid_argument) where a numeric column has more
// codes than 16 bits hold: code the table with bins.
RuleColumns rule_columns(const BinnedDataset& table, std::span<const RowIndex> rows);

}  // namespace arboleda
