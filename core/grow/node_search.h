// The best split of a node over its features: all of them, or some that are drawn at random.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "base/types.h"
#include "grow/growth_options.h"
#include "grow/growth_workspace.h"
#include "split/hit_draw.h"
#include "split/node_view.h"

namespace arboleda {

// Rows from which one feature of a node takes longer than polling the stop flag.
inline constexpr std::size_t kLargeNode = std::size_t{1} << 14;

// Nodes of at most so many rows find out which flags vary among them before any feature is drawn.
inline constexpr std::size_t kFewRows = 64;

// Features that may vary, but for flags, for every one that is drawn: of more, drawing is quicker than
// going through them.
inline constexpr std::size_t kCandidatesADraw = 2;

template <class Criterion>
class NodeSearch {
 public:
  using Workspace = GrowthWorkspace<Criterion>;

  // n_features: candidates for a split.
  NodeSearch(const GrowthOptions& options, std::size_t n_features, const Context& context)
      : options_(options),
        n_features_(n_features),
        context_(context),
        hits_(n_features, options.looks_at_all(static_cast<FeatureIndex>(n_features))
                              ? n_features
                              : static_cast<std::size_t>(options.max_features)),
        root_(QuickStream::root(context.seed(), Purpose::feature_subset, options.tree)) {}

  // Leaves the best split in workspace.best, and takes features that turn out to be constant out of
  // the node's set. helpers: the workspaces of all threads, where several may search one node.
  void find(const NodeView<Criterion>& node, PendingNode& pending, Workspace& workspace,
            std::deque<Workspace>* helpers) const {
    workspace.best = {};
    if (options_.looks_at_all(static_cast<FeatureIndex>(n_features_))) {
      search_all(node, pending, workspace, helpers);
    } else {
      search_drawn(node, pending, workspace);
    }
  }

 private:
  void search_all(const NodeView<Criterion>& node, PendingNode& pending, Workspace& workspace,
                  std::deque<Workspace>* helpers) const {
    auto& list = workspace.features;
    auto& varies = workspace.varies;
    workspace.sets.list(pending.features, list);
    workspace.search.begin(node, list);
    if (helpers == nullptr || node.rows.size() * list.size() < kParallelWork) {
      search_each(node, workspace);
    } else {
      search_in_parallel(node, workspace, *helpers);
    }
    for (std::size_t f = 0; f < list.size(); ++f) {
      if (!varies[f]) pending.features = workspace.sets.without(pending.features, list[f]);
    }
  }

  // Searches workspace.features, and records which of them vary.
  void search_each(const NodeView<Criterion>& node, Workspace& workspace) const {
    const auto& list = workspace.features;
    auto& varies = workspace.varies;
    varies.assign(list.size(), 0);
    check_in_large(node);
    if (workspace.search.search_side_by_side(node, list, workspace.best, varies)) return;
    for (std::size_t f = 0; f < list.size(); ++f) {
      check_in_large(node);
      workspace.search.look_ahead(node, list[std::min(f + 1, list.size() - 1)]);
      varies[f] = workspace.search.search(node, list[f], workspace.best);
    }
  }

  void search_in_parallel(const NodeView<Criterion>& node, Workspace& workspace,
                          std::deque<Workspace>& helpers) const {
    const auto n_threads = static_cast<int>(helpers.size());
    const auto& list = workspace.features;
    auto& varies = workspace.varies;
    const auto search_in = [&](Workspace& mine, std::size_t f) {
      check_in_large(node);
      varies[f] = mine.search.search(node, list[f], mine.best);
    };
    varies.assign(list.size(), 0);
    for (auto& w : helpers) w.best = {};
    std::vector<std::size_t> others;  // those that are not summed up already
    for (std::size_t f = 0; f < list.size(); ++f) {
      if (workspace.search.has_sums(list[f])) {
        search_in(workspace, f);
      } else {
        others.push_back(f);
      }
    }
    const std::size_t n_tasks =
        std::min(others.size(), std::size_t{8} * static_cast<unsigned>(n_threads));
    parallel_for(n_threads, n_tasks, [&](std::size_t task, int worker) {
      const std::size_t end = (task + 1) * others.size() / n_tasks;
      Workspace& mine = helpers[static_cast<std::size_t>(worker)];
      for (std::size_t i = task * others.size() / n_tasks; i < end; ++i) {
        mine.search.look_ahead(node, list[others[std::min(i + 1, end - 1)]]);
        search_in(mine, others[i]);
      }
    });
    Split best;
    for (const auto& w : helpers) {
      if (w.best.better_than(best)) best = w.best;
    }
    workspace.best = best;
  }

  // A node of many rows takes long enough to poll the stop flag within it.
  void check_in_large(const NodeView<Criterion>& node) const {
    if (node.rows.size() >= kLargeNode) context_.check();
  }

  // Draws features without replacement until max_features were looked at, and on until one of them
  // varies in the node: a node that can be split is split.
  void search_drawn(const NodeView<Criterion>& node, PendingNode& pending,
                    Workspace& workspace) const {
    QuickStream random(root_, pending.key);
    const auto n_wanted = static_cast<std::size_t>(options_.max_features);
    workspace.features.clear();
    workspace.drawn_binary_features.clear();
    if (node.rows.size() <= kFewRows && workspace.search.binary_features().scores() &&
        workspace.unknown.size() <= kCandidatesADraw * n_wanted) {
      draw_candidates(node, pending, random, workspace);
      if (!search_list(node, pending, workspace)) search_rest(node, pending, random, workspace);
      return;
    }
    for (std::size_t i = 0; i < n_wanted; ++i) {
      const FeatureIndex feature = workspace.draw.next(random);
      if (workspace.sets.has(pending.features, feature)) look_at(feature, workspace);
    }
    workspace.draw.put_back();
    if (search_list(node, pending, workspace)) return;
    list_candidates(node, pending, workspace);
    search_rest(node, pending, random, workspace);
  }

  static void look_at(FeatureIndex feature, Workspace& workspace) {
    const bool is_binary = workspace.search.binary_features().scores(feature);
    (is_binary ? workspace.drawn_binary_features : workspace.features).push_back(feature);
  }

  // The features that may vary in the node.
  void list_candidates(const NodeView<Criterion>& node, const PendingNode& pending,
                       Workspace& workspace) const {
    auto& candidates = workspace.candidates;
    if (!workspace.search.binary_features().scores())
      return workspace.sets.list(pending.features, candidates);
    candidates.clear();
    const auto add = [&](FeatureIndex feature) {
      if (workspace.sets.has(pending.features, feature)) candidates.push_back(feature);
    };
    for (const FeatureIndex feature : workspace.unknown) add(feature);
    workspace.search.numeric_features().for_varying(node, add);
    workspace.search.binary_features().for_varying(node, add);
  }

  // Those that the draws from all features hit.
  void draw_candidates(const NodeView<Criterion>& node, const PendingNode& pending,
                       QuickStream& random, Workspace& workspace) const {
    auto& candidates = workspace.candidates;
    list_candidates(node, pending, workspace);
    const std::size_t n_hits = hits_.draw(std::span(candidates), random);
    for (std::size_t i = 0; i < n_hits; ++i) look_at(candidates[i], workspace);
    candidates.erase(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n_hits));
  }

  // Draws on among the candidates until one varies.
  void search_rest(const NodeView<Criterion>& node, PendingNode& pending, QuickStream& random,
                   Workspace& workspace) const {
    auto& rest = workspace.candidates;
    for (bool any_varies = false; !any_varies && !rest.empty();) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(rest.size()));
      workspace.features.clear();
      workspace.drawn_binary_features.clear();
      look_at(std::exchange(rest[at], rest.back()), workspace);
      rest.pop_back();
      any_varies = search_list(node, pending, workspace);
    }
  }

  // Searches workspace.features and drawn_binary_features. False if none varies in the node.
  bool search_list(const NodeView<Criterion>& node, PendingNode& pending,
                   Workspace& workspace) const {
    auto& search = workspace.search;
    bool any_varies =
        search.search_binary_features(node, workspace.drawn_binary_features, workspace.best);
    for (const FeatureIndex feature : workspace.drawn_binary_features) {
      if (search.binary_features().is_split_by(feature)) continue;
      pending.features = workspace.sets.without(pending.features, feature);
    }
    const auto& list = workspace.features;
    if (list.empty()) return any_varies;
    search.begin(node, list);
    search_each(node, workspace);
    for (std::size_t f = 0; f < list.size(); ++f) {
      any_varies |= workspace.varies[f] != 0;
      if (!workspace.varies[f])
        pending.features = workspace.sets.without(pending.features, list[f]);
    }
    return any_varies;
  }

  const GrowthOptions& options_;
  const std::size_t n_features_;
  const Context& context_;
  const HitDraw hits_;
  const std::uint64_t root_;  // of the streams
};

}  // namespace arboleda
