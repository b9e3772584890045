// The list of losses, each in the file of its name.
//
// What scikit-learn has keeps its value, gradient and hessian (sklearn._loss, 1.9), half deviances
// without the terms that no score changes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/shards.h"
#include "objective/objective.h"

namespace arboleda {

// What a loss is bound to.
struct LossData {
  std::span<const double> target;
  std::span<const double> weight;             // or empty for "all 1"
  std::span<const std::uint32_t> query = {};  // of each row; for losses of rankings
  const Shards* shards = nullptr;             // of the table, each with a loss of its own rows
};

std::unique_ptr<Objective> make_log_loss(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_softmax(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_exponential(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_focal(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_several_targets(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_squared_error(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_absolute_error(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_huber(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_quantile(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_expectile(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_pseudo_huber(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_mape(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_poisson(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_gamma(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_tweedie(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_lambdarank(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_pairwise(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_xe_ndcg(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_yetirank(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_cox_efron(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_cox_breslow(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_aft_normal(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_aft_logistic(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_aft_extreme(const LossOptions& options, const LossData& data);
std::unique_ptr<Objective> make_discrete_time(const LossOptions& options, const LossData& data);

}  // namespace arboleda
