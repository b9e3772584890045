// What is kept of a table row by row, beside its columns, because growing reads it so. Trees share it.
#pragma once

#include "layout/binary_feature_lists.h"
#include "layout/binary_feature_table.h"
#include "layout/code_rows.h"
#include "layout/numeric_feature_rows.h"

namespace arboleda {

struct RowLayouts {
  BinaryFeatureTable flags;
  CodeRows codes = {};
  BinaryFeatureLists lists = {};
  NumericFeatureRows numbers = {};
};

}  // namespace arboleda
