#include "tree/validation_pruning.h"

#include <vector>

#include "tree/prune.h"

namespace arboleda {

Tree validation_pruned(const Tree& tree, const ValidationRows& rows, Loss loss,
                       const Context& context) {
  const std::vector<double> error = node_errors(tree, rows, loss, context);
  std::vector<bool> cut(error.size(), false);
  const auto& right = tree.arrays().right;
  for (std::size_t i = 0; i < error.size(); ++i) {
    if (right[i] < 0) continue;
    // Written so that a NaN, which no comparison holds for, would end the path.
    cut[i] = !(error[i + 1] + error[static_cast<std::size_t>(right[i])] < error[i]);
  }
  return cut_below(tree, cut);
}

}  // namespace arboleda
