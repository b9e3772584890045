// Nodes whose children are opened together. Of a file, one pass over the rows parts those of all of them and
// fills the histograms of the lighter children.
#include <algorithm>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "data/row_windows.h"
#include "grow/boosted_tree_builder.h"

namespace arboleda {

namespace {

// Rows that are read for one node after the other: their codes stay in the cache.
constexpr std::size_t kSweptRows = std::size_t{1} << 14;

constexpr std::size_t kBits = 64;

// Of what is left of the memory, the part that is not used for pages of the file.
constexpr std::size_t kSpareShare = 4;

// Which child of a node has the smaller hessian is known before its rows are counted.
bool builds_left(const OpenNode& parent) {
  return parent.best.left.hessian <= parent.node.total.hessian - parent.best.left.hessian;
}

}  // namespace

// A node of a sweep.
struct BoostedTreeBuilder::SweptNode {
  std::size_t begin, end;  // of rows_
  Histogram* histogram;    // of all rows or, of a parted node, of a child; null: it is not needed
  bool is_parted = false;  // the sides of its rows are found
  std::size_t place = 0;   // of the split's column in a row
  // For each byte, not for each code alone: a file that changes must not lead beyond it.
  std::vector<std::uint8_t> goes_left = {};
  bool adds_left = false;
  std::vector<std::uint64_t> left = {};  // a bit for each row
  std::size_t next = 0;                  // the first that was not read yet
};

// Few nodes at a time, so that their histograms have room.
void BoostedTreeBuilder::open_ahead(std::vector<OpenNode*> parents, bool are_last) {
  const bool has_blocks = block_ends_.size() > 1;  // cells of many outputs are made block by block
  if ((has_blocks || are_last) && !is_shared()) return;
  std::erase_if(parents, [](const OpenNode* parent) { return parent->ahead != nullptr; });
  parents.resize(std::min(parents.size(), most_histograms() / 2));
  if (parents.empty()) return;
  if (are_last) {
    part_ahead(parents);
  } else {
    open_together(parents);
  }
}

// Shards tell each other of all nodes at once.
void BoostedTreeBuilder::part_ahead(std::span<OpenNode* const> parents) {
  std::vector<std::size_t> n_own_left;
  for (const OpenNode* parent : parents) n_own_left.push_back(part_own_rows(*parent));
  std::vector<std::uint64_t> n_left(n_own_left.begin(), n_own_left.end());
  share_parts(parents, n_own_left, {}, n_left);
  for (std::size_t i = 0; i < parents.size(); ++i) {
    parents[i]->ahead =
        std::make_unique<Children>(make_children(*parents[i], n_own_left[i], n_left[i]));
  }
}

// Shards wait for each other once for all nodes: the histograms of lighter children travel with the numbers of
// rows.
void BoostedTreeBuilder::open_together(std::span<OpenNode* const> parents) {
  const std::size_t n = parents.size();
  std::vector<OpenNode> built(n);
  for (std::size_t i = 0; i < n; ++i) built[i].histogram = take_child_histogram(*parents[i]);
  std::vector<std::size_t> n_own_left(n);
  if (is_swept()) {
    sweep_children(parents, built, n_own_left);
  } else {  // in memory, one node after the other is faster
    for (std::size_t i = 0; i < n; ++i) {
      const OpenNode& parent = *parents[i];
      n_own_left[i] = part_own_rows(parent);
      const std::size_t middle = parent.begin + n_own_left[i];
      built[i].begin = builds_left(parent) ? parent.begin : middle;
      built[i].end = builds_left(parent) ? middle : parent.end;
      if (built[i].histogram != nullptr) fill(built[i]);
    }
  }
  std::vector<OpenNode*> filled, opened;
  for (OpenNode& node : built) {
    if (node.histogram != nullptr) filled.push_back(&node);
  }
  std::vector<std::uint64_t> n_left(n_own_left.begin(), n_own_left.end());
  if (context_.shards() != nullptr) share_parts(parents, n_own_left, filled, n_left);
  for (std::size_t i = 0; i < n; ++i) {
    OpenNode& parent = *parents[i];
    parent.ahead = std::make_unique<Children>(make_children(parent, n_own_left[i], n_left[i]));
    auto& [left, right] = *parent.ahead;
    OpenNode& first = builds_left(parent) ? left : right;
    first.histogram = std::move(built[i].histogram);
    search_nodes(first, &first == &left ? &right : &left, std::move(parent.histogram));
    opened.insert(opened.end(), {&left, &right});
  }
  decide(opened);
}

// Parts the rows of all nodes, and fills the histograms of their lighter children.
void BoostedTreeBuilder::sweep_children(std::span<OpenNode* const> parents,
                                        std::span<const OpenNode> built,
                                        std::span<std::size_t> n_own_left) {
  std::vector<SweptNode> swept;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const OpenNode& parent = *parents[i];
    const Split& split = parent.best.split;
    SweptNode node{parent.begin, parent.end, built[i].histogram.get()};
    node.is_parted = true;
    node.place = column_of(split.feature);
    node.goes_left = list_left_codes(split_column(parent), split);
    node.goes_left.resize(kDenseCells);
    node.adds_left = builds_left(parent);
    node.left.resize((parent.n_own_rows() + kBits - 1) / kBits);
    swept.push_back(std::move(node));
  }
  sweep(swept);
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const auto rows = rows_.subspan(parents[i]->begin, parents[i]->n_own_rows());
    n_own_left[i] = partition_.part(swept[i].left, rows, threads_to_part(rows.size()));
  }
}

// Of the lighter child, or null where no search will need it. Cells are as wide as the most rows that the child
// may have need: a row has one unit of hessian or more.
std::unique_ptr<Histogram> BoostedTreeBuilder::take_child_histogram(const OpenNode& parent) {
  const std::int64_t left = parent.best.left.hessian;
  const auto [lighter, heavier] = std::minmax({left, parent.node.total.hessian - left});
  const auto may_be = [&](std::int64_t hessian) {
    return parent.node.depth + 1 < options_.max_depth && hessian >= 2 * units_.least;
  };
  if (!may_be(lighter) && !(may_be(heavier) && parent.histogram != nullptr)) return nullptr;
  return take_histogram(
      std::min<std::uint64_t>(parent.node.n_rows, static_cast<std::uint64_t>(lighter)));
}

// Threads share the nodes, and where these are few, the rows of each.
void BoostedTreeBuilder::sweep(std::span<SweptNode> nodes) {
  const auto n_threads = static_cast<std::size_t>(is_parallel() ? context_.n_threads() : 1);
  const std::size_t n_parts = std::clamp<std::size_t>(2 * n_threads / nodes.size(), 1, n_threads);
  std::vector<Histogram> parts(nodes.size() * (n_parts - 1));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    SweptNode& node = nodes[i];
    node.next = node.begin;
    if (node.histogram == nullptr) continue;
    node.histogram->clear(n_cells(), node.histogram->is_wide());
    for (std::size_t part = 1; part < n_parts; ++part) {
      parts[i * (n_parts - 1) + part - 1].clear(n_cells(), node.histogram->is_wide());
    }
  }
  std::vector<std::vector<RowIndex>> added(n_threads);
  std::vector<std::size_t> stops(nodes.size());
  RowWindow window;
  // The rows before `end`, all of which are in the window.
  const auto sweep_until = [&](std::size_t end) {
    context_.check();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(nodes[i].next);
      const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(nodes[i].end);
      stops[i] = static_cast<std::size_t>(std::lower_bound(first, last, end) - rows_.begin());
    }
    const auto sweep_part = [&](std::size_t task, int thread) {
      const std::size_t i = task / n_parts, part = task % n_parts;
      SweptNode& node = nodes[i];
      // Threads do not share the bits of a word.
      const std::size_t n_words =
          (stops[i] - node.begin) / kBits - (node.next - node.begin) / kBits;
      const auto cut = [&](std::size_t k) {
        if (k == 0) return node.next;
        if (k == n_parts) return stops[i];
        const std::size_t word = (node.next - node.begin) / kBits + k * n_words / n_parts;
        return std::max(node.begin + word * kBits, node.next);
      };
      Histogram* const histogram = node.histogram == nullptr || part == 0
                                       ? node.histogram
                                       : &parts[i * (n_parts - 1) + part - 1];
      sweep_rows(node, cut(part), cut(part + 1), window, histogram,
                 added[static_cast<std::size_t>(thread)]);
    };
    parallel_for(static_cast<int>(n_threads), nodes.size() * n_parts, sweep_part);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].next = stops[i];
  };
  RowWindows windows(*table_.mapped, table_.n_rows, bytes_to_cache());
  while (const auto next = windows.next()) {
    window = *next;
    const std::size_t step = kSweptRows * n_parts;
    for (std::size_t end = window.begin + step; end < window.end; end += step) sweep_until(end);
    sweep_until(window.end);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t part = 1; part < n_parts && nodes[i].histogram != nullptr; ++part) {
      nodes[i].histogram->add(parts[i * (n_parts - 1) + part - 1], 0, n_cells());
    }
  }
}

// Rows begin .. end of rows_, all in the window. added: scratch.
void BoostedTreeBuilder::sweep_rows(SweptNode& node, std::size_t begin, std::size_t end,
                                    const RowWindow& window, Histogram* histogram,
                                    std::vector<RowIndex>& added) const {
  if (begin == end) return;
  if (!node.is_parted && all_rows_) {
    return add_rows(nullptr, begin - window.begin, end - window.begin, *histogram, window);
  }
  if (added.size() < end - begin) added.resize(end - begin);
  const auto first = static_cast<RowIndex>(window.begin);
  const std::size_t stride = codes_->dense().stride;
  RowIndex* to = added.data();
  for (std::size_t at = begin; at < end;) {
    if (!node.is_parted) {
      *to++ = rows_[at++] - first;
      continue;
    }
    const std::size_t bit = at - node.begin;
    const std::size_t n = std::min(kBits - bit % kBits, end - at);
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const RowIndex row = rows_[at + j] - first;
      const bool goes_left = node.goes_left[window.bytes[row * stride + node.place]] != 0;
      word |= std::uint64_t{goes_left} << j;
      *to = row;
      to += goes_left == node.adds_left;
    }
    node.left[bit / kBits] |= word << bit % kBits;
    at += n;
  }
  if (histogram == nullptr) return;
  add_rows(added.data(), 0, static_cast<std::size_t>(to - added.data()), *histogram, window);
}

// The histogram of one node by a sweep of its own.
void BoostedTreeBuilder::sum_up_swept(const OpenNode& node, Histogram& histogram) {
  SweptNode swept{node.begin, node.end, &histogram};
  sweep(std::span(&swept, 1));
  n_parts_ = 1;
}

// The system may take these pages back, and the fit still has all of its arrays: a first tree has made them when
// it comes to its first sweep.
std::size_t BoostedTreeBuilder::bytes_to_cache() {
  if (!cached_bytes_) {
    const Sweeps& sweeps = *table_.mapped->sweeps;
    const std::size_t now = private_bytes().value_or(SIZE_MAX);
    const std::size_t used = now - std::min(now, sweeps.private_bytes);
    const std::size_t left = sweeps.available - std::min(sweeps.available, used);
    cached_bytes_ = left - left / kSpareShare;
  }
  return *cached_bytes_;
}

}  // namespace arboleda
