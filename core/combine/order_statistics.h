// Order statistics of the members' outputs for a cell: minimum, maximum, median, trimmed mean
// (Kittler, Hatef, Duin, Matas 1998, "On combining classifiers").
#pragma once

#include "combine/members.h"

namespace arboleda {

enum class OrderStatistic { minimum, maximum, median, trimmed };

struct OrderRule {
  OrderStatistic statistic;
  std::size_t n_trimmed = 0;  // the smallest and the largest that a trimmed mean leaves out, each
  bool as_shares = true;      // divide each row by its sum; where that is 0, take the members' mean
};

// (rows, classes). The median of an even number is the mean of the middle two.
std::vector<double> order_statistic_of_members(const Members& members, const OrderRule& rule,
                                               const Context& context);

}  // namespace arboleda
