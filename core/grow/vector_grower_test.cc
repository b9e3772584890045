#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "criterion/newton.h"
#include "data/gather_codes.h"
#include "grow/histogram_grower.h"
#include "grow/naive_boosted_tree.h"
#include "layout/row_codes.h"
#include "learn/mixed_problem.h"
#include "simd/kernels.h"
#include "split/vector_histogram.h"

namespace arboleda {

namespace {

// Gradients and hessians whose sums are exact in float64 and as integers.
struct Outputs {
  Outputs(std::size_t n_rows, std::size_t n_outputs, bool unit_hessian) : n(n_outputs) {
    RandomStream random(5, Purpose::feature_subset, 0, 0);
    for (std::size_t i = 0; i < n_rows * n_outputs; ++i) {
      gradient.push_back((static_cast<double>(random.below(513)) - 256.0) / 256.0);
      if (!unit_hessian) hessian.push_back((1.0 + random.below(64)) / 64.0);
    }
  }
  VectorDerivatives derivatives() const { return {n, gradient, hessian}; }

  std::size_t n;
  std::vector<double> gradient, hessian;
};

std::vector<RowIndex> every(std::size_t n_rows, std::size_t step) {
  std::vector<RowIndex> rows;
  for (std::size_t i = 0; i < n_rows; i += step) rows.push_back(static_cast<RowIndex>(i));
  return rows;
}

// A tree of several outputs grown naively on columns of numbers: every split is tried on the rows of the
// node, output by output; the leaf with the largest gain is split next.
class NaiveVectorTree {
 public:
  struct Node {
    std::vector<RowIndex> rows;
    std::vector<double> values;
    double gain = 0.0;
    int depth = 0;
    FeatureIndex feature = -1;
    std::vector<bool> left_codes;
    int left = -1, right = -1;
  };

  NaiveVectorTree(const BinnedDataset& table, const VectorDerivatives& derivatives,
                  const HistogramOptions& options, std::vector<RowIndex> rows)
      : table_(table),
        derivatives_(derivatives),
        options_(options),
        codes_(gather_all_codes(table)) {
    Node root;
    root.rows = std::move(rows);
    nodes.push_back(find(std::move(root)));
    split_best_nodes(nodes, options.max_leaf_nodes, [&](std::size_t node) { split(node); });
  }

  std::vector<Node> nodes;

 private:
  struct Sums {
    std::vector<double> g, h;
    double all_h = 0.0;
    std::size_t n = 0;
  };

  template <class Keep>
  Sums sum(const Node& node, const Keep& keep) const {
    Sums sums{std::vector<double>(derivatives_.n_outputs),
              std::vector<double>(derivatives_.n_outputs)};
    for (const RowIndex row : node.rows) {
      if (!keep(row)) continue;
      ++sums.n;
      for (std::size_t k = 0; k < derivatives_.n_outputs; ++k) {
        const auto hessian = derivatives_.hessian_of(k);
        const double h = hessian.empty() ? 1.0 : hessian[row];
        sums.g[k] += derivatives_.gradient_of(k)[row];
        sums.h[k] += h;
        sums.all_h += h;
      }
    }
    return sums;
  }

  double score(const Sums& sums) const {
    double total = 0.0;
    for (std::size_t k = 0; k < derivatives_.n_outputs; ++k) {
      total += leaf_.score(sums.g[k], sums.h[k], leaf_.value(sums.g[k], sums.h[k], {}));
    }
    return total;
  }

  Node find(Node node) const {
    const Sums all = sum(node, [](RowIndex) { return true; });
    for (std::size_t k = 0; k < derivatives_.n_outputs; ++k) {
      node.values.push_back(leaf_.value(all.g[k], all.h[k], {}));
    }
    if (node.depth >= options_.max_depth) return node;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < table_.columns.size(); ++f) {
      const CodedColumn& column = table_.columns[f];
      for (const bool missing_left : {false, true}) {
        if (missing_left && !column.has_missing) continue;
        std::vector<bool> left(column.n_codes());
        if (missing_left) left[column.n_values] = true;
        for (Code code = 0; code < column.n_values; ++code) {
          left[code] = true;
          const Sums l = sum(node, [&](RowIndex row) { return left[codes_[f][row]]; });
          const Sums r = sum(node, [&](RowIndex row) { return !left[codes_[f][row]]; });
          if (std::min(l.n, r.n) < std::max<std::size_t>(options_.min_samples_leaf, 1) ||
              std::min(l.all_h, r.all_h) < options_.min_child_weight) {
            continue;
          }
          const double both = score(l) + score(r);
          if (both <= best + 1e-9 * std::abs(best)) continue;
          best = both;
          node.feature = static_cast<FeatureIndex>(f);
          node.left_codes = left;
        }
      }
    }
    const double gain = 0.5 * (best - score(all)) - options_.min_gain;
    if (gain > 1e-9) node.gain = gain;
    return node;
  }

  void split(std::size_t at) {
    Node left, right;
    const auto f = static_cast<std::size_t>(nodes[at].feature);
    for (const RowIndex row : nodes[at].rows) {
      (nodes[at].left_codes[codes_[f][row]] ? left : right).rows.push_back(row);
    }
    left.depth = right.depth = nodes[at].depth + 1;
    nodes[at].left = static_cast<int>(nodes.size());
    nodes[at].right = nodes[at].left + 1;
    nodes.push_back(find(std::move(left)));
    nodes.push_back(find(std::move(right)));
  }

  const BinnedDataset& table_;
  const VectorDerivatives derivatives_;
  const HistogramOptions& options_;
  const NewtonLeaf leaf_{options_.l1, options_.l2, options_.max_delta_step};
  const std::vector<std::vector<Code>> codes_;
};

void check_same_nodes(const std::vector<TreeArrays>& trees, const NaiveVectorTree& naive) {
  std::vector<std::pair<NodeIndex, int>> stack{{0, 0}};
  std::size_t n_seen = 0;
  while (!stack.empty()) {
    const auto [node, other] = stack.back();
    stack.pop_back();
    ++n_seen;
    const auto i = static_cast<std::size_t>(node);
    const auto& expected = naive.nodes[static_cast<std::size_t>(other)];
    for (std::size_t k = 0; k < trees.size(); ++k) {
      REQUIRE(trees[k].n_node_samples[i] == static_cast<std::int64_t>(expected.rows.size()));
      REQUIRE(trees[k].value[i] == doctest::Approx(expected.values[k]).epsilon(1e-9));
      REQUIRE((trees[k].right[i] < 0) == (expected.left < 0));
      if (expected.left < 0) continue;
      REQUIRE(trees[k].feature[i] == expected.feature);
      REQUIRE(trees[k].impurity[i] == doctest::Approx(expected.gain).epsilon(1e-6));
    }
    if (expected.left < 0) continue;
    stack.push_back({trees[0].right[i], expected.right});
    stack.push_back({node + 1, expected.left});
  }
  CHECK(n_seen == naive.nodes.size());
}

struct VectorCase {
  std::string name;
  std::function<void(HistogramOptions&)> set;
};

std::vector<VectorCase> vector_cases() {
  return {
      {"plain", [](HistogramOptions&) {}},
      {"few leaves", [](HistogramOptions& o) { o.max_leaf_nodes = 7; }},
      {"depth", [](HistogramOptions& o) { o.max_depth = 3; }},
      {"rows in a leaf", [](HistogramOptions& o) { o.min_samples_leaf = 9; }},
      {"hessian in a leaf", [](HistogramOptions& o) { o.min_child_weight = 15.3; }},
      {"L2", [](HistogramOptions& o) { o.l2 = 2.5; }},
      {"L1", [](HistogramOptions& o) { o.l1 = 1.5; }},
      {"least gain", [](HistogramOptions& o) { o.min_gain = 0.75; }},
      {"largest step", [](HistogramOptions& o) { o.max_delta_step = 0.25; }},
  };
}

void check_same_splits(const TreeArrays& a, const TreeArrays& b) {
  CHECK(a.feature == b.feature);
  CHECK(a.threshold == b.threshold);
  CHECK(a.right == b.right);
  CHECK(a.missing_left == b.missing_left);
  CHECK(a.category == b.category);
  CHECK(a.n_node_samples == b.n_node_samples);
}

std::vector<TreeArrays> grow_vectors(const BinnedDataset& table, const HistogramOptions& options,
                                     const VectorDerivatives& derivatives, const Context& context,
                                     LeafRows& leaves, std::size_t step = 1) {
  VectorGrower grower(table, options, derivatives.n_outputs, context);
  return grower.grow(every(table.n_rows, step), derivatives, derivatives, 0, leaves);
}

}  // namespace

TEST_CASE("every node of several outputs is that of a tree grown the plain way") {
  const Context context(2);
  for (const std::size_t n_outputs : {2, 3, 9}) {
    const std::size_t n = n_outputs == 3 ? 300 : 60;
    const MixedProblem problem(n);
    const BinnedDataset table =
        code_table(problem.dense_view(MixedProblem::kColumns), context, {.max_bins = 255});
    for (const bool unit : {true, false}) {
      const Outputs outputs(n, n_outputs, unit);
      for (const VectorCase& c : vector_cases()) {
        for (const std::size_t step : {1, 3}) {
          CAPTURE(n_outputs);
          CAPTURE(c.name);
          CAPTURE(unit);
          CAPTURE(step);
          HistogramOptions options;
          options.max_leaf_nodes = 15;
          c.set(options);
          LeafRows leaves;
          const auto trees =
              grow_vectors(table, options, outputs.derivatives(), context, leaves, step);
          REQUIRE(trees.size() == n_outputs);
          check_same_nodes(trees, {table, outputs.derivatives(), options, every(n, step)});
        }
      }
    }
  }
}

TEST_CASE("trees of one output are those of the grower of one, categories and gaps included") {
  const Context context(2, 3);
  const MixedProblem problem(700);
  const BinnedDataset table = problem.mixed(context, 255);
  const Outputs outputs(problem.n, 1, false);
  auto all = vector_cases();
  all.push_back({"random thresholds", [](HistogramOptions& o) { o.random_thresholds = true; }});
  all.push_back({"shares of columns", [](HistogramOptions& o) { o.column_share_node = 0.5; }});
  for (const VectorCase& c : all) {
    CAPTURE(c.name);
    HistogramOptions options;
    options.max_leaf_nodes = 31;
    c.set(options);
    LeafRows leaves, expected_leaves;
    const auto trees = grow_vectors(table, options, outputs.derivatives(), context, leaves);
    HistogramGrower grower(table, make_row_codes(table, context), options, context);
    const TreeArrays expected =
        grower.grow(every(problem.n, 1), {outputs.gradient, outputs.hessian}, 0, expected_leaves);
    REQUIRE(trees.size() == 1);
    check_same_splits(trees[0], expected);
    for (std::size_t i = 0; i < expected.value.size(); ++i) {
      CHECK(trees[0].value[i] == doctest::Approx(expected.value[i]).epsilon(1e-12));
      CHECK(trees[0].weight[i] == doctest::Approx(expected.weight[i]).epsilon(1e-12));
      CHECK(trees[0].impurity[i] == doctest::Approx(expected.impurity[i]).epsilon(1e-9));
    }
    CHECK(leaves.rows == expected_leaves.rows);
  }
}

TEST_CASE("threads and the order of rows do not change trees of several outputs") {
  const MixedProblem problem(6000);
  const Context one(1, 7);
  const BinnedDataset table = problem.mixed(one, 255);
  for (const std::size_t n_outputs : {3, 26, 70}) {
    const Outputs outputs(problem.n, n_outputs, false);
    for (const bool random : {false, true}) {
      HistogramOptions options;
      options.max_leaf_nodes = 20;
      options.random_thresholds = random;
      options.column_share_tree = 0.8;
      LeafRows leaves, again;
      const auto expected = grow_vectors(table, options, outputs.derivatives(), one, leaves);
      CHECK(expected[0].right.size() == 39);
      for (const int n_threads : {2, 3, 7}) {
        const auto trees =
            grow_vectors(table, options, outputs.derivatives(), Context(n_threads, 7), again);
        for (std::size_t k = 0; k < n_outputs; ++k) {
          check_same_splits(trees[k], expected[k]);
          CHECK(trees[k].value == expected[k].value);
          CHECK(trees[k].weight == expected[k].weight);
        }
        CHECK(again.rows == leaves.rows);
      }
    }
  }
}

TEST_CASE(
    "wide cells of several outputs hold the sums of packed ones, and listed codes those of bytes") {
  const Context context(2);
  const MixedProblem problem(3000);
  const std::vector<RowIndex> rows = every(problem.n, 2);
  for (const bool sparse : {false, true}) {
    const BinnedDataset table = sparse ? problem.sparse(context) : problem.mixed(context, 255);
    const RowCodes codes(table, context);
    for (const std::size_t n_outputs : {1, 3, 4, 7, 11, 19, 40}) {
      Outputs outputs(problem.n, n_outputs, false);
      for (const double largest : {1.0, 1e9}) {  // the second needs finer units, and wide cells
        outputs.gradient[6] = largest;
        VectorGradients gradients;
        const VectorCells cells(codes, VectorGradients::width_of(n_outputs));
        gradients.pack(rows, outputs.derivatives(), 40, context);
        for (const bool wide : {false, true}) {
          if (!wide && rows.size() > gradients.most_packed_rows()) continue;
          Histogram histogram;
          histogram.clear(cells.n_numbers(), wide);
          cells.add_rows(rows.data(), 0, rows.size(), gradients, histogram);
          std::vector<Code> of_rows;
          for (std::size_t j = 0; j < codes.columns().size(); ++j) {
            cells.complete(j, gradients.totals(), histogram);
            const RowCodes::Column& column = codes.columns()[j];
            gather_codes(table.columns[static_cast<std::size_t>(column.feature)], rows, of_rows);
            std::vector<Wide> expected(column.n_codes * cells.width());
            for (std::size_t i = 0; i < rows.size(); ++i) {
              for (std::size_t c = 0; c < cells.width(); ++c) {
                Wide& sum = expected[of_rows[i] * cells.width() + c];
                sum = sum + to_wide(gradients.data()[rows[i] * cells.width() + c]);
              }
            }
            for (std::size_t c = 0; c < expected.size(); ++c) {
              REQUIRE(histogram.at(cells.begin_of(j) + c).gradient == expected[c].gradient);
              REQUIRE(histogram.at(cells.begin_of(j) + c).hessian == expected[c].hessian);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("every width of registers scans several outputs to the same bits") {
  RandomStream random(11, Purpose::feature_subset, 0, 0);
  for (const std::size_t n_outputs : {1, 3, 4, 6, 26}) {
    const std::size_t width = VectorGradients::width_of(n_outputs);
    constexpr std::size_t kCodes = 60;
    std::vector<Packed> cells(kCodes * width);
    std::vector<double> total_gradient(width), total_hessian(width), unit(width);
    for (std::size_t code = 0; code < kCodes; ++code) {
      const std::int64_t n_rows = code % 4 == 1 ? 0 : random.below(9);
      for (std::size_t c = 0; c < width; ++c) {
        const bool is_output = c < n_outputs;
        const Wide sum{is_output ? n_rows * (static_cast<int>(random.below(2001)) - 1000) : 0,
                       is_output ? n_rows * (1 + random.below(500)) : n_rows};
        cells[code * width + c] = to_packed(sum);
        total_gradient[c] += static_cast<double>(sum.gradient);
        total_hessian[c] += static_cast<double>(sum.hessian);
      }
    }
    for (std::size_t k = 0; k < n_outputs; ++k) unit[k] = std::ldexp(1.0, -static_cast<int>(k));
    for (const double min_hessian : {0.0, 3000.0}) {
      const VectorScanRange range{
          kCodes, width, n_outputs,  total_gradient.data(), total_hessian.data(), unit.data(),
          0.5,    3.0,   min_hessian};
      // By the definition, output by output.
      ScanBest expected;
      std::vector<Wide> left(width);
      for (std::size_t code = 0; code < kCodes; ++code) {
        double score = 0.0, on_left = 0.0, on_right = 0.0;
        for (std::size_t c = 0; c < width; ++c) {
          left[c] = left[c] + to_wide(cells[code * width + c]);
          if (c >= n_outputs) continue;
          const double gl = static_cast<double>(left[c].gradient);
          const double hl = static_cast<double>(left[c].hessian);
          const double gr = total_gradient[c] - gl, hr = total_hessian[c] - hl;
          on_left += hl;
          on_right += hr;
          score += (gl * gl / (hl + 0.5) + gr * gr / (hr + 0.5)) * unit[c];
        }
        const auto n_left = static_cast<double>(left[n_outputs].hessian);
        if (n_left < 3.0 || total_hessian[n_outputs] - n_left < 3.0) continue;
        if (std::min(on_left, on_right) < min_hessian) continue;
        if (score > expected.score * (1.0 + 1e-12)) expected = {score, code};
      }
      ScanBest first;
      for (const Kernels* level : all_kernels()) {
        std::vector<Packed> packed(width);
        std::vector<Wide> wide_cells(cells.size()), wide(width);
        std::transform(cells.begin(), cells.end(), wide_cells.begin(), to_wide);
        const ScanBest found = level->vector_histograms.scan(cells.data(), packed.data(), range);
        const ScanBest of_wide =
            level->vector_histograms.scan_wide(wide_cells.data(), wide.data(), range);
        CHECK(found.code == expected.code);
        CHECK(found.score == doctest::Approx(expected.score).epsilon(1e-12));
        CHECK(of_wide.code == found.code);
        CHECK(of_wide.score == found.score);
        if (level == all_kernels().front()) first = found;
        CHECK(found.score == first.score);
      }
    }
  }
}

// Categories whose steps lie near a line that is no axis: the cut of that line is found, which the order
// by either output alone would not give.
TEST_CASE("categories are ordered along the direction in which their steps vary most") {
  const Context context(1);
  constexpr std::size_t kEach = 40;
  const std::vector<double> along{-3, 2, -1, 3, 1, -2};
  const std::vector<double> across{0.9, -0.9, -0.9, 0.9, -0.9, 0.9};
  std::vector<double> codes, gradient;
  for (std::size_t c = 0; c < along.size(); ++c)
    codes.insert(codes.end(), kEach, static_cast<double>(c));
  for (const double sign : {1.0, -1.0}) {
    for (std::size_t c = 0; c < along.size(); ++c) {
      gradient.insert(gradient.end(), kEach, along[c] + sign * across[c]);
    }
  }
  const TableView view{
      codes.size(),
      {{reinterpret_cast<const std::byte*>(codes.data()), sizeof(double), DType::float64}}};
  const std::vector<std::uint32_t> levels{6};
  const BinnedDataset table = code_table(view, context, {.n_categories = levels, .max_bins = 255});
  HistogramOptions options;
  options.max_leaf_nodes = 2;
  options.category_smoothing = options.category_l2 = 0.0;
  LeafRows leaves;
  const auto trees = grow_vectors(table, options, {2, gradient, {}}, context, leaves);
  REQUIRE(trees[0].right.size() == 3);
  std::vector<CategoryIndex> side = trees[0].category;
  CHECK(
      (side == std::vector<CategoryIndex>{0, 2, 5} || side == std::vector<CategoryIndex>{1, 3, 4}));
}

// Columns of many codes, of which the last ones are mostly 0.
BinnedDataset wide_table(std::size_t n_rows, std::vector<double>& numbers) {
  constexpr std::size_t kDenseColumns = 40, kColumns = 80;
  RandomStream random(3, Purpose::feature_subset, 0, 0);
  TableView view{n_rows, {}};
  numbers.resize(n_rows * kColumns);
  for (std::size_t j = 0; j < kColumns; ++j) {
    double* column = &numbers[j * n_rows];
    for (std::size_t i = 0; i < n_rows; ++i) {
      if (j < kDenseColumns || random.below(4) == 0) column[i] = 1.0 + random.below(240);
    }
    view.columns.push_back(
        {reinterpret_cast<const std::byte*>(column), sizeof(double), DType::float64});
  }
  return code_table(view, Context(1), {.max_bins = 255});
}

TEST_CASE("cells made by blocks of columns are those of all columns at once") {
  const Context context(1);
  constexpr std::size_t kRows = 600, kOutputs = 40;
  std::vector<double> numbers;
  const BinnedDataset table = wide_table(kRows, numbers);
  const std::size_t width = VectorGradients::width_of(kOutputs);
  const RowCodes all(table, context);
  const RowCodes parts(table, context, VectorCells::block_cells(width));
  const VectorCells cells(all, width), by_blocks(parts, width);
  REQUIRE(parts.n_listed_parts() > 1);
  REQUIRE(by_blocks.block_ends().size() > parts.n_listed_parts() + 1);
  CHECK(by_blocks.block_ends().back() == parts.columns().size());
  Outputs outputs(kRows, kOutputs, false);
  const std::vector<RowIndex> rows = every(kRows, 2);
  for (const double largest : {1.0, 1e9}) {
    outputs.gradient[6] = largest;
    VectorGradients gradients;
    gradients.pack(rows, outputs.derivatives(), 40, context);
    for (const bool wide : {false, true}) {
      if (!wide && rows.size() > gradients.most_packed_rows()) continue;
      Histogram expected, found;
      expected.clear(cells.n_numbers(), wide);
      cells.add_rows(rows.data(), 10, rows.size(), gradients, expected);
      found.resize(by_blocks.n_numbers(), wide);
      std::size_t from = 0;
      for (const std::size_t to : by_blocks.block_ends()) {
        by_blocks.sum_columns(from, to, rows.data(), 10, rows.size(), gradients, found);
        from = to;
      }
      for (std::size_t i = 0; i < cells.n_numbers(); ++i) {
        REQUIRE(found.at(i).gradient == expected.at(i).gradient);
        REQUIRE(found.at(i).hessian == expected.at(i).hessian);
      }
    }
  }
}

// The gain of several equal outputs is that of one, times their number: blocks of columns, subtraction and all
// threads find the splits that a tree of one output has.
TEST_CASE("a wide table has the trees of one output when all outputs are the same") {
  constexpr std::size_t kRows = 600, kOutputs = 40;
  std::vector<double> numbers;
  const BinnedDataset table = wide_table(kRows, numbers);
  const Outputs single(kRows, 1, true);
  std::vector<double> gradient;
  for (std::size_t k = 0; k < kOutputs; ++k) {
    gradient.insert(gradient.end(), single.gradient.begin(), single.gradient.end());
  }
  HistogramOptions options;
  options.max_leaf_nodes = 12;
  options.min_samples_leaf = 5;
  for (const int n_threads : {1, 3}) {
    const Context context(n_threads);
    LeafRows leaves;
    HistogramGrower grower(table, make_row_codes(table, context), options, context);
    const TreeArrays expected =
        grower.grow(every(kRows, 1), {single.gradient, single.hessian}, 0, leaves);
    REQUIRE(expected.right.size() == 23);
    for (const TreeArrays& tree :
         grow_vectors(table, options, {kOutputs, gradient, {}}, context, leaves)) {
      CHECK(tree.right == expected.right);
      CHECK(tree.feature == expected.feature);
      CHECK(tree.threshold == expected.threshold);
      CHECK(tree.value == expected.value);
    }
  }
}

TEST_CASE("trees of several outputs refuse what they do not support") {
  const Context context(1);
  const MixedProblem problem(40);
  const BinnedDataset table = problem.mixed(context, 255);
  HistogramOptions options;
  options.growth = BoostedGrowth::symmetric;
  CHECK_THROWS_AS(VectorGrower(table, options, 2, context), Error);
  options = {};
  options.monotonic = {1, 0, 0, 0};
  CHECK_THROWS_AS(VectorGrower(table, options, 2, context), Error);
}

}  // namespace arboleda
