// Rules that look only at the class that each member chooses: votes and tables of them.
#pragma once

#include "combine/members.h"

namespace arboleda {

// What a rule returns for each class: its sum, or, of sums that are log-probabilities but for a constant,
// exp(sum) divided by its sum over the classes.
enum class VoteOutput { sums, softmax };

// Of each class the sum of the weights of the members that choose it: (rows, classes). Weights: one for
// each member, empty: 1 for each. A member that returns probabilities chooses the largest, the first of
// equals.
std::vector<double> sum_votes(const Members& members, std::span<const double> weight,
                              VoteOutput output, const Context& context);
std::vector<double> sum_votes(const Choices& choices, std::span<const double> weight,
                              VoteOutput output, const Context& context);

// The scores of classes given the members' choices: start[k] + sum_l table[l][choice of l][k].
struct ChoiceTables {
  std::span<const double> start;  // (classes)
  std::span<const double> table;  // (members, chosen class, class)
};

// (rows, classes)
std::vector<double> sum_tables(const Members& members, const ChoiceTables& tables,
                               VoteOutput output, const Context& context);
std::vector<double> sum_tables(const Choices& choices, const ChoiceTables& tables,
                               VoteOutput output, const Context& context);

}  // namespace arboleda
