#include "base/kernels.h"

#define ARBOLEDA_LEVEL "baseline"
#define ARBOLEDA_KERNELS kernels_baseline
#include "base/kernels_loops.h"
