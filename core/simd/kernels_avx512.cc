#include <cstring>
#include <limits>

#include "base/compiler.h"
#include "simd/kernels.h"

#define ARBOLEDA_LEVEL "avx512"
#define ARBOLEDA_KERNELS kernels_avx512
#include "simd/generic/kernels.inc"
