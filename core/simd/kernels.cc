#include "simd/kernels.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/compiler.h"
#include "base/error.h"

namespace arboleda {

extern const Kernels kernels_baseline;
#if defined(ARBOLEDA_WIDE_KERNELS)
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

namespace {

std::vector<const Kernels*> find_levels() {
  std::vector<const Kernels*> levels{&kernels_baseline};
#if defined(ARBOLEDA_WIDE_KERNELS)
  if (ARBOLEDA_CPU_HAS("avx2")) levels.push_back(&kernels_avx2);
  if (ARBOLEDA_CPU_HAS("avx512f") && __builtin_cpu_supports("avx512bw") &&
      ARBOLEDA_CPU_HAS("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    levels.push_back(&kernels_avx512);
  }
#endif
  return levels;
}

const Kernels& choose() {
  const auto levels = all_kernels();
  const char* forced = std::getenv("ARBOLEDA_FORCE_SIMD");
  if (forced == nullptr || *forced == '\0') return *levels.back();
  std::string known;
  for (const Kernels* level : levels) {
    if (level->level == forced) return *level;
    known += (known.empty() ? "" : ", ") + std::string(level->level);
  }
  throw Error(ErrorKind::invalid_argument,
              "ARBOLEDA_FORCE_SIMD is '" + std::string(forced) + "'; this machine has " + known);
}

}  // namespace

std::span<const Kernels* const> all_kernels() {
  static const std::vector<const Kernels*> levels = find_levels();
  return levels;
}

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace arboleda
