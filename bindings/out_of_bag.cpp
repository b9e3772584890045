// Estimates from the rows that a tree of a forest did not see.
#include "bagging/out_of_bag.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "areas.h"
#include "arrays.h"
#include "fitted_rows.h"
#include "options.h"

namespace arboleda::python {

namespace {

using Labels = InArray<std::uint32_t>;
using Floats = InArray<double>;

using Votes = std::tuple<OutArray<double, 2>, OutArray<std::uint32_t>>;

template <class Table>
Votes votes(const Forest& forest, const Table& table, const FittedRows& rows,
            const std::string& voting, int n_threads) {
  const Ballot ballot(forest, voting_named(voting), rows.n_classes);
  const Context context = make_context(n_threads, rows.seed);
  OutOfBagVotes found;
  {
    const nb::gil_scoped_release unlocked;
    const BagDraw bags = rows.bags(table.n_rows);
    found = out_of_bag_votes(forest, ballot, table, {bags, rows.options.first_tree}, context);
  }
  return {to_numpy<double, 2>(std::move(found.sums), {table.n_rows, ballot.n_outputs()}),
          to_numpy(std::move(found.n_trees))};
}

using Curve = std::tuple<OutArray<double>, OutArray<std::uint64_t>>;

template <class Table>
Curve curve(const Forest& forest, const Table& table, const FittedRows& rows,
            const std::string& voting, int n_threads) {
  const Ballot ballot(forest, voting_named(voting), rows.n_classes);
  const Context context = make_context(n_threads, rows.seed);
  OutOfBagCurve found;
  {
    const nb::gil_scoped_release unlocked;
    const BagDraw bags = rows.bags(table.n_rows);
    found = out_of_bag_curve(forest, ballot, table, {bags, rows.options.first_tree}, rows.target(),
                             context);
  }
  return {to_numpy(std::move(found.error)), to_numpy(std::move(found.n_scored))};
}

template <class Table>
OutArray<double, 2> permutation(const Forest& forest, const Table& table, const FittedRows& rows,
                                int n_threads) {
  const Context context = make_context(n_threads, rows.seed);
  std::vector<double> found;
  {
    const nb::gil_scoped_release unlocked;
    const BagDraw bags = rows.bags(table.n_rows);
    found = out_of_bag_permutation(forest, table, {bags, rows.options.first_tree}, rows.target(),
                                   context);
  }
  return to_numpy<double, 2>(std::move(found), {forest.trees.size(), table.n_columns()});
}

// function(forest, table, rows, more.., n_threads) for both forms of a table.
template <class... More, class Function, class... Args>
void def_for_tables(nb::module_& m, const char* name, const Function& function,
                    const Args&... more_args) {
  m.def(
      name,
      [function](const Forest& forest, nb::list columns, std::size_t n_rows, const FittedRows& rows,
                 More... more, int n_threads) {
        return function(forest, to_table(columns, n_rows), rows, more..., n_threads);
      },
      nb::arg("forest"), nb::arg("columns"), nb::arg("n_rows"), nb::arg("rows"), more_args...,
      nb::arg("n_threads"));
  m.def(
      name,
      [function](const Forest& forest, const AnyColumn& data, const InArray<std::int32_t>& indices,
                 const InArray<std::int64_t>& indptr, std::size_t n_columns, const FittedRows& rows,
                 More... more, int n_threads) {
        return function(forest, to_rows(data, indices, indptr, n_columns), rows, more...,
                        n_threads);
      },
      nb::arg("forest"), nb::arg("data"), nb::arg("indices"), nb::arg("indptr"),
      nb::arg("n_columns"), nb::arg("rows"), more_args..., nb::arg("n_threads"));
}

}  // namespace

void init_out_of_bag(nb::module_& m) {
  nb::class_<FittedRows>(m, "FittedRows", "The rows a forest was fitted on, and its bags.")
      .def(
          "__init__",
          [](FittedRows* self, const ForestOptions& options, std::optional<Floats> weights,
             std::optional<Labels> labels, std::optional<Floats> values,
             std::vector<std::size_t> n_classes, std::uint64_t seed) {
            new (self) FittedRows{options,           std::move(weights),   std::move(labels),
                                  std::move(values), std::move(n_classes), seed};
          },
          nb::arg("options"), nb::arg("weights").none(), nb::arg("labels").none(),
          nb::arg("values").none(), nb::arg("n_classes"), nb::arg("seed"));

  def_for_tables<const std::string&>(
      m, "out_of_bag_votes",
      [](const Forest& forest, const auto& table, const FittedRows& rows, const std::string& voting,
         int n_threads) { return votes(forest, table, rows, voting, n_threads); },
      nb::arg("voting"));
  def_for_tables<const std::string&>(
      m, "out_of_bag_curve",
      [](const Forest& forest, const auto& table, const FittedRows& rows, const std::string& voting,
         int n_threads) { return curve(forest, table, rows, voting, n_threads); },
      nb::arg("voting"));
  def_for_tables(m, "out_of_bag_permutation",
                 [](const Forest& forest, const auto& table, const FittedRows& rows,
                    int n_threads) { return permutation(forest, table, rows, n_threads); });
}

}  // namespace arboleda::python
