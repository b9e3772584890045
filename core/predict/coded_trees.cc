#include "predict/coded_trees.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "predict/result_lines.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr std::size_t kMostLevels = 8;  // bits of a number

// The test of a node of either kind of tree.
struct NodeTest {
  bool is_leaf;
  NodeIndex right;
  ThresholdTest by_threshold;
  std::span<const CategoryIndex> categories;  // none where it has a threshold
};

NodeTest node_test_of(const Tree& tree, std::size_t i) {
  const auto node = static_cast<NodeIndex>(i);
  const TreeArrays& a = tree.arrays();
  if (tree.is_leaf(node)) return {true, -1, {}, {}};
  return {false,
          a.right[i],
          {a.feature[i], a.threshold[i], a.missing_left[i] != 0},
          tree.is_categorical(node) ? tree.categories(node) : std::span<const CategoryIndex>()};
}

NodeTest node_test_of(const CompactTree& tree, std::size_t i) {
  const CompactNode& node = tree.nodes[i];
  if (node.is_leaf()) return {true, -1, {}, {}};
  return {false,
          node.right,
          {node.feature(), node.threshold, node.missing_left()},
          node.is_categorical() ? tree.categories(node) : std::span<const CategoryIndex>()};
}

std::size_t size_of(const Tree& tree) { return static_cast<std::size_t>(tree.n_nodes()); }
std::size_t size_of(const CompactTree& tree) { return tree.n_nodes(); }

template <class AnyTree>
ByteCodes codes_of(std::span<const AnyTree> trees) {
  std::vector<ThresholdTest> tests;
  std::vector<FeatureIndex> categorical;
  for (const AnyTree& tree : trees) {
    for (std::size_t i = 0; i < size_of(tree); ++i) {
      const NodeTest test = node_test_of(tree, i);
      if (test.is_leaf) continue;
      if (test.categories.empty()) {
        tests.push_back(test.by_threshold);
      } else {
        categorical.push_back(test.by_threshold.feature);
      }
    }
  }
  return ByteCodes(tests, categorical);
}

// Those that a node lists go the other way than missing values do.
CodeSet codes_going_right(std::span<const CategoryIndex> listed, bool missing_left) {
  CodeSet set{};
  for (const CategoryIndex category : listed) {
    set.words[category / 32] |= std::uint32_t{1} << (category % 32);
  }
  if (!missing_left) {
    for (std::uint32_t& word : set.words) word = ~word;
  }
  return set;
}

}  // namespace

template <class AnyTree>
bool CodedTrees::can_hold(std::span<const AnyTree> trees) {
  for (const AnyTree& tree : trees) {
    if (size_of(tree) > 2 * kMostLeaves - 1) return false;
    for (std::size_t i = 0; i < size_of(tree); ++i) {
      const NodeTest test = node_test_of(tree, i);
      if (!test.categories.empty() && test.categories.back() >= ByteCodes::kMostCategories) {
        return false;
      }
    }
  }
  return true;
}

template <class AnyTree>
CodedTrees::CodedTrees(std::span<const AnyTree> trees) : codes_(codes_of(trees)) {
  trees_.reserve(trees.size());
  for (const AnyTree& tree : trees) add(tree);
}

// In preorder, for trees of many different tests.
template <class AnyTree>
void CodedTrees::number_leaves(const AnyTree& tree, CodedTree& coded,
                               std::vector<std::uint16_t>& line_of) {
  for (std::size_t i = 0; i < size_of(tree); ++i) {
    if (!node_test_of(tree, i).is_leaf) continue;
    line_of[i] = coded.n_leaves++;
    leaves_.push_back(static_cast<NodeIndex>(i));
  }
}

// A symmetric tree has one test per level, and may leave out those on which all of its rows agree. Like
// every tree of few tests, it needs to evaluate each once: the outcomes, as bits with 1 for right, are
// the number of the leaf. A leaf has all numbers that lead to it.
template <class AnyTree>
bool CodedTrees::number_by_levels(const AnyTree& tree, CodedTree& coded,
                                  std::vector<std::uint16_t>& line_of) {
  std::vector<ThresholdTest> tests;
  std::vector<std::size_t> test_number(size_of(tree));
  std::size_t n_inner = 0;
  for (std::size_t i = 0; i < size_of(tree); ++i) {
    const NodeTest test = node_test_of(tree, i);
    if (test.is_leaf) continue;
    ++n_inner;
    const auto same = std::find_if(tests.begin(), tests.end(), [&](const ThresholdTest& q) {
      return q.feature == test.by_threshold.feature && q.threshold == test.by_threshold.threshold;
    });
    test_number[i] = static_cast<std::size_t>(same - tests.begin());
    if (same == tests.end()) tests.push_back(test.by_threshold);
    if (tests.size() > kMostLevels || !test.categories.empty()) return false;
    coded.agree_on_missing = coded.agree_on_missing &&
                             tests[test_number[i]].missing_left == test.by_threshold.missing_left;
  }
  if (tests.size() >= n_inner) return false;
  const std::size_t n_numbers = std::size_t{1} << tests.size();
  std::vector<NodeIndex> leaves;
  std::vector<bool> is_met(size_of(tree), false);
  for (std::size_t number = 0; number < n_numbers; ++number) {
    std::size_t node = 0;
    for (NodeTest test = node_test_of(tree, 0); !test.is_leaf; test = node_test_of(tree, node)) {
      const bool right = (number >> (tests.size() - 1 - test_number[node])) & 1;
      node = right ? static_cast<std::size_t>(test.right) : node + 1;
    }
    leaves.push_back(static_cast<NodeIndex>(node));
    line_of[node] = static_cast<std::uint16_t>(number);
    is_met[node] = true;
  }
  // Missing values may reach a leaf that no combination of outcomes leads to.
  if (std::count(is_met.begin(), is_met.end(), true) != static_cast<std::ptrdiff_t>(n_inner + 1)) {
    return false;
  }
  leaves_.insert(leaves_.end(), leaves.begin(), leaves.end());
  coded.n_leaves = static_cast<std::uint16_t>(n_numbers);
  coded.n_levels = static_cast<std::uint16_t>(tests.size());
  for (const ThresholdTest& test : tests) {
    const ByteCodes::Place place = codes_.place_of(test);
    levels_.push_back({place.line, 0, 0, 0, place.last});
  }
  return true;
}

// Preorder backwards: the children of a node come before it.
template <class AnyTree>
void CodedTrees::add(const AnyTree& tree) {
  CodedTree coded{nodes_.size(), levels_.size(), leaves_.size(), sets_.size(), 0, 0, 0, 0, 0, true};
  const std::size_t size = size_of(tree);
  std::vector<std::uint16_t> line_of(size);  // line of each node's
  if (!number_by_levels(tree, coded, line_of)) number_leaves(tree, coded, line_of);
  FreeLines lines;
  for (std::size_t i = size; i-- > 0;) {
    const NodeTest test = node_test_of(tree, i);
    if (test.is_leaf) continue;
    ByteCodes::Place place;
    if (test.categories.empty()) {
      place = codes_.place_of(test.by_threshold);
    } else {
      place = {static_cast<std::uint32_t>(codes_.n_lines() + coded.n_sets++), 0};
      sets_.push_back({codes_.line_of_categories(test.by_threshold.feature),
                       codes_going_right(test.categories, test.by_threshold.missing_left)});
    }
    const std::uint16_t left = line_of[i + 1];
    const std::uint16_t right = line_of[static_cast<std::size_t>(test.right)];
    lines.give_back(left);
    lines.give_back(right);
    line_of[i] = lines.take();
    nodes_.push_back({place.line, left, right, line_of[i], place.last});
    ++coded.n_nodes;
  }
  coded.root_line = line_of[0];
  n_results_ = std::max(n_results_, static_cast<std::uint16_t>(lines.n_lines()));
  most_sets_ = std::max<std::size_t>(most_sets_, coded.n_sets);
  most_leaves_ = std::max<std::size_t>(most_leaves_, coded.n_leaves);
  trees_.push_back(coded);
}

std::size_t CodedTrees::n_nodes(std::size_t first, std::size_t last) const {
  if (first == last) return 0;
  const std::size_t end = last < trees_.size() ? trees_[last].first_node : nodes_.size();
  return end - trees_[first].first_node;
}

CodedBlock CodedTrees::make_block() const {
  CodedBlock block;
  block.codes_.resize(codes_.n_lines() + most_sets_);
  block.results_.resize(n_results_);
  for (std::size_t leaf = 0; leaf < most_leaves_; ++leaf) {
    std::memset(block.results_[leaf].of_row, static_cast<int>(leaf), kTreeRows);
  }
  return block;
}

const std::uint8_t* CodedTrees::find_leaves(std::size_t tree, CodedBlock& block) const {
  const CodedTree& coded = trees_[tree];
  const CodedTreeKernels& loops = kernels().coded_trees;
  TreeLine* codes = block.codes_.data();
  TreeLine* results = block.results_.data();
  for (std::size_t s = 0; s < coded.n_sets; ++s) {
    const CategorySet& set = sets_[coded.first_set + s];
    loops.find_codes(codes[set.line], set.right, codes[codes_.n_lines() + s]);
  }
  if (coded.n_levels > 0 && (coded.agree_on_missing || !block.any_missing_)) {
    loops.level_numbers(levels_.data() + coded.first_level, coded.n_levels, codes,
                        results + kLeafLines);
    return results[kLeafLines].of_row;
  }
  loops.leaf_numbers(nodes_.data() + coded.first_node, coded.n_nodes, codes, results);
  return results[coded.root_line].of_row;
}

template bool CodedTrees::can_hold(std::span<const Tree>);
template bool CodedTrees::can_hold(std::span<const CompactTree>);
template CodedTrees::CodedTrees(std::span<const Tree>);
template CodedTrees::CodedTrees(std::span<const CompactTree>);

}  // namespace arboleda
