#include "split/node_codes.h"

#include "data/gather_codes.h"
#include "data/sparse_codes.h"

namespace arboleda {

namespace {

// Rows that are looked at to guess whether most have the code 0.
constexpr std::size_t kGuessed = 16;

template <bool kLooksAhead, class Codes>
std::size_t list_nonzero_of(std::span<const RowIndex> rows, const Codes& codes,
                            const CodePrefetch& ahead, SortKey* keys) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if constexpr (kLooksAhead) ahead.fetch(rows[i]);
    const Code code = codes[rows[i]];
    keys[n] = make_key(code, i);
    n += code != 0;
  }
  return n;
}

}  // namespace

void NodeCodes::gather(std::span<const RowIndex> rows, FeatureIndex feature,
                       std::vector<Code>& codes) const {
  if (!code_rows_.serves(feature, rows.size())) return gather_codes(column(feature), rows, codes);
  const StridedCodes near = code_rows_.column(feature);
  codes.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) codes[i] = near[rows[i]];
}

bool NodeCodes::are_mostly_zero(std::span<const RowIndex> rows, FeatureIndex feature) const {
  const std::size_t step = rows.size() / kGuessed + 1;
  std::size_t n_seen = 0, n_zero = 0;
  visit(feature, rows.size(), [&](const auto& codes) {
    for (std::size_t i = 0; i < rows.size(); i += step, ++n_seen) n_zero += codes[rows[i]] == 0;
  });
  return 2 * n_zero > n_seen;
}

void NodeCodes::list_nonzero(std::span<const RowIndex> rows, FeatureIndex feature,
                             UnfilledVector<SortKey>& keys) const {
  keys.resize(rows.size());
  visit(feature, rows.size(), [&](const auto& codes) {
    keys.resize(ahead_.helps() ? list_nonzero_of<true>(rows, codes, ahead_, keys.data())
                               : list_nonzero_of<false>(rows, codes, ahead_, keys.data()));
  });
}

Code NodeCodes::list_listed(std::span<const RowIndex> rows, FeatureIndex feature,
                            UnfilledVector<SortKey>& keys) const {
  const auto& codes = std::get<SparseCodes>(column(feature).codes);
  keys.clear();
  for_each_listed(codes, rows,
                  [&](std::size_t i, Code code) { keys.push_back(make_key(code, i)); });
  return codes.default_code;
}

}  // namespace arboleda
