"""Import of scikit-learn's trees and tree ensembles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_is_fitted

from arboleda.importers._sklearn_boosting import set_gradient_boosting_state
from arboleda.importers._sklearn_histograms import set_hist_gradient_boosting_state
from arboleda.importers._sklearn_trees import set_forest_state, set_tree_state

# Class of scikit-learn -> our class, its package, and the function that sets the fitted state.
_KNOWN: Mapping[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "DecisionTreeClassifier": ("DecisionTreeClassifier", "tree", set_tree_state),
    "DecisionTreeRegressor": ("DecisionTreeRegressor", "tree", set_tree_state),
    "ExtraTreeClassifier": ("DecisionTreeClassifier", "tree", set_tree_state),
    "ExtraTreeRegressor": ("DecisionTreeRegressor", "tree", set_tree_state),
    "RandomForestClassifier": ("RandomForestClassifier", "forest", set_forest_state),
    "RandomForestRegressor": ("RandomForestRegressor", "forest", set_forest_state),
    "ExtraTreesClassifier": ("ExtraTreesClassifier", "forest", set_forest_state),
    "ExtraTreesRegressor": ("ExtraTreesRegressor", "forest", set_forest_state),
    "GradientBoostingClassifier": (
        "GradientBoostingClassifier", "boosting", set_gradient_boosting_state,
    ),
    "GradientBoostingRegressor": (
        "GradientBoostingRegressor", "boosting", set_gradient_boosting_state,
    ),
    "HistGradientBoostingClassifier": (
        "HistGradientBoostingClassifier", "boosting", set_hist_gradient_boosting_state,
    ),
    "HistGradientBoostingRegressor": (
        "HistGradientBoostingRegressor", "boosting", set_hist_gradient_boosting_state,
    ),
}  # fmt: skip


def from_sklearn(model: Any) -> Any:
    """Convert a fitted scikit-learn tree or tree ensemble.

    Its predictions are equal to scikit-learn's, up to the rounding of sums. The result supports
    everything that our estimators do: ``save``, explanations, rules of single trees.

    Parameters
    ----------
    model : estimator
        A fitted ``DecisionTree*``, ``ExtraTree*``, ``RandomForest*``, ``ExtraTrees*``,
        ``GradientBoosting*`` or ``HistGradientBoosting*``, as ``Classifier`` or ``Regressor``.

    Returns
    -------
    model : estimator
        Estimator of the class of the same name, with its parameters; an ``ExtraTree*`` becomes a
        ``DecisionTree*``.

    Raises
    ------
    TypeError
        If it is not such an estimator.
    NotFittedError
        If it is not fitted.
    ValueError
        If it has unsupported features: boosting that starts from another estimator (``init=``).

    Notes
    -----
    scikit-learn's exact trees round a value to float32 before they compare it. The thresholds are
    converted to equivalent float64 thresholds, so predictions agree for data of both types. The
    bootstrap samples of a forest are not converted: there is no out-of-bag error, and no
    ``estimators_samples_``.

    Examples
    --------
    >>> import arboleda
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = RandomForestClassifier(random_state=0).fit(X, y)
    >>> ours = arboleda.from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all())
    True
    """
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn.") or name not in _KNOWN:
        raise TypeError(
            "model must be one of scikit-learn's trees and tree ensembles "
            f"({', '.join(_KNOWN)}), got {type(model).__module__}.{name}"
        )
    check_is_fitted(model)
    ours, package, set_state = _KNOWN[name]
    estimator_class = getattr(import_module(f"arboleda.{package}"), ours)
    return set_state(_make_estimator(estimator_class, model), model)


def _make_estimator(estimator_class: Any, model: Any) -> Any:
    """Return an estimator with those parameters of a model that it accepts."""
    estimator = estimator_class()
    defaults = estimator.get_params(deep=False)
    for name, value in model.get_params(deep=False).items():
        if name not in defaults:
            continue
        setattr(estimator, name, value)
        try:
            estimator._validate_params()
        except InvalidParameterError:
            setattr(estimator, name, defaults[name])
    return estimator
