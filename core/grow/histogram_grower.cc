#include "grow/histogram_grower.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/error.h"
#include "grow/frontier.h"
#include "grow/grown_tree.h"
#include "grow/histogram_tree_builder.h"
#include "grow/vector_tree_builder.h"

namespace arboleda {

namespace {

GrowthPolicy policy_of(const HistogramOptions& options, bool opens_ahead) {
  if (options.growth == BoostedGrowth::level_wise) return GrowthPolicy::level_wise;
  // Without a limit every node is split. The depth-first order holds the fewest open; that of levels
  // opens the most together.
  const bool limited = options.max_leaf_nodes != std::numeric_limits<std::int64_t>::max();
  if (limited) return GrowthPolicy::best_first;
  return opens_ahead ? GrowthPolicy::level_wise : GrowthPolicy::depth_first;
}

// Of the improvement by the node whose turn it is: a node that waits with less is not opened ahead.
constexpr double kOpenedAhead = 0.5;

// Opens the children of the node whose turn it is, together with those of the best that wait: as many as
// may still be split, and that few descendants of better ones will outdo. Children of the others would be
// opened in vain more often than they save a call.
void open_together(BoostedTreeBuilder& nodes, OpenNode& node, Frontier<OpenNode>& frontier,
                   std::int64_t n_splits, bool is_best_first) {
  std::vector<OpenNode*> best;
  for (OpenNode& waiting : frontier.nodes()) best.push_back(&waiting);
  std::sort(best.begin(), best.end(), [](const OpenNode* a, const OpenNode* b) {
    return a->improvement > b->improvement || (a->improvement == b->improvement && a->id < b->id);
  });
  best.insert(best.begin(), &node);
  auto n = std::min(best.size(), static_cast<std::size_t>(n_splits));
  while (is_best_first && best[n - 1]->improvement < kOpenedAhead * best[0]->improvement) --n;
  best.resize(n);
  nodes.open_ahead(std::move(best), false);
}

// The same where a pass costs much, and children that are opened in vain cost little: all nodes that may still be
// split, the best of those that wait, and of their children that are known. What is not known yet can only come
// before them.
void open_known(BoostedTreeBuilder& nodes, OpenNode& node, Frontier<OpenNode>& frontier,
                std::int64_t n_splits) {
  // Ties may go to any: which children are opened does not change the tree.
  const auto is_worse = [](const OpenNode* a, const OpenNode* b) {
    return a->improvement < b->improvement;
  };
  std::vector<OpenNode*> waiting, parents{&node};
  for (OpenNode& other : frontier.nodes()) waiting.push_back(&other);
  std::make_heap(waiting.begin(), waiting.end(), is_worse);
  for (--n_splits; n_splits > 0 && !waiting.empty(); --n_splits) {
    std::pop_heap(waiting.begin(), waiting.end(), is_worse);
    OpenNode* const best = waiting.back();
    waiting.pop_back();
    if (best->ahead == nullptr) {
      parents.push_back(best);
      continue;
    }
    for (OpenNode* child : {&best->ahead->first, &best->ahead->second}) {
      if (!child->can_be_split) continue;
      waiting.push_back(child);
      std::push_heap(waiting.begin(), waiting.end(), is_worse);
    }
  }
  nodes.open_ahead(std::move(parents), false);
}

// The depth of a complete tree with no more leaves than that.
std::int32_t full_depth(std::int64_t max_leaf_nodes) {
  return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint64_t>(max_leaf_nodes))) - 1;
}

void grow_by_node(BoostedTreeBuilder& nodes, const HistogramOptions& options) {
  const GrowthPolicy policy = policy_of(options, nodes.opens_ahead());
  Frontier<OpenNode> frontier(policy);
  const auto push = [&](OpenNode node) {
    if (node.can_be_split) {
      frontier.push(std::move(node));
    } else {
      nodes.close(std::move(node));
    }
  };
  push(nodes.open_root());
  std::int64_t n_splits = options.max_leaf_nodes - 1;  // that may follow
  grow_nodes(frontier, options.max_leaf_nodes, [&](OpenNode node, bool is_last) {
    if (nodes.opens_ahead() && node.ahead == nullptr && !is_last) {
      if (nodes.is_shared()) {
        open_together(nodes, node, frontier, n_splits, policy == GrowthPolicy::best_first);
      } else {
        open_known(nodes, node, frontier, n_splits);
      }
    }
    --n_splits;
    auto [left, right] = nodes.open_children(std::move(node), is_last);
    push(std::move(left));
    push(std::move(right));
  });
  while (!frontier.empty()) nodes.close(frontier.pop());
}

}  // namespace

std::shared_ptr<const RowCodes> make_row_codes(const BinnedDataset& table, const Context& context,
                                               bool has_one_reader) {
  return std::make_shared<const RowCodes>(table, context, RowCodes::kMostPartCells, has_one_reader);
}

struct HistogramGrower::Impl {
  Impl(const BinnedDataset& table, std::shared_ptr<const RowCodes> codes,
       const HistogramOptions& growth, const Context& context)
      : options(growth), nodes(table, std::move(codes), growth, context) {}

  void grow_by_level() {
    std::vector<OpenNode> level;
    level.push_back(nodes.open_root());
    const std::int32_t depth = std::min(options.max_depth, full_depth(options.max_leaf_nodes));
    for (std::int32_t d = 0; d < depth && nodes.search_level(level, d); ++d) {
      std::vector<OpenNode> next;
      if (nodes.opens_ahead()) {
        std::vector<OpenNode*> parents;
        for (OpenNode& node : level) {
          if (node.can_be_split) parents.push_back(&node);
        }
        nodes.open_ahead(std::move(parents), d + 1 == depth);
      }
      for (OpenNode& node : level) {
        if (!node.can_be_split) {
          next.push_back(std::move(node));
          continue;
        }
        auto [left, right] = nodes.open_children(std::move(node), d + 1 == depth);
        next.push_back(std::move(left));
        next.push_back(std::move(right));
      }
      level = std::move(next);
    }
    for (OpenNode& node : level) nodes.close(std::move(node));
  }

  HistogramOptions options;
  HistogramTreeBuilder nodes;
};

HistogramGrower::HistogramGrower(const BinnedDataset& table, std::shared_ptr<const RowCodes> codes,
                                 const HistogramOptions& options, const Context& context)
    : impl_(std::make_unique<Impl>(table, std::move(codes), options, context)) {}

HistogramGrower::~HistogramGrower() = default;

TreeArrays HistogramGrower::grow(std::span<const RowIndex> rows, const RowDerivatives& derivatives,
                                 std::uint32_t tree, LeafRows& leaves) {
  impl_->nodes.begin_tree(rows, derivatives, tree, leaves);
  if (impl_->options.growth == BoostedGrowth::symmetric) {
    impl_->grow_by_level();
  } else {
    grow_by_node(impl_->nodes, impl_->options);
  }
  return impl_->nodes.end_tree(derivatives, leaves);
}

struct VectorGrower::Impl {
  Impl(const BinnedDataset& table, const HistogramOptions& growth, std::size_t n_outputs,
       const Context& context)
      : options(growth),
        nodes(table,
              std::make_shared<const RowCodes>(
                  table, context, VectorCells::block_cells(VectorGradients::width_of(n_outputs))),
              growth, n_outputs, context) {}

  HistogramOptions options;
  VectorTreeBuilder nodes;
};

VectorGrower::VectorGrower(const BinnedDataset& table, const HistogramOptions& options,
                           std::size_t n_outputs, const Context& context)
    : impl_(std::make_unique<Impl>(table, options, n_outputs, context)) {
  require(options.growth != BoostedGrowth::symmetric, "symmetric trees have one output each");
  require(options.monotonic.empty(), "trees that outputs share do not keep monotonic constraints");
}

VectorGrower::~VectorGrower() = default;

std::vector<TreeArrays> VectorGrower::grow(std::span<const RowIndex> rows,
                                           const VectorDerivatives& searched,
                                           const VectorDerivatives& derivatives, std::uint32_t tree,
                                           LeafRows& leaves) {
  impl_->nodes.begin_tree(rows, searched, tree, leaves);
  grow_by_node(impl_->nodes, impl_->options);
  return impl_->nodes.end_tree(derivatives, leaves);
}

}  // namespace arboleda
