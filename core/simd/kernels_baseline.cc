#include <cstring>
#include <limits>

#include "base/compiler.h"
#include "simd/kernels.h"

#define ARBOLEDA_LEVEL "baseline"
#define ARBOLEDA_KERNELS kernels_baseline
#include "simd/generic/kernels.inc"
