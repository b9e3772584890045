// Rules that look only at the class that each member chooses: votes and tables of them.
#pragma once

#include "combine/members.h"

namespace arboleda {

// What a rule answers for each class: its sum, or, of sums that are log-probabilities but for a constant,
// exp(sum) divided by its sum over the classes.
enum class Answer { sums, shares_of_exp };

// Of each class the sum of the weights of the members that choose it: (rows, classes). Weights: one for
// each member, empty: 1 for each. A member that says probabilities chooses the largest, the first of
// equals.
std::vector<double> sum_votes(const Members& members, std::span<const double> weight, Answer answer,
                              const Context& context);
std::vector<double> sum_votes(const Choices& choices, std::span<const double> weight, Answer answer,
                              const Context& context);

// What the choices of members say of the classes: start[k] + sum_l table[l][choice of l][k].
struct ChoiceTables {
  std::span<const double> start;  // (classes)
  std::span<const double> table;  // (members, chosen class, class)
};

// (rows, classes)
std::vector<double> sum_tables(const Members& members, const ChoiceTables& tables, Answer answer,
                               const Context& context);
std::vector<double> sum_tables(const Choices& choices, const ChoiceTables& tables, Answer answer,
                               const Context& context);

}  // namespace arboleda
