#include "layout/binary_feature_lists.h"

#include <algorithm>
#include <utility>

namespace arboleda {

namespace {

// Rows have at most one of so many flags, on average.
constexpr std::size_t kRowsPerListed = 4;

}  // namespace

BinaryFeatureLists::BinaryFeatureLists(const BinnedDataset& table) {
  BinaryFeatureColumns flags(table);
  std::size_t n_listed = 0;
  for (const std::uint8_t* codes : flags.codes) {
    n_listed += static_cast<std::size_t>(std::count(codes, codes + table.n_rows, 1));
  }
  const std::size_t n_flags = flags.codes.size();
  if (n_flags < 2 || n_listed * kRowsPerListed > n_flags * table.n_rows) return;
  n_flags_ = n_flags;
  place_ = std::move(flags.place);
  start_.reserve(table.n_rows + 1);
  listed_.reserve(n_listed);
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    start_.push_back(listed_.size());
    for (std::size_t j = 0; j < n_flags; ++j) {
      if (flags.codes[j][i] != 0) listed_.push_back(static_cast<std::uint32_t>(j));
    }
  }
  start_.push_back(listed_.size());
}

}  // namespace arboleda
