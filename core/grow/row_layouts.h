// What is kept of a table row by row, beside its columns, because growing reads it so. Trees share it.
#pragma once

#include "grow/binary_feature_lists.h"
#include "grow/binary_feature_table.h"
#include "grow/code_rows.h"
#include "grow/number_rows.h"

namespace arboleda {

struct RowLayouts {
  BinaryFeatureTable flags;
  CodeRows codes = {};
  BinaryFeatureLists lists = {};
  NumberRows numbers = {};
};

}  // namespace arboleda
