// A few columns in place of the gradients of many outputs, by which the splits of a tree that all outputs
// share are found. Iosipoi, Vakhrushev (2022), "SketchBoost: fast gradient boosted decision tree for
// multioutput problems", section 3.
//
//   top          the outputs of the largest sums of squared gradients
//   sampling     outputs drawn with probabilities p proportional to these, with replacement; divided by
//                sqrt(n_dims p), which keeps expected scores
//   projection   sums of all outputs with random signs, divided by sqrt(n_dims): Achlioptas (2003),
//                "Database-friendly random projections"
//
// A row's hessian is the mean of its outputs' hessians. The sketch of a round is a function of the seed,
// the round and the gradients: it does not depend on threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "split/vector_gradients.h"

namespace arboleda {

enum class SketchMethod { none, top, sampling, projection };

struct SketchOptions {
  SketchMethod method = SketchMethod::none;
  std::size_t n_dims = 5;  // >= 1

  // How many columns splits are searched by.
  std::size_t n_searched(std::size_t n_outputs) const {
    return method == SketchMethod::none || n_dims >= n_outputs ? n_outputs : n_dims;
  }
};

class GradientSketch {
 public:
  // The context must outlive this.
  GradientSketch(const SketchOptions& options, const Context& context);

  // The derivatives themselves where there is nothing to reduce. rows: those of the round.
  VectorDerivatives draw(std::uint32_t round, std::span<const RowIndex> rows,
                         const VectorDerivatives& all);

 private:
  std::vector<double> sum_squares(std::span<const RowIndex> rows,
                                  const VectorDerivatives& all) const;
  void copy_outputs(const VectorDerivatives& all, const std::vector<std::size_t>& outputs,
                    const std::vector<double>& factors);
  void take_largest(const std::vector<double>& squares, const VectorDerivatives& all);
  void draw_outputs(std::uint32_t round, const std::vector<double>& squares,
                    const VectorDerivatives& all);
  void project(std::uint32_t round, const VectorDerivatives& all);
  void project_rows(std::size_t begin, std::size_t end, const std::vector<double>& signs,
                    const VectorDerivatives& all);
  void average_hessians(const VectorDerivatives& all);

  const SketchOptions options_;
  const Context& context_;
  std::vector<double> gradient_, hessian_;
};

}  // namespace arboleda
