#include "tree/reduced_error.h"

#include <vector>

#include "tree/prune.h"

namespace arboleda {

Tree reduced_error_pruned(const Tree& tree, const ValidationRows& rows, Loss loss,
                          const Context& context) {
  // From E(t) of a leaf to the error of the best tree below t.
  std::vector<double> best = node_errors(tree, rows, loss, context);
  std::vector<bool> cut(best.size(), false);
  const auto& right = tree.arrays().right;
  for (std::size_t i = best.size(); i-- > 0;) {
    if (right[i] < 0) continue;
    const double below = best[i + 1] + best[static_cast<std::size_t>(right[i])];
    if (best[i] <= below) {
      cut[i] = true;
    } else {
      best[i] = below;
    }
  }
  return cut_below(tree, cut);
}

}  // namespace arboleda
