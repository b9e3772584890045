// Models have the same bytes whatever compiler, flags, machine and sanitizer built the engine: the
// checksums of some were noted down. A change of the engine that is meant to change models changes
// the numbers here; nothing else may. `make same-bits` builds with no, usual and most optimisation.

#include <doctest/doctest.h>

#include <array>

#include "io/checksum.h"
#include "io/tree_bytes.h"
#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

std::uint32_t checksum(const Tree& tree) {
  Bytes bytes;
  append_tree(bytes, tree);
  return crc32c(bytes);
}

using Sums = std::array<std::uint32_t, MixedProblem::kMeasures>;

// One for each measure, by dense and by sparse columns, weighted and not.
Sums checksums(const GrowthOptions& options, std::size_t max_bins) {
  const MixedProblem problem(700);
  const Context context(1, 17);
  const BinnedDataset mixed = problem.mixed(context, max_bins);
  const BinnedDataset sparse = problem.sparse(context);
  Sums sums{};
  for (int measure = 0; measure < MixedProblem::kMeasures; ++measure) {
    auto& sum = sums[static_cast<std::size_t>(measure)];
    for (const bool weighted : {false, true}) {
      sum = sum * 31 + checksum(problem.fit(mixed, measure, weighted, options, context));
      sum = sum * 31 + checksum(problem.fit(sparse, measure, weighted, options, context));
    }
  }
  return sums;
}

void check_equal(const Sums& found, const Sums& noted) {
  for (std::size_t measure = 0; measure < found.size(); ++measure) {
    CAPTURE(measure);
    CHECK(found[measure] == noted[measure]);
  }
}

}  // namespace

TEST_CASE("the same bits from every build: best splits" * doctest::test_suite("one thread")) {
  check_equal(checksums({}, 0),
              {0x215fd74f, 0x40e1fa63, 0xb9507608, 0x6840489, 0x3b886e42, 0x737a2faf, 0x2efc8815,
               0x4cb7d5bc, 0xf08e3b90, 0xf4193ba, 0xa7abbcf6, 0xf3934844});
}

TEST_CASE("the same bits from every build: bins, best leaf first" *
          doctest::test_suite("one thread")) {
  GrowthOptions options;
  options.policy = GrowthPolicy::best_first;
  options.max_leaf_nodes = 40;
  options.min_samples_leaf = 3;
  check_equal(checksums(options, 20),
              {0x889845df, 0x991326df, 0x2d78aebc, 0x56ca2805, 0xf1adb240, 0x63b70935, 0x10a49681,
               0xabc10590, 0xa099fe56, 0xa3bf4776, 0x4eb4b5cc, 0xadfdcda4});
}

TEST_CASE("the same bits from every build: random splits, drawn features" *
          doctest::test_suite("one thread")) {
  GrowthOptions options;
  options.random_splits = true;
  options.max_features = 2;
  check_equal(checksums(options, 0),
              {0x23174034, 0xd3bbaa6d, 0x73658caf, 0x4946c086, 0x74ab3f2, 0xec90552d, 0x2d12190d,
               0xe2afb58b, 0xb45e2e73, 0x390e4cca, 0x7c0988cd, 0x1883de8a});
}

}  // namespace arboleda
