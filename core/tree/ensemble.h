// Trees that add up: a row's score of output k is start[k] plus the values of its leaves in the trees
// k, k + K, k + 2K, ..; one round of boosting makes K = n_outputs trees.
#pragma once

#include <cstddef>
#include <vector>

#include "tree/tree.h"

namespace arboleda {

struct TreeEnsemble {
  std::vector<double> start;  // one an output
  std::vector<Tree> trees;    // each of one value a leaf, learning rate included

  std::size_t n_outputs() const { return start.size(); }
  std::size_t n_rounds() const { return start.empty() ? 0 : trees.size() / start.size(); }
};

}  // namespace arboleda
