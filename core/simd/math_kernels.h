// exp, log and the derivatives of losses made of them, over whole arrays. Written once (generic/math.inc),
// compiled for every width of registers, and part of kernels(): additions, products, quotients and selections
// in a fixed order, nothing of the C library, so that every level and machine gives the same bits.
#pragma once

#include <cstddef>

namespace arboleda {

struct MathKernels {
  // out may be x, but then one number is done at a time.
  void (*exp)(const double* x, std::size_t n, double* out);       // within 1 ulp; subnormal: 2 ulp
  void (*log)(const double* x, std::size_t n, double* out);       // within 1 ulp
  void (*softplus)(const double* x, std::size_t n, double* out);  // log(1 + exp x), within 2 ulp

  // Of log(1 + exp f) - y f for classes y (0: no, else: yes): p - y and p (1 - p) with
  // p = 1 / (1 + exp -f), each to some ulp of itself: nothing cancels.
  void (*logistic)(const double* score, const double* y, std::size_t n, double* gradient,
                   double* hessian);

  // Of log sum_k exp f_k - f_y for classes y = 0 .. n_classes-1, at most kSoftmaxBlock rows: p_k - [y = k]
  // and p_k (1 - p_k). The numbers of class k stand from k * stride on.
  void (*softmax)(const double* score, std::size_t stride, std::size_t n_classes, const double* y,
                  std::size_t n, double* gradient, double* hessian);
};

inline constexpr std::size_t kSoftmaxBlock = 256;

}  // namespace arboleda
