// One loss for each of several targets: every target has a score of its own, and the losses of a row add up.
#include <utility>

#include "base/error.h"
#include "objective/losses.h"

namespace arboleda {

namespace {

class SeveralTargets final : public Objective {
 public:
  SeveralTargets(std::size_t n_rows, std::vector<std::unique_ptr<Objective>> targets)
      : Objective(n_rows, targets.size()), targets_(std::move(targets)) {}

  bool has_unit_hessian() const override { return targets_.front()->has_unit_hessian(); }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    std::vector<double> scores;
    for (const auto& target : targets_) scores.push_back(target->start(rows).front());
    return scores;
  }

  void prepare(std::span<const double> scores, std::span<const RowIndex> rows, std::uint32_t round,
               const Context& context) override {
    for (std::size_t k = 0; k < n_outputs(); ++k) {
      targets_[k]->prepare(part(scores, k), rows, round, context);
    }
  }

  void prepare_as(const Objective& other) override {
    const auto& same = dynamic_cast<const SeveralTargets&>(other);
    for (std::size_t k = 0; k < n_outputs(); ++k) targets_[k]->prepare_as(*same.targets_[k]);
  }

  void gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                 std::span<double> gradient, std::span<double> hessian) const override {
    for (std::size_t k = 0; k < n_outputs(); ++k) {
      targets_[k]->gradients(part(scores, k), begin, end, part(gradient, k), part(hessian, k));
    }
  }

  void losses(std::span<const double> scores, std::span<const RowIndex> rows,
              std::span<double> out) const override {
    std::vector<double> one(rows.size());
    for (std::size_t k = 0; k < n_outputs(); ++k) {
      targets_[k]->losses(part(scores, k), rows, k == 0 ? out : std::span<double>(one));
      if (k == 0) continue;
      for (std::size_t i = 0; i < rows.size(); ++i) out[i] += one[i];
    }
  }

  double total_weight(std::span<const RowIndex> rows) const override {
    return targets_.front()->total_weight(rows);
  }

  bool has_exact_leaf_step() const override { return targets_.front()->has_exact_leaf_step(); }
  double best_step(std::span<const double> scores, std::size_t output,
                   std::span<const RowIndex> rows) const override {
    return targets_[output]->best_step(part(scores, output), 0, rows);
  }
  std::vector<double> best_steps(std::span<const double> scores, std::size_t output,
                                 std::span<const std::span<const RowIndex>> leaves) const override {
    return targets_[output]->best_steps(part(scores, output), 0, leaves);
  }

 private:
  template <class T>
  std::span<T> part(std::span<T> all, std::size_t target) const {
    return all.empty() ? all : all.subspan(target * n_rows(), n_rows());
  }

  std::vector<std::unique_ptr<Objective>> targets_;
};

}  // namespace

std::unique_ptr<Objective> make_several_targets(const LossOptions& options, const LossData& data) {
  require(data.target.size() % options.n_targets == 0, "every row needs a value of every target");
  const std::size_t n_rows = data.target.size() / options.n_targets;
  LossOptions of_one = options;
  of_one.n_targets = 1;
  std::vector<std::unique_ptr<Objective>> targets;
  for (std::size_t k = 0; k < options.n_targets; ++k) {
    targets.push_back(make_objective(of_one, data.target.subspan(k * n_rows, n_rows), data.weight,
                                     {}, data.shards));
    require(targets.back()->n_outputs() == 1, "of several targets each has one score");
  }
  return std::make_unique<SeveralTargets>(n_rows, std::move(targets));
}

}  // namespace arboleda
