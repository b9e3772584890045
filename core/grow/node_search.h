// The best split of a node over its features: all of them, or some that are drawn at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "base/context.h"
#include "base/random.h"
#include "base/types.h"
#include "grow/growth_options.h"
#include "grow/growth_workspace.h"
#include "split/hit_draw.h"

namespace arboleda {

// Nodes of at most so many rows find out which flags vary among them before any feature is drawn.
inline constexpr std::size_t kFewRows = 64;

// Features that may vary, but for flags, for every one that is drawn: of more, drawing is quicker than
// going through them.
inline constexpr std::size_t kCandidatesADraw = 2;

class NodeSearch {
 public:
  // n_features: candidates for a split.
  NodeSearch(const GrowthOptions& options, std::size_t n_features, const Context& context);

  // Leaves the best split in workspace.best, and takes features that turn out to be constant out of
  // the node's set. rows: of the node, which the workspace's splitter searches. helpers: the workspaces of
  // all threads, where several may search one node.
  void find(std::span<const RowIndex> rows, PendingNode& pending, GrowthWorkspace& workspace,
            std::deque<GrowthWorkspace>* helpers) const;

 private:
  using Rows = std::span<const RowIndex>;

  void search_all(Rows rows, PendingNode& pending, GrowthWorkspace& workspace,
                  std::deque<GrowthWorkspace>* helpers) const;
  void search_each(Rows rows, GrowthWorkspace& workspace) const;
  void search_in_parallel(Rows rows, GrowthWorkspace& workspace,
                          std::deque<GrowthWorkspace>& helpers) const;
  void check_in_large(Rows rows) const;
  void search_drawn(Rows rows, PendingNode& pending, GrowthWorkspace& workspace) const;
  static void look_at(FeatureIndex feature, GrowthWorkspace& workspace);
  void list_candidates(Rows rows, const PendingNode& pending, GrowthWorkspace& workspace) const;
  void draw_candidates(Rows rows, const PendingNode& pending, QuickStream& random,
                       GrowthWorkspace& workspace) const;
  void search_rest(Rows rows, PendingNode& pending, QuickStream& random,
                   GrowthWorkspace& workspace) const;
  bool search_list(Rows rows, PendingNode& pending, GrowthWorkspace& workspace) const;

  const GrowthOptions& options_;
  const std::size_t n_features_;
  const Context& context_;
  const HitDraw hits_;
  const std::uint64_t root_;  // of the streams
};

}  // namespace arboleda
