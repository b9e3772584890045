#include "tree/prune_forest.h"

#include "tree/prune.h"

namespace arboleda {

Forest pruned(const Forest& forest, double alpha) {
  Forest smaller{forest.n_features, forest.n_outputs, forest.measure};
  smaller.n_training_rows = forest.n_training_rows;
  smaller.trees.reserve(forest.trees.size());
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const Tree tree = pruned(tree_of(forest, t), alpha);
    // Rows stand leaf by leaf in preorder: those of a subtree are neighbours, and stay in their place.
    smaller.trees.push_back(compact(tree.arrays(), forest.measure, forest.trees[t].row));
  }
  return smaller;
}

}  // namespace arboleda
