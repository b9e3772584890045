// Student's t distribution with location mu, scale s and nu degrees of freedom, theta = (mu, log s, log nu).
//
// With z = (y - mu) / s, c = (nu + 1) / (nu + z^2) and v as in location_scale.cc:
//   NLL        = log Gamma(nu/2) - log Gamma((nu+1)/2) + log(nu pi) / 2 + log s + (nu+1)/2 log(1 + z^2/nu)
//   d/dmu      = -v c z                                              F = v^2 (nu+1) / (nu+3)
//   d/dlog s   = 1 - c z^2                                           F = 2 nu / (nu+3)
//   d/dlog nu  = nu/2 (psi(nu/2) - psi((nu+1)/2) + log(1 + z^2/nu)) + (1 - c z^2) / 2
//                F = nu^2/4 (psi'(nu/2) - psi'((nu+1)/2)) - nu (nu+5) / (2 (nu+1) (nu+3))
//   F of log s and log nu = -2 nu / ((nu+1) (nu+3)); mu is orthogonal to both.
// Lange, Little, Taylor (1989), "Robust statistical modeling using the t distribution",
// https://doi.org/10.1080/01621459.1989.10478852
#include <algorithm>
#include <cmath>
#include <memory>

#include "objective/distribution_objective.h"
#include "objective/special_functions.h"
#include "objective/weighted_quantile.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr double kHalfLogPi = 0.57236494292470008707;
// Above 1, so that the mean exists; nobody distinguishes a thousand degrees of freedom from more.
constexpr double kFewestDegrees = 0.1, kMostDegrees = 7.0;

class StudentT final : public DistributionObjective {
 public:
  explicit StudentT(const LossData& data)
      : DistributionObjective(data, {{ParameterScale::location, -1e300, 1e300},
                                     {ParameterScale::logarithm, -kFarthestLog, kFarthestLog, 2.0},
                                     {ParameterScale::logarithm, kFewestDegrees, kMostDegrees}}) {
    measure_unit();
  }

 private:
  std::vector<double> guess(std::span<const RowIndex> rows) const override {
    std::vector<double> y = targets_of(rows);
    const std::vector<std::uint64_t> units = units_of(rows);
    const double median = weighted_quantile(shards(), y, units, 0.5, Between::midway);
    for (double& value : y) value = std::abs(value - median);
    const double scale = weighted_quantile(shards(), y, units, 0.5, Between::midway);
    return {median, stable_log(std::max(1.3 * scale, 1e-6 * unit())), stable_log(5.0)};
  }

  void derive(const DistributionRows& rows, double* const* gradient,
              double* const* hessian) const override {
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double inverse = stable_exp(-rows.score[1][j]), nu = stable_exp(rows.score[2][j]);
      const double z = (rows.y[j] - rows.score[0][j]) * inverse, square = std::min(z * z, 1e200);
      const double c = (nu + 1.0) / (nu + square);
      const double v = unit() * inverse, bounded = std::min(v, kMostPrecision);
      gradient[0][j] = -bounded * (bounded / v) * c * z;
      hessian[0][j] = bounded * bounded * (nu + 1.0) / (nu + 3.0);
      TwoScores raw;
      raw.gradient[0] = 1.0 - c * square;
      raw.gradient[1] =
          0.5 * nu * (digamma(0.5 * nu) - digamma(0.5 * nu + 0.5) + stable_log(1.0 + square / nu)) +
          0.5 * raw.gradient[0];
      raw.hessian[0] = 2.0 * nu / (nu + 3.0);
      raw.hessian[1] = 0.25 * nu * nu * (trigamma(0.5 * nu) - trigamma(0.5 * nu + 0.5)) -
                       0.5 * nu * (nu + 5.0) / ((nu + 1.0) * (nu + 3.0));
      const bool is_apart = stays(1, rows.score[1][j], raw.gradient[0]) ||
                            stays(2, rows.score[2][j], raw.gradient[1]);
      const TwoScores two = is_apart ? raw : efficient(raw, -2.0 * nu / ((nu + 1.0) * (nu + 3.0)));
      for (const int k : {0, 1}) {
        gradient[k + 1][j] = two.gradient[k];
        hessian[k + 1][j] = two.hessian[k];
      }
    }
  }

  void values(const DistributionRows& rows, double* out) const override {
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double inverse = stable_exp(-rows.score[1][j]), nu = stable_exp(rows.score[2][j]);
      const double z = (rows.y[j] - rows.score[0][j]) * inverse, square = std::min(z * z, 1e200);
      out[j] = log_gamma(0.5 * nu) - log_gamma(0.5 * nu + 0.5) + 0.5 * rows.score[2][j] +
               kHalfLogPi + rows.score[1][j] + 0.5 * (nu + 1.0) * stable_log(1.0 + square / nu);
    }
  }
};

}  // namespace

std::unique_ptr<Objective> make_student_t(const LossData& data) {
  return std::make_unique<StudentT>(data);
}

}  // namespace arboleda
