#include "bart/sampler.h"

#include <algorithm>
#include <atomic>

#include "base/thread_pool.h"

namespace arboleda {

BartDraws sample_bart(const BartRows& rows, const BartOptions& options,
                      const BartProgress& progress, const Context& context) {
  check_bart(rows, options);
  const std::size_t n_chains = options.n_chains;
  const std::size_t n_sweeps = options.n_burn_in + options.n_draws;
  BartDraws draws;
  draws.unit = bart_unit(options);
  draws.sigma.resize(n_chains * n_sweeps);
  draws.mean_fit.resize(n_chains * n_sweeps);
  draws.counts.resize(n_chains);
  std::vector<std::vector<std::int64_t>> nodes(n_chains);
  std::atomic<std::size_t> n_done{0};
  parallel_for(context.n_threads(), n_chains, [&](std::size_t c, int worker) {
    BartChain chain(rows, options, context.seed(), static_cast<std::uint32_t>(c));
    for (std::size_t sweep = 0; sweep < n_sweeps; ++sweep) {
      context.check();
      chain.sweep();
      draws.sigma[c * n_sweeps + sweep] = chain.sigma();
      draws.mean_fit[c * n_sweeps + sweep] = chain.mean_fit();
      if (sweep >= options.n_burn_in) chain.append_draw(nodes[c]);
      ++n_done;
      if (worker == 0 && progress) progress(n_done);
    }
    draws.counts[c] = chain.counts();
  });
  for (std::vector<std::int64_t>& some : nodes) {
    draws.nodes.insert(draws.nodes.end(), some.begin(), some.end());
    some = {};
  }
  return draws;
}

}  // namespace arboleda
