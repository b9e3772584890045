// A loss that boosting minimises, bound to the targets and weights of its rows.
//
// A model gives every row `n_outputs` raw scores F; the link turns them into predictions. For the
// score of one output, the derivatives of  w_i L(y_i, F_i)  are the row's gradient and hessian.
// Arrays of several outputs are output-major: those of output k stand at k * n_rows ... .
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/types.h"

namespace arboleda {

class Shards;

// Of shards, each has a loss that is bound to its own rows. Means, medians and whatever else is of all rows
// are then of those of all shards: start(), prepare(), total_weight() and best_steps() are called by all
// (base/shards.h).
class Objective {
 public:
  virtual ~Objective() = default;

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_outputs() const { return n_outputs_; }  // scores of a row, and trees of a round

  // True when every hessian is 1: then `hessian` of gradients() is empty and not written.
  virtual bool has_unit_hessian() const { return false; }

  // The scores that every row starts from: the best constants on the given rows. They do not depend
  // on the rows' order.
  virtual std::vector<double> start(std::span<const RowIndex> rows) const = 0;

  // Called once before the gradients of a round, by the thread that called the fit: finds what they
  // need from all training rows together (the threshold of Huber's loss; all gradients, where
  // they are not made row by row). `round`: of the ensemble, from 0 on, for random numbers.
  virtual void prepare(std::span<const double> /*scores*/, std::span<const RowIndex> /*rows*/,
                       std::uint32_t /*round*/, const Context& /*context*/) {}

  // Takes over what another objective of the same loss found out in prepare(): for the same rows
  // with other weights, or for rows that others are compared on.
  virtual void prepare_as(const Objective& /*other*/) {}

  // Gradients and hessians of rows begin .. end, all outputs. Several threads may call it at once.
  virtual void gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                         std::span<double> gradient, std::span<double> hessian) const = 0;

  // Where those of a block of rows can be computed alone, and as often as they are read: gradients and
  // hessians of one output, row `begin` first.
  virtual bool has_block_gradients() const { return false; }
  virtual void block_gradients(std::size_t output, std::span<const double> scores,
                               std::size_t begin, std::size_t end, std::span<double> gradient,
                               std::span<double> hessian) const;

  // out[j] = w_i L(y_i, F_i) for i = rows[j], summed over outputs. NaN unless overridden: of a loss
  // that is given by its derivatives alone nothing else is known.
  virtual void losses(std::span<const double> scores, std::span<const RowIndex> rows,
                      std::span<double> out) const;

  // Sum of w_i L(y_i, F_i) over some rows: the same bits in any order of theirs.
  virtual double loss(std::span<const double> scores, std::span<const RowIndex> rows) const;

  // Sum of w_i over some rows, for the mean of the loss.
  virtual double total_weight(std::span<const RowIndex> rows) const = 0;

  // Losses whose derivatives carry little information within a leaf (absolute error, quantile, Huber) use
  // the best constant step of the leaf's rows instead of Newton's: Friedman (2001), algorithms 3 and 4.
  // It does not depend on the order of the rows.
  virtual bool has_exact_leaf_step() const { return false; }
  virtual double best_step(std::span<const double> scores, std::size_t output,
                           std::span<const RowIndex> rows) const;

  // The same for several leaves, of which other shards have rows too.
  virtual std::vector<double> best_steps(std::span<const double> scores, std::size_t output,
                                         std::span<const std::span<const RowIndex>> leaves) const;

  // What a leaf adds to the scores of an output, before the learning rate, where its own step is `leaf`.
  virtual double step(std::size_t /*output*/, double leaf) const { return leaf; }

 protected:
  Objective(std::size_t n_rows, std::size_t n_outputs) : n_rows_(n_rows), n_outputs_(n_outputs) {}

 private:
  std::size_t n_rows_, n_outputs_;
};

struct LossOptions {
  // log_loss, exponential, focal, squared_error, absolute_error, huber, quantile, expectile, pseudo_huber,
  // mape, poisson, gamma, tweedie;
  // of rankings: lambdarank, pairwise, xe_ndcg, yetirank;
  // of times to an event: cox_efron, cox_breslow, aft_normal, aft_logistic, aft_extreme, discrete_time;
  // with `score`, distributions: normal, lognormal, laplace, student_t, gamma, poisson, negative_binomial,
  // zero_inflated_poisson
  std::string name;
  std::size_t n_classes = 0;            // log_loss: 2 gives one output, K > 2 gives K (softmax);
                                        // discrete_time: number of periods, an output each
  std::vector<double> levels = {};      // quantile: one output a level, each between 0 and 1
  double alpha = 0.9;                   // huber: quantile of |residuals| where errors become linear
  double power = 1.5;                   // tweedie: variance ~ mean^power, 1 < power < 2
  std::size_t n_targets = 1;            // of several, each has the loss and a score of its own
  std::size_t truncation_level = 30;    // lambdarank, yetirank: ranks whose rows form pairs
  std::vector<double> label_gain = {};  // rankings: of relevance 0, 1, ..; empty: 2^y - 1
  double scale = 1.0;                   // aft: sigma
  double expectile = 0.5;               // expectile: between 0 and 1
  double huber_slope = 1.0;             // pseudo_huber: size of errors that count linearly
  double focal_gamma = 2.0;             // focal: how much less rows count that are predicted well
  std::string score = {};               // distributions: nll or crps; else empty
};

// target: one a row (classes as 0, 1, ..), target after target (aft: all lower times, then all upper ones); weight:
// one a row, or empty for "all 1"; query: one a row, for losses of rankings. All must outlive the objective. Shards
// make theirs at the same time. Throws
// Error(invalid_argument) for options, targets or weights that the loss does not allow; start() does where the rows
// carry no information (for example, all counts are 0).
std::unique_ptr<Objective> make_objective(const LossOptions& options,
                                          std::span<const double> target,
                                          std::span<const double> weight,
                                          std::span<const std::uint32_t> query = {},
                                          const Shards* shards = nullptr);

}  // namespace arboleda
