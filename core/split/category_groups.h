// The rows of a node grouped by the category of a feature, and the order in which categories are tried.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/pair_sorter.h"
#include "split/scan.h"
#include "split/split.h"

namespace arboleda {

// The rows of one category: keys[begin .. end).
struct CategoryGroup {
  Code code;
  std::size_t begin, end;
  double key = 0.0;  // its place in the order that is tried
};

// codes: one a row of the node, below n_codes. keys: OUT one a row, by code.
void group_by_category(std::span<const Code> codes, std::size_t n_codes, PairSorter& sorter,
                       std::vector<SortKey>& keys, std::vector<CategoryGroup>& groups);

// By key. False when all categories have the same key.
bool sort_by_key(std::vector<CategoryGroup>& groups);

// Has the first n_left groups go left; missing: the code of missing values.
void send_left(std::span<const CategoryGroup> groups, std::size_t n_left, Code missing,
               Split& split);

}  // namespace arboleda
