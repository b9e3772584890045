#include "grow/subtree_sender.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/shards.h"
#include "base/thread_pool.h"
#include "data/code_by_edges.h"

namespace arboleda {

namespace {

// Bytes of rows that are sent at a time, unless those of one subtree are more.
constexpr std::size_t kSentAtATime = std::size_t{1} << 27;

// Calls visit(codes) for the codes of a column, which are one a row.
template <class Column, class Visit>
void visit_codes(Column& column, const Visit& visit) {
  std::visit(
      [&](auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          require(false, "rows of sparse columns cannot be sent");
        } else {
          visit(codes);
        }
      },
      column.codes);
}

std::size_t code_bytes(const CodedColumn& column) {
  std::size_t n_bytes = 0;
  visit_codes(column, [&](const auto& codes) { n_bytes = sizeof(codes[0]); });
  return n_bytes;
}

std::size_t count_words(std::size_t n_bytes) {
  return (n_bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

template <class Arrays, class Visit>
void visit_arrays(Arrays& tree, const Visit& visit) {
  visit(tree.feature);
  visit(tree.threshold);
  visit(tree.right);
  visit(tree.missing_left);
  visit(tree.impurity);
  visit(tree.n_node_samples);
  visit(tree.weight);
  visit(tree.value);
  visit(tree.category_start);
  visit(tree.category);
}

// A tree as words: its number among the subtrees, that of its outputs, and its arrays after their sizes.
void append_tree_words(const TreeArrays& tree, std::size_t number,
                       std::vector<std::uint64_t>& words) {
  words.push_back(number);
  words.push_back(static_cast<std::uint64_t>(tree.n_outputs));
  visit_arrays(tree, [&](const auto& array) {
    const std::size_t n_bytes = array.size() * sizeof(array[0]);
    words.push_back(array.size());
    const std::size_t at = words.size();
    words.resize(at + count_words(n_bytes));
    if (n_bytes > 0) std::memcpy(&words[at], array.data(), n_bytes);
  });
}

// Reads such a tree, and returns what follows it.
const std::uint64_t* read_tree(const std::uint64_t* next, std::span<TreeArrays> subtrees) {
  TreeArrays& tree = subtrees[*next++];
  tree.n_outputs = static_cast<std::int32_t>(*next++);
  visit_arrays(tree, [&](auto& array) {
    array.resize(*next++);
    const std::size_t n_bytes = array.size() * sizeof(array[0]);
    if (n_bytes > 0) std::memcpy(array.data(), next, n_bytes);
    next += count_words(n_bytes);
  });
  return next;
}

}  // namespace

SubtreeSender::SubtreeSender(const BinnedDataset& table, const FixedWeights& weights,
                             const SentTargets& targets, const GrowthOptions& options)
    : table_(table), weights_(weights), targets_(targets), options_(options) {
  std::size_t n_bytes = 0;
  for (const CodedColumn& column : table.columns) n_bytes += code_bytes(column);
  n_code_words_ = count_words(n_bytes);
  n_words_ = n_code_words_ + targets.n_words + (weights.is_unit() ? 0 : 1);
}

std::vector<TreeArrays> SubtreeSender::grow(std::span<const std::span<const RowIndex>> rows,
                                            std::span<const SubtreeRoot> roots,
                                            const Context& context) const {
  const Shards& shards = *context.shards();
  const std::size_t n_subtrees = rows.size();
  std::vector<TreeArrays> subtrees(n_subtrees);
  if (n_subtrees == 0) return subtrees;
  std::vector<std::uint64_t> n_own;
  for (const auto& own : rows) n_own.push_back(own.size());
  // Of each subtree: the rows of the shards before this one, and of all.
  std::vector<std::uint64_t> n_before(n_subtrees), n_rows(n_subtrees);
  const std::vector<std::uint64_t> n_each = shards.gather(n_own);
  for (std::size_t shard = 0; shard < shards.count(); ++shard) {
    for (std::size_t i = 0; i < n_subtrees; ++i) {
      if (shard == shards.number()) n_before[i] = n_rows[i];
      n_rows[i] += n_each[shard * n_subtrees + i];
    }
  }
  for (std::size_t begin = 0, end = 0; begin < n_subtrees; begin = end) {
    context.check();
    std::vector<std::size_t> first;  // word of each subtree
    std::size_t n_words = 0;
    for (; end < n_subtrees; ++end) {
      const std::size_t more = n_rows[end] * n_words_;
      if (end > begin && (n_words + more) * sizeof(std::uint64_t) > kSentAtATime) break;
      first.push_back(n_words);
      n_words += more;
    }
    std::vector<std::uint64_t> words(n_words);
    parallel_for(context.n_threads(), end - begin, [&](std::size_t i, int) {
      write_rows(rows[begin + i], words.data() + first[i] + n_before[begin + i] * n_words_);
    });
    shards.add(words);
    std::vector<std::size_t> own;
    for (std::size_t i = begin; i < end; ++i) {
      if (i % shards.count() == shards.number()) own.push_back(i);
    }
    parallel_for(context.n_threads(), own.size(), [&](std::size_t task, int) {
      const std::size_t i = own[task];
      subtrees[i] = grow_one(std::span(words).subspan(first[i - begin], n_rows[i] * n_words_),
                             roots[i], context.of_one_task());
    });
    words = {};
    std::vector<std::uint64_t> grown;
    for (const std::size_t i : own) append_tree_words(subtrees[i], i, grown);
    grown = join_all(&shards, std::move(grown));
    const std::uint64_t* next = grown.data();
    for (std::size_t i = begin; i < end; ++i) next = read_tree(next, subtrees);
  }
  return subtrees;
}

// words: OUT those of these rows.
void SubtreeSender::write_rows(std::span<const RowIndex> rows, std::uint64_t* words) const {
  std::size_t at = 0;  // byte of a row
  for (const CodedColumn& column : table_.columns) {
    visit_codes(column, [&](const auto& codes) {
      auto* row = reinterpret_cast<unsigned char*>(words) + at;
      for (const RowIndex r : rows) {
        std::memcpy(row, &codes[r], sizeof(codes[r]));
        row += n_words_ * sizeof(std::uint64_t);
      }
      at += sizeof(codes[0]);
    });
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint64_t* const rest = words + i * n_words_ + n_code_words_;
    targets_.write(rows[i], rest);
    if (!weights_.is_unit()) rest[targets_.n_words] = weights_.value[rows[i]];
  }
}

// words: of all rows of the subtree.
TreeArrays SubtreeSender::grow_one(std::span<const std::uint64_t> words, const SubtreeRoot& root,
                                   const Context& context) const {
  BinnedDataset table;
  table.n_rows = words.size() / n_words_;
  std::size_t at = 0;
  for (const CodedColumn& column : table_.columns) {
    CodedColumn own;
    own.is_categorical = column.is_categorical;
    own.has_missing = column.has_missing;
    own.n_values = column.n_values;
    own.values = column.values;
    own.upper = column.upper;
    allocate_codes(own, table.n_rows);
    visit_codes(own, [&](auto& codes) {
      const auto* row = reinterpret_cast<const unsigned char*>(words.data()) + at;
      for (std::size_t i = 0; i < table.n_rows; ++i, row += n_words_ * sizeof(std::uint64_t)) {
        std::memcpy(&codes[i], row, sizeof(codes[i]));
      }
      at += sizeof(codes[0]);
    });
    table.columns.push_back(std::move(own));
  }
  FixedWeights weights;
  weights.total = weights_.total;
  weights.unit = weights_.unit;
  weights.largest = weights_.largest;
  std::vector<std::uint64_t> targets;
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    const auto rest = words.subspan(i * n_words_ + n_code_words_, n_words_ - n_code_words_);
    targets.insert(targets.end(), rest.begin(),
                   rest.begin() + static_cast<std::ptrdiff_t>(targets_.n_words));
    if (!weights_.is_unit()) weights.value.push_back(rest.back());
  }
  return targets_.grow({table, weights, options_, context, root}, targets);
}

}  // namespace arboleda
