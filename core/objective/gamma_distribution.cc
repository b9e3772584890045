// The gamma distribution of mean m and shape a, theta = (log m, log a), which are orthogonal.
//
//   NLL        = log Gamma(a) - a log a + a log m - (a - 1) log y + a y / m
//   d/dlog m   = a (1 - y/m)                                          F = a
//   d/dlog a   = a (psi(a) - log a - 1 + log m - log y + y/m)         F = a^2 psi'(a) - a
// Cox, Reid (1987), "Parameter orthogonality and approximate conditional inference",
// https://doi.org/10.1111/j.2517-6161.1987.tb01422.x
#include <algorithm>
#include <cmath>
#include <memory>

#include "objective/distribution_objective.h"
#include "objective/special_functions.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr double kFarthestShape = 14.0;  // of log a
constexpr double kMostRatio = 1e6;       // of y and mean, in derivatives

class GammaDistribution final : public DistributionObjective {
 public:
  explicit GammaDistribution(const LossData& data)
      : DistributionObjective(data,
                              {{ParameterScale::logarithm, -kFarthestLog, kFarthestLog},
                               {ParameterScale::logarithm, -kFarthestShape, kFarthestShape}}) {
    check_targets(data.target, "the gamma distribution needs targets above 0",
                  [](double y) { return y > 0.0; });
  }

 private:
  // Minka (2002), "Estimating a gamma distribution": a closed form near the maximum of the likelihood.
  std::vector<double> guess(std::span<const RowIndex> rows) const override {
    std::vector<double> y = targets_of(rows);
    const double log_mean = stable_log(weighted_mean(y, rows));
    for (double& value : y) value = stable_log(value);
    const double s = std::max(log_mean - weighted_mean(y, rows), 1e-6);
    const double shape = (3.0 - s + std::sqrt((s - 3.0) * (s - 3.0) + 24.0 * s)) / (12.0 * s);
    return {log_mean, std::clamp(stable_log(shape), -kFarthestShape, kFarthestShape)};
  }

  void derive(const DistributionRows& rows, double* const* gradient,
              double* const* hessian) const override {
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double a = stable_exp(rows.score[1][j]), log_ratio = log_ratio_of(rows, j);
      const double ratio = std::min(stable_exp(log_ratio), kMostRatio);
      gradient[0][j] = a * (1.0 - ratio);
      hessian[0][j] = a;
      gradient[1][j] = a * (digamma(a) - rows.score[1][j] - 1.0 - log_ratio + ratio);
      hessian[1][j] = a * a * trigamma(a) - a;
    }
  }

  void values(const DistributionRows& rows, double* out) const override {
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double a = stable_exp(rows.score[1][j]), log_ratio = log_ratio_of(rows, j);
      out[j] = log_gamma(a) - a * (rows.score[1][j] + log_ratio) + stable_log(rows.y[j]) +
               a * stable_exp(log_ratio);
    }
  }

  static double log_ratio_of(const DistributionRows& rows, std::size_t j) {
    return std::min(stable_log(rows.y[j]) - rows.score[0][j], kFarthestLog);
  }
};

}  // namespace

std::unique_ptr<Objective> make_gamma_distribution(const LossData& data) {
  return std::make_unique<GammaDistribution>(data);
}

}  // namespace arboleda
