// The module only lists its areas; each file registers one.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_native, m) { m.doc() = "The compiled engine of arboleda. Private: use the arboleda package."; }
