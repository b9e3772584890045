// Rules that combine the outputs of many members.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "areas.h"
#include "arrays.h"
#include "combine/choices.h"
#include "combine/means.h"
#include "combine/order_statistics.h"

namespace arboleda::python {

namespace {

// (members, rows, classes); of values there is one class.
using Outputs = nb::ndarray<const double, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
// (members, rows): numbers of classes.
using Chosen =
    nb::ndarray<const std::int32_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Kept = std::vector<std::size_t>;  // members to combine
using Weights = std::optional<InArray<double>>;
using Table = OutArray<double, 2>;

Members to_members(const Outputs& outputs, const Kept& kept) {
  Members members{{}, outputs.shape(1), outputs.shape(2)};
  for (const std::size_t l : kept) {
    require(l < outputs.shape(0), "there are fewer members than that");
    members.outputs.push_back(outputs.data() + l * members.n_rows * members.n_classes);
  }
  return members;
}

Choices to_choices(const Chosen& chosen, std::size_t n_classes, const Kept& kept) {
  Choices choices{{}, chosen.shape(1), n_classes};
  for (const std::size_t l : kept) {
    require(l < chosen.shape(0), "there are fewer members than that");
    choices.chosen.push_back(chosen.data() + l * choices.n_rows);
  }
  return choices;
}

// Called with the GIL held; releases it.
template <class Rule>
Table combined(std::size_t n_rows, std::size_t n_classes, int n_threads, const Rule& rule) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> found;
  {
    const nb::gil_scoped_release unlocked;
    found = rule(context);
  }
  return to_numpy<double, 2>(std::move(found), {n_rows, n_classes});
}

Table mean(const Outputs& outputs, const Kept& kept, const Weights& weights, bool geometric,
           int n_threads) {
  const Members members = to_members(outputs, kept);
  return combined(members.n_rows, members.n_classes, n_threads, [&](const Context& context) {
    return (geometric ? geometric_mean_of_members : mean_of_members)(members, span_of(weights),
                                                                     context);
  });
}

OrderStatistic statistic_named(const std::string& name) {
  if (name == "min") return OrderStatistic::minimum;
  if (name == "max") return OrderStatistic::maximum;
  if (name == "median") return OrderStatistic::median;
  require(name == "trimmed", "an order statistic is min, max, median or trimmed");
  return OrderStatistic::trimmed;
}

Table order_statistic(const Outputs& outputs, const Kept& kept, const std::string& statistic,
                      std::size_t n_trimmed, bool as_shares, int n_threads) {
  const Members members = to_members(outputs, kept);
  const OrderRule rule{statistic_named(statistic), n_trimmed, as_shares};
  return combined(members.n_rows, members.n_classes, n_threads, [&](const Context& context) {
    return order_statistic_of_members(members, rule, context);
  });
}

VoteOutput output_of(bool shares_of_exp) {
  return shares_of_exp ? VoteOutput::softmax : VoteOutput::sums;
}

template <class Inputs>
Table votes(const Inputs& inputs, const Weights& weights, bool shares_of_exp, int n_threads) {
  return combined(inputs.n_rows, inputs.n_classes, n_threads, [&](const Context& context) {
    return sum_votes(inputs, span_of(weights), output_of(shares_of_exp), context);
  });
}

template <class Inputs>
Table tables(const Inputs& inputs, const InArray<double>& start, const InArray<double>& table,
             bool shares_of_exp, int n_threads) {
  const ChoiceTables of{span_of(start), span_of(table)};
  return combined(inputs.n_rows, inputs.n_classes, n_threads, [&](const Context& context) {
    return sum_tables(inputs, of, output_of(shares_of_exp), context);
  });
}

void def_choices(nb::module_& m) {
  m.def(
      "sum_votes",
      [](const Outputs& outputs, const Kept& kept, const Weights& weights, bool shares_of_exp,
         int n_threads) {
        return votes(to_members(outputs, kept), weights, shares_of_exp, n_threads);
      },
      nb::arg("outputs"), nb::arg("kept"), nb::arg("weights").none(), nb::arg("shares_of_exp"),
      nb::arg("n_threads"));
  m.def(
      "sum_votes",
      [](const Chosen& chosen, std::size_t n_classes, const Kept& kept, const Weights& weights,
         bool shares_of_exp, int n_threads) {
        return votes(to_choices(chosen, n_classes, kept), weights, shares_of_exp, n_threads);
      },
      nb::arg("chosen"), nb::arg("n_classes"), nb::arg("kept"), nb::arg("weights").none(),
      nb::arg("shares_of_exp"), nb::arg("n_threads"));
  m.def(
      "sum_tables",
      [](const Outputs& outputs, const Kept& kept, const InArray<double>& start,
         const InArray<double>& table, bool shares_of_exp, int n_threads) {
        return tables(to_members(outputs, kept), start, table, shares_of_exp, n_threads);
      },
      nb::arg("outputs"), nb::arg("kept"), nb::arg("start"), nb::arg("table"),
      nb::arg("shares_of_exp"), nb::arg("n_threads"));
  m.def(
      "sum_tables",
      [](const Chosen& chosen, std::size_t n_classes, const Kept& kept,
         const InArray<double>& start, const InArray<double>& table, bool shares_of_exp,
         int n_threads) {
        return tables(to_choices(chosen, n_classes, kept), start, table, shares_of_exp, n_threads);
      },
      nb::arg("chosen"), nb::arg("n_classes"), nb::arg("kept"), nb::arg("start"), nb::arg("table"),
      nb::arg("shares_of_exp"), nb::arg("n_threads"));
}

}  // namespace

void init_combine(nb::module_& m) {
  m.def("mean_of_members", &mean, nb::arg("outputs"), nb::arg("kept"), nb::arg("weights").none(),
        nb::arg("geometric"), nb::arg("n_threads"));
  m.def("order_statistic_of_members", &order_statistic, nb::arg("outputs"), nb::arg("kept"),
        nb::arg("statistic"), nb::arg("n_trimmed"), nb::arg("as_shares"), nb::arg("n_threads"));
  def_choices(m);
}

}  // namespace arboleda::python
