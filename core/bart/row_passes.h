// The passes over all rows that a step of the sampler makes. Residuals are whole numbers of a unit, so
// their sums do not depend on an order; leaf numbers are bytes, so that a rule sorts many rows at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bart/rule_columns.h"
#include "bart/sampled_tree.h"

namespace arboleda {

using LeafNumbers = std::vector<std::uint8_t>;                 // one a row
using LeafValues = std::array<std::int32_t, kMostBartLeaves>;  // by number of the leaf, in units

// Sums over the rows of a leaf: of their weights, and of weighted residuals in units.
struct LeafSums {
  double weight = 0.0;
  double residual = 0.0;
};
using LeafSumTable = std::array<LeafSums, kMostBartLeaves>;

// Rows of leaf `from` that a rule sends to the right move to leaf `to`.
void split_rows(LeafNumbers& leaf, std::uint8_t from, std::uint8_t to, const RuleColumn& column,
                const Rule& rule);

// Rows of leaf `from` move to leaf `to`.
void move_rows(LeafNumbers& leaf, std::uint8_t from, std::uint8_t to);

std::size_t count_rows(const LeafNumbers& leaf, std::uint8_t number);

// residual[i] += plus[leaf[i]] - minus[before[i]], and the sums of the new residuals by leaf. Entries of
// `sums` from n_numbers on stay as they are. weight: one a row, or empty for 1.
void advance(std::span<std::int32_t> residual, const LeafNumbers& before, const LeafValues& minus,
             const LeafNumbers& leaf, const LeafValues& plus, std::span<const double> weight,
             std::size_t n_numbers, LeafSumTable& sums);

// The sums of residuals by leaf.
void sum_by_leaf(std::span<const std::int32_t> residual, const LeafNumbers& leaf,
                 std::span<const double> weight, std::size_t n_numbers, LeafSumTable& sums);

}  // namespace arboleda
