#include "combine/choices.h"

#include "combine/shares.h"

namespace arboleda {

namespace {

std::size_t choice(const Members& members, std::size_t l, std::size_t row) {
  const double* probabilities = members.outputs[l] + row * members.n_classes;
  std::size_t best = 0;
  double largest = probabilities[0];
  for (std::size_t k = 1; k < members.n_classes; ++k) {
    best = probabilities[k] > largest ? k : best;
    largest = probabilities[k] > largest ? probabilities[k] : largest;
  }
  return best;
}

std::size_t choice(const Choices& choices, std::size_t l, std::size_t row) {
  const auto chosen = static_cast<std::uint32_t>(choices.chosen[l][row]);
  require(chosen < choices.n_classes, "a member chooses a class that is not there");
  return chosen;
}

template <class Inputs>
std::vector<double> votes(const Inputs& inputs, std::span<const double> weight, VoteOutput output,
                          const Context& context) {
  require(weight.empty() || weight.size() == inputs.size(), "one weight for each member is needed");
  return for_row_blocks(inputs.n_rows, inputs.n_classes, context, [&](const OutputBlock& block) {
    for (std::size_t l = 0; l < inputs.size(); ++l) {
      const double w = weight.empty() ? 1.0 : weight[l];
      for (std::size_t i = 0; i < block.n_rows; ++i) {
        block.out[i * block.n_classes + choice(inputs, l, block.first + i)] += w;
      }
    }
    if (output == VoteOutput::softmax) exp_shares(block);
  });
}

template <class Inputs>
std::vector<double> tables_of(const Inputs& inputs, const ChoiceTables& tables, VoteOutput output,
                              const Context& context) {
  const std::size_t n = inputs.n_classes;
  require(tables.start.size() == n, "one start for each class is needed");
  require(tables.table.size() == inputs.size() * n * n, "one table for each member is needed");
  return for_row_blocks(inputs.n_rows, n, context, [&](const OutputBlock& block) {
    for (std::size_t i = 0; i < block.n_rows; ++i) {
      std::copy(tables.start.begin(), tables.start.end(), block.out + i * n);
    }
    for (std::size_t l = 0; l < inputs.size(); ++l) {
      for (std::size_t i = 0; i < block.n_rows; ++i) {
        double* out = block.out + i * n;
        const double* row = tables.table.data() + (l * n + choice(inputs, l, block.first + i)) * n;
        for (std::size_t k = 0; k < n; ++k) out[k] += row[k];
      }
    }
    if (output == VoteOutput::softmax) exp_shares(block);
  });
}

}  // namespace

std::vector<double> sum_votes(const Members& members, std::span<const double> weight,
                              VoteOutput output, const Context& context) {
  return votes(members, weight, output, context);
}

std::vector<double> sum_votes(const Choices& choices, std::span<const double> weight,
                              VoteOutput output, const Context& context) {
  return votes(choices, weight, output, context);
}

std::vector<double> sum_tables(const Members& members, const ChoiceTables& tables,
                               VoteOutput output, const Context& context) {
  return tables_of(members, tables, output, context);
}

std::vector<double> sum_tables(const Choices& choices, const ChoiceTables& tables,
                               VoteOutput output, const Context& context) {
  return tables_of(choices, tables, output, context);
}

}  // namespace arboleda
