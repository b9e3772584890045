// For tests: random trees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "base/random.h"
#include "tree/tree.h"

namespace arboleda {

// A random binary tree in preorder whose impurities are small fractions; its values are class shares
// of `n_classes` classes, or for 0 whole numbers.
inline Tree random_tree(std::uint64_t seed, int max_depth, int n_classes = 0) {
  RandomStream random(seed, Purpose::feature_subset, 0, 0);
  TreeArrays a;
  a.n_features = 1;
  a.n_outputs = std::max(1, n_classes);
  const std::function<void(int, std::int64_t)> grow = [&](int depth, std::int64_t n) {
    const auto id = a.right.size();
    const bool leaf = depth == max_depth || n < 2 || (depth > 0 && random.below(4) == 0);
    a.feature.push_back(leaf ? -1 : 0);
    a.threshold.push_back(0);
    a.right.push_back(-1);
    a.missing_left.push_back(0);
    a.impurity.push_back(random.below(1000) / 1000.0);
    a.n_node_samples.push_back(n);
    a.weight.push_back(static_cast<double>(n));
    if (n_classes == 0) a.value.push_back(random.below(9));
    const auto chosen =
        n_classes == 0 ? 0 : static_cast<int>(random.below(static_cast<std::uint32_t>(n_classes)));
    for (int k = 0; k < n_classes; ++k) a.value.push_back(k == chosen ? 1.0 : 0.0);
    if (leaf) return;
    const std::int64_t left = 1 + random.below(static_cast<std::uint32_t>(n - 1));
    grow(depth + 1, left);
    a.right[id] = static_cast<NodeIndex>(a.right.size());
    grow(depth + 1, n - left);
    // Splitting lowers the impurity, as a real tree's splits do.
    const auto r = static_cast<std::size_t>(a.right[id]);
    a.impurity[id] =
        (a.weight[id + 1] * a.impurity[id + 1] + a.weight[r] * a.impurity[r]) / a.weight[id] +
        (1 + random.below(1000)) / 5000.0;
  };
  grow(0, 64);
  return Tree(a);
}

}  // namespace arboleda
