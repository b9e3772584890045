// The module only lists its areas; each file registers one.
#include "areas.h"

NB_MODULE(_native, m) {
#ifdef NDEBUG
  // A program may end while it holds models: that is nothing to warn of.
  nanobind::set_leak_warnings(false);
#endif
  m.doc() = "The compiled engine of arboleda. Private: use the arboleda package.";
  arboleda::python::init_errors(m);
  arboleda::python::init_context(m);
  arboleda::python::init_data(m);
  arboleda::python::init_tree(m);
  arboleda::python::init_ensemble(m);
  arboleda::python::init_forest(m);
  arboleda::python::init_cart(m);
  arboleda::python::init_fit_forest(m);
  arboleda::python::init_out_of_bag(m);
  arboleda::python::init_neighborhood(m);
  arboleda::python::init_prune(m);
  arboleda::python::init_boosting(m);
  arboleda::python::init_bart(m);
  arboleda::python::init_adaboost(m);
  arboleda::python::init_adaboost_regressor(m);
  arboleda::python::init_one_row(m);
  arboleda::python::init_combine(m);
  arboleda::python::init_shap(m);
  arboleda::python::init_isolation(m);
  arboleda::python::init_io(m);
}
