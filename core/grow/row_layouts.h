// What is kept of a table row by row, beside its columns, because growing reads it so. Trees share it.
#pragma once

#include "grow/code_rows.h"
#include "grow/flag_lists.h"
#include "grow/flag_table.h"
#include "grow/number_rows.h"

namespace arboleda {

struct RowLayouts {
  FlagTable flags;
  CodeRows codes = {};
  FlagLists lists = {};
  NumberRows numbers = {};
};

}  // namespace arboleda
