#include "tree/inner_nodes.h"

#include <algorithm>
#include <cmath>

#include "criterion/poisson.h"

namespace arboleda {

namespace {

constexpr double kLn2 = 0.69314718055994530942;

// Calls merge(node, left child, right child) for the inner nodes, children first.
template <class Merge>
void from_below(const TreeArrays& tree, const Merge& merge) {
  for (std::size_t i = tree.right.size(); i-- > 0;) {
    if (tree.right[i] >= 0) merge(i, i + 1, static_cast<std::size_t>(tree.right[i]));
  }
}

void add_rows_and_weights(TreeArrays& tree) {
  from_below(tree, [&](std::size_t i, std::size_t l, std::size_t r) {
    tree.n_node_samples[i] = tree.n_node_samples[l] + tree.n_node_samples[r];
    tree.weight[i] = tree.weight[l] + tree.weight[r];
  });
}

// Of classes with these weights, of which the others weigh `others`: each sum is of positive terms.
double class_impurity(std::span<const double> weight, std::span<const double> others, double whole,
                      Measure measure) {
  if (measure == Measure::misclassification) {
    const auto largest = std::max_element(weight.begin(), weight.end()) - weight.begin();
    return others[static_cast<std::size_t>(largest)] / whole;
  }
  double sum = 0.0;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    if (!(weight[k] > 0.0)) continue;
    const double share = weight[k] / whole;
    if (measure == Measure::gini) {
      sum += share * (others[k] / whole);
    } else if (share < 0.5) {
      sum -= xlog2x(share);
    } else {
      // -p log p = p log(1 + r) with r = others / weight = 1/p - 1; log(1 + r) = (phi(r) + r) p
      const double r = others[k] / weight[k];
      sum += share * share * (poisson_phi(r) + r) / kLn2;
    }
  }
  return sum;
}

// The weight of all classes but each.
void sum_others(std::span<const double> weight, std::span<double> others) {
  double before = 0.0;
  for (std::size_t k = 0; k < weight.size(); ++k) {
    others[k] = before;
    before += weight[k];
  }
  double after = 0.0;
  for (std::size_t k = weight.size(); k-- > 0;) {
    others[k] += after;
    after += weight[k];
  }
}

void fill_classes(TreeArrays& tree, Measure measure) {
  const auto n_classes = static_cast<std::size_t>(tree.n_outputs);
  std::vector<double> others(n_classes);
  const auto value = [&](std::size_t i) {
    return std::span(tree.value).subspan(i * n_classes, n_classes);
  };
  from_below(tree, [&](std::size_t i, std::size_t l, std::size_t r) {
    // As shares of the node's weight: the weights themselves may leave float64.
    const double left = tree.weight[l] / tree.weight[i];
    const double right = tree.weight[r] / tree.weight[i];
    double whole = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      whole += value(i)[k] = left * value(l)[k] + right * value(r)[k];
    }
    sum_others(value(i), others);
    tree.impurity[i] = class_impurity(value(i), others, whole, measure);
    for (double& share : value(i)) share /= whole;
  });
}

void fill_means(TreeArrays& tree) {
  const auto n_outputs = static_cast<std::size_t>(tree.n_outputs);
  from_below(tree, [&](std::size_t i, std::size_t l, std::size_t r) {
    const double right = tree.weight[r] / tree.weight[i];
    for (std::size_t k = 0; k < n_outputs; ++k) {
      tree.value[i * n_outputs + k] =
          std::lerp(tree.value[l * n_outputs + k], tree.value[r * n_outputs + k], right);
    }
  });
}

// In the unit of the impurities, where nothing leaves float64.
void fill_spread(TreeArrays& tree, Measure measure) {
  const bool squares = measure == Measure::squared_error;
  const int exponent = squares ? tree.impurity_exponent / 2 : tree.impurity_exponent;
  const auto mean = [&](std::size_t i) { return std::ldexp(tree.value[i], -exponent); };
  from_below(tree, [&](std::size_t i, std::size_t l, std::size_t r) {
    const double left = tree.weight[l] / tree.weight[i];
    const double right = tree.weight[r] / tree.weight[i];
    const double within = left * tree.impurity[l] + right * tree.impurity[r];
    const double apart = mean(r) - mean(l);
    double between = 0.0;
    if (squares) {
      between = left * right * apart * apart;
    } else if (apart != 0.0) {
      const double m = std::lerp(mean(l), mean(r), right);
      between =
          m * (left * poisson_phi(-right * apart / m) + right * poisson_phi(left * apart / m));
    }
    tree.impurity[i] = within + between;
  });
}

}  // namespace

void fill_inner_nodes(TreeArrays& tree, Measure measure) {
  add_rows_and_weights(tree);
  switch (measure) {
    case Measure::gini:
    case Measure::entropy:
    case Measure::misclassification:
      fill_classes(tree, measure);
      break;
    case Measure::squared_error:
    case Measure::poisson:
      fill_means(tree);
      fill_spread(tree, measure);
      break;
    case Measure::means:
      fill_means(tree);
      break;
    case Measure::medians:
      break;
  }
}

}  // namespace arboleda
