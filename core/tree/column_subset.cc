#include "tree/column_subset.h"

#include <algorithm>

#include "base/error.h"

namespace arboleda {

Tree on_columns(const Tree& tree, std::span<const FeatureIndex> columns) {
  TreeArrays arrays = tree.arrays();
  FeatureIndex last = -1;
  for (const FeatureIndex column : columns) {
    require(column > last && column < arrays.n_features,
            "the columns of a subset must ascend and be columns of the tree");
    last = column;
  }
  for (FeatureIndex& feature : arrays.feature) {
    if (feature < 0) continue;
    const auto place = std::lower_bound(columns.begin(), columns.end(), feature);
    require(place != columns.end() && *place == feature,
            "the tree splits on a column that is left out");
    feature = static_cast<FeatureIndex>(place - columns.begin());
  }
  arrays.n_features = static_cast<FeatureIndex>(columns.size());
  return Tree(std::move(arrays));
}

}  // namespace arboleda
