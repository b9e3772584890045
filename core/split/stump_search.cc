#include "split/stump_search.h"

#include <algorithm>
#include <utility>

#include "base/thread_pool.h"
#include "data/gather_codes.h"

namespace arboleda {

namespace {

// Cells (rows x columns) from which other threads gain more than it takes to wake them: a cell of a
// sorted column takes a fifth of a nanosecond.
constexpr std::size_t kManyCells = std::size_t{1} << 16;

}  // namespace

StumpSearch::StumpSearch(const BinnedDataset& table, std::span<const std::uint32_t> labels,
                         std::span<const RowIndex> rows)
    : table_(table), labels_(labels), rows_(rows), sorted_(table, labels) {
  for (FeatureIndex j = 0; j < table.n_features(); ++j) {
    StumpColumn column = stump_column(table, j, labels, rows);
    if (column.kind == StumpColumnKind::constant) continue;
    if (column.kind == StumpColumnKind::sorted) {
      sorted_.add(std::move(column));
    } else {
      columns_.push_back(std::move(column));
    }
  }
  rough_.resize(sorted_.size());
}

BestStump StumpSearch::find(std::span<const std::uint64_t> weight, ClassPair total,
                            const Context& context) {
  weight_ = weight;
  total_ = total;
  if (sorted_.size() > 0) sorted_.begin(weight, total);
  const std::size_t n_columns = sorted_.size() + columns_.size();
  const int n_threads = rows_.size() * n_columns >= kManyCells ? context.n_threads() : 1;
  std::vector<BestStump> found(static_cast<std::size_t>(n_threads), BestStump(total));
  std::vector<Cells> cells(static_cast<std::size_t>(n_threads));
  parallel_for(n_threads, n_columns, [&](std::size_t c, int worker) {
    const auto mine = static_cast<std::size_t>(worker);
    if (c < sorted_.size()) {
      rough_[c] = sorted_.bound(c);
    } else {
      find_few(columns_[c - sorted_.size()], cells[mine], found[mine]);
    }
  });
  BestStump best(total);
  for (const BestStump& other : found) best.consider(other);
  if (sorted_.size() > 0) find_sorted(best);
  return best;
}

void StumpSearch::find_few(const StumpColumn& column, Cells& cells, BestStump& best) const {
  cells.assign(table_.columns[static_cast<std::size_t>(column.feature)].n_codes(), {});
  if (column.kind == StumpColumnKind::listed) {
    sum_listed(column, cells);
  } else {
    sum_cells(column, cells);
  }
  scan_cells(column, cells, best);
}

// A split's rough gain is below its gain, and above it, by no more than sorted_.rounding(). The column
// that promises most is looked into first: what it has may spare the others.
void StumpSearch::find_sorted(BestStump& best) {
  const double rounding = sorted_.rounding();
  const auto most = std::max_element(rough_.begin(), rough_.end());
  const auto first = static_cast<std::size_t>(most - rough_.begin());
  double floor = std::max(best.gain() - rounding, *most - 2 * rounding);
  const auto look_into = [&](std::size_t c) {
    rough_[c] = sorted_.look_into(c, floor);
    floor = std::max(floor, rough_[c] - 2 * rounding);
  };
  look_into(first);
  for (std::size_t c = 0; c < sorted_.size(); ++c) {
    if (c != first) look_into(c);
  }
  for (std::size_t c = 0; c < sorted_.size(); ++c) {
    if (rough_[c] >= floor) sorted_.search(c, floor, best);
  }
}

void StumpSearch::sum_listed(const StumpColumn& column, Cells& cells) const {
  const auto sum = [&](std::size_t cell) {
    std::uint64_t units = 0;
    for (std::uint32_t i = column.begin[cell]; i < column.begin[cell + 1]; ++i) {
      units += weight_[column.rows[i]];
    }
    return units;
  };
  ClassPair others;
  for (std::size_t code = 0; code < cells.size(); ++code) {
    cells[code] = {sum(2 * code), sum(2 * code + 1)};
    others = others + cells[code];
  }
  cells[column.usual] = total_ - others;
}

void StumpSearch::sum_cells(const StumpColumn& column, Cells& cells) const {
  std::vector<std::uint64_t> sums(2 * cells.size());
  const auto add_all = [&](const auto& code_of) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const RowIndex row = rows_[i];
      sums[2 * std::size_t{code_of(i, row)} + labels_[row]] += weight_[row];
    }
  };
  const CodedColumn& coded = table_.columns[static_cast<std::size_t>(column.feature)];
  std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          std::vector<Code> dense;
          gather_codes(coded, rows_, dense);
          add_all([&](std::size_t i, RowIndex) { return dense[i]; });
        } else {
          add_all([&](std::size_t, RowIndex row) { return codes[row]; });
        }
      },
      coded.codes);
  for (std::size_t code = 0; code < cells.size(); ++code) {
    cells[code] = {sums[2 * code], sums[2 * code + 1]};
  }
}

// In the order of scan_histogram().
void StumpSearch::scan_cells(const StumpColumn& column, const Cells& cells, BestStump& best) const {
  const std::size_t n_values = table_.columns[static_cast<std::size_t>(column.feature)].n_values;
  const ClassPair missing = n_values < cells.size() ? cells[n_values] : ClassPair{};
  for (const bool missing_left : {false, true}) {
    ClassPair left = missing_left ? missing : ClassPair{};
    Split candidate;
    candidate.feature = column.feature;
    candidate.missing_left = missing_left;
    bool any = false;
    for (std::size_t code = 0; code < n_values; ++code) {
      if (cells[code].whole() == 0) continue;
      candidate.next_code = static_cast<Code>(code);
      if (any) best.consider(candidate, left);
      candidate.code = static_cast<Code>(code);
      left = left + cells[code];
      any = true;
    }
    if (missing.whole() == 0) break;
    candidate.next_code = Split::kNoCode;
    if (any && !missing_left) best.consider(candidate, left);
  }
}

}  // namespace arboleda
