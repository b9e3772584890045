// The loops of math_kernels.h. Included by kernels_loops.h, under the same rule: nothing else may be
// included here.
//
// exp x = 2^k exp r with k = round(x / ln 2), r = x - k ln 2 and |r| <= ln(2)/2; ln 2 is subtracted in
// two parts, of which the first times k is exact (Cody, Waite 1980, "Software Manual for the
// Elementary Functions", chapter 6).
//
// log x = k ln 2 + log(1 + f) with x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2). With s = f/(2 + f),
//   log(1 + f) = 2 atanh s = 2s + s R(s^2) = f - s (f - R),   R(z) = 2z/3 + 2z^2/5 + ...
// The polynomials are minimax (Remez).

namespace arboleda {

namespace {

// Adding it rounds to the nearest whole number, which then stands in the lowest bits.
constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

using Bits = unsigned long long;

// 2^k for whole -1022 <= k <= 1023.
inline double power_of_two(double k) {
  return __builtin_bit_cast(double, __builtin_bit_cast(Bits, k + (kRounder + 1023.0)) << 52);
}

inline double exp_of(double x) {
  x = x < -746.0 ? -746.0 : x;  // 0 from here on
  x = x > 710.0 ? 710.0 : x;    // infinity from here on
  const double k = (x * 0x1.71547652b82fep+0 + kRounder) - kRounder;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double q = 0x1.ad7f74af4889dp-26;
  q = q * r + 0x1.28ad72ca3080ap-22;
  q = q * r + 0x1.71df254da5e75p-19;
  q = q * r + 0x1.a0199a0c7024cp-16;
  q = q * r + 0x1.a01a012a5a426p-13;
  q = q * r + 0x1.6c16c1842a0c6p-10;
  q = q * r + 0x1.1111111127bdcp-7;
  q = q * r + 0x1.555555555087dp-5;
  q = q * r + 0x1.55555555554fap-3;
  q = q * r + 0x1.000000000000ap-1;
  // Two factors: 2^k itself may be too large or too small for a double.
  const double half = (k * 0.5 + kRounder) - kRounder;
  return (1.0 + (r + r * r * q)) * power_of_two(half) * power_of_two(k - half);
}

// f - s (f - R): what log(1 + f) is without its last part, s = f / (2 + f) being given.
inline double log_of_one_and(double f, double s) {
  const double z = s * s;
  double r = 0x1.2f06d43c899bbp-3;
  r = r * z + 0x1.39a19882e3e4fp-3;
  r = r * z + 0x1.746640224780cp-3;
  r = r * z + 0x1.c71c5203ebb82p-3;
  r = r * z + 0x1.24924941f71a1p-2;
  r = r * z + 0x1.999999997fd5cp-2;
  r = r * z + 0x1.5555555555592p-1;
  return s * (f - r * z);
}

inline double log_of(double x) {
  constexpr double kInfinity = __builtin_inf();
  const bool tiny = x < 0x1p-1022;
  const Bits bits = __builtin_bit_cast(Bits, tiny ? x * 0x1p54 : x);
  // The exponent becomes a double by way of its lowest bits.
  double k = __builtin_bit_cast(double, (bits >> 52) | 0x4330000000000000ULL) - 0x1p52;
  k -= tiny ? 1023.0 + 54.0 : 1023.0;
  double m = __builtin_bit_cast(double, (bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  const bool upper = m > 0x1.6a09e667f3bcdp+0;
  m = upper ? 0.5 * m : m;
  k = upper ? k + 1.0 : k;
  const double f = m - 1.0;
  const double rest = log_of_one_and(f, f / (2.0 + f)) - k * kLn2Low;
  const double result = k * kLn2High + (f - rest);
  const double edge = x == 0.0 ? -kInfinity : x < kInfinity ? __builtin_nan("") : x;
  return ((x > 0.0) & (x < kInfinity)) ? result : edge;
}

// log(1 + exp x) = max(x, 0) + log(1 + a), a = exp -|x| in [0, 1]. Where 1 + a > sqrt 2 it is halved.
inline double softplus_of(double x) {
  const double a = exp_of(x < 0.0 ? x : -x);
  const bool upper = a > 0.41421356237309503;
  const double f = upper ? 0.5 * (a - 1.0) : a;
  const double k = upper ? 1.0 : 0.0;
  const double rest = log_of_one_and(f, f / (2.0 + f)) - k * kLn2Low;
  return (x > 0.0 ? x : 0.0) + (k * kLn2High + (f - rest));
}

void exp_all(const double* x, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = exp_of(x[i]);
}

void log_all(const double* x, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = log_of(x[i]);
}

void softplus_all(const double* x, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = softplus_of(x[i]);
}

// With t = f where y is yes, else -f, and a = exp -|t|:  |p - y| = 1 / (1 + exp t), which is
// a / (1 + a) for t >= 0 and 1 / (1 + a) else; p (1 - p) = a / (1 + a)^2.
void logistic_all(const double* score, const double* y, std::size_t n, double* gradient,
                  double* hessian) {
  for (std::size_t i = 0; i < n; ++i) {
    const double t = y[i] != 0.0 ? score[i] : -score[i];
    const double a = exp_of(t < 0.0 ? t : -t);
    const double larger = 1.0 / (1.0 + a);
    const double smaller = a * larger;
    const double miss = t < 0.0 ? larger : smaller;
    gradient[i] = y[i] != 0.0 ? -miss : miss;
    hessian[i] = smaller * larger;
  }
}

// With e_k = exp(f_k - max f), some e_k are 1 and the others sum to `others`; 1 - p_k of a largest f_k
// is (number of ones - 1 + others) / sum, in which nothing cancels.
void softmax_rows(const double* score, std::size_t stride, std::size_t n_classes, const double* y,
                  std::size_t n, double* gradient, double* hessian) {
  double largest[kSoftmaxBlock], ones[kSoftmaxBlock], others[kSoftmaxBlock];
  double sum[kSoftmaxBlock];
  for (std::size_t i = 0; i < n; ++i) {
    largest[i] = score[i];
    ones[i] = 0.0;
    others[i] = 0.0;
  }
  for (std::size_t k = 1; k < n_classes; ++k) {
    const double* f = score + k * stride;
    for (std::size_t i = 0; i < n; ++i) largest[i] = largest[i] < f[i] ? f[i] : largest[i];
  }
  for (std::size_t k = 0; k < n_classes; ++k) {
    const double* f = score + k * stride;
    double* g = gradient + k * stride;
    for (std::size_t i = 0; i < n; ++i) {
      const double e = exp_of(f[i] - largest[i]);
      ones[i] += f[i] == largest[i] ? 1.0 : 0.0;
      others[i] += f[i] == largest[i] ? 0.0 : e;
      g[i] = e;
    }
  }
  for (std::size_t i = 0; i < n; ++i) sum[i] = ones[i] + others[i];
  for (std::size_t k = 0; k < n_classes; ++k) {
    const double* f = score + k * stride;
    double* g = gradient + k * stride;
    double* h = hessian + k * stride;
    const double number = static_cast<double>(k);
    for (std::size_t i = 0; i < n; ++i) {
      const double p = g[i] / sum[i];
      const double not_p = f[i] == largest[i] ? ((ones[i] - 1.0) + others[i]) / sum[i] : 1.0 - p;
      g[i] = y[i] == number ? -not_p : p;
      h[i] = p * not_p;
    }
  }
}

constexpr MathKernels kMath{exp_all, log_all, softplus_all, logistic_all, softmax_rows};

}  // namespace

}  // namespace arboleda
