// AdaBoost of regressors: the densities of AdaBoost.R, and weighted medians.
#include <nanobind/stl/vector.h>

#include "areas.h"
#include "arrays.h"
#include "learn/target_density.h"
#include "predict/weighted_median.h"
#include "table_methods.h"

namespace arboleda::python {

namespace {

using Floats = InArray<double>;

void init_density(nb::module_& m) {
  nb::class_<TargetDensity>(m, "TargetDensity", "The weights of AdaBoost.R.")
      .def(
          "__init__",
          [](TargetDensity* self, const Floats& targets, const Floats& weights) {
            new (self) TargetDensity(span_of(targets), span_of(weights));
          },
          nb::arg("targets"), nb::arg("weights"))
      .def("at", &TargetDensity::at, nb::arg("row"), nb::arg("y"))
      .def("row_weights", [](const TargetDensity& self) { return to_numpy(self.row_weights()); })
      .def(
          "error",
          [](const TargetDensity& self, const Floats& predictions, int n_threads) {
            const Context context = make_context(n_threads, 0);
            const nb::gil_scoped_release unlocked;
            return self.error(span_of(predictions), context);
          },
          nb::arg("predictions"), nb::arg("n_threads"))
      .def(
          "best_predictions",
          [](const TargetDensity& self, const InArray<std::uint32_t>& leaf, std::size_t n_leaves,
             int n_threads) {
            const Context context = make_context(n_threads, 0);
            std::vector<double> best;
            {
              const nb::gil_scoped_release unlocked;
              best = self.best_predictions(span_of(leaf), n_leaves, context);
            }
            return to_numpy(std::move(best));
          },
          nb::arg("leaf"), nb::arg("n_leaves"), nb::arg("n_threads"))
      .def(
          "reweigh",
          [](TargetDensity& self, const Floats& predictions, double factor, int n_threads) {
            const Context context = make_context(n_threads, 0);
            const nb::gil_scoped_release unlocked;
            self.reweigh(span_of(predictions), factor, context);
          },
          nb::arg("predictions"), nb::arg("factor"), nb::arg("n_threads"));
}

void init_medians(nb::module_& m) {
  nb::class_<RunningMedians>(m, "RunningMedians", "Medians of one member after the other.")
      .def(nb::init<std::size_t>(), nb::arg("n_rows"))
      .def(
          "add",
          [](RunningMedians& self, const Floats& values, double weight, int n_threads) {
            const Context context = make_context(n_threads, 0);
            const nb::gil_scoped_release unlocked;
            self.add(span_of(values), weight, context);
          },
          nb::arg("values"), nb::arg("weight"), nb::arg("n_threads"))
      .def(
          "medians",
          [](const RunningMedians& self, int n_threads) {
            const Context context = make_context(n_threads, 0);
            std::vector<double> medians;
            {
              const nb::gil_scoped_release unlocked;
              medians = self.medians(context);
            }
            return to_numpy(std::move(medians));
          },
          nb::arg("n_threads"));
}

// Called with the GIL held; releases it.
template <class Table>
OutArray<double> medians_of(const Forest& forest, const Table& table, int n_threads,
                            const Floats& weights) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> medians;
  {
    const nb::gil_scoped_release unlocked;
    medians = median_values(forest, span_of(weights), table, context);
  }
  return to_numpy(std::move(medians));
}

}  // namespace

void def_medians(nb::class_<Forest>& forest_class) {
  def_table_method<Floats>(
      forest_class, "medians",
      [](const Forest& forest, const auto& table, int n_threads, const Floats& weights) {
        return medians_of(forest, table, n_threads, weights);
      },
      nb::arg("weights"));
}

void init_adaboost_regressor(nb::module_& m) {
  init_density(m);
  init_medians(m);
}

}  // namespace arboleda::python
