// Normal, lognormal and Laplace distributions, by the logarithmic score or CRPS.
//
// With z = (y - mu) / s and theta = (mu, log s), derivatives in mu being given for y in units of the objective
// (v = unit / s):
//                  S                                        dS/dmu           F        dS/dlog s        F
//   normal   NLL   log s + z^2 / 2 + log(2 pi) / 2          -v z             v^2      1 - z^2          2
//            CRPS  s (z (2 Phi - 1) + 2 phi - 1/sqrt(pi))   -(2 Phi - 1)     v/sqrt(pi)  (2 phi - 1/sqrt(pi)) / v
//                                                                                        1 / (2 sqrt(pi) v)
//   Laplace  NLL   log 2 s + |z|                            -v sign z        v^2      1 - |z|          1
//            CRPS  s (|z| + exp -|z| - 3/4)                 -sign z (1 - exp -|z|)  v/2
//                                                           (exp -|z| (1 + |z|) - 3/4) / v             1 / (4 v)
// CRPS and its derivatives are those of y / unit. The lognormal distribution is the normal one of log y; its NLL has
// log y more, and its CRPS is that of log y, which does not depend on units. Gneiting, Raftery (2007),
// https://doi.org/10.1198/016214506000001437; metrics: Duan et al. (2020), appendix.
//
// Rows whose s is below a hundredth of the unit count in mu as if it were that: all their weights are then equal,
// and sums keep their precision.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "objective/distribution_objective.h"
#include "objective/special_functions.h"
#include "objective/weighted_quantile.h"
#include "simd/kernels.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr double kMostSquare = 1e4;  // of z, in the derivatives of log s
constexpr double kLogRootTwoPi = 0.91893853320467274178;
constexpr double kLogTwo = 0.69314718055994530942;
constexpr double kRootTwoPi = 2.50662827463100050242;
constexpr double kRootHalf = 0.70710678118654752440;
constexpr double kInverseRootPi = 0.56418958354775628695;

std::vector<double> logarithms(const LossData& data) {
  check_targets(data.target, "the lognormal distribution needs targets above 0",
                [](double y) { return y > 0.0; });
  std::vector<double> logs(data.target.size());
  kernels().math.log(data.target.data(), logs.size(), logs.data());
  return logs;
}

class LocationScale : public DistributionObjective {
 protected:
  // `logs`: of the targets, or empty where these are not transformed.
  LocationScale(const LossData& data, bool is_crps, double curvature, std::vector<double> logs)
      : DistributionObjective(
            {logs.empty() ? data.target : std::span<const double>(logs),
             data.weight,
             {},
             data.shards},
            {{ParameterScale::location, -1e300, 1e300},
             {ParameterScale::logarithm, -kFarthestLog, kFarthestLog, curvature}}),
        logs_(std::move(logs)),
        is_crps_(is_crps) {
    measure_unit();
  }

  bool is_crps() const { return is_crps_; }
  bool is_of_logarithms() const { return !logs_.empty(); }

  // z and 1 / s.
  static void standardize(const DistributionRows& rows, ParameterBlock& z,
                          ParameterBlock& inverse) {
    ParameterBlock negative;
    for (std::size_t j = 0; j < rows.n; ++j) negative[j] = -rows.score[1][j];
    kernels().math.exp(negative.data(), rows.n, inverse.data());
    for (std::size_t j = 0; j < rows.n; ++j) z[j] = (rows.y[j] - rows.score[0][j]) * inverse[j];
  }

 private:
  std::vector<double> logs_;
  bool is_crps_;
};

class Normal final : public LocationScale {
 public:
  Normal(const LossData& data, bool is_crps, std::vector<double> logs)
      : LocationScale(data, is_crps, 2.0, std::move(logs)) {}

 private:
  std::vector<double> guess(std::span<const RowIndex> rows) const override {
    std::vector<double> y = targets_of(rows);
    const double mean = weighted_mean(y, rows);
    for (double& value : y) value -= mean;
    const double scale = std::max(std::sqrt(mean_square(y, rows)), 1e-6 * unit());
    return {mean, stable_log(scale)};
  }

  void derive(const DistributionRows& rows, double* const* gradient,
              double* const* hessian) const override {
    ParameterBlock z, inverse;
    standardize(rows, z, inverse);
    if (is_crps()) return derive_crps(rows.n, z, inverse, gradient, hessian);
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double v = unit() * inverse[j], bounded = std::min(v, kMostPrecision);
      hessian[0][j] = bounded * bounded;
      gradient[0][j] = -bounded * (bounded / v) * z[j];
      gradient[1][j] = 1.0 - std::min(z[j] * z[j], kMostSquare);
      hessian[1][j] = 2.0;
    }
  }

  void derive_crps(std::size_t n, const ParameterBlock& z, const ParameterBlock& inverse,
                   double* const* gradient, double* const* hessian) const {
    ParameterBlock density;
    exp_of_square(z, n, density);
    for (std::size_t j = 0; j < n; ++j) {
      const double v = unit() * inverse[j], bounded = std::min(v, kMostPrecision);
      gradient[0][j] = -error_function(z[j] * kRootHalf) * (bounded / v);
      hessian[0][j] = bounded * kInverseRootPi;
      gradient[1][j] = (2.0 * density[j] - kInverseRootPi) / bounded;
      hessian[1][j] = 0.5 * kInverseRootPi / bounded;
    }
  }

  static void exp_of_square(const ParameterBlock& z, std::size_t n, ParameterBlock& density) {
    ParameterBlock exponent;
    for (std::size_t j = 0; j < n; ++j) exponent[j] = std::max(-0.5 * z[j] * z[j], -kFarthestLog);
    kernels().math.exp(exponent.data(), n, density.data());
    for (std::size_t j = 0; j < n; ++j) density[j] /= kRootTwoPi;
  }

  void values(const DistributionRows& rows, double* out) const override {
    ParameterBlock z, inverse, density;
    standardize(rows, z, inverse);
    if (!is_crps()) {
      for (std::size_t j = 0; j < rows.n; ++j) {
        out[j] = kLogRootTwoPi + rows.score[1][j] + 0.5 * z[j] * z[j];
        if (is_of_logarithms()) out[j] += rows.y[j];
      }
      return;
    }
    exp_of_square(z, rows.n, density);
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double spread =
          z[j] * error_function(z[j] * kRootHalf) + 2.0 * density[j] - kInverseRootPi;
      out[j] = spread / inverse[j];
    }
  }
};

class Laplace final : public LocationScale {
 public:
  Laplace(const LossData& data, bool is_crps) : LocationScale(data, is_crps, 1.0, {}) {}

 private:
  std::vector<double> guess(std::span<const RowIndex> rows) const override {
    std::vector<double> y = targets_of(rows);
    const double median = weighted_quantile(shards(), y, units_of(rows), 0.5, Between::midway);
    for (double& value : y) value = std::abs(value - median);
    return {median, stable_log(std::max(weighted_mean(y, rows), 1e-6 * unit()))};
  }

  void derive(const DistributionRows& rows, double* const* gradient,
              double* const* hessian) const override {
    ParameterBlock z, inverse, e;
    standardize(rows, z, inverse);
    exp_of_size(z, rows.n, e);
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double v = unit() * inverse[j], bounded = std::min(v, kMostPrecision);
      const double size = std::abs(z[j]);
      const double sign = z[j] > 0.0 ? 1.0 : z[j] < 0.0 ? -1.0 : 0.0;
      if (is_crps()) {
        gradient[0][j] = -sign * (1.0 - e[j]) * (bounded / v);
        hessian[0][j] = 0.5 * bounded;
        gradient[1][j] = (e[j] * (1.0 + std::min(size, kFarthestLog)) - 0.75) / bounded;
        hessian[1][j] = 0.25 / bounded;
      } else {
        gradient[0][j] = -sign * bounded * (bounded / v);
        hessian[0][j] = bounded * bounded;
        gradient[1][j] = 1.0 - std::min(size, kMostSquare);
        hessian[1][j] = 1.0;
      }
    }
  }

  static void exp_of_size(const ParameterBlock& z, std::size_t n, ParameterBlock& e) {
    ParameterBlock exponent;
    for (std::size_t j = 0; j < n; ++j) exponent[j] = std::max(-std::abs(z[j]), -kFarthestLog);
    kernels().math.exp(exponent.data(), n, e.data());
  }

  void values(const DistributionRows& rows, double* out) const override {
    ParameterBlock z, inverse, e;
    standardize(rows, z, inverse);
    exp_of_size(z, rows.n, e);
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double size = std::abs(z[j]);
      out[j] = is_crps() ? (size + e[j] - 0.75) / inverse[j] : kLogTwo + rows.score[1][j] + size;
    }
  }
};

}  // namespace

std::unique_ptr<Objective> make_location_scale(const LossOptions& options, const LossData& data) {
  const bool is_crps = options.score == "crps";
  if (options.name == "laplace") return std::make_unique<Laplace>(data, is_crps);
  std::vector<double> logs;
  if (options.name == "lognormal") logs = logarithms(data);
  return std::make_unique<Normal>(data, is_crps, std::move(logs));
}

}  // namespace arboleda
