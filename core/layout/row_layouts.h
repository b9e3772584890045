// All that is kept of a table row by row, beside its columns. Trees share it.
#pragma once

#include "layout/binary_feature_lists.h"
#include "layout/binary_feature_table.h"
#include "layout/code_rows.h"
#include "layout/numeric_feature_rows.h"

namespace arboleda {

struct RowLayouts {
  BinaryFeatureTable binary_features;
  CodeRows codes = {};
  BinaryFeatureLists lists = {};
  NumericFeatureRows numeric_features = {};
};

}  // namespace arboleda
