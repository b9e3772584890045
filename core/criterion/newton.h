// The second-order objective of one leaf of a boosted tree. With G = sum g, H = sum h over its rows
// and the value v,
//   obj(v) = G v + 1/2 (H + lambda) v^2 + alpha |v|
// Chen, Guestrin (2016), "XGBoost: a scalable tree boosting system", equations (4)-(7); alpha is the
// L1 term of their implementation. Without bounds the best value is
//   v* = -T(G) / (H + lambda),   T(G) = sign(G) max(|G| - alpha, 0),
// and -2 obj(v*) = T(G)^2 / (H + lambda). With bounds (a largest step, monotonic constraints) v* is
// moved to the nearest allowed value: obj is convex. A split gains
//   1/2 (score_left + score_right - score_node) - gamma,   score = -2 obj(v*).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace arboleda {

struct LeafBounds {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

struct NewtonLeaf {
  double l1 = 0.0;
  double l2 = 0.0;
  double max_delta_step = 0.0;  // 0: no limit

  bool is_plain() const { return l1 == 0.0 && max_delta_step == 0.0; }

  double value(double g, double h, const LeafBounds& bounds, double more_l2 = 0.0) const {
    const double rest = std::max(std::abs(g) - l1, 0.0);
    const double denominator = h + l2 + more_l2;
    double v = denominator > 0.0 ? -std::copysign(rest, g) / denominator : 0.0;
    if (max_delta_step > 0.0) v = std::clamp(v, -max_delta_step, max_delta_step);
    return std::clamp(v, bounds.lower, bounds.upper) + 0.0;
  }

  // -2 obj(v)
  double score(double g, double h, double v, double more_l2 = 0.0) const {
    return -(2.0 * g * v + (h + l2 + more_l2) * v * v + 2.0 * l1 * std::abs(v));
  }
};

}  // namespace arboleda
