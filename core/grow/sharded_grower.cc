#include "grow/sharded_grower.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/ordered_key.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "data/gather_codes.h"
#include "grow/frontier.h"
#include "layout/binary_feature_table.h"

namespace arboleda {

namespace {

// Rows that are loaded at a time, so that what they contribute stays in the cache.
constexpr std::size_t kBlock = std::size_t{1} << 13;

// Bytes of cells that are added up at a time, unless those of one node are more.
constexpr std::size_t kCellsAtATime = std::size_t{1} << 26;

std::vector<FeatureIndex> scored_binary_features(const BinnedDataset& table,
                                                 const CriterionFacts& facts,
                                                 const GrowthOptions& options,
                                                 const SplitLimits& limits) {
  const bool is_unlimited =
      limits.min_rows <= 1 && limits.min_weight <= 0.0 && !limits.is_monotonic;
  if (!facts.scores_binary_features || !is_unlimited) return {};
  BinaryFeatureColumns binary(table);
  const std::size_t n_flags = binary.feature.size();
  if (n_flags < 2 || !keeps_bits(n_flags, table.columns.size(), options.max_features)) return {};
  return std::move(binary.feature);
}

}  // namespace

ShardedGrower::ShardedGrower(const BinnedDataset& table, const FixedWeights& weights,
                             const TreeCriterion& criterion, const SentTargets& targets,
                             const GrowthOptions& options, const Context& context)
    : table_(table),
      criterion_(criterion),
      options_(options),
      context_(context),
      shards_(*context.shards()),
      search_(search_options(criterion.facts, options_, context.seed())),
      features_(candidate_features(table, options)),
      sender_(table, weights, targets, options_),
      sets_(table.columns.size()),
      draw_(options_, features_,
            scored_binary_features(table, criterion.facts, options, search_.limits),
            context.seed()) {
  require(!options.random_splits, "splits at random are not supported over shards");
  for (int i = 0; i < context.n_threads(); ++i) {
    cells_.push_back(criterion.make_shared(table, search_));
  }
  n_words_ = cells_[0]->n_words();
}

TreeArrays ShardedGrower::grow(std::vector<RowIndex>& rows) {
  rows_ = rows;
  Node root{{0, rows.size(), 0, 0, sets_.make(features_)}, {}};
  Node* const only = &root;
  measure(std::span(&only, 1));
  require(root.all.n_rows > 0, "at least one row of positive weight is needed");
  if (options_.policy == GrowthPolicy::best_first) {
    grow_best_first(std::move(root));
  } else {
    grow_levels(std::move(root));
  }
  const CriterionFacts& facts = criterion_.facts;
  for (GrownNode& node : trunk_.nodes) node.weight *= facts.weight_unit;
  std::vector<TreeArrays> subtrees = grow_subtrees();
  TreeArrays arrays = flatten(trunk_, subtrees, table_.n_features(), facts.n_outputs);
  arrays.impurity_exponent = facts.impurity_exponent;
  return arrays;
}

void ShardedGrower::grow_levels(Node root) {
  std::vector<Node> level;
  level.push_back(std::move(root));
  while (!level.empty()) {
    std::vector<Children> opened = open(level);
    level.clear();
    for (Children& children : opened) {
      GrownNode& parent = trunk_.nodes[static_cast<std::size_t>(children.id)];
      parent.left = static_cast<NodeIndex>(trunk_.nodes.size() + level.size());
      parent.right = parent.left + 1;
      level.push_back(std::move(children.left));
      level.push_back(std::move(children.right));
    }
  }
}

void ShardedGrower::grow_best_first(Node root) {
  Frontier<Waiting> frontier(options_.policy);
  const auto push = [&](std::span<Node> nodes) {
    for (Children& each : open(nodes)) {
      const double improvement = each.improvement;
      const NodeIndex id = each.id;
      frontier.push({improvement, id, std::make_unique<Children>(std::move(each))});
    }
  };
  push(std::span(&root, 1));
  grow_nodes(frontier, options_.max_leaf_nodes, [&](Waiting waiting, bool) {
    GrownNode& parent = trunk_.nodes[static_cast<std::size_t>(waiting.id)];
    parent.left = static_cast<NodeIndex>(trunk_.nodes.size());
    parent.right = parent.left + 1;
    Node pair[] = {std::move(waiting.children->left), std::move(waiting.children->right)};
    push(pair);
  });
}

// Adds nodes to the tree, in their order. The children of those that can be split.
std::vector<ShardedGrower::Children> ShardedGrower::open(std::span<Node> nodes) {
  context_.check();
  std::vector<Search> searches;
  for (Node& node : nodes) {
    if (is_terminal(node)) {
      record(node);
      sets_.release(node.pending.features);
    } else if (options_.policy == GrowthPolicy::depth_first &&
               node.all.n_rows <= options_.sent_rows) {
      trunk_.nodes.push_back({.subtree = static_cast<std::int32_t>(set_aside_.size())});
      trunk_.values.resize(trunk_.values.size() + criterion_.facts.n_outputs);
      set_aside_.push_back(node.pending);
    } else {
      searches.push_back({&node, static_cast<NodeIndex>(trunk_.nodes.size()), {}, 0, {}});
      record(node);
    }
  }
  std::size_t n_words = 0;
  for (const FeatureIndex feature : features_) n_words += count_words(feature);
  const std::size_t n_together =
      std::max<std::size_t>(1, kCellsAtATime / (sizeof(std::uint64_t) * (n_words + 1)));
  std::vector<Children> opened;
  for (std::size_t begin = 0; begin < searches.size(); begin += n_together) {
    const std::size_t n = std::min(n_together, searches.size() - begin);
    split(std::span(searches).subspan(begin, n), opened);
  }
  return opened;
}

void ShardedGrower::record(const Node& node) {
  const std::size_t start = trunk_.values.size();
  trunk_.values.insert(trunk_.values.end(), node.all.value.begin(), node.all.value.end());
  if (search_.limits.is_monotonic) {
    cells_[0]->within(node.pending.bounds, std::span(trunk_.values).subspan(start));
  }
  trunk_.nodes.push_back({.impurity = node.all.impurity,
                          .n_rows = static_cast<std::int64_t>(node.all.n_rows),
                          .weight = node.all.weight});
}

bool ShardedGrower::is_terminal(const Node& node) const {
  const std::uint64_t n_rows = node.all.n_rows;
  return node.pending.depth >= options_.max_depth || n_rows < options_.min_samples_split ||
         n_rows < 2 * options_.min_samples_leaf ||
         node.all.weight < 2 * search_.limits.min_weight || node.all.is_pure;
}

// The statistics of nodes, from the rows of all shards.
void ShardedGrower::measure(std::span<Node* const> nodes) {
  if (nodes.empty()) return;
  std::vector<std::uint64_t> words(nodes.size() * n_words_);
  for_tasks(nodes.size(), [&](std::size_t i, SharedCriterion& cells) {
    cells.clear(1);
    for_blocks(nodes[i]->pending, cells, [&](std::span<const RowIndex>) {
      cells.add_all(0);
      cells.see_range(nodes[i]->all.range);
    });
    cells.write(&words[i * n_words_]);
  });
  shards_.add(words);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto cell = std::span(words).subspan(i * n_words_, n_words_);
    nodes[i]->all.total.assign(cell.begin(), cell.end());
    nodes[i]->all.n_rows = cell.back();
  }
  if (cells_[0]->has_range()) {
    share_ranges(nodes);
    share_spreads(nodes);
  }
  for (Node* node : nodes) {
    if (node->all.n_rows > 0) cells_[0]->summarize(node->all);
  }
}

void ShardedGrower::share_ranges(std::span<Node* const> nodes) const {
  std::vector<std::uint64_t> words;
  for (const Node* node : nodes) {
    const TargetRange& range = node->all.range;
    words.insert(words.end(),
                 {~word_of_key(ordered_key(range.lowest)), word_of_key(ordered_key(range.highest)),
                  ~word_of_key(range.units.min), word_of_key(range.units.max)});
  }
  shards_.maximum(words);
  const std::uint64_t* next = words.data();
  for (Node* node : nodes) {
    node->all.range = {value_of_key(key_of_word(~next[0])),
                       value_of_key(key_of_word(next[1])),
                       {key_of_word(~next[2]), key_of_word(next[3])}};
    next += 4;
  }
}

void ShardedGrower::share_spreads(std::span<Node* const> nodes) {
  std::vector<std::uint64_t> words(nodes.size() * kLimbs);
  for_tasks(nodes.size(), [&](std::size_t i, SharedCriterion& cells) {
    Int128 sum = 0;
    for_blocks(nodes[i]->pending, cells,
               [&](std::span<const RowIndex>) { sum += cells.spread(nodes[i]->all); });
    write_limbs(sum, &words[i * kLimbs]);
  });
  shards_.add(words);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i]->all.spread = read_limbs(&words[i * kLimbs]);
  }
}

// Splits nodes that were opened, if they can be; their children take over their sets of features.
void ShardedGrower::split(std::span<Search> searches, std::vector<Children>& opened) {
  find_splits(searches);
  std::vector<Children> made;
  std::vector<Node*> measured;
  made.reserve(searches.size());
  for (const Search& search : searches) {
    if (!search.best.found()) {
      sets_.release(search.node->pending.features);
      continue;
    }
    Children& children = made.emplace_back(make_children(search));
    measured.insert(measured.end(), {&children.left, &children.right});
  }
  measure(measured);
  std::size_t next = 0;
  for (const Search& search : searches) {
    if (!search.best.found()) continue;
    Children& children = made[next++];
    if (confirm(search, children)) opened.push_back(std::move(children));
  }
}

void ShardedGrower::find_splits(std::span<Search> searches) {
  std::vector<Search*> filled;
  std::vector<QuickStream> random;
  for (Search& search : searches) {
    const PendingNode& pending = search.node->pending;
    random.push_back(draw_.stream(pending.key));
    std::vector<FeatureIndex> may_vary;
    sets_.list(pending.features, may_vary);
    search.features = draw_.list(search.node->all.n_rows, may_vary, random.back());
    filled.push_back(&search);
  }
  words_.clear();
  fill(filled);
  std::vector<Search*> unsplit;
  std::vector<std::size_t> places;
  std::vector<std::vector<FeatureIndex>> constant(searches.size());
  std::vector<std::uint8_t> is_done(searches.size());
  for_tasks(searches.size(), [&](std::size_t i, SharedCriterion& cells) {
    is_done[i] = draw_.search(begin_search(searches[i], cells, constant[i]), searches[i].features,
                              random[i]);
  });
  for (std::size_t i = 0; i < searches.size(); ++i) {
    remove(constant[i], searches[i]);
    if (is_done[i]) continue;
    sets_.list(searches[i].node->pending.features, searches[i].features);
    unsplit.push_back(&searches[i]);
    places.push_back(i);
  }
  if (unsplit.empty()) return;
  fill(unsplit);
  for (const std::size_t i : places) {
    std::vector<FeatureIndex> none;
    draw_.search_rest(begin_search(searches[i], *cells_[0], none), searches[i].features, random[i]);
    remove(none, searches[i]);
  }
}

// Takes features that turned out to be constant out of the node's set.
void ShardedGrower::remove(std::span<const FeatureIndex> constant, Search& search) {
  auto& set = search.node->pending.features;
  for (const FeatureIndex feature : constant) set = sets_.without(set, feature);
}

// constant: OUT features that do not vary.
CellsOfNode ShardedGrower::begin_search(Search& search, SharedCriterion& cells,
                                        std::vector<FeatureIndex>& constant) {
  cells.begin(search.node->all, search.node->pending.bounds);
  return {search.node->all.n_rows,
          [this, &search](FeatureIndex feature) { return varies(search, feature); },
          [this, &search, &cells, &constant](FeatureIndex feature) {
            if (cells.search(feature, cells_of(search, feature), search.best)) return true;
            constant.push_back(feature);
            return false;
          }};
}

bool ShardedGrower::varies(const Search& search, FeatureIndex feature) const {
  const CodedColumn& column = table_.columns[static_cast<std::size_t>(feature)];
  const std::uint64_t* const cells = cells_of(search, feature);
  for (std::size_t code = 0; code < column.n_codes(); ++code) {
    const std::uint64_t n = cells[code * n_words_ + n_words_ - 1];
    if (n > 0) return n < search.node->all.n_rows;
  }
  return false;
}

std::size_t ShardedGrower::count_words(FeatureIndex feature) const {
  return table_.columns[static_cast<std::size_t>(feature)].n_codes() * n_words_;
}

const std::uint64_t* ShardedGrower::cells_of(const Search& search, FeatureIndex feature) const {
  std::size_t at = search.first_word;
  for (const FeatureIndex other : search.features) {
    if (other == feature) break;
    at += count_words(other);
  }
  return &words_[at];
}

// Appends the cells of the features of these nodes, from the rows of all shards.
void ShardedGrower::fill(std::span<Search* const> searches) {
  // A task is some neighbouring features of a node.
  struct Task {
    const Search* search;
    std::size_t begin, end;  // of its features
    std::size_t first_word;
  };
  const auto n_threads = static_cast<std::size_t>(context_.n_threads());
  const std::size_t n_parts = (n_threads + searches.size() - 1) / searches.size();
  std::vector<Task> tasks;
  const std::size_t n_before = words_.size();
  std::size_t n_words = n_before, n_columns = 0;
  for (Search* search : searches) {
    const auto& features = search->features;
    search->first_word = n_words;
    n_columns += features.size();
    for (std::size_t part = 0; part < n_parts; ++part) {
      const std::size_t begin = part * features.size() / n_parts;
      const std::size_t end = (part + 1) * features.size() / n_parts;
      tasks.push_back({search, begin, end, n_words});
      for (std::size_t f = begin; f < end; ++f) n_words += count_words(features[f]);
    }
  }
  words_.resize(n_words);
  for_tasks(tasks.size(), [&](std::size_t i, SharedCriterion& cells) {
    const Task& task = tasks[i];
    const auto features =
        std::span(task.search->features).subspan(task.begin, task.end - task.begin);
    std::size_t n_cells = 0;
    for (const FeatureIndex feature : features) n_cells += count_words(feature) / n_words_;
    cells.clear(n_cells);
    std::vector<Code> codes;
    for_blocks(task.search->node->pending, cells, [&](std::span<const RowIndex> rows) {
      std::size_t first = 0;
      for (const FeatureIndex feature : features) {
        const CodedColumn& column = table_.columns[static_cast<std::size_t>(feature)];
        gather_codes(column, rows, codes);
        cells.add(codes, first);
        first += column.n_codes();
      }
    });
    if (n_cells > 0) cells.write(&words_[task.first_word]);
  });
  shards_.count_opened(searches.size(), n_columns, 0);
  shards_.add(std::span(words_).subspan(n_before));
}

// Records the split of a node, and parts its rows.
ShardedGrower::Children ShardedGrower::make_children(const Search& search) {
  const Split& split = search.best;
  const PendingNode& pending = search.node->pending;
  const CodedColumn& column = table_.columns[static_cast<std::size_t>(split.feature)];
  const std::uint64_t* const cells = cells_of(search, split.feature);
  const auto n_at = [&](std::size_t code) { return cells[code * n_words_ + n_words_ - 1]; };
  const auto goes_left = [&](std::size_t code) {
    if (column.is_categorical) {
      return std::ranges::binary_search(split.left_codes, static_cast<Code>(code));
    }
    return code == column.get_missing_code() ? split.missing_left : code <= split.code;
  };
  std::uint64_t n_left = 0;
  for (std::size_t code = 0; code < column.n_codes(); ++code) {
    if (goes_left(code)) n_left += n_at(code);
  }
  const std::uint64_t n_missing = column.has_missing ? n_at(column.get_missing_code()) : 0;
  GrownNode& node = trunk_.nodes[static_cast<std::size_t>(search.id)];
  node.feature = split.feature;
  // A side for missing values that the node never saw: the larger child.
  node.missing_left =
      n_missing > 0 ? split.missing_left : n_left > search.node->all.n_rows - n_left;
  if (column.is_categorical) {
    node.category_begin = trunk_.categories.size();
    for (std::size_t code = 0; code < column.n_values; ++code) {
      if (n_at(code) == 0 || goes_left(code) == node.missing_left) continue;
      trunk_.categories.push_back(static_cast<CategoryIndex>(code));
    }
    node.category_end = trunk_.categories.size();
  } else {
    node.threshold = threshold_between(column, split, {});
  }
  const auto rows = rows_of(pending);
  const std::size_t n_own =
      rows.empty() ? 0 : partition_rows(column, {}, split, rows, partition_).n_left;
  const std::size_t middle = pending.begin + n_own;
  const auto features = sets_.share(pending.features);
  Children children;
  children.id = search.id;
  children.left.pending = {pending.begin, middle, pending.depth + 1, child_key(pending.key, true),
                           pending.features};
  children.right.pending = {middle, pending.end, pending.depth + 1, child_key(pending.key, false),
                            features};
  return children;
}

// False where the split does not decrease the impurity enough. The children are measured.
bool ShardedGrower::confirm(const Search& search, Children& children) {
  const GrownNode& node = trunk_.nodes[static_cast<std::size_t>(search.id)];
  double decrease = node.weight * node.impurity;
  for (const Node* side : {&children.left, &children.right}) {
    decrease -= side->all.weight * side->all.impurity;
  }
  children.improvement = decrease / criterion_.facts.total_weight;
  if (options_.min_impurity_decrease > 0.0 &&
      std::ldexp(children.improvement, criterion_.facts.impurity_exponent) + kImpurityTolerance <
          options_.min_impurity_decrease) {
    sets_.release(children.left.pending.features);
    sets_.release(children.right.pending.features);
    return false;
  }
  if (search_.limits.is_monotonic) bound_children(search, children);
  return true;
}

// As Grower::bound_children().
void ShardedGrower::bound_children(const Search& search, Children& children) const {
  const Bounds& bounds = search.node->pending.bounds;
  children.left.pending.bounds = bounds;
  children.right.pending.bounds = bounds;
  const int direction = options_.monotonic[static_cast<std::size_t>(search.best.feature)];
  if (direction == 0 || search.best.next_code == Split::kNoCode) return;
  const double left = bounds.clamped(cells_[0]->ordered_value(children.left.all));
  const double right = bounds.clamped(cells_[0]->ordered_value(children.right.all));
  const double middle = std::midpoint(left, right);
  (direction > 0 ? children.left : children.right).pending.bounds.upper = middle;
  (direction > 0 ? children.right : children.left).pending.bounds.lower = middle;
}

std::vector<TreeArrays> ShardedGrower::grow_subtrees() {
  std::vector<std::span<const RowIndex>> rows;
  std::vector<SubtreeRoot> roots;
  for (const PendingNode& node : set_aside_) {
    rows.push_back(rows_of(node));
    roots.push_back({node.depth, node.key, node.bounds, {}});
    sets_.list(node.features, roots.back().features);
  }
  return sender_.grow(rows, roots, context_);
}

template <class Visit>
void ShardedGrower::for_blocks(const PendingNode& node, SharedCriterion& cells,
                               const Visit& visit) const {
  const std::span<const RowIndex> rows = rows_.subspan(node.begin, node.end - node.begin);
  for (std::size_t begin = 0; begin < rows.size(); begin += kBlock) {
    const auto block = rows.subspan(begin, std::min(kBlock, rows.size() - begin));
    cells.load(block);
    visit(block);
  }
}

template <class Body>
void ShardedGrower::for_tasks(std::size_t n, const Body& body) {
  parallel_for(context_.n_threads(), n, [&](std::size_t i, int worker) {
    body(i, *cells_[static_cast<std::size_t>(worker)]);
  });
}

}  // namespace arboleda
