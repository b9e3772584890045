// Time of a boosting round spent on its loss: processor time in nanoseconds per row and output, for
// gradients and hessians, for the loss itself, and for the best steps of 31 leaves. Best of several.
//
//   (cd core && cmake --preset release && cmake --build --preset release --target arboleda_core)
//   g++ -std=c++20 -O2 -pthread -Icore benchmarks/core_losses.cc core/build/release/libarboleda_core.a
//       -o core_losses && ./core_losses        (one line; ARBOLEDA_FORCE_SIMD selects an instruction set)

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "objective/objective.h"
#include "simd/kernels.h"

using namespace arboleda;

namespace {

constexpr std::size_t kRows = 1'000'000;
constexpr std::size_t kLeaves = 31;

template <class Work>
double nanoseconds(std::size_t n, const Work& work) {
  double best = 1e300;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const std::clock_t start = std::clock();
    work();
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    best = std::min(best, 1e9 * took / static_cast<double>(n));
  }
  return best;
}

void time_loss(const LossOptions& options, std::uint32_t n_classes, std::size_t n_outputs,
               bool weighted) {
  RandomStream random(1, Purpose::feature_subset, 0, 0);
  const auto uniform = [&] { return std::ldexp(static_cast<double>(random.next()) + 0.5, -32); };
  std::vector<double> target(kRows), weight(weighted ? kRows : 0), scores(kRows * n_outputs);
  for (auto& y : target) y = n_classes > 0 ? random.below(n_classes) : 0.1 + uniform();
  for (auto& w : weight) w = 0.5 + uniform();
  for (auto& f : scores) f = 8.0 * uniform() - 4.0;
  std::vector<RowIndex> rows(kRows);
  std::iota(rows.begin(), rows.end(), RowIndex{0});

  const auto objective = make_objective(options, target, weight);
  const Context context;
  std::vector<double> gradient(scores.size());
  std::vector<double> hessian(objective->has_unit_hessian() ? 0 : scores.size());
  const std::size_t n = scores.size();
  const double prepared = nanoseconds(n, [&] { objective->prepare(scores, rows, 0, context); });
  const double derived =
      nanoseconds(n, [&] { objective->gradients(scores, 0, kRows, gradient, hessian); });
  double sum = 0.0;
  const double valued = nanoseconds(n, [&] { sum += objective->loss(scores, rows); });
  std::printf("%-15s %2zu outputs %-8s  prepare %6.2f  gradients %6.2f  loss %6.2f",
              options.name.c_str(), n_outputs, weighted ? "weighted" : "", prepared, derived,
              valued);
  if (objective->has_exact_leaf_step()) {
    const double stepped = nanoseconds(n, [&] {
      for (std::size_t k = 0; k < n_outputs; ++k) {
        for (std::size_t leaf = 0; leaf < kLeaves; ++leaf) {
          const std::size_t begin = kRows * leaf / kLeaves, end = kRows * (leaf + 1) / kLeaves;
          sum += objective->best_step(scores, k, std::span(rows).subspan(begin, end - begin));
        }
      }
    });
    std::printf("  steps %6.2f", stepped);
  }
  std::printf("%s\n", std::isnan(sum) ? " (no number)" : "");
}

}  // namespace

int main() {
  std::printf("registers: %s\n", std::string(kernels().level).c_str());
  for (const bool weighted : {false, true}) {
    time_loss({"log_loss", 2}, 2, 1, weighted);
    time_loss({"log_loss", 10}, 10, 10, weighted);
    time_loss({"exponential", 2}, 2, 1, weighted);
    time_loss({"squared_error"}, 0, 1, weighted);
    time_loss({"absolute_error"}, 0, 1, weighted);
    time_loss({"huber"}, 0, 1, weighted);
    time_loss({"quantile", 0, {0.1, 0.5, 0.9}}, 0, 3, weighted);
    time_loss({"poisson"}, 0, 1, weighted);
    time_loss({"gamma"}, 0, 1, weighted);
    time_loss({"tweedie"}, 0, 1, weighted);
  }
}
