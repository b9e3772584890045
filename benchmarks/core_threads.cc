// The amount of work from which a second thread pays: times one tree by size, with one and two threads.
// Change kParallelWork and kSubtreeRows in core/grow/grower.cc and compare.
//
//   g++ -std=c++20 -O3 -ffp-contract=off -pthread -Icore benchmarks/core_threads.cc
//       $(ls core/*/*.cc | grep -v _test) -o core_threads && ./core_threads        (one line)

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/random.h"
#include "learn/cart.h"

using namespace arboleda;

namespace {

double milliseconds(const BinnedDataset& coded, const std::vector<std::uint32_t>& labels,
                    int threads) {
  const auto start = std::chrono::steady_clock::now();
  fit_classification_tree(coded, labels, 2, {}, ClassMeasure::gini, {}, Context(threads));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

void compare(std::size_t n, std::size_t p) {
  RandomStream random(1, Purpose::feature_subset, 0, 0);
  std::vector<double> x(n * p);
  for (auto& value : x) value = random.below(1000);
  std::vector<std::uint32_t> labels(n);
  for (std::size_t i = 0; i < n; ++i) {
    labels[i] = (x[i * p] + x[i * p + 1] > 1000) != (random.below(5) == 0);
  }
  TableView table{n, {}};
  for (std::size_t j = 0; j < p; ++j) {
    table.columns.push_back({reinterpret_cast<const std::byte*>(x.data() + j),
                             static_cast<std::ptrdiff_t>(sizeof(double) * p), DType::float64});
  }
  const BinnedDataset coded = code_table(table, Context());
  double one = milliseconds(coded, labels, 1);
  double two = milliseconds(coded, labels, 2);
  for (int repeat = 0; repeat < 6; ++repeat) {
    one = std::min(one, milliseconds(coded, labels, 1));
    two = std::min(two, milliseconds(coded, labels, 2));
  }
  std::printf("2^%4.1f = %6zu x %3zu: 1 thread %8.2f ms, 2 threads %8.2f ms, ratio %.2f\n",
              std::log2(static_cast<double>(n * p)), n, p, one, two, two / one);
}

}  // namespace

int main() {
  for (const std::size_t n : {500, 1000, 2000, 4000, 8000, 16000, 32000}) {
    for (const std::size_t p : {8, 30, 100}) compare(n, p);
  }
}
