#include "predict/forest.h"

#include <algorithm>

#include "base/error.h"
#include "predict/forest_leaves.h"

namespace arboleda {

template <class Table>
void add_votes(const Forest& forest, std::size_t first, std::size_t last, const Ballot& ballot,
               const Table& table, const Context& context, std::span<double> sums) {
  const std::size_t k = ballot.n_outputs();
  require(first <= last && last <= forest.trees.size(),
          "the requested trees lie outside the forest");
  require(sums.size() == table.n_rows * k, "the sums have not the shape of the votes");
  for_each_leaf(forest, {first, last},
                ballot.places_are_nodes() ? LeavesAs::nodes : LeavesAs::numbers, table, context,
                [&](std::size_t t, std::size_t begin, std::span<const std::uint32_t> places) {
                  double* sum = sums.data() + begin * k;
                  for (const std::uint32_t place : places) {
                    ballot.add_at(forest.trees[t], place, sum);
                    sum += k;
                  }
                });
}

template <class Table>
std::vector<double> mean_votes(const Forest& forest, const Ballot& ballot, const Table& table,
                               const Context& context) {
  require(!forest.trees.empty(), "a forest without trees cannot predict");
  std::vector<double> votes(table.n_rows * ballot.n_outputs(), 0.0);
  add_votes(forest, 0, forest.trees.size(), ballot, table, context, votes);
  for (double& vote : votes) vote /= static_cast<double>(forest.trees.size());
  return votes;
}

template <class Table>
std::vector<double> staged_mean_votes(const Forest& forest, std::span<const std::size_t> numbers,
                                      const Ballot& ballot, const Table& table,
                                      const Context& context) {
  std::vector<double> sums(table.n_rows * ballot.n_outputs(), 0.0);
  std::vector<double> votes;
  votes.reserve(numbers.size() * sums.size());
  std::size_t before = 0;
  for (const std::size_t n : numbers) {
    require(n > 0, "a forest without trees cannot predict");
    add_votes(forest, before, n, ballot, table, context, sums);
    for (const double sum : sums) votes.push_back(sum / static_cast<double>(n));
    before = n;
  }
  return votes;
}

template <class Table>
std::vector<double> member_scores(const Forest& forest, const MemberVotes& votes,
                                  const Table& table, const Context& context) {
  const std::size_t k = votes.n_outputs();
  std::vector<double> scores(table.n_rows * k, 0.0);
  for_each_leaf(forest, {0, forest.trees.size()}, LeavesAs::numbers, table, context,
                [&](std::size_t t, std::size_t begin, std::span<const std::uint32_t> leaves) {
                  double* sum = scores.data() + begin * k;
                  for (const std::uint32_t leaf : leaves) {
                    votes.add(t, leaf, sum);
                    sum += k;
                  }
                });
  return scores;
}

template <class Table>
std::vector<double> staged_member_scores(const Forest& forest, const MemberVotes& votes,
                                         std::size_t first, std::size_t last,
                                         std::span<const double> before, const Table& table,
                                         const Context& context) {
  const std::size_t k = votes.n_outputs();
  const std::size_t size = table.n_rows * k;
  const std::size_t n_trees = votes.trees_a_member();
  require(first <= last && last * n_trees <= forest.trees.size(),
          "the requested trees lie outside the forest");
  require(before.size() == size, "the sums have not the shape of the votes");
  std::vector<double> scores((last - first) * size);
  for_each_leaf(forest, {first * n_trees, last * n_trees}, LeavesAs::numbers, table, context,
                [&](std::size_t t, std::size_t begin, std::span<const std::uint32_t> leaves) {
                  double* sum = scores.data() + (t / n_trees - first) * size + begin * k;
                  if (t % n_trees == 0) {  // the first tree of its member
                    const double* old = t / n_trees > first ? sum - size : &before[begin * k];
                    std::copy_n(old, leaves.size() * k, sum);
                  }
                  for (const std::uint32_t leaf : leaves) {
                    votes.add(t, leaf, sum);
                    sum += k;
                  }
                });
  return scores;
}

template <class Table>
std::vector<NodeIndex> apply_forest(const Forest& forest, const Table& table,
                                    const Context& context) {
  const std::size_t n_trees = forest.trees.size();
  std::vector<NodeIndex> out(table.n_rows * n_trees);
  for_each_leaf(forest, {0, n_trees}, LeavesAs::nodes, table, context,
                [&](std::size_t t, std::size_t begin, std::span<const std::uint32_t> leaves) {
                  NodeIndex* leaf_out = out.data() + begin * n_trees + t;
                  for (const std::uint32_t leaf : leaves) {
                    *leaf_out = static_cast<NodeIndex>(leaf);
                    leaf_out += n_trees;
                  }
                });
  return out;
}

template void add_votes(const Forest&, std::size_t, std::size_t, const Ballot&, const TableView&,
                        const Context&, std::span<double>);
template void add_votes(const Forest&, std::size_t, std::size_t, const Ballot&, const SparseRows&,
                        const Context&, std::span<double>);
template std::vector<double> mean_votes(const Forest&, const Ballot&, const TableView&,
                                        const Context&);
template std::vector<double> staged_mean_votes(const Forest&, std::span<const std::size_t>,
                                               const Ballot&, const TableView&, const Context&);
template std::vector<double> staged_mean_votes(const Forest&, std::span<const std::size_t>,
                                               const Ballot&, const SparseRows&, const Context&);
template std::vector<double> mean_votes(const Forest&, const Ballot&, const SparseRows&,
                                        const Context&);
template std::vector<double> member_scores(const Forest&, const MemberVotes&, const TableView&,
                                           const Context&);
template std::vector<double> member_scores(const Forest&, const MemberVotes&, const SparseRows&,
                                           const Context&);
template std::vector<double> staged_member_scores(const Forest&, const MemberVotes&, std::size_t,
                                                  std::size_t, std::span<const double>,
                                                  const TableView&, const Context&);
template std::vector<double> staged_member_scores(const Forest&, const MemberVotes&, std::size_t,
                                                  std::size_t, std::span<const double>,
                                                  const SparseRows&, const Context&);
template std::vector<NodeIndex> apply_forest(const Forest&, const TableView&, const Context&);
template std::vector<NodeIndex> apply_forest(const Forest&, const SparseRows&, const Context&);

}  // namespace arboleda
