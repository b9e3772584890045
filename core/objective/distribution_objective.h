// The base of losses whose scores are the parameters of a distribution of y: natural gradient boosting, Duan et al.
// (2020), "NGBoost", https://arxiv.org/abs/1910.03225.
//
// A row has a score theta_k for each parameter, on a scale without bounds: the location itself, and the logarithm of
// a scale, mean, shape or number of degrees of freedom. With a proper scoring rule S(theta, y) (the negative
// log-likelihood, or CRPS), s = dS/dtheta and its metric F (of the likelihood: Fisher's information E[s s']; of CRPS
// the expected second derivative), the natural gradient is F^-1 s.
//
// A leaf takes the mean of its rows' natural gradients, each weighted by the row's information on the parameter:
//
//   step_k = - sum_i h_ik n_ik / sum_i h_ik,    n = F^-1 s,    h_k = 1 / (F^-1)_kk
//
// which is Fisher's scoring of the leaf's rows, and the gain of a split is the expected decrease of the loss: it
// does not depend on the units of y, so one tree can serve all parameters. As "gradient" and "hessian", rows have
// h_k n_k and h_k. Where parameters are orthogonal (F is diagonal) these are s_k and F_kk; of two that are not,
// the efficient score and information  s_1 - F_12 / F_22 s_2  and  F_11 - F_12^2 / F_22.
//
// On tables, equal weights, as in the paper, had a higher loss at equal rounds (docs/decisions/distributions.md).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "objective/row_objective.h"

namespace arboleda {

inline constexpr std::size_t kMostParameters = 3;
inline constexpr double kFarthestLog = 300.0;    // of the logarithm of a scale or mean from 0
inline constexpr double kMostPrecision = 100.0;  // unit / scale that a row's location counts with

using ParameterBlock = std::array<double, kLossBlock>;

enum class ParameterScale { location, logarithm, logit };

struct ParameterInfo {
  ParameterScale scale;
  double low, high;  // a score beyond these counts as the nearest one
  double curvature = 1.0;
};

// At most kLossBlock rows. Scores lie within the bounds of their parameter.
struct DistributionRows {
  std::size_t n;
  const double* y;
  const double* score[kMostParameters];
};

class DistributionObjective : public RowObjective {
 public:
  std::vector<double> start(std::span<const RowIndex> rows) const final;

  // Newton's step x of a location is that of y in units of unit(). Of a logarithm, x > 0 becomes log(1 + c x) / c,
  // the exact step where exp(c theta) is a mean (c = 2: of squared residuals), and x is at least -1 / c: no outlier
  // and no leaf without spread moves a scale by more than some powers of e. The exact step down was tried: scales
  // follow the errors on training rows, and shrink too fast.
  double step(std::size_t output, double newton) const final;

 protected:
  // A target that is transformed must outlive this.
  DistributionObjective(const LossData& data, std::vector<ParameterInfo> parameters);

  // Starting values of the search for the best constants, which ends at once where they are these.
  virtual std::vector<double> guess(std::span<const RowIndex> rows) const = 0;
  virtual void derive(const DistributionRows& rows, double* const* gradient,
                      double* const* hessian) const = 0;
  virtual void values(const DistributionRows& rows, double* out) const = 0;

  // A power of two near the standard deviation of the targets of positive weight, and the logarithm of the least
  // scale that is sought, 1e-6 of it. Of constant targets the unit is near their size.
  void measure_unit();
  double unit() const { return unit_; }

  // Whether the score of an output is at a bound and its gradient points beyond it: that parameter stays.
  bool stays(std::size_t output, double score, double gradient) const {
    const ParameterInfo& parameter = parameters_[output];
    return (gradient > 0.0 && score <= parameter.low) ||
           (gradient < 0.0 && score >= parameter.high);
  }

  double mean_square(std::span<const double> x, std::span<const RowIndex> rows) const;

 private:
  void unit_gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                      std::span<double> gradient, std::span<double> hessian) const final;
  void unit_losses(std::span<const double> scores, std::span<const RowIndex> rows,
                   std::span<double> out) const final;

  // Of rows that all have the parameters theta: Newton's step of each parameter, and the mean loss.
  std::vector<double> newton_of_constants(const std::vector<double>& theta,
                                          std::span<const RowIndex> rows) const;
  double mean_loss_of_constants(const std::vector<double>& theta,
                                std::span<const RowIndex> rows) const;

  // Of rows whose scores are as they come: within bounds, no gradient points beyond them.
  void derive_bounded(const DistributionRows& rows, double* const* gradient,
                      double* const* hessian) const;
  void clamp(std::size_t output, const double* score, std::size_t n, double* out) const;

  std::vector<ParameterInfo> parameters_;
  double unit_ = 1.0;
};

// Scores and information of two parameters of a row.
struct TwoScores {
  double gradient[2];
  double hessian[2];
};
// The efficient ones, from those of each parameter alone and the other element of F.
TwoScores efficient(const TwoScores& raw, double off_diagonal);

// Each in the file of its name; `score` is "nll" or "crps".
std::unique_ptr<Objective> make_distribution(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_location_scale(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_student_t(const LossData& data);
std::unique_ptr<Objective> make_gamma_distribution(const LossData& data);
std::unique_ptr<Objective> make_counts(const LossOptions& options, const LossData& data);

}  // namespace arboleda
