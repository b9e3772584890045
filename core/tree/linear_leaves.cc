#include "tree/linear_leaves.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace arboleda {

namespace {

template <class T>
void append_to(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

template <class T>
std::vector<T> some_of(const std::vector<T>& all, std::size_t begin, std::size_t end) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin),
          all.begin() + static_cast<std::ptrdiff_t>(end)};
}

void check_lengths(const LinearLeaves& leaves, std::size_t n_nodes) {
  const std::size_t n_terms = leaves.feature.size();
  require(leaves.start.size() == n_nodes + 1 && leaves.intercept.size() == n_nodes &&
              leaves.coefficient.size() == n_terms && leaves.low.size() == n_terms &&
              leaves.high.size() == n_terms,
          "the arrays of linear leaves differ in length");
  require(n_terms > 0, "there is an index of linear leaves but no terms");
  require(leaves.start.front() == 0 && leaves.start.back() == static_cast<std::int64_t>(n_terms) &&
              std::is_sorted(leaves.start.begin(), leaves.start.end()),
          "the terms of linear leaves do not belong to nodes");
}

// The ranges of all terms, added up, bound every prediction.
void check_node(const LinearLeaves& leaves, std::size_t node, FeatureIndex n_features) {
  double bound = std::abs(leaves.intercept[node]);
  FeatureIndex before = -1;
  for (std::size_t e = leaves.first_term(node); e < leaves.first_term(node + 1); ++e) {
    require(leaves.feature[e] > before && leaves.feature[e] < n_features,
            "the columns of a linear leaf are out of range or out of order");
    before = leaves.feature[e];
    require(leaves.low[e] < leaves.high[e], "a column of a linear leaf has no range");
    bound += std::abs(leaves.coefficient[e]) * (leaves.high[e] - leaves.low[e]);
  }
  require(std::isfinite(bound), "a number of a linear leaf is not finite");
}

}  // namespace

std::size_t count_nodes(std::span<const Tree> trees) {
  std::size_t n_nodes = 0;
  for (const Tree& tree : trees) n_nodes += static_cast<std::size_t>(tree.n_nodes());
  return n_nodes;
}

void append(LinearLeaves& leaves, std::size_t n_nodes, const LinearLeaves& more,
            std::size_t n_more) {
  if (leaves.empty() && more.empty()) return;
  if (leaves.empty()) {
    leaves.start.assign(n_nodes + 1, 0);
    leaves.intercept.assign(n_nodes, 0.0);
  }
  const std::int64_t before = leaves.start.back();
  for (std::size_t i = 1; i <= n_more; ++i) {
    leaves.start.push_back(before + (more.empty() ? 0 : more.start[i]));
  }
  append_to(leaves.intercept, more.intercept);
  leaves.intercept.resize(n_nodes + n_more, 0.0);
  append_to(leaves.feature, more.feature);
  append_to(leaves.coefficient, more.coefficient);
  append_to(leaves.low, more.low);
  append_to(leaves.high, more.high);
}

LinearLeaves part_of(const LinearLeaves& leaves, std::size_t begin, std::size_t end) {
  if (leaves.empty() || leaves.start[begin] == leaves.start[end]) return {};
  const std::size_t first = leaves.first_term(begin);
  const std::size_t last = leaves.first_term(end);
  LinearLeaves part{some_of(leaves.start, begin, end + 1), some_of(leaves.intercept, begin, end),
                    some_of(leaves.feature, first, last),  some_of(leaves.coefficient, first, last),
                    some_of(leaves.low, first, last),      some_of(leaves.high, first, last)};
  for (std::int64_t& start : part.start) start -= static_cast<std::int64_t>(first);
  return part;
}

void check_linear_leaves(const LinearLeaves& leaves, std::span<const Tree> trees) {
  if (leaves.empty()) {
    require(leaves.intercept.empty() && leaves.feature.empty() && leaves.coefficient.empty() &&
                leaves.low.empty() && leaves.high.empty(),
            "the arrays of linear leaves differ in length");
    return;
  }
  check_lengths(leaves, count_nodes(trees));
  std::size_t first = 0;
  for (const Tree& tree : trees) {
    for (NodeIndex i = 0; i < tree.n_nodes(); ++i) {
      const std::size_t node = first + static_cast<std::size_t>(i);
      require(leaves.has_terms(node) || leaves.intercept[node] == 0.0,
              "a node has an intercept and no terms");
      require(!leaves.has_terms(node) || tree.is_leaf(i), "a node that splits has linear terms");
      check_node(leaves, node, tree.arrays().n_features);
    }
    first += static_cast<std::size_t>(tree.n_nodes());
  }
}

}  // namespace arboleda
