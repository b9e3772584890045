#include "split/category_groups.h"

#include <algorithm>

namespace arboleda {

void group_by_category(std::span<const Code> codes, std::size_t n_codes, PairSorter& sorter,
                       std::vector<SortKey>& keys, std::vector<CategoryGroup>& groups) {
  groups.clear();
  keys.resize(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) keys[i] = make_key(codes[i], i);
  sorter.sort(keys, static_cast<Code>(n_codes - 1));
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    const Code code = code_of(keys[begin]);
    while (end < keys.size() && code_of(keys[end]) == code) ++end;
    groups.push_back({code, begin, end});
  }
}

bool sort_by_key(std::vector<CategoryGroup>& groups) {
  std::sort(groups.begin(), groups.end(), [](const CategoryGroup& a, const CategoryGroup& b) {
    return a.key < b.key || (a.key == b.key && a.code < b.code);
  });
  return groups.front().key < groups.back().key;
}

void send_left(std::span<const CategoryGroup> groups, std::size_t n_left, Code missing,
               Split& split) {
  auto& left = split.left_codes;
  left.clear();
  for (const CategoryGroup& group : groups.first(n_left)) left.push_back(group.code);
  std::sort(left.begin(), left.end());
  split.missing_left = std::binary_search(left.begin(), left.end(), missing);
}

}  // namespace arboleda
