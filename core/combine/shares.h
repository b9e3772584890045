// Normalises the rows of a block to shares that sum to 1.
#pragma once

#include <vector>

#include "combine/members.h"

namespace arboleda {

// Divides each row by its sum. Where that is 0, members have ruled every class out: the row is their
// mean then.
void divide_by_sum(const OutputBlock& block, const Members& members);

// exp(row) / sum exp(row). Where all are minus infinity, the row is the members' weighted mean.
void exp_shares(const OutputBlock& block, const Members& members, std::span<const double> weight);

// exp(row) / sum exp(row) of finite numbers.
void exp_shares(const OutputBlock& block);

}  // namespace arboleda
