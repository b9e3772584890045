#include "predict/coded_trees.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "base/random.h"
#include "predict/coded_rows.h"
#include "predict/ensemble.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDenormal = std::numeric_limits<double>::denorm_min();

// Numbers near which mistakes are made, and others between them.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : random(seed, Purpose::feature_subset, 0, 0) {}

  double next() {
    static constexpr double kHard[] = {
        0.0,       -0.0,       1.0, -1.0, kInfinity,  -kInfinity, 1e308,  -1e308, 1e-308,
        kDenormal, -kDenormal, 0.1, 0.1f, 16777217.0, -3.5e38,    3.4e38, 1e39,   2.5};
    const std::uint32_t kind = random.below(3);
    if (kind == 0) return kHard[random.below(std::size(kHard))];
    return (random.below(64) - 32.0) / (kind == 1 ? 4.0 : 3.0);
  }
  double next_or_missing() {
    return random.below(6) == 0 ? std::numeric_limits<double>::quiet_NaN() : next();
  }

  RandomStream random;
};

constexpr FeatureIndex kFeatures = 5;  // the last one of categories

// A tree of so many leaves with tests of all kinds.
Tree tree_of(std::size_t n_leaves, Numbers& numbers, bool categories = true) {
  TreeArrays a;
  a.n_features = kFeatures;
  a.n_outputs = 1;
  const std::function<void(std::size_t, NodeIndex)> grow = [&](std::size_t n, NodeIndex right_of) {
    const std::vector<double> value{numbers.random.below(1000) / 7.0};
    if (n == 1) {
      append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, value, right_of);
      return;
    }
    const auto feature = static_cast<FeatureIndex>(numbers.random.below(kFeatures));
    TreeNode node{false, feature, numbers.next(), numbers.random.below(2) == 0, 0.0, 2, 2.0};
    std::vector<CategoryIndex> listed;
    if (categories && feature == kFeatures - 1) {
      for (CategoryIndex c = 0; c < 255; ++c) {
        if (numbers.random.below(8) == 0) listed.push_back(c);
      }
      if (!listed.empty()) node.threshold = 0.0;
      node.categories = listed;
    }
    const NodeIndex id = append_node(a, node, value, right_of);
    const std::size_t left = 1 + numbers.random.below(static_cast<std::uint32_t>(n - 1));
    grow(left, -1);
    grow(n - left, id);
  };
  grow(n_leaves, -1);
  return Tree(std::move(a));
}

struct Columns {
  std::vector<std::vector<double>> doubles;
  std::vector<std::vector<float>> floats;

  Columns(std::size_t n_rows, Numbers& numbers) : doubles(kFeatures), floats(kFeatures) {
    for (std::size_t j = 0; j < kFeatures; ++j) {
      for (std::size_t i = 0; i < n_rows; ++i) {
        double x = numbers.next_or_missing();
        if (j == kFeatures - 1 && numbers.random.below(8) > 0) x = numbers.random.below(300) - 10.0;
        doubles[j].push_back(x);
        floats[j].push_back(static_cast<float>(x));
      }
    }
  }
  template <class T>
  static TableView view(const std::vector<std::vector<T>>& columns, DType dtype) {
    TableView table{columns[0].size(), {}};
    for (const auto& column : columns) {
      table.columns.push_back(
          {reinterpret_cast<const std::byte*>(column.data()), sizeof(T), dtype});
    }
    return table;
  }
};

template <class Table>
std::vector<double> naive_scores(const TreeEnsemble& ensemble, const Table& table) {
  const std::size_t k = ensemble.n_outputs();
  std::vector<double> scores(table.n_rows * k);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    for (std::size_t i = 0; i < k; ++i) scores[row * k + i] = ensemble.start[i];
    for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
      const Tree& tree = ensemble.trees[t];
      NodeIndex node = 0;
      while (!tree.is_leaf(node)) {
        node = tree.child(node, table.at(row, static_cast<std::size_t>(tree.feature(node))));
      }
      scores[row * k + t % k] += tree.value(node)[0];
    }
  }
  return scores;
}

// By codes whether that pays or not.
template <class Table>
std::vector<NodeIndex> coded_leaves(const CodedTrees& trees, const Table& table, int n_threads) {
  std::vector<NodeIndex> leaves(table.n_rows * trees.n_trees());
  for_each_coded_block(trees, table, Context(n_threads),
                       [&](CodedBlock& block, std::size_t begin, std::size_t n, int) {
                         for (std::size_t t = 0; t < trees.n_trees(); ++t) {
                           const std::uint8_t* number = trees.find_leaves(t, block);
                           for (std::size_t i = 0; i < n; ++i) {
                             leaves[(begin + i) * trees.n_trees() + t] = trees.leaves(t)[number[i]];
                           }
                         }
                       });
  return leaves;
}

}  // namespace

TEST_CASE("codes lead every row to the leaf of its walk, whatever its numbers") {
  Numbers numbers(3);
  for (const std::size_t n_rows : {0u, 1u, 63u, 255u, 256u, 257u, 700u, 1300u}) {
    const Columns columns(n_rows, numbers);
    for (const std::size_t most_leaves : {1u, 2u, 3u, 31u, 64u, 256u}) {
      std::vector<Tree> trees{tree_of(most_leaves, numbers), tree_of(1, numbers)};
      for (int t = 0; t < 4; ++t) {
        trees.push_back(
            tree_of(1 + numbers.random.below(static_cast<std::uint32_t>(most_leaves)), numbers));
      }
      const std::span<const Tree> all(trees);
      REQUIRE(CodedTrees::can_hold(all));
      const CodedTrees coded(all);
      const auto check = [&](const TableView& table) {
        const TreeEnsemble ensemble{{0.0}, trees};
        const std::vector<NodeIndex> expected = apply_ensemble(ensemble, table, Context());
        CHECK(coded_leaves(coded, table, 1) == expected);
        CHECK(coded_leaves(coded, table, 3) == expected);
      };
      check(Columns::view(columns.doubles, DType::float64));
      check(Columns::view(columns.floats, DType::float32));
    }
  }
}

TEST_CASE("columns of more thresholds than a byte counts take several lines" *
          doctest::test_suite("one thread")) {
  for (const std::size_t n_cuts : {1u, 254u, 255u, 256u, 510u, 511u, 3000u}) {
    std::vector<Tree> trees;
    for (std::size_t c = 0; c < n_cuts; ++c) {
      TreeArrays a;
      a.n_features = 1;
      a.n_outputs = 1;
      const double threshold = 0.5 * static_cast<double>(c);
      append_node(a, {false, 0, threshold, c % 3 == 0, 0.0, 2, 2.0}, std::vector{0.0}, -1);
      append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, std::vector{1.0}, -1);
      append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, std::vector{2.0}, 0);
      trees.push_back(Tree(std::move(a)));
    }
    const CodedTrees coded{std::span<const Tree>(trees)};
    std::vector<float> x{std::nanf(""), -1.0f, 1e9f};
    for (std::size_t i = 0; i < 2 * n_cuts; ++i) x.push_back(0.25f * static_cast<float>(i));
    TableView table{x.size(), {}};
    table.columns.push_back(
        {reinterpret_cast<const std::byte*>(x.data()), sizeof(float), DType::float32});
    CHECK(coded_leaves(coded, table, 1) == apply_ensemble({{0.0}, trees}, table, Context()));
  }
}

TEST_CASE("scores by codes have the bits of the walk, for several outputs and threads") {
  Numbers numbers(7);
  const Columns columns(2100, numbers);
  std::vector<Tree> trees;
  for (int t = 0; t < 60; ++t) trees.push_back(tree_of(1 + numbers.random.below(40), numbers));
  for (const std::vector<double>& start : {std::vector{0.1}, std::vector{0.1, -2.0, 1e9}}) {
    const TreeEnsemble ensemble{start, trees};
    REQUIRE(CodedEnsemble::can_hold(ensemble));
    const CodedEnsemble coded(ensemble);
    for (const bool narrow : {false, true}) {
      const TableView table = narrow ? Columns::view(columns.floats, DType::float32)
                                     : Columns::view(columns.doubles, DType::float64);
      const std::vector<double> expected = naive_scores(ensemble, table);
      for (const int n_threads : {1, 2, 3, 7}) {
        CHECK(predict_scores(ensemble, table, Context(n_threads), &coded) == expected);
      }
      CHECK(predict_scores(ensemble, table, Context()) == expected);
      std::vector<double> staged(expected.size());
      for (std::size_t i = 0; i < staged.size(); ++i) staged[i] = start[i % start.size()];
      for (std::size_t round = 0; round < ensemble.n_rounds(); round += 10) {
        const std::size_t last = std::min(round + 10, ensemble.n_rounds());
        add_scores(ensemble, round, last, table, Context(2), staged, &coded);
      }
      CHECK(staged == expected);
    }
  }
}

TEST_CASE("trees with the same test on every level are found, and evaluated level by level") {
  Numbers numbers(11);
  const Columns columns(600, numbers);
  for (const int depth : {1, 2, 3, 6, 8}) {
    std::vector<TreeNode> level;
    for (int l = 0; l < depth; ++l) {
      level.push_back(
          {false, static_cast<FeatureIndex>(l % 4), numbers.next(), l % 2 == 0, 0.0, 2, 2.0});
    }
    TreeArrays a;
    a.n_features = kFeatures;
    a.n_outputs = 1;
    const std::function<void(int, NodeIndex)> grow = [&](int l, NodeIndex right_of) {
      const std::vector<double> value{numbers.random.below(1000) / 7.0};
      if (l == depth || (l > 1 && depth < 6 && numbers.random.below(3) == 0)) {
        append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, value, right_of);
        return;
      }
      TreeNode node = level[static_cast<std::size_t>(l)];
      if (depth % 2 == 0) node.missing_left = numbers.random.below(2) == 0;
      const NodeIndex id = append_node(a, node, value, right_of);
      grow(l + 1, -1);
      grow(l + 1, id);
    };
    grow(0, -1);
    const std::vector<Tree> trees{Tree(std::move(a)), tree_of(8, numbers)};
    const CodedTrees coded{std::span<const Tree>(trees)};
    if (depth >= 6) CHECK(coded.n_levels(0) == static_cast<std::size_t>(depth));
    CHECK(coded.n_levels(1) == 0);
    Columns complete = columns;
    for (auto& column : complete.doubles) {
      for (double& x : column) x = x == x ? x : 0.25;
    }
    for (const Columns* some : {&columns, static_cast<const Columns*>(&complete)}) {
      const TableView table = Columns::view(some->doubles, DType::float64);
      CHECK(coded_leaves(coded, table, 1) == apply_ensemble({{0.0}, trees}, table, Context()));
    }
  }
}

TEST_CASE("trees that are too large or test too many categories are left to the walk") {
  Numbers numbers(13);
  const std::vector<Tree> large{tree_of(257, numbers, false)};
  CHECK_FALSE(CodedTrees::can_hold(std::span<const Tree>(large)));
  TreeArrays a;
  a.n_features = 1;
  a.n_outputs = 1;
  const std::vector<CategoryIndex> listed{3, 255};
  append_node(a, {false, 0, 0.0, false, 0.0, 2, 2.0, listed}, std::vector{0.0}, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, std::vector{1.0}, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, std::vector{2.0}, 0);
  const std::vector<Tree> many{Tree(std::move(a))};
  CHECK_FALSE(CodedTrees::can_hold(std::span<const Tree>(many)));
}

TEST_CASE("every level compares, finds and adds as defined") {
  RandomStream random(17, Purpose::feature_subset, 0, 0);
  constexpr std::size_t kColumns = 3, kNodes = 9;
  std::vector<TreeLine> codes(kColumns), results(kLeafLines + kNodes);
  for (auto& line : codes) {
    for (auto& code : line.of_row) code = static_cast<std::uint8_t>(random.below(256));
  }
  for (std::size_t i = 0; i < kLeafLines; ++i) {
    std::fill_n(results[i].of_row, kTreeRows, static_cast<std::uint8_t>(i));
  }
  std::vector<CodedNode> nodes;
  for (std::uint16_t i = 0; i < kNodes; ++i) {
    const auto child = [&] { return static_cast<std::uint16_t>(random.below(kLeafLines + i)); };
    nodes.push_back({random.below(kColumns), child(), child(),
                     static_cast<std::uint16_t>(kLeafLines + i),
                     static_cast<std::uint8_t>(random.below(256))});
  }
  CodeSet set;
  for (auto& word : set.words) word = random.next();
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    const CodedTreeKernels& loops = level->coded_trees;
    loops.leaf_numbers(nodes.data(), nodes.size(), codes.data(), results.data());
    TreeLine numbers, found;
    loops.level_numbers(nodes.data(), 8, codes.data(), &numbers);
    loops.find_codes(codes[0], set, found);
    std::vector<double> values(256);
    for (std::size_t i = 0; i < 256; ++i) values[i] = static_cast<double>(i) / 3.0;
    constexpr std::size_t kMostTrees = CodedTreeKernels::kSummedTrees;
    for (std::size_t n_trees = 0; n_trees <= kMostTrees; ++n_trees) {
      CAPTURE(n_trees);
      std::vector<double> sums(kTreeRows, 0.5);
      std::vector<TreeLine> of_trees;
      for (std::size_t t = 0; t < kMostTrees; ++t) of_trees.push_back(codes[t % kColumns]);
      const double* const of[kMostTrees] = {&values[0], &values[0], &values[0], &values[0]};
      loops.add_values(of_trees.data(), of, n_trees, kTreeRows - 1, sums.data());
      for (std::size_t row = 0; row < kTreeRows; ++row) {
        double sum = 0.5;
        for (std::size_t t = 0; t < n_trees; ++t) sum += values[of_trees[t].of_row[row]];
        REQUIRE(sums[row] == (row + 1 == kTreeRows ? 0.5 : sum));
      }
    }
    for (std::size_t row = 0; row < kTreeRows; ++row) {
      for (const CodedNode& node : nodes) {
        const bool left = codes[node.column].of_row[row] <= node.last;
        REQUIRE(results[node.result].of_row[row] ==
                results[left ? node.left : node.right].of_row[row]);
      }
      unsigned expected = 0;
      for (std::size_t l = 0; l < 8; ++l) {
        expected = 2 * expected + (codes[nodes[l].column].of_row[row] > nodes[l].last);
      }
      REQUIRE(numbers.of_row[row] == expected);
      const std::uint8_t code = codes[0].of_row[row];
      REQUIRE(found.of_row[row] == ((set.words[code / 32] >> (code % 32)) & 1));
    }
    const std::vector<std::uint32_t> wide{0, 254, 255, 256, 509, 510, 511, 70000};
    std::vector<std::uint8_t> narrow(wide.size() + 1, 7);
    loops.narrow_codes(wide.data(), wide.size(), 255, narrow.data());
    CHECK(narrow == std::vector<std::uint8_t>{0, 0, 0, 1, 254, 255, 255, 255, 7});
  }
}

}  // namespace arboleda
