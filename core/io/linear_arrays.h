// Linear leaves as named arrays, beside the trees that they belong to.
//
//   linear.start  linear.intercept  linear.feature  linear.coefficient  linear.low  linear.high
#pragma once

#include <vector>

#include "io/model_file.h"
#include "tree/linear_leaves.h"

namespace arboleda {

// None where no leaf is linear.
std::vector<NamedArray> to_arrays(const LinearLeaves& leaves);

// Throws Error(invalid_argument) unless the arrays are those of to_arrays, in that order. What they
// hold is left to check_linear_leaves.
LinearLeaves to_linear_leaves(std::vector<NamedArray> arrays);

}  // namespace arboleda
