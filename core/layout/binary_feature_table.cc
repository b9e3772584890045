#include "layout/binary_feature_table.h"

#include <algorithm>
#include <utility>

namespace arboleda {

namespace {

constexpr std::size_t kLine = 64;  // bytes that a register or a line of the cache holds

// Looks at single columns that take as long as adding up a line of flags.
constexpr std::size_t kLooksALine = 16;

// Rows at a time, so that those that are written stay in the cache.
constexpr std::size_t kPackedRows = 512;

const CodeArray<std::uint8_t>* flags_of(const CodedColumn& column) {
  const bool is_binary = column.n_values == 2 && !column.has_missing && !column.is_categorical;
  return is_binary ? std::get_if<CodeArray<std::uint8_t>>(&column.codes) : nullptr;
}

}  // namespace

BinaryFeatureColumns::BinaryFeatureColumns(const BinnedDataset& table)
    : place(table.columns.size(), kNone) {
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const auto* flags = flags_of(table.columns[j]);
    if (flags == nullptr) continue;
    place[j] = codes.size();
    codes.push_back(flags->data());
    feature.push_back(static_cast<FeatureIndex>(j));
  }
}

bool keeps_bits(std::size_t n_flags, std::size_t n_columns, FeatureIndex max_features) {
  const std::size_t n_looks =
      max_features < 0 ? n_columns : std::min(n_columns, static_cast<std::size_t>(max_features));
  const std::size_t n_lines = (n_flags + kLine - 1) / kLine;
  return n_looks * n_flags < n_lines * kLooksALine * n_columns;
}

BinaryFeatureTable::BinaryFeatureTable(const BinnedDataset& table, FeatureIndex max_features) {
  BinaryFeatureColumns flags(table);
  const auto& codes = flags.codes;
  if (codes.size() < 2) return;
  place_ = std::move(flags.place);
  feature_ = std::move(flags.feature);
  n_flags_ = codes.size();
  if (keeps_bits(n_flags_, table.columns.size(), max_features)) {
    fill_bits(codes, table.n_rows);
  } else {
    fill_rows(codes, table.n_rows);
  }
}

void BinaryFeatureTable::fill_rows(const std::vector<const std::uint8_t*>& codes,
                                   std::size_t n_rows) {
  stride_ = (n_flags_ + kLine - 1) / kLine * kLine;
  flags_.resize(n_rows * stride_);
  for (std::size_t begin = 0; begin < n_rows; begin += kPackedRows) {
    const std::size_t end = std::min(begin + kPackedRows, n_rows);
    for (std::size_t j = 0; j < n_flags_; ++j) {
      for (std::size_t i = begin; i < end; ++i) {
        flags_[i * stride_ + j] = codes[j][i] != 0 ? 0xFF : 0;
      }
    }
  }
}

void BinaryFeatureTable::fill_bits(const std::vector<const std::uint8_t*>& codes,
                                   std::size_t n_rows) {
  stride_ = (n_flags_ + 31) / 32;
  words_.resize(n_rows * stride_ + BinaryFeatureBits::kBlock - 1);
  for (std::size_t begin = 0; begin < n_rows; begin += kPackedRows) {
    const std::size_t end = std::min(begin + kPackedRows, n_rows);
    for (std::size_t j = 0; j < n_flags_; ++j) {
      for (std::size_t i = begin; i < end; ++i) {
        words_[i * stride_ + j / 32] |= std::uint32_t{codes[j][i] != 0} << j % 32;
      }
    }
  }
}

}  // namespace arboleda
