#include "objective/objective.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/exact_sum.h"
#include "objective/distribution_objective.h"
#include "objective/losses.h"

namespace arboleda {

namespace {

struct Loss {
  std::string_view name;
  std::unique_ptr<Objective> (*make)(const LossOptions&, const LossData&);
};

constexpr Loss kLosses[] = {
    {"log_loss", make_log_loss},
    {"exponential", make_exponential},
    {"focal", make_focal},
    {"squared_error", make_squared_error},
    {"absolute_error", make_absolute_error},
    {"huber", make_huber},
    {"quantile", make_quantile},
    {"expectile", make_expectile},
    {"pseudo_huber", make_pseudo_huber},
    {"mape", make_mape},
    {"poisson", make_poisson},
    {"gamma", make_gamma},
    {"tweedie", make_tweedie},
    {"lambdarank", make_lambdarank},
    {"pairwise", make_pairwise},
    {"xe_ndcg", make_xe_ndcg},
    {"yetirank", make_yetirank},
    {"cox_efron", make_cox_efron},
    {"cox_breslow", make_cox_breslow},
    {"aft_normal", make_aft_normal},
    {"aft_logistic", make_aft_logistic},
    {"aft_extreme", make_aft_extreme},
    {"discrete_time", make_discrete_time},
};

}  // namespace

void Objective::losses(std::span<const double>, std::span<const RowIndex>,
                       std::span<double> out) const {
  std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
}

double Objective::loss(std::span<const double> scores, std::span<const RowIndex> rows) const {
  std::vector<double> terms(rows.size());
  losses(scores, rows, terms);
  return exact_sum(terms);
}

void Objective::block_gradients(std::size_t, std::span<const double>, std::size_t, std::size_t,
                                std::span<double>, std::span<double>) const {
  throw Error(ErrorKind::internal, "this loss computes the gradients of all rows together");
}

double Objective::best_step(std::span<const double>, std::size_t, std::span<const RowIndex>) const {
  throw Error(ErrorKind::internal, "this loss finds no steps: its leaves take Newton's");
}

std::vector<double> Objective::best_steps(std::span<const double>, std::size_t,
                                          std::span<const std::span<const RowIndex>>) const {
  throw Error(ErrorKind::internal, "this loss finds no steps: its leaves take Newton's");
}

std::unique_ptr<Objective> make_objective(const LossOptions& options,
                                          std::span<const double> target,
                                          std::span<const double> weight,
                                          std::span<const std::uint32_t> query,
                                          const Shards* shards) {
  const LossData data{target, weight, query, shards};
  if (options.n_targets > 1) return make_several_targets(options, data);
  if (!options.score.empty()) return make_distribution(options, data);
  std::string known;
  for (const Loss& loss : kLosses) {
    if (loss.name == options.name) return loss.make(options, data);
    known += (known.empty() ? "" : ", ") + std::string(loss.name);
  }
  throw Error(ErrorKind::invalid_argument,
              "there is no loss '" + options.name + "'; there are " + known);
}

}  // namespace arboleda
