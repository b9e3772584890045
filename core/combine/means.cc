#include "combine/means.h"

#include "combine/shares.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

double total_weight(const Members& members, std::span<const double> weight) {
  require(members.size() > 0, "a mean needs at least one member");
  if (weight.empty()) return static_cast<double>(members.size());
  require(weight.size() == members.size(), "one weight for each member is needed");
  double total = 0.0;
  for (const double w : weight) total += w;
  require(total != 0.0, "the members' weights sum to 0");
  return total;
}

void add(double* out, const double* x, std::size_t n, double weight) {
  for (std::size_t c = 0; c < n; ++c) out[c] += weight * x[c];
}

void divide(double* out, std::size_t n, double by) {
  for (std::size_t c = 0; c < n; ++c) out[c] /= by;
}

}  // namespace

std::vector<double> mean_of_members(const Members& members, std::span<const double> weight,
                                    const Context& context) {
  const double total = total_weight(members, weight);
  return for_row_blocks(members.n_rows, members.n_classes, context, [&](const OutputBlock& block) {
    for (std::size_t l = 0; l < members.size(); ++l) {
      add(block.out, members.outputs[l] + block.first_cell(), block.n_cells(),
          weight.empty() ? 1.0 : weight[l]);
    }
    divide(block.out, block.n_cells(), total);
  });
}

std::vector<double> geometric_mean_of_members(const Members& members,
                                              std::span<const double> weight,
                                              const Context& context) {
  const double total = total_weight(members, weight);
  for (const double w : weight) require(w > 0.0, "weights of a geometric mean are positive");
  return for_row_blocks(members.n_rows, members.n_classes, context, [&](const OutputBlock& block) {
    std::vector<double> logarithm(block.n_cells());
    for (std::size_t l = 0; l < members.size(); ++l) {
      kernels().math.log(members.outputs[l] + block.first_cell(), block.n_cells(),
                         logarithm.data());
      add(block.out, logarithm.data(), block.n_cells(), weight.empty() ? 1.0 : weight[l]);
    }
    divide(block.out, block.n_cells(), total);
    exp_shares(block, members, weight);
  });
}

}  // namespace arboleda
