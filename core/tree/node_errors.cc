#include "tree/node_errors.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/fixed_weights.h"

namespace arboleda {

namespace {

// Sums of this many bits are exact in float64.
constexpr int kExactBits = 52;

// How many rows pass between two looks at the stop flag.
constexpr std::size_t kRowsBetweenChecks = 4096;

// What every node would predict as a leaf: the number of a class, or a value.
std::vector<double> node_predictions(const Tree& tree, Loss loss) {
  std::vector<double> prediction;
  prediction.reserve(static_cast<std::size_t>(tree.n_nodes()));
  for (NodeIndex i = 0; i < tree.n_nodes(); ++i) {
    const auto value = tree.value(i);
    prediction.push_back(
        loss == Loss::misclassification
            ? static_cast<double>(std::max_element(value.begin(), value.end()) - value.begin())
            : value[0]);
  }
  return prediction;
}

void check_rows(const Tree& tree, const ValidationRows& rows, Loss loss) {
  require(rows.target.size() == rows.leaf.size(), "one target a row is needed");
  require(!rows.leaf.empty(), "at least one row is needed");
  require(loss == Loss::misclassification || tree.arrays().n_outputs == 1,
          "the tree has more than one value a node");
  require(std::all_of(rows.leaf.begin(), rows.leaf.end(),
                      [&](NodeIndex leaf) {
                        return leaf >= 0 && leaf < tree.n_nodes() && tree.is_leaf(leaf);
                      }),
          "a row ends in what is no leaf of the tree");
}

// Adds each row's weighted losses to all nodes that it passes.
template <class RowLoss>
void add_errors(const Tree& tree, const ValidationRows& rows, const FixedWeights& weights,
                const std::vector<double>& prediction, const Context& context,
                std::vector<double>& error, const RowLoss& row_loss) {
  const auto parent = tree.parents();
  for (std::size_t row = 0; row < rows.leaf.size(); ++row) {
    if (row % kRowsBetweenChecks == 0) context.check();
    const double weight = weights.is_unit() ? 1.0 : static_cast<double>(weights.value[row]);
    if (weight == 0.0 || (!weights.dropped.empty() && weights.dropped[row])) continue;
    for (NodeIndex node = rows.leaf[row]; node >= 0;
         node = parent[static_cast<std::size_t>(node)]) {
      const auto i = static_cast<std::size_t>(node);
      error[i] += weight * row_loss(rows.target[row], prediction[i]);
    }
  }
}

}  // namespace

std::vector<double> node_errors(const Tree& tree, const ValidationRows& rows, Loss loss,
                                const Context& context) {
  check_rows(tree, rows, loss);
  const FixedWeights weights = fix_weights(rows.weight, rows.leaf.size(), kExactBits);
  const auto prediction = node_predictions(tree, loss);
  std::vector<double> error(prediction.size(), 0.0);
  const auto add = [&](const auto& row_loss) {
    add_errors(tree, rows, weights, prediction, context, error, row_loss);
  };
  switch (loss) {
    case Loss::misclassification:
      add([](double y, double a) { return y == a ? 0.0 : 1.0; });
      break;
    case Loss::squared_error:
      add([](double y, double a) { return (y - a) * (y - a); });
      break;
    case Loss::absolute_error:
      add([](double y, double a) { return std::abs(y - a); });
      break;
    case Loss::poisson_deviance:
      add([](double y, double a) { return 2.0 * (y > 0.0 ? y * std::log(y / a) - y + a : a); });
      break;
  }
  for (double& sum : error) sum *= weights.unit;
  return error;
}

}  // namespace arboleda
