#include <cstring>
#include <limits>

#include "base/compiler.h"
#include "simd/kernels.h"

#define ARBOLEDA_LEVEL "avx2"
#define ARBOLEDA_KERNELS kernels_avx2
#include "simd/generic/kernels.inc"
