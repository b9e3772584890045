// Bayesian additive regression trees: the sampler, and its draws as a model.
#include "bart/sampler.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>

#include "areas.h"
#include "arrays.h"
#include "bart/posterior.h"

namespace arboleda::python {

namespace {

using Floats = InArray<double>;
using Integers = InArray<std::int64_t>;

// Called on the thread that called the fit, with the GIL released.
BartProgress progress_from(const nb::object& progress) {
  if (progress.is_none()) return {};
  return [progress](std::size_t n_sweeps) {
    const nb::gil_scoped_acquire gil;
    progress(n_sweeps);
  };
}

nb::dict to_dict(BartDraws draws, const RuleColumns& columns, const BartOptions& options) {
  std::vector<std::int64_t> n_cuts, n_levels, counts;
  std::vector<double> cuts;
  for (const RuleColumn& column : columns.columns) {
    n_cuts.push_back(static_cast<std::int64_t>(column.cuts.size()));
    n_levels.push_back(column.is_categorical ? column.n_values : 0);
    cuts.insert(cuts.end(), column.cuts.begin(), column.cuts.end());
  }
  for (const MoveCounts& some : draws.counts) {
    counts.insert(counts.end(), some.tried.begin(), some.tried.end());
    counts.insert(counts.end(), some.taken.begin(), some.taken.end());
  }
  const std::size_t n_chains = options.n_chains;
  const std::size_t n_sweeps = options.n_burn_in + options.n_draws;
  nb::dict found;
  found["unit"] = draws.unit;
  found["nodes"] = to_numpy(std::move(draws.nodes));
  found["sigma"] = to_numpy<double, 2>(std::move(draws.sigma), {n_chains, n_sweeps});
  found["mean_fit"] = to_numpy<double, 2>(std::move(draws.mean_fit), {n_chains, n_sweeps});
  found["moves"] = to_numpy<std::int64_t, 3>(std::move(counts), {n_chains, 2, kMoves});
  found["n_cuts"] = to_numpy(std::move(n_cuts));
  found["n_levels"] = to_numpy(std::move(n_levels));
  found["cuts"] = to_numpy(std::move(cuts));
  return found;
}

nb::dict sample(const BinnedDataset& table, const InArray<RowIndex>& rows, const Floats& target,
                const std::optional<Floats>& weight, const BartOptions& options,
                const nb::object& progress, int n_threads, std::uint64_t seed) {
  const BartProgress report = progress_from(progress);
  const Context context = make_context(n_threads, seed);
  RuleColumns columns;
  BartDraws draws;
  {
    const nb::gil_scoped_release unlocked;
    columns = rule_columns(table, span_of(rows));
    draws = sample_bart({columns, span_of(target), span_of(weight)}, options, report, context);
  }
  return to_dict(std::move(draws), columns, options);
}

// Draws x rows.
template <class Table>
OutArray<double, 2> draw(const Posterior& posterior, const Table& table, std::size_t first,
                         std::size_t last, int n_threads) {
  require(first <= last && last <= posterior.arrays().n_draws, "there are no such draws");
  const Context context = make_context(n_threads, 0);
  std::vector<double> values((last - first) * table.n_rows);
  {
    const nb::gil_scoped_release unlocked;
    posterior.draw(first, last, table, context, values);
  }
  return to_numpy<double, 2>(std::move(values), {last - first, table.n_rows});
}

template <class Table>
OutArray<double> mean(const Posterior& posterior, const Table& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> values(table.n_rows);
  {
    const nb::gil_scoped_release unlocked;
    posterior.mean(table, context, values);
  }
  return to_numpy(std::move(values));
}

const PosteriorArrays& arrays_of(nb::handle self) {
  return nb::cast<const Posterior&>(self).arrays();
}

void init_options(nb::module_& m) {
  nb::class_<BartOptions>(m, "BartOptions", "Priors and sizes of the sampler.")
      .def(
          "__init__",
          [](BartOptions* self, std::size_t n_trees, std::size_t n_burn_in, std::size_t n_draws,
             std::size_t n_chains, double alpha, double beta, std::size_t min_samples_leaf,
             double leaf_sd, double nu, double scale, double sigma, bool probit, double offset) {
            new (self) BartOptions{};
            self->n_trees = n_trees;
            self->n_burn_in = n_burn_in;
            self->n_draws = n_draws;
            self->n_chains = n_chains;
            self->split = {alpha, beta};
            self->min_samples_leaf = min_samples_leaf;
            self->leaf_sd = leaf_sd;
            self->nu = nu;
            self->lambda = scale;
            self->sigma = sigma;
            self->is_probit = probit;
            self->offset = offset;
          },
          nb::kw_only(), nb::arg("n_trees"), nb::arg("n_burn_in"), nb::arg("n_draws"),
          nb::arg("n_chains"), nb::arg("alpha"), nb::arg("beta"), nb::arg("min_samples_leaf"),
          nb::arg("leaf_sd"), nb::arg("nu"), nb::arg("scale"), nb::arg("sigma"), nb::arg("probit"),
          nb::arg("offset"));
}

void init_posterior(nb::module_& m) {
  using Indices = InArray<std::int32_t>;
  nb::class_<Posterior>(m, "BartPosterior", "Sums of trees, drawn from their posterior.")
      .def(
          "__init__",
          [](Posterior* self, std::size_t n_draws, std::size_t n_trees, const Integers& n_cuts,
             const Integers& n_levels, const Floats& cuts, const Integers& nodes, double centre,
             double unit) {
            PosteriorArrays arrays{n_draws,
                                   n_trees,
                                   to_vector(n_cuts),
                                   to_vector(n_levels),
                                   to_vector(cuts),
                                   to_vector(nodes),
                                   centre,
                                   unit};
            const nb::gil_scoped_release unlocked;
            new (self) Posterior(std::move(arrays));
          },
          nb::arg("n_draws"), nb::arg("n_trees"), nb::arg("n_cuts"), nb::arg("n_levels"),
          nb::arg("cuts"), nb::arg("nodes"), nb::arg("centre"), nb::arg("unit"))
      .def_prop_ro("n_draws", [](const Posterior& p) { return p.arrays().n_draws; })
      .def_prop_ro("n_trees", [](const Posterior& p) { return p.arrays().n_trees; })
      .def_prop_ro("n_features", &Posterior::n_features)
      .def_prop_ro("centre", [](const Posterior& p) { return p.arrays().centre; })
      .def_prop_ro("unit", [](const Posterior& p) { return p.arrays().unit; })
      .def_prop_ro("n_cuts", [](nb::handle s) { return view_numpy(arrays_of(s).n_cuts, s); })
      .def_prop_ro("n_levels", [](nb::handle s) { return view_numpy(arrays_of(s).n_levels, s); })
      .def_prop_ro("cuts", [](nb::handle s) { return view_numpy(arrays_of(s).cuts, s); })
      .def_prop_ro("nodes", [](nb::handle s) { return view_numpy(arrays_of(s).nodes, s); })
      .def(
          "draw",
          [](const Posterior& p, nb::list columns, std::size_t n_rows, std::size_t first,
             std::size_t last,
             int n_threads) { return draw(p, to_table(columns, n_rows), first, last, n_threads); },
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("first"), nb::arg("last"),
          nb::arg("n_threads"))
      .def(
          "draw",
          [](const Posterior& p, const AnyColumn& data, const Indices& indices,
             const Integers& indptr, std::size_t n_columns, std::size_t first, std::size_t last,
             int n_threads) {
            return draw(p, to_rows(data, indices, indptr, n_columns), first, last, n_threads);
          },
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_columns"),
          nb::arg("first"), nb::arg("last"), nb::arg("n_threads"))
      .def(
          "mean",
          [](const Posterior& p, nb::list columns, std::size_t n_rows, int n_threads) {
            return mean(p, to_table(columns, n_rows), n_threads);
          },
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"))
      .def(
          "mean",
          [](const Posterior& p, const AnyColumn& data, const Indices& indices,
             const Integers& indptr, std::size_t n_columns, int n_threads) {
            return mean(p, to_rows(data, indices, indptr, n_columns), n_threads);
          },
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_columns"),
          nb::arg("n_threads"))
      .def("split_counts",
           [](const Posterior& p) {
             return to_numpy<std::int64_t, 2>(p.split_counts(),
                                              {p.arrays().n_draws, p.n_features()});
           })
      .def("leaf_counts", [](const Posterior& p) {
        return to_numpy<std::int64_t, 2>(p.leaf_counts(), {p.arrays().n_draws, p.arrays().n_trees});
      });
}

}  // namespace

void init_bart(nb::module_& m) {
  init_options(m);
  init_posterior(m);
  m.def("sample_bart", &sample, nb::arg("table"), nb::arg("rows"), nb::arg("target"),
        nb::arg("weight").none(), nb::arg("options"), nb::arg("progress").none(),
        nb::arg("n_threads"), nb::arg("seed"));
}

}  // namespace arboleda::python
