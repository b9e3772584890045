#include "data/code_by_edges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/ordered_key.h"
#include "base/thread_pool.h"
#include "data/column_keys.h"
#include "data/midpoint.h"
#include "data/round_down.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Rows that are read of one column after the other: a row-major table comes in by whole cache lines.
constexpr std::size_t kCodedBlock = 512;

// Rows and columns of one task.
constexpr std::size_t kTaskRows = 32 * kCodedBlock;
constexpr std::size_t kTaskColumns = 64;

// The code of a value is the number of cuts below its key; the last cut lies between the largest
// value and NaN. Filled up with cuts that are below no key to a power of two less one.
template <class Number>
auto make_cuts(const CodedColumn& column) {
  const auto& upper = column.upper.empty() ? column.values : column.upper;
  require(column.n_values < std::size_t{1} << 31, "a column has more than 2^31 distinct values");
  std::vector<decltype(ordered_key(Number{}))> cuts;
  cuts.reserve(std::bit_ceil(column.n_values + 1) - 1);
  for (std::size_t c = 0; c + 1 < column.n_values; ++c) {
    Number cut;
    round_down(midpoint(upper[c], column.values[c + 1]), cut);
    cuts.push_back(ordered_key(cut));
  }
  if (column.n_values > 0) cuts.push_back(ordered_key(std::numeric_limits<Number>::infinity()));
  cuts.resize(std::bit_ceil(column.n_values + 1) - 1,
              kMissingKey<typename decltype(cuts)::value_type>);
  return cuts;
}

// Where the search for a key may begin: upper bits of keys are looked up.
constexpr int kLookedUpBits = 16;
// Cuts that agree in these bits take as many steps as their number has bits.
constexpr int kMostSteps = 4;
// A table of fewer rows is coded sooner than the numbers are computed.
constexpr std::size_t kManyRows = std::size_t{1} << 17;

template <class Key>
struct CutsOf {
  std::vector<Key> cuts = {};
  std::size_t n_cuts = 0;             // the others are below no key
  std::vector<std::uint16_t> before;  // of each value of the bits: cuts of lower ones; or empty
  int n_steps = 0;

  static std::size_t bits_of(Key key) {
    return static_cast<std::size_t>(word_of_key(key) >> (8 * sizeof(Key) - kLookedUpBits));
  }

  CutsOf() = default;
  explicit CutsOf(std::vector<Key> all) : cuts(std::move(all)), n_cuts(cuts.size()) {}

  void look_up() {
    if (n_cuts > UINT16_MAX) return;
    std::vector<std::uint32_t> ends((std::size_t{1} << kLookedUpBits) + 1);
    for (const Key cut : cuts) {
      if (cut != kMissingKey<Key>) ++ends[bits_of(cut) + 1];
    }
    n_steps = static_cast<int>(std::bit_width(*std::max_element(ends.begin(), ends.end())));
    if (n_steps > kMostSteps) return;
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    before.assign(ends.begin(), ends.end());
    cuts.resize(n_cuts + (std::size_t{1} << n_steps), kMissingKey<Key>);
  }

  void count_below(const Key* keys, std::size_t n, Code* codes) const {
    for (std::size_t i = 0; i < n; ++i) codes[i] = before[bits_of(keys[i])];
    for (int bit = n_steps - 1; bit >= 0; --bit) {
      const Key* middle = cuts.data() + ((std::size_t{1} << bit) - 1);
      for (std::size_t i = 0; i < n; ++i) {
        codes[i] += static_cast<Code>(middle[codes[i]] < keys[i]) << bit;
      }
    }
  }
};

using Cuts = std::variant<CutsOf<std::int32_t>, CutsOf<std::int64_t>>;

struct BlockBuffer {
  std::array<std::int32_t, kCodedBlock> keys_32;
  std::array<std::int64_t, kCodedBlock> keys_64;
  std::array<Code, kCodedBlock> codes;
};

// Codes of rows begin .. begin + n, into the buffer.
void search(const ColumnView& view, std::size_t begin, std::size_t n, const Cuts& cuts,
            BlockBuffer& buffer) {
  const BinningKernels& loops = kernels().binning;
  const auto count = [&](const auto& of, auto* keys, auto* count_below) {
    read_keys(view, begin, n, keys);
    if (of.before.empty()) {
      count_below(keys, n, of.cuts.data(), of.n_cuts, buffer.codes.data());
    } else {
      of.count_below(keys, n, buffer.codes.data());
    }
  };
  if (const auto* cuts_32 = std::get_if<CutsOf<std::int32_t>>(&cuts)) {
    count(*cuts_32, buffer.keys_32.data(), loops.count_below_32);
  } else {
    count(std::get<CutsOf<std::int64_t>>(cuts), buffer.keys_64.data(), loops.count_below_64);
  }
}

void find_categories(const ColumnView& view, std::size_t begin, std::size_t n,
                     const CodedColumn& column, BlockBuffer& buffer) {
  const auto n_categories = static_cast<double>(column.n_values);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = view[begin + i];
    buffer.codes[i] =
        x >= 0.0 && x < n_categories ? static_cast<Code>(x) : column.get_missing_code();
  }
}

void store(std::span<const Code> from, std::size_t begin, CodedColumn& column) {
  std::visit(
      [&](auto& codes) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          using T = typename std::decay_t<decltype(codes)>::value_type;
          T* to = codes.data() + begin;
          for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from[i]);
        }
      },
      column.codes);
}

void code_block(const ColumnView& view, std::size_t begin, std::size_t n, const Cuts& cuts,
                CodedColumn& column, BlockBuffer& buffer) {
  if (column.is_categorical) {
    find_categories(view, begin, n, column, buffer);
  } else {
    search(view, begin, n, cuts, buffer);
  }
  store(std::span(buffer.codes).first(n), begin, column);
}

Cuts cuts_for(const ColumnView& view, std::size_t n_rows, const CodedColumn& column) {
  Cuts cuts;
  if (column.is_categorical) return cuts;
  if (view.dtype == DType::float32) {
    cuts = CutsOf(make_cuts<float>(column));
  } else {
    cuts = CutsOf(make_cuts<double>(column));
  }
  if (n_rows >= kManyRows) std::visit([](auto& of) { of.look_up(); }, cuts);
  return cuts;
}

}  // namespace

void allocate_codes(CodedColumn& column, std::size_t n_rows) {
  if (column.n_codes() <= std::size_t{1} << 8) {
    column.codes = std::vector<std::uint8_t>(n_rows);
  } else if (column.n_codes() <= std::size_t{1} << 16) {
    column.codes = std::vector<std::uint16_t>(n_rows);
  } else {
    column.codes = std::vector<std::uint32_t>(n_rows);
  }
}

void code_by_edges(const TableView& table, const Context& context, int n_threads,
                   BinnedDataset& coded) {
  const std::size_t n_columns = table.columns.size();
  std::vector<Cuts> cuts(n_columns);
  parallel_for(n_threads, n_columns, [&](std::size_t c, int) {
    allocate_codes(coded.columns[c], table.n_rows);
    cuts[c] = cuts_for(table.columns[c], table.n_rows, coded.columns[c]);
  });
  const std::size_t row_tasks = (table.n_rows + kTaskRows - 1) / kTaskRows;
  const std::size_t column_tasks = (n_columns + kTaskColumns - 1) / kTaskColumns;
  parallel_for(n_threads, row_tasks * column_tasks, [&](std::size_t task, int) {
    context.check();
    const std::size_t first_column = task % column_tasks * kTaskColumns;
    const std::size_t end_column = std::min(first_column + kTaskColumns, n_columns);
    const std::size_t first_row = task / column_tasks * kTaskRows;
    const std::size_t end_row = std::min(first_row + kTaskRows, table.n_rows);
    BlockBuffer buffer;
    for (std::size_t begin = first_row; begin < end_row; begin += kCodedBlock) {
      const std::size_t n = std::min(kCodedBlock, end_row - begin);
      for (std::size_t c = first_column; c < end_column; ++c) {
        code_block(table.columns[c], begin, n, cuts[c], coded.columns[c], buffer);
      }
    }
  });
}

void code_by_edges(const ColumnView& view, std::size_t n_rows, CodedColumn& column) {
  allocate_codes(column, n_rows);
  const Cuts cuts = cuts_for(view, n_rows, column);
  BlockBuffer buffer;
  for (std::size_t begin = 0; begin < n_rows; begin += kCodedBlock) {
    code_block(view, begin, std::min(kCodedBlock, n_rows - begin), cuts, column, buffer);
  }
}

std::vector<Code> code_by_edges(std::span<const double> x, const CodedColumn& column) {
  const Cuts cuts = CutsOf(make_cuts<double>(column));
  const ColumnView view{reinterpret_cast<const std::byte*>(x.data()), sizeof(double),
                        DType::float64};
  std::vector<Code> codes(x.size());
  BlockBuffer buffer;
  for (std::size_t begin = 0; begin < x.size(); begin += kCodedBlock) {
    const std::size_t n = std::min(kCodedBlock, x.size() - begin);
    search(view, begin, n, cuts, buffer);
    std::copy_n(buffer.codes.begin(), n, codes.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return codes;
}

}  // namespace arboleda
