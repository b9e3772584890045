// Gradient boosting: Friedman (2001), "Greedy function approximation: a gradient boosting machine",
// algorithm 1; of second order: Chen & Guestrin (2016), "XGBoost".
//
//   F <- start
//   repeat: gradients of the loss at F; a sample of the rows; for each output a tree on the sample's
//           gradients, its leaf values times the learning rate; F <- F + tree
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "learn/boosted_trees.h"
#include "learn/dart.h"
#include "learn/gradient_sketch.h"
#include "learn/linear_leaves.h"
#include "learn/sampling.h"
#include "objective/objective.h"
#include "tree/ensemble.h"

namespace arboleda {

// Mean losses: the first before any new round, then one after each. Empty where they were not requested.
// Of an ensemble that was continued with its history, this one goes on.
struct BoostingHistory {
  std::vector<double> training, validation;
  // Where trees are grown on uniform samples: of the rows of the round's sample and of the others; the
  // first before any new round, on the rows of the first one. Friedman (2002), section 3.
  std::vector<double> in_bag, out_of_bag;
};

struct BoostingOptions {
  std::int64_t n_rounds = 100;  // of the whole ensemble, those that were there before included
  double learning_rate = 0.1;
  TreeGrowth trees = {};
  // One tree a round whose leaves hold a step for every output, kept as trees of the same splits, one an
  // output (grow/histogram_grower.h). With histograms; not with linear leaves, or a loss that finds steps.
  bool shares_trees = false;
  SketchOptions sketch = {};  // of the gradients that shared trees are searched by
  // Trees that were grown before: their splits are kept, and their values found anew from these rows.
  // So what was learned while some rows were held out - how many rounds, and which splits - serves
  // all rows. On the rows of the fit the values come out as they were, bit for bit, but for bounds of
  // monotonic constraints, which growing applies up to the rounding of its histograms. Null: grow trees.
  const TreeEnsemble* replayed = nullptr;
  SamplingOptions sampling = {};
  DartOptions dart = {};
  LinearLeafOptions linear = {};  // with histograms, on dense tables. Not with DART, monotonic
                                  // constraints, l1, max_delta_step, or a loss that finds steps
  std::int64_t patience = -1;     // rounds without an improvement before stopping; -1: never stop.
                                  // Not with DART: later rounds change the trees of earlier ones
  double tolerance = 0.0;         // what counts as an improvement
  bool records_training = true;   // the training loss of every round
  // Of an ensemble to continue: its losses so far, the last of them its own. So rounds without an
  // improvement are counted as if the fit had never stopped. Null: they are counted from there on.
  const BoostingHistory* history = nullptr;
};

// Rows of a table, with the loss bound to all rows of that table. All must outlive the fit.
struct BoostingRows {
  const BinnedDataset& table;
  std::span<const RowIndex>
      rows;  // ascending, each once; at least one of positive weight (in all shards)
  std::span<const double> weight;  // that of the loss: one a row of the table, or empty
  std::span<const double>
      offset;  // output-major: scores before the start of the ensemble, or empty
  Objective& objective;
};

struct Boosted {
  TreeEnsemble ensemble;
  BoostingHistory history;
  std::int64_t best_round = 0;  // rounds of the ensemble whose watched loss was the smallest
  // False where another shard was lost: ensemble and history are then those of the last whole round, which
  // a fit may continue, and the ensemble is not the one of its best round yet.
  bool is_complete = true;
};

// Losses: NaN where they were not recorded.
struct BoostingProgress {
  std::int64_t n_rounds;  // of the ensemble so far
  double training_loss, validation_loss;
  std::span<const double> validation_scores;  // output-major over all rows of the validation table
};

// Called before the first round and after each, on the calling thread; true: stop now.
using BoostingCallback = std::function<bool(const BoostingProgress&)>;

// `so_far`: an ensemble to continue, or one without outputs to begin anew: from the best constants, or
// from 0 where rows have scores of their own (`offset`). Continued, the result is
// that of a fit that never stopped, bit for bit. With `patience` the ensemble goes back to its best
// round by the validation loss, or by the training loss where `validation` is null. A validation table
// may be the training table, with other rows. The result does not depend on the number of threads.
//
// Where the context has shards of a table (base/shards.h), each calls this with its own rows, with objectives
// that know the shards, and with the same options; all return the ensemble that one fit of the whole table
// would. Where one has a callback that says stop, all stop. Neither for exact trees nor for linear leaves.
Boosted boost(const BoostingRows& training, const BoostingRows* validation,
              const BoostingOptions& options, TreeEnsemble so_far, const BoostingCallback& callback,
              const Context& context);

}  // namespace arboleda
