// Distributions of counts: Poisson, negative binomial, and Poisson with more zeros.
//
// Poisson, theta = log m:    NLL = m - y log m + log y!,    derivative m - y,    F = m.
//
// Negative binomial of mean m and size r (variance m + m^2/r), theta = (log m, log r), which are orthogonal:
//   NLL       = log Gamma(r) + log y! - log Gamma(y+r) - r log(r/(r+m)) - y log(m/(r+m))
//   d/dlog m  = r (m - y) / (r+m)                                            F = r m / (r+m)
//   d/dlog r  = -r (psi(y+r) - psi(r) + log(r/(r+m)) + (m-y)/(r+m))          F = sum_j P(Y>j) / (1 + j/r)^2 - r m / (r+m)
// The sum is exact up to kMostTerms; of what is left, its upper bound counts, and steps are shorter.
// Lawless (1987), "Negative binomial and mixed Poisson regression", https://doi.org/10.2307/3314912
//
// Zero-inflated Poisson: 0 with probability p, else Poisson of mean m; theta = (log m, logit p), e = exp -m,
// P0 = p + (1-p) e:
//   y > 0:  NLL = -log(1-p) + m - y log m + log y!,    d/dlog m = m - y,              d/dlogit p = p
//   y = 0:  NLL = -log P0,                             d/dlog m = (1-p) e m / P0,     d/dlogit p = -p (1-p) (1-e) / P0
//   F = (1-p) m (1 - p m e / P0),   p^2 (1-p) (1-e) / P0,   and of both -p (1-p) m e / P0
// Lambert (1992), "Zero-inflated Poisson regression", https://doi.org/10.2307/1269547
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "objective/distribution_objective.h"
#include "objective/special_functions.h"
#include "simd/kernels.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr double kFarthestSize = 10.0;   // of log r
constexpr double kFarthestShare = 15.0;  // of logit p

class Counts : public DistributionObjective {
 protected:
  Counts(const LossData& data, std::vector<ParameterInfo> parameters)
      : DistributionObjective(data, std::move(parameters)) {
    check_targets(data.target, "distributions of counts need whole numbers from 0 on",
                  [](double y) { return y >= 0.0 && y == std::floor(y); });
  }

  double mean_count(std::span<const RowIndex> rows) const {
    const double mean = mean_target(rows);
    require(mean > 0.0,
            "distributions of counts need a positive target in a row of positive weight");
    return mean;
  }
};

class PoissonDistribution final : public Counts {
 public:
  explicit PoissonDistribution(const LossData& data)
      : Counts(data, {{ParameterScale::logarithm, -kFarthestLog, kFarthestLog}}) {}

 private:
  std::vector<double> guess(std::span<const RowIndex> rows) const override {
    return {stable_log(mean_count(rows))};
  }

  void derive(const DistributionRows& rows, double* const* gradient,
              double* const* hessian) const override {
    kernels().math.exp(rows.score[0], rows.n, hessian[0]);
    for (std::size_t j = 0; j < rows.n; ++j) gradient[0][j] = hessian[0][j] - rows.y[j];
  }

  void values(const DistributionRows& rows, double* out) const override {
    kernels().math.exp(rows.score[0], rows.n, out);
    for (std::size_t j = 0; j < rows.n; ++j) {
      out[j] += log_gamma(rows.y[j] + 1.0) - rows.y[j] * rows.score[0][j];
    }
  }
};

// Fisher's information on log r.
double information_on_size(double mean, double size) {
  constexpr int kMostTerms = 128;
  constexpr double kNegligible = 1e-14;
  const double odds = mean / (size + mean);
  double p = stable_exp(size * stable_log(size / (size + mean))), tail = 1.0 - p, sum = 0.0;
  int j = 0;
  for (; j < kMostTerms && tail > kNegligible; ++j) {
    const double weight = size / (size + j);
    sum += tail * weight * weight;
    p *= (size + j) / (j + 1.0) * odds;
    tail = std::max(tail - p, 0.0);
  }
  if (tail > kNegligible) sum += tail * size * size * trigamma(size + j);
  return std::max(sum - size * odds, 1e-12);
}

class NegativeBinomial final : public Counts {
 public:
  explicit NegativeBinomial(const LossData& data)
      : Counts(data, {{ParameterScale::logarithm, -kFarthestLog, kFarthestLog},
                      {ParameterScale::logarithm, -kFarthestSize, kFarthestSize}}) {}

 private:
  std::vector<double> guess(std::span<const RowIndex> rows) const override {
    const double mean = mean_count(rows);
    std::vector<double> y = targets_of(rows);
    for (double& value : y) value -= mean;
    const double excess = std::max(mean_square(y, rows) - mean, 1e-2 * mean);
    return {stable_log(mean),
            std::clamp(2.0 * stable_log(mean) - stable_log(excess), -kFarthestSize, kFarthestSize)};
  }

  void derive(const DistributionRows& rows, double* const* gradient,
              double* const* hessian) const override {
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double m = stable_exp(rows.score[0][j]), r = stable_exp(rows.score[1][j]);
      const double y = rows.y[j], error = (m - y) / (r + m);
      gradient[0][j] = r * error;
      hessian[0][j] = m * (r / (r + m));
      const double slope = digamma(y + r) - digamma(r) + stable_log(r / (r + m)) + error;
      gradient[1][j] = -r * slope;
      hessian[1][j] = information_on_size(m, r);
    }
  }

  void values(const DistributionRows& rows, double* out) const override {
    for (std::size_t j = 0; j < rows.n; ++j) {
      const double log_m = rows.score[0][j], log_r = rows.score[1][j], y = rows.y[j];
      const double r = stable_exp(log_r), log_sum = stable_log(r + stable_exp(log_m));
      out[j] = log_gamma(r) + log_gamma(y + 1.0) - log_gamma(y + r) - r * (log_r - log_sum) -
               y * (log_m - log_sum);
    }
  }
};

class ZeroInflatedPoisson final : public Counts {
 public:
  explicit ZeroInflatedPoisson(const LossData& data)
      : Counts(data, {{ParameterScale::logarithm, -kFarthestLog, kFarthestLog},
                      {ParameterScale::logit, -kFarthestShare, kFarthestShare}}) {}

 private:
  struct Shares {
    double m, p, q, e, zero;  // mean, p, 1 - p, exp -m, P0
  };

  static Shares shares_of(double log_mean, double logit) {
    Shares s;
    s.m = stable_exp(log_mean);
    s.p = 1.0 / (1.0 + stable_exp(-logit));
    s.q = 1.0 / (1.0 + stable_exp(logit));
    s.e = stable_exp(-std::min(s.m, kFarthestLog));
    s.zero = s.p + s.q * s.e;
    return s;
  }

  std::vector<double> guess(std::span<const RowIndex> rows) const override {
    const double mean = mean_count(rows);
    std::vector<double> y = targets_of(rows);
    for (double& value : y) value = value == 0.0 ? 1.0 : 0.0;
    const double zeros = weighted_mean(y, rows), of_positive = mean / (1.0 - zeros);
    const double share =
        std::clamp(zeros - stable_exp(-std::min(of_positive, kFarthestLog)), 0.01, 0.99);
    return {stable_log(of_positive), stable_log(share / (1.0 - share))};
  }

  void derive(const DistributionRows& rows, double* const* gradient,
              double* const* hessian) const override {
    for (std::size_t j = 0; j < rows.n; ++j) {
      const Shares s = shares_of(rows.score[0][j], rows.score[1][j]);
      const double damped = s.m * s.e / s.zero;
      TwoScores raw;
      const bool is_zero = rows.y[j] == 0.0;
      raw.gradient[0] = is_zero ? s.q * damped : s.m - rows.y[j];
      raw.gradient[1] = is_zero ? -s.p * s.q * (1.0 - s.e) / s.zero : s.p;
      raw.hessian[0] = s.q * s.m * (1.0 - s.p * damped);
      raw.hessian[1] = s.p * s.p * s.q * (1.0 - s.e) / s.zero;
      const bool is_apart = stays(0, rows.score[0][j], raw.gradient[0]) ||
                            stays(1, rows.score[1][j], raw.gradient[1]);
      const TwoScores two = is_apart ? raw : efficient(raw, -s.p * s.q * damped);
      for (const int k : {0, 1}) {
        gradient[k][j] = two.gradient[k];
        hessian[k][j] = two.hessian[k];
      }
    }
  }

  void values(const DistributionRows& rows, double* out) const override {
    for (std::size_t j = 0; j < rows.n; ++j) {
      const Shares s = shares_of(rows.score[0][j], rows.score[1][j]);
      const double y = rows.y[j];
      out[j] = y == 0.0 ? -stable_log(s.zero)
                        : s.m - stable_log(s.q) - y * rows.score[0][j] + log_gamma(y + 1.0);
    }
  }
};

}  // namespace

std::unique_ptr<Objective> make_counts(const LossOptions& options, const LossData& data) {
  if (options.name == "negative_binomial") return std::make_unique<NegativeBinomial>(data);
  if (options.name == "zero_inflated_poisson") return std::make_unique<ZeroInflatedPoisson>(data);
  require(options.name == "poisson",
          "there are the distributions normal, lognormal, laplace, student_t, gamma, poisson, "
          "negative_binomial and zero_inflated_poisson");
  return std::make_unique<PoissonDistribution>(data);
}

}  // namespace arboleda
