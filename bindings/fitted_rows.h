// The rows of a fit, for methods of a forest that need them afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arrays.h"
#include "bagging/out_of_bag.h"
#include "learn/forest.h"

namespace arboleda::python {

// The rows of a fit: how its bags were drawn, and their targets. It keeps the arrays
// alive.
struct FittedRows {
  ForestOptions options;
  std::optional<InArray<double>> weights;
  std::optional<InArray<std::uint32_t>> labels;  // of classification
  std::optional<InArray<double>> values;         // of regression
  std::vector<std::size_t> n_classes;
  std::uint64_t seed;

  BagDraw bags(std::size_t n_rows) const {
    return BagDraw(options.bag, {n_rows, span_of(weights), span_of(labels)}, seed);
  }
  OutOfBagTarget target() const { return {span_of(labels), n_classes, span_of(values)}; }
};

}  // namespace arboleda::python
