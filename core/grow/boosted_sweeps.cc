// Nodes whose children are opened together. Of a file, one pass over the rows parts those of all of them and
// fills the histograms of the lighter children.
#include <algorithm>
#include <array>
#include <bit>

#include "base/thread_pool.h"
#include "grow/boosted_tree_builder.h"

namespace arboleda {

namespace {

// Rows that are read for one node after the other: their codes stay in the cache.
constexpr std::size_t kSweptRows = std::size_t{1} << 14;

constexpr std::size_t kBits = 64;

// Which child of a node has the smaller hessian is known before its rows are counted.
bool builds_left(const OpenNode& parent) {
  return parent.best.left.hessian <= parent.node.total.hessian - parent.best.left.hessian;
}

}  // namespace

// A node of a sweep. Where its split's column is among the codes of rows, the pass parts its rows.
struct BoostedTreeBuilder::SweptNode {
  std::size_t begin, end;  // of rows_: those of the node, or of the child where it is parted
  Histogram* histogram;    // of the child, or null: it is not needed
  const std::uint8_t* codes = nullptr;       // of the split's column; null: all rows are added
  std::vector<std::uint8_t> goes_left = {};  // for each code
  bool adds_left = false;
  std::vector<std::uint64_t> left = {};  // a bit for each row
  std::size_t next = 0;                  // the first that was not read yet
};

// Few nodes at a time, so that their histograms have room.
void BoostedTreeBuilder::open_ahead(std::vector<OpenNode*> parents, bool are_last) {
  const bool is_shared = context_.shards() != nullptr;
  const bool has_blocks = block_ends_.size() > 1;  // cells of many outputs are made block by block
  if ((has_blocks || are_last) && !is_shared) return;
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
  std::vector<SweptNode> swept;
  std::vector<std::size_t> n_own_left(n);
  const bool sweeps =
      is_swept() && block_ends_.size() <= 1;  // in memory, one node after the other is faster
  for (std::size_t i = 0; i < n; ++i) {
    const OpenNode& parent = *parents[i];
    built[i].histogram = take_child_histogram(parent);
    const std::size_t place = column_of(parent.best.split.feature);
    const bool parts = sweeps && place < codes_->n_dense();
    if (!parts) n_own_left[i] = part_own_rows(parent);
    const std::size_t middle = parent.begin + n_own_left[i];
    SweptNode node{parent.begin, parent.end, built[i].histogram.get()};
    if (parts) {
      node.codes = codes_->dense().bytes + place;
      node.goes_left = list_left_codes(split_column(parent), parent.best.split);
      node.adds_left = builds_left(parent);
      node.left.resize((parent.n_own_rows() + kBits - 1) / kBits);
    } else {
      (builds_left(parent) ? node.end : node.begin) = middle;
    }
    built[i].begin = node.begin;
    built[i].end = node.end;
    swept.push_back(std::move(node));
  }
  std::vector<OpenNode*> filled, opened;
  for (OpenNode& node : built) {
    if (node.histogram != nullptr) filled.push_back(&node);
  }
  if (sweeps) {
    sweep(swept);
  } else {
    for (const OpenNode* node : filled) fill(*node);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (swept[i].codes == nullptr) continue;
    const auto rows = rows_.subspan(parents[i]->begin, parents[i]->n_own_rows());
    n_own_left[i] = partition_.part(swept[i].left, rows,
                                    rows.size() >= kParallelRows ? context_.n_threads() : 1);
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
  const std::size_t step = kSweptRows * n_parts;
  std::vector<std::size_t> stops(nodes.size());
  for (std::size_t end = step; end < table_.n_rows + step; end += step) {
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
      sweep_rows(node, cut(part), cut(part + 1), histogram,
                 added[static_cast<std::size_t>(thread)]);
    };
    parallel_for(static_cast<int>(n_threads), nodes.size() * n_parts, sweep_part);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].next = stops[i];
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t part = 1; part < n_parts && nodes[i].histogram != nullptr; ++part) {
      nodes[i].histogram->add(parts[i * (n_parts - 1) + part - 1], 0, n_cells());
    }
  }
}

// Rows begin .. end of rows_. added: scratch.
void BoostedTreeBuilder::sweep_rows(SweptNode& node, std::size_t begin, std::size_t end,
                                    Histogram* histogram, std::vector<RowIndex>& added) const {
  if (begin == end) return;
  if (node.codes == nullptr) {
    if (histogram != nullptr) add_rows(rows_.data(), begin, end, *histogram);
    return;
  }
  if (added.size() < end - begin) added.resize(end - begin);
  const std::size_t stride = codes_->dense().stride;
  RowIndex* to = added.data();
  for (std::size_t at = begin; at < end;) {
    const std::size_t bit = at - node.begin;
    const std::size_t n = std::min(kBits - bit % kBits, end - at);
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const RowIndex row = rows_[at + j];
      const bool goes_left = node.goes_left[node.codes[row * stride]] != 0;
      word |= std::uint64_t{goes_left} << j;
      *to = row;
      to += goes_left == node.adds_left;
    }
    node.left[bit / kBits] |= word << bit % kBits;
    at += n;
  }
  if (histogram == nullptr) return;
  add_rows(added.data(), 0, static_cast<std::size_t>(to - added.data()), *histogram);
}

}  // namespace arboleda
