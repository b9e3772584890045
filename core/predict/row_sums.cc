#include "predict/row_sums.h"

#include <utility>

namespace arboleda {

SparseSums joined(std::vector<SparseSums> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  std::size_t n_rows = 0, n_values = 0;
  for (const SparseSums& part : parts) {
    n_rows += part.start.size() - 1;
    n_values += part.value.size();
  }
  SparseSums all;
  all.start.reserve(n_rows + 1);
  all.index.reserve(n_values);
  all.value.reserve(n_values);
  for (SparseSums& part : parts) {
    const std::int64_t before = all.start.back();
    for (std::size_t i = 1; i < part.start.size(); ++i) all.start.push_back(before + part.start[i]);
    all.index.insert(all.index.end(), part.index.begin(), part.index.end());
    all.value.insert(all.value.end(), part.value.begin(), part.value.end());
    part = {};
  }
  return all;
}

}  // namespace arboleda
