// Options that several fits share, by their names in Python.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "learn/cart.h"
#include "tree/votes.h"

namespace arboleda::python {

// Python's word for "no limit" or "all". Defaults are those of the core's structs.
inline constexpr int kNoLimit = -1;

inline constexpr std::array kClassMeasures = {
    std::pair{"gini", ClassMeasure::gini}, std::pair{"entropy", ClassMeasure::entropy},
    std::pair{"misclassification", ClassMeasure::misclassification}};

ClassMeasure class_measure_named(const std::string& name);
RegressionMeasure regression_measure_named(const std::string& name);
Voting voting_named(const std::string& name);

// Limits of a tree's growth, or kNoLimit.
GrowthOptions growth_options(std::int32_t max_depth, std::int64_t max_leaf_nodes,
                             std::uint64_t min_samples_split, std::uint64_t min_samples_leaf,
                             double min_weight_fraction_leaf, double min_impurity_decrease,
                             FeatureIndex max_features, bool random_splits);

}  // namespace arboleda::python
