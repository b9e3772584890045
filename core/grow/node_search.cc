#include "grow/node_search.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/thread_pool.h"

namespace arboleda {

namespace {

// Rows from which one feature of a node takes longer than polling the stop flag.
constexpr std::size_t kLargeNode = std::size_t{1} << 14;

}  // namespace

NodeSearch::NodeSearch(const GrowthOptions& options, std::size_t n_features, const Context& context)
    : options_(options),
      n_features_(n_features),
      context_(context),
      hits_(n_features, options.looks_at_all(static_cast<FeatureIndex>(n_features))
                            ? n_features
                            : static_cast<std::size_t>(options.max_features)),
      root_(QuickStream::root(context.seed(), Purpose::feature_subset, options.tree)) {}

void NodeSearch::find(Rows rows, PendingNode& pending, GrowthWorkspace& workspace,
                      std::deque<GrowthWorkspace>* helpers) const {
  workspace.best = {};
  if (options_.looks_at_all(static_cast<FeatureIndex>(n_features_))) {
    search_all(rows, pending, workspace, helpers);
  } else {
    search_drawn(rows, pending, workspace);
  }
}

void NodeSearch::search_all(Rows rows, PendingNode& pending, GrowthWorkspace& workspace,
                            std::deque<GrowthWorkspace>* helpers) const {
  auto& list = workspace.features;
  auto& varies = workspace.varies;
  workspace.sets.list(pending.features, list);
  workspace.splitter->begin(list);
  if (helpers == nullptr || rows.size() * list.size() < kParallelWork) {
    search_each(rows, workspace);
  } else {
    search_in_parallel(rows, workspace, *helpers);
  }
  for (std::size_t f = 0; f < list.size(); ++f) {
    if (!varies[f]) pending.features = workspace.sets.without(pending.features, list[f]);
  }
}

// Searches workspace.features, and records which of them vary.
void NodeSearch::search_each(Rows rows, GrowthWorkspace& workspace) const {
  const auto& list = workspace.features;
  auto& varies = workspace.varies;
  varies.assign(list.size(), 0);
  check_in_large(rows);
  Splitter& splitter = *workspace.splitter;
  if (splitter.search_side_by_side(list, workspace.best, varies)) return;
  for (std::size_t f = 0; f < list.size(); ++f) {
    check_in_large(rows);
    const FeatureIndex next = list[std::min(f + 1, list.size() - 1)];
    varies[f] = splitter.search(list[f], next, workspace.best);
  }
}

void NodeSearch::search_in_parallel(Rows rows, GrowthWorkspace& workspace,
                                    std::deque<GrowthWorkspace>& helpers) const {
  const auto n_threads = static_cast<int>(helpers.size());
  const auto& list = workspace.features;
  auto& varies = workspace.varies;
  const auto search_in = [&](GrowthWorkspace& mine, std::size_t f, std::size_t next) {
    check_in_large(rows);
    varies[f] = mine.splitter->search(list[f], list[next], mine.best);
  };
  varies.assign(list.size(), 0);
  for (auto& w : helpers) {
    w.best = {};
    w.splitter->join_search(*workspace.splitter);
  }
  std::vector<std::size_t> others;  // those that are not summed up already
  for (std::size_t f = 0; f < list.size(); ++f) {
    if (workspace.splitter->has_sums(list[f])) {
      search_in(workspace, f, f);
    } else {
      others.push_back(f);
    }
  }
  const std::size_t n_tasks =
      std::min(others.size(), std::size_t{8} * static_cast<unsigned>(n_threads));
  parallel_for(n_threads, n_tasks, [&](std::size_t task, int worker) {
    const std::size_t end = (task + 1) * others.size() / n_tasks;
    GrowthWorkspace& mine = helpers[static_cast<std::size_t>(worker)];
    for (std::size_t i = task * others.size() / n_tasks; i < end; ++i) {
      search_in(mine, others[i], others[std::min(i + 1, end - 1)]);
    }
  });
  Split best;
  for (const auto& w : helpers) {
    if (w.best.better_than(best)) best = w.best;
  }
  workspace.best = best;
}

// A node of many rows takes long enough to poll the stop flag within it.
void NodeSearch::check_in_large(Rows rows) const {
  if (rows.size() >= kLargeNode) context_.check();
}

// Draws features without replacement until max_features were looked at, and on until one of them
// varies in the node: a node that can be split is split.
void NodeSearch::search_drawn(Rows rows, PendingNode& pending, GrowthWorkspace& workspace) const {
  QuickStream random(root_, pending.key);
  const auto n_wanted = static_cast<std::size_t>(options_.max_features);
  workspace.features.clear();
  workspace.drawn_binary_features.clear();
  if (rows.size() <= kFewRows && workspace.binary_features.scores() &&
      workspace.unknown.size() <= kCandidatesADraw * n_wanted) {
    draw_candidates(rows, pending, random, workspace);
    if (!search_list(rows, pending, workspace)) search_rest(rows, pending, random, workspace);
    return;
  }
  for (std::size_t i = 0; i < n_wanted; ++i) {
    const FeatureIndex feature = workspace.draw.next(random);
    if (workspace.sets.has(pending.features, feature)) look_at(feature, workspace);
  }
  workspace.draw.put_back();
  if (search_list(rows, pending, workspace)) return;
  list_candidates(rows, pending, workspace);
  search_rest(rows, pending, random, workspace);
}

void NodeSearch::look_at(FeatureIndex feature, GrowthWorkspace& workspace) {
  const bool is_binary = workspace.binary_features.scores(feature);
  (is_binary ? workspace.drawn_binary_features : workspace.features).push_back(feature);
}

// The features that may vary in the node.
void NodeSearch::list_candidates(Rows rows, const PendingNode& pending,
                                 GrowthWorkspace& workspace) const {
  auto& candidates = workspace.candidates;
  if (!workspace.binary_features.scores()) return workspace.sets.list(pending.features, candidates);
  candidates.clear();
  const auto add = [&](FeatureIndex feature) {
    if (workspace.sets.has(pending.features, feature)) candidates.push_back(feature);
  };
  for (const FeatureIndex feature : workspace.unknown) add(feature);
  workspace.numeric_features.for_varying(rows, add);
  workspace.binary_features.for_varying(rows, add);
}

// Those that the draws from all features hit.
void NodeSearch::draw_candidates(Rows rows, const PendingNode& pending, QuickStream& random,
                                 GrowthWorkspace& workspace) const {
  auto& candidates = workspace.candidates;
  list_candidates(rows, pending, workspace);
  const std::size_t n_hits = hits_.draw(std::span(candidates), random);
  for (std::size_t i = 0; i < n_hits; ++i) look_at(candidates[i], workspace);
  candidates.erase(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n_hits));
}

// Draws on among the candidates until one varies.
void NodeSearch::search_rest(Rows rows, PendingNode& pending, QuickStream& random,
                             GrowthWorkspace& workspace) const {
  auto& rest = workspace.candidates;
  for (bool any_varies = false; !any_varies && !rest.empty();) {
    const std::size_t at = random.below(static_cast<std::uint32_t>(rest.size()));
    workspace.features.clear();
    workspace.drawn_binary_features.clear();
    look_at(std::exchange(rest[at], rest.back()), workspace);
    rest.pop_back();
    any_varies = search_list(rows, pending, workspace);
  }
}

// Searches workspace.features and drawn_binary_features. False if none varies in the node.
bool NodeSearch::search_list(Rows rows, PendingNode& pending, GrowthWorkspace& workspace) const {
  bool any_varies =
      workspace.splitter->search_binary_features(workspace.drawn_binary_features, workspace.best);
  for (const FeatureIndex feature : workspace.drawn_binary_features) {
    if (workspace.binary_features.is_split_by(feature)) continue;
    pending.features = workspace.sets.without(pending.features, feature);
  }
  const auto& list = workspace.features;
  if (list.empty()) return any_varies;
  workspace.splitter->begin(list);
  search_each(rows, workspace);
  for (std::size_t f = 0; f < list.size(); ++f) {
    any_varies |= workspace.varies[f] != 0;
    if (!workspace.varies[f]) pending.features = workspace.sets.without(pending.features, list[f]);
  }
  return any_varies;
}

}  // namespace arboleda
