// What compilers offer beyond the language; all other files of core/ are standard C++20. GCC and Clang
// have all of it. With ARBOLEDA_PLAIN_CPP the fallbacks are compiled, as for any other compiler: they
// give the same bits, more slowly.
//
// Macros, not functions: those of simd/generic/ are compiled for several instruction sets, and an
// inline function compiled for a wide one could be linked where a narrow one runs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__GNUC__) && !defined(ARBOLEDA_PLAIN_CPP)  // Clang defines it too
#define ARBOLEDA_GNU_CPP
#endif

namespace arboleda {

// Exact sums of products of fixed-point numbers. Two 62-bit factors fit with room for the sign.
#if defined(__SIZEOF_INT128__)
using Int128 = __int128;
using UInt128 = unsigned __int128;
#else
#error \
    "The engine needs integers of 128 bits: compile it for 64 bits, with GCC, Clang or MinGW-w64."
#endif

// Has the bytes at the address fetched, to be used soon.
#if defined(ARBOLEDA_GNU_CPP)
#define ARBOLEDA_PREFETCH(address) __builtin_prefetch(address)
#else
#define ARBOLEDA_PREFETCH(address) static_cast<void>(address)
#endif

// Lets the other thread of a core work while this one waits in a loop.
#if defined(ARBOLEDA_GNU_CPP) && (defined(__x86_64__) || defined(__i386__))
#define ARBOLEDA_PAUSE() __builtin_ia32_pause()
#else
#define ARBOLEDA_PAUSE() static_cast<void>(0)
#endif

// std::bit_cast, which is an inline function.
#if defined(ARBOLEDA_GNU_CPP)
#define ARBOLEDA_BIT_CAST(Type, x) __builtin_bit_cast(Type, x)
#else
#define ARBOLEDA_BIT_CAST(Type, x) std::bit_cast<Type>(x)
#endif

// Pointers of which no other points to the same numbers.
#if defined(ARBOLEDA_GNU_CPP)
#define ARBOLEDA_RESTRICT __restrict
#else
#define ARBOLEDA_RESTRICT
#endif

// Vectors of numbers, with the operators of numbers lane by lane; a comparison gives 0 or -1 in lanes of
// a signed integer type of the same size. The operations that the language has no operator for:
//
//   ARBOLEDA_CHOOSE(mask, yes, no)   yes where the mask is not 0, else no
//   ARBOLEDA_CONVERT(vector, Type)   the numbers as those of another type
//   ARBOLEDA_RECAST(vector, Type)    the bits as those of another type
//   ARBOLEDA_LOOK_UP(vector, place)  vector[place[i]] in lane i
#if defined(ARBOLEDA_GNU_CPP)

template <class T, std::size_t kBytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kBytes)));
};

#define ARBOLEDA_CHOOSE(mask, yes, no) ((mask) ? (yes) : (no))
#define ARBOLEDA_CONVERT(vector, Type) __builtin_convertvector(vector, Type)
#define ARBOLEDA_RECAST(vector, Type) reinterpret_cast<Type>(vector)
#if defined(__clang__)
#define ARBOLEDA_LOOK_UP(vector, place)                                   \
  (__extension__({                                                        \
    std::remove_cvref_t<decltype(vector)> found_;                         \
    for (std::size_t i_ = 0; i_ < sizeof found_ / sizeof found_[0]; ++i_) \
      found_[i_] = (vector)[(place)[i_]];                                 \
    found_;                                                               \
  }))
#else
#define ARBOLEDA_LOOK_UP(vector, place) __builtin_shuffle(vector, place)
#endif

#else

template <class T, std::size_t kBytes>
struct PlainVector {
  static constexpr std::size_t kLanes = kBytes / sizeof(T);
  using Bits = std::conditional_t<
      sizeof(T) == 8, std::int64_t,
      std::conditional_t<sizeof(T) == 4, std::int32_t,
                         std::conditional_t<sizeof(T) == 2, std::int16_t, std::int8_t>>>;
  using Mask = PlainVector<Bits, kBytes>;

  T lane[kLanes];

  T& operator[](std::size_t i) { return lane[i]; }
  const T& operator[](std::size_t i) const { return lane[i]; }

  static PlainVector filled(T x) {
    PlainVector all;
    for (T& own : all.lane) own = x;
    return all;
  }

  PlainVector operator~() const {
    PlainVector result;
    for (std::size_t i = 0; i < kLanes; ++i) result[i] = static_cast<T>(~lane[i]);
    return result;
  }

#define ARBOLEDA_OPERATOR(Result, sign)                                               \
  friend Result operator sign(const PlainVector& a, const PlainVector& b) {           \
    return Result::of(a, b, [](T x, T y) { return x sign y; });                       \
  }                                                                                   \
  friend Result operator sign(const PlainVector& a, T b) { return a sign filled(b); } \
  friend Result operator sign(T a, const PlainVector& b) { return filled(a) sign b; }
#define ARBOLEDA_ARITHMETIC(sign)                                                        \
  ARBOLEDA_OPERATOR(PlainVector, sign)                                                   \
  PlainVector& operator sign## = (const PlainVector& b) { return *this = *this sign b; } \
  PlainVector& operator sign## = (T b) { return *this = *this sign b; }
  ARBOLEDA_ARITHMETIC(+)
  ARBOLEDA_ARITHMETIC(-)
  ARBOLEDA_ARITHMETIC(*)
  ARBOLEDA_ARITHMETIC(/)
  ARBOLEDA_ARITHMETIC(&)
  ARBOLEDA_ARITHMETIC(|)
  ARBOLEDA_ARITHMETIC(^)
  ARBOLEDA_ARITHMETIC(<<)
  ARBOLEDA_ARITHMETIC(>>)
  ARBOLEDA_OPERATOR(Mask, <)
  ARBOLEDA_OPERATOR(Mask, <=)
  ARBOLEDA_OPERATOR(Mask, >)
  ARBOLEDA_OPERATOR(Mask, >=)
  ARBOLEDA_OPERATOR(Mask, ==)
  ARBOLEDA_OPERATOR(Mask, !=)
#undef ARBOLEDA_ARITHMETIC
#undef ARBOLEDA_OPERATOR

  // What `compute` gives for each pair of lanes; true is -1.
  template <class Other, class Compute>
  static PlainVector of(const Other& a, const Other& b, const Compute& compute) {
    PlainVector result;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const auto x = compute(a[i], b[i]);
      if constexpr (std::is_same_v<decltype(x), const bool>) {
        result[i] = static_cast<T>(x ? -1 : 0);
      } else {
        result[i] = static_cast<T>(x);
      }
    }
    return result;
  }

  template <class Other>
  static PlainVector converted(const Other& from) {
    PlainVector result;
    for (std::size_t i = 0; i < kLanes; ++i) result[i] = static_cast<T>(from[i]);
    return result;
  }

  template <class Other>
  static PlainVector recast(const Other& from) {
    PlainVector result;
    static_assert(sizeof result == sizeof from);
    std::memcpy(&result, &from, sizeof result);
    return result;
  }

  template <class Places>
  PlainVector looked_up(const Places& place) const {
    PlainVector result;
    for (std::size_t i = 0; i < kLanes; ++i) result[i] = lane[place[i]];
    return result;
  }
};

template <class Mask, class Numbers>
Numbers choose(const Mask& mask, const Numbers& yes, const Numbers& no) {
  Numbers chosen;
  for (std::size_t i = 0; i < Numbers::kLanes; ++i) chosen[i] = mask[i] != 0 ? yes[i] : no[i];
  return chosen;
}

template <class T, std::size_t kBytes>
struct VectorOf {
  using Type = PlainVector<T, kBytes>;
};

#define ARBOLEDA_CHOOSE(mask, yes, no) choose(mask, yes, no)
#define ARBOLEDA_CONVERT(vector, Type) Type::converted(vector)
#define ARBOLEDA_RECAST(vector, Type) Type::recast(vector)
#define ARBOLEDA_LOOK_UP(vector, place) (vector).looked_up(place)

#endif

template <class T, std::size_t kBytes>
using NumberVector = typename VectorOf<T, kBytes>::Type;

// Whether this processor has an instruction set of x86.
#if defined(ARBOLEDA_GNU_CPP) && defined(__x86_64__)
#define ARBOLEDA_CPU_HAS(set) __builtin_cpu_supports(set)
#else
#define ARBOLEDA_CPU_HAS(set) false
#endif

}  // namespace arboleda
