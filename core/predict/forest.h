// Predictions of a forest for the rows of a table. Pure functions of (forest, table): safe to call from
// several threads at once. Votes are added in float64, tree by tree in their order, whatever the number
// of threads. Table: TableView or SparseRows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/column.h"
#include "tree/forest.h"
#include "tree/member_votes.h"
#include "tree/votes.h"

namespace arboleda {

// Adds the votes of the trees [first, last) to sums: rows x outputs, row-major.
template <class Table>
void add_votes(const Forest& forest, std::size_t first, std::size_t last, const Ballot& ballot,
               const Table& table, const Context& context, std::span<double> sums);

// The mean vote of all trees, of which there is at least one: rows x outputs, row-major.
template <class Table>
std::vector<double> mean_votes(const Forest& forest, const Ballot& ballot, const Table& table,
                               const Context& context);

// The mean votes of the first n trees, for each of some numbers n > 0 in ascending order: numbers x rows
// x outputs. Each is, bit for bit, mean_votes() of so many trees.
template <class Table>
std::vector<double> staged_mean_votes(const Forest& forest, std::span<const std::size_t> numbers,
                                      const Ballot& ballot, const Table& table,
                                      const Context& context);

// The sum of the weighted votes of all members: rows x outputs, row-major.
template <class Table>
std::vector<double> member_scores(const Forest& forest, const MemberVotes& votes,
                                  const Table& table, const Context& context);

// The sums after each of the members [first, last), those before `first` counted: members x rows x
// outputs, row-major. before: the sums after `first` members; zeros for 0. The last of them are the
// bits of member_scores().
template <class Table>
std::vector<double> staged_member_scores(const Forest& forest, const MemberVotes& votes,
                                         std::size_t first, std::size_t last,
                                         std::span<const double> before, const Table& table,
                                         const Context& context);

// The leaf of every row in every tree, as the node of the tree: rows x trees, row-major.
template <class Table>
std::vector<NodeIndex> apply_forest(const Forest& forest, const Table& table,
                                    const Context& context);

}  // namespace arboleda
