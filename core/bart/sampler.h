// All chains of BART, side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bart/chain.h"
#include "base/context.h"

namespace arboleda {

struct BartDraws {
  std::vector<std::int64_t> nodes;  // packed_node.h: chain by chain, draw by draw, tree by tree
  double unit = 1.0;                // of the leaves' values

  // Chains x sweeps, those of the burn-in first: the noise, and the mean of the fit over the rows.
  std::vector<double> sigma, mean_fit;
  std::vector<MoveCounts> counts;  // of each chain, all sweeps
};

// Called on the calling thread now and then: how many sweeps all chains have made together.
using BartProgress = std::function<void(std::size_t n_sweeps)>;

// Throws Error(interrupted) when the caller wants to stop. A chain runs on one thread: the result does not
// depend on the number of threads.
BartDraws sample_bart(const BartRows& rows, const BartOptions& options,
                      const BartProgress& progress, const Context& context);

}  // namespace arboleda
