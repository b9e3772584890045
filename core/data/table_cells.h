// A table of whatever form for code that reads few of its numbers, one by one.
#pragma once

#include <cstddef>
#include <functional>

namespace arboleda {

struct TableCells {
  std::size_t n_rows = 0, n_columns = 0;
  std::function<double(std::size_t row, std::size_t column)> at;  // NaN means missing
};

}  // namespace arboleda
