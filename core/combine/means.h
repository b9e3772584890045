// Arithmetic and geometric means of members' outputs.
//
// Of distributions P_1 .. P_L with weights w_l of sum 1, the arithmetic mean is the P that minimises
//   sum_l w_l KL(P_l || P),   and   P = prod_l P_l^w_l / Z   minimises   sum_l w_l KL(P || P_l)
// (Miller, Yan 1999, "Critic-driven ensemble classification"; Kuncheva 2014, chapter 5).
#pragma once

#include "combine/members.h"

namespace arboleda {

// sum_l w_l P_l / sum_l w_l. Weights: one for each member, their sum not 0; empty: 1 for each.
std::vector<double> mean_of_members(const Members& members, std::span<const double> weight,
                                    const Context& context);

// exp(sum_l w_l log P_l / sum_l w_l), divided by its sum over the classes. Weights are positive. A
// class to which a member gives 0 has 0; where that is so of all classes, the row is the weighted mean.
std::vector<double> geometric_mean_of_members(const Members& members,
                                              std::span<const double> weight,
                                              const Context& context);

}  // namespace arboleda
