#include "data/mapped_dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "simd/histogram_kernels.h"

namespace arboleda {

namespace {

// Rows whose codes are read of one column after the other: those of a row stay near meanwhile.
constexpr std::size_t kCheckedRows = std::size_t{1} << 13;

// Of columns and rows, as much is read together.
constexpr std::size_t kReadBytes = std::size_t{1} << 23;
constexpr std::size_t kLeastReads = 64;  // of a table that is not small
constexpr std::size_t kLeastReadRows = std::size_t{1} << 11;

using CodeCounts = std::vector<std::array<std::size_t, 256>>;  // of each column

void insist(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorKind::bad_format, what);
}

// Whether `count` items of `size` bytes lie between `at` and the end.
bool fits(std::size_t n_bytes, std::size_t at, std::size_t count, std::size_t size) {
  return at <= n_bytes && (size == 0 || count <= (n_bytes - at) / size);
}

void check_column(const CodedColumn& column) {
  insist(column.n_values <= 256 && column.n_codes() <= 256,
         "a column has more codes than a byte can number");
  if (column.is_categorical) return;
  const auto& upper = column.upper.empty() ? column.values : column.upper;
  insist(column.values.size() == column.n_values && upper.size() == column.n_values,
         "a column has another number of edges than of codes");
  double last = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < column.n_values; ++c) {
    insist(std::isfinite(column.values[c]) && std::isfinite(upper[c]) && last < column.values[c] &&
               column.values[c] <= upper[c],
           "the edges of a column are not ascending");
    last = upper[c];
  }
}

void check_layout(std::size_t n_bytes, const MappedLayout& layout, std::size_t n_columns) {
  insist(layout.n_rows > 0 && layout.n_rows <= std::numeric_limits<RowIndex>::max() &&
             n_columns <= std::numeric_limits<FeatureIndex>::max(),
         "the table has no rows, or too many");
  insist(fits(n_bytes, layout.columns_at, n_columns, layout.n_rows),
         "the file is too short for the codes of its columns");
  if (layout.stride == 0) return;
  insist(fits(n_bytes, layout.rows_at, layout.n_rows, layout.stride) &&
             n_bytes - layout.rows_at - layout.n_rows * layout.stride >= kCodeRun,
         "the file is too short for the codes of its rows");
  insist(layout.order.size() <= layout.stride && layout.order.size() <= n_columns,
         "a row of the file has no room for its columns");
  for (const FeatureIndex f : layout.order) {
    insist(f >= 0 && static_cast<std::size_t>(f) < n_columns,
           "a row has a column that is not there");
  }
}

// Parts of the file, read directly where that is possible, else where it is mapped.
class PartReader {
 public:
  PartReader(std::span<const std::uint8_t> file, const DirectRead& read, std::size_t n_parts)
      : file_(file), read_(read), is_direct_(read), buffers_(n_parts) {}

  // Each part stays until the next of the same number is read.
  const std::uint8_t* read(std::size_t part, std::size_t at, std::size_t n) {
    if (is_direct_) {
      const std::uint8_t* bytes = buffers_[part].read(read_, at, n);
      if (bytes != nullptr) return bytes;
      is_direct_ = false;
    }
    const auto bytes = file_.subspan(at, n);
    read_pages_ahead(bytes.data(), n);
    return bytes.data();
  }

 private:
  const std::span<const std::uint8_t> file_;
  const DirectRead& read_;
  bool is_direct_;
  std::vector<DirectBuffer> buffers_;
};

// Rows begin .. end: counts the codes, and compares them with those of the rows.
void count_codes(std::span<const std::uint8_t> file, const MappedLayout& layout, std::size_t begin,
                 std::size_t end, const DirectRead& read, CodeCounts& counts) {
  const std::size_t n_columns = counts.size();
  PartReader reader(file, read, n_columns + 1);
  std::vector<const std::uint8_t*> columns(n_columns);
  const std::size_t n_read =
      std::max(std::min(kReadBytes / (n_columns + layout.stride), layout.n_rows / kLeastReads),
               kLeastReadRows);
  for (std::size_t first = begin; first < end; first += n_read) {
    const std::size_t n = std::min(n_read, end - first);
    for (std::size_t j = 0; j < n_columns; ++j) {
      columns[j] = reader.read(j, layout.columns_at + j * layout.n_rows + first, n);
    }
    const std::uint8_t* rows =
        reader.read(n_columns, layout.rows_at + first * layout.stride, n * layout.stride);
    for (std::size_t near = 0; near < n; near += kCheckedRows) {
      const std::size_t last = std::min(near + kCheckedRows, n);
      for (std::size_t j = 0; j < n_columns; ++j) {
        for (std::size_t i = near; i < last; ++i) ++counts[j][columns[j][i]];
      }
      for (std::size_t k = 0; layout.stride > 0 && k < layout.order.size(); ++k) {
        const std::uint8_t* codes = columns[static_cast<std::size_t>(layout.order[k])];
        std::uint8_t differ = 0;
        for (std::size_t i = near; i < last; ++i) {
          differ |= static_cast<std::uint8_t>(codes[i] ^ rows[i * layout.stride + k]);
        }
        insist(differ == 0, "the codes of the rows are not those of the columns");
      }
    }
  }
}

UsualCode usual_code(const CodedColumn& column, const std::array<std::size_t, 256>& count,
                     std::size_t n_rows) {
  std::size_t n_known = 0;
  for (std::size_t code = 0; code < column.n_codes(); ++code) n_known += count[code];
  insist(n_known == n_rows, "a code is none of its column");
  insist(!column.has_missing || count[column.n_values] > 0,
         "a column has no missing value, although the file has a code for them");
  const auto most = std::max_element(count.begin(), count.end());
  return {static_cast<Code>(most - count.begin()), *most};
}

}  // namespace

BinnedDataset map_dataset(std::span<const std::uint8_t> file, const MappedLayout& layout,
                          std::vector<CodedColumn> columns, std::optional<Sweeps> sweeps,
                          const Context& context) {
  check_layout(file.size(), layout, columns.size());
  for (const CodedColumn& column : columns) check_column(column);
  const auto n_parts = static_cast<std::size_t>(context.n_threads());
  std::vector<CodeCounts> counts(n_parts, CodeCounts(columns.size()));
  parallel_for(context.n_threads(), n_parts, [&](std::size_t part, int) {
    const std::size_t begin = part * layout.n_rows / n_parts;
    const std::size_t end = (part + 1) * layout.n_rows / n_parts;
    count_codes(file, layout, begin, end, sweeps ? sweeps->read : DirectRead(), counts[part]);
  });
  auto mapped = std::make_shared<MappedRows>();
  mapped->bytes = layout.stride > 0 ? file.data() + layout.rows_at : nullptr;
  mapped->stride = layout.stride;
  mapped->order = layout.order;
  mapped->sweeps = std::move(sweeps);
  if (mapped->sweeps) mapped->sweeps->rows_at = layout.rows_at;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (std::size_t part = 1; part < n_parts; ++part) {
      for (std::size_t code = 0; code < 256; ++code) counts[0][j][code] += counts[part][j][code];
    }
    mapped->usual.push_back(usual_code(columns[j], counts[0][j], layout.n_rows));
    const std::uint8_t* codes = file.data() + layout.columns_at + j * layout.n_rows;
    columns[j].codes = CodeArray<std::uint8_t>::borrow(codes, layout.n_rows);
  }
  BinnedDataset table;
  table.n_rows = layout.n_rows;
  table.columns = std::move(columns);
  table.mapped = std::move(mapped);
  return table;
}

}  // namespace arboleda
