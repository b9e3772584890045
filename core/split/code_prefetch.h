// Prefetches codes that will be read next, while others are read. Where a table is larger than
// the caches, a node would otherwise wait for the codes of each feature that it looks at.
#pragma once

#include <cstddef>
#include <type_traits>
#include <variant>

#include "base/compiler.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "layout/code_rows.h"

namespace arboleda {

class CodePrefetch {
 public:
  explicit CodePrefetch(const BinnedDataset& table) : table_(table) {
    std::size_t n_bytes = 0;
    for (const CodedColumn& column : table.columns) {
      if (column.n_codes() <= 2) continue;  // flags are read otherwise
      n_bytes += std::visit([](const auto& codes) { return bytes_of(codes); }, column.codes);
    }
    helps_ = n_bytes > kCacheBytes;
  }

  // Whether there is anything to gain.
  bool helps() const { return helps_; }

  // fetch() prefetches the codes of the feature, as a node of so many rows reads them. Codes that are
  // listed stay as they are.
  void point_at(FeatureIndex feature, const CodeRows& code_rows, std::size_t n_rows) {
    if (code_rows.serves(feature, n_rows)) {
      const StridedCodes codes = code_rows.column(feature);
      first_ = reinterpret_cast<const std::byte*>(codes.first);
      stride_ = codes.stride;
      return;
    }
    std::visit(
        [&](const auto& codes) {
          using Codes = std::decay_t<decltype(codes)>;
          if constexpr (!std::is_same_v<Codes, SparseCodes>) {
            first_ = reinterpret_cast<const std::byte*>(codes.data());
            stride_ = sizeof(typename Codes::value_type);
          }
        },
        table_.columns[static_cast<std::size_t>(feature)].codes);
  }

  void fetch(RowIndex row) const {
    if (first_ != nullptr) ARBOLEDA_PREFETCH(first_ + row * stride_);
  }

 private:
  // What the nearer caches of a processor hold.
  static constexpr std::size_t kCacheBytes = std::size_t{1} << 21;

  template <class Codes>
  static std::size_t bytes_of(const Codes& codes) {
    if constexpr (std::is_same_v<Codes, SparseCodes>) {
      return 0;
    } else {
      return codes.size() * sizeof(typename Codes::value_type);
    }
  }

  const BinnedDataset& table_;
  bool helps_ = false;
  const std::byte* first_ = nullptr;
  std::size_t stride_ = 0;
};

}  // namespace arboleda
