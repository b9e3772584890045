#include "combine/shares.h"

#include <limits>

#include "simd/kernels.h"

namespace arboleda {

namespace {

double sum_of(const double* row, std::size_t n) {
  double sum = 0.0;
  for (std::size_t k = 0; k < n; ++k) sum += row[k];
  return sum;
}

void divide_row(double* row, std::size_t n, double by) {
  for (std::size_t k = 0; k < n; ++k) row[k] /= by;
}

// Weights empty: 1 for each member.
void put_mean(const Members& members, std::span<const double> weight, std::size_t row,
              double* out) {
  const std::size_t n = members.n_classes;
  std::fill(out, out + n, 0.0);
  for (std::size_t l = 0; l < members.size(); ++l) {
    const double* outputs = members.outputs[l] + row * n;
    const double w = weight.empty() ? 1.0 : weight[l];
    for (std::size_t k = 0; k < n; ++k) out[k] += w * outputs[k];
  }
  const double sum = sum_of(out, n);
  if (sum > 0.0) divide_row(out, n, sum);
}

double largest_of(const double* row, std::size_t n) {
  double largest = row[0];
  for (std::size_t k = 1; k < n; ++k) largest = largest < row[k] ? row[k] : largest;
  return largest;
}

// The block's numbers less the largest of their row, then exp of all of them.
void exp_of_differences(const OutputBlock& block) {
  std::vector<double> difference(block.n_cells());
  for (std::size_t i = 0; i < block.n_rows; ++i) {
    const double* row = block.out + i * block.n_classes;
    double* to = difference.data() + i * block.n_classes;
    const double largest = largest_of(row, block.n_classes);
    for (std::size_t k = 0; k < block.n_classes; ++k) to[k] = row[k] - largest;
  }
  kernels().math.exp(difference.data(), difference.size(), block.out);
}

}  // namespace

void divide_by_sum(const OutputBlock& block, const Members& members) {
  for (std::size_t i = 0; i < block.n_rows; ++i) {
    double* row = block.out + i * block.n_classes;
    const double sum = sum_of(row, block.n_classes);
    if (sum > 0.0) {
      divide_row(row, block.n_classes, sum);
    } else {
      put_mean(members, {}, block.first + i, row);
    }
  }
}

void exp_shares(const OutputBlock& block, const Members& members, std::span<const double> weight) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<std::size_t> ruled_out;
  for (std::size_t i = 0; i < block.n_rows; ++i) {
    double* row = block.out + i * block.n_classes;
    if (largest_of(row, block.n_classes) > kNone) continue;
    ruled_out.push_back(i);
    std::fill(row, row + block.n_classes, 0.0);
  }
  exp_shares(block);
  for (const std::size_t i : ruled_out) {
    put_mean(members, weight, block.first + i, block.out + i * block.n_classes);
  }
}

void exp_shares(const OutputBlock& block) {
  exp_of_differences(block);
  for (std::size_t i = 0; i < block.n_rows; ++i) {
    double* row = block.out + i * block.n_classes;
    divide_row(row, block.n_classes, sum_of(row, block.n_classes));
  }
}

}  // namespace arboleda
