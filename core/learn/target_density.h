// The weights of AdaBoost.R: Freund, Schapire (1997), "A decision-theoretic generalization of on-line
// learning and an application to boosting", Journal of Computer and System Sciences 55, section 5.3.
//
// A target y_i in [0, 1] stands for a binary label at every y in [0, 1]: is y >= y_i? A prediction h for
// the row gets those between y_i and h wrong. The labels have a density, at first
// w(i, y) = D(i) |y - y_i|, so that the wrong ones weigh D(i) (h - y_i)^2 / 2. A round multiplies what was predicted correctly by
// beta < 1: w stays |y - y_i| times a factor, constant between the predictions of the rounds,
//
//      factor  |        ____________
//              |   ____|            |____
//              |__|                      |_______
//              0  h3   h1    y_i    h2   h4     1
//
// that never rises away from y_i. Each side of y_i keeps its factor next to y_i and the steps outwards,
// by their distance from y_i. Totals are scaled to 1 after each round. No result depends on the number
// of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"

namespace arboleda {

class TargetDensity {
 public:
  // targets: from 0 to 1, one a row; weights: D, not negative and one of them positive, or empty for
  // "all 1". Else throws Error(invalid_argument).
  TargetDensity(std::span<const double> targets, std::span<const double> weights);

  std::size_t n_rows() const { return rows_.size(); }

  // p(row, y), of total 1 over all rows and y; at the target itself and at a step, the side nearer to
  // the target is meant.
  double at(std::size_t row, double y) const;

  // Weights u_i for which u_i |y - y_i|, summed over y, is what p(i, y) is: with them least squares stand
  // for the error. In the first round they are D and the error is that of least squares itself.
  std::vector<double> row_weights() const;

  // sum_i |integral from y_i to h_i of p(i, y)|: figure 5, step 3. predictions h: from 0 to 1.
  double error(std::span<const double> predictions, const Context& context) const;

  // For each leaf the prediction that minimises the error of its rows, the lowest of several. leaf: of
  // each row, below n_leaves.
  std::vector<double> best_predictions(std::span<const std::uint32_t> leaf, std::size_t n_leaves,
                                       const Context& context) const;

  // Multiplies p where the predictions are correct by `factor`, from 0 to 1, and scales it to total 1; where
  // nothing is left of it, throws Error(invalid_argument).
  void reweigh(std::span<const double> predictions, double factor, const Context& context);

 private:
  struct Step {
    double distance;
    double factor;  // of the density beyond
  };

  struct Side {
    double extent;  // from the target to 0, or to 1
    double near;    // factor next to the target
    std::vector<Step> steps;

    double integral(double distance) const;
  };

  struct Row {
    double target;
    double mass;  // of both sides
    Side below, above;

    const Side& side(double prediction) const { return prediction < target ? below : above; }
    double wrong(double prediction) const;
    void reweigh(double prediction, double factor);
  };

  struct Event;
  class LeafSearch;

  void check(std::span<const double> predictions) const;
  void scale_to_one();

  std::vector<Row> rows_;
};

}  // namespace arboleda
