#include "explain/shap_groups.h"

#include "simd/kernels.h"

namespace arboleda {

void ShapGroups::play(const ShapSteps& steps, double* values, std::size_t group_width) {
  const Quadrature& quadrature = steps.quadrature();
  const std::size_t n_points = quadrature.point.size();
  const std::size_t n_lanes = steps.n_levels() * kShapRows;
  products_.resize(n_lanes * n_points);
  sums_.resize(n_lanes * n_points);
  passes_.resize(n_lanes);
  lefts_.resize(n_lanes);
  const auto explain = kernels().shap.explain;
  for (std::size_t group = 0; group < n_groups_; ++group) {
    explain(steps.steps().data(), steps.steps().size(),
            {columns_.data() + group * n_columns_ * kShapRows,
             values + group * group_width * kShapRows, n_points, quadrature.weight.data(),
             products_.data(), sums_.data(), passes_.data(), lefts_.data()});
  }
}

}  // namespace arboleda
