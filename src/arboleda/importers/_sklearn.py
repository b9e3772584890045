"""Trees and ensembles of trees that scikit-learn has fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_is_fitted

from arboleda.importers._sklearn_boosting import keep_gradient_boosting
from arboleda.importers._sklearn_histograms import keep_hist_gradient_boosting
from arboleda.importers._sklearn_trees import keep_forest, keep_tree

# Class of scikit-learn -> ours, where it is, and what gives it the fitted state.
_KNOWN: Mapping[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "DecisionTreeClassifier": ("DecisionTreeClassifier", "tree", keep_tree),
    "DecisionTreeRegressor": ("DecisionTreeRegressor", "tree", keep_tree),
    "ExtraTreeClassifier": ("DecisionTreeClassifier", "tree", keep_tree),
    "ExtraTreeRegressor": ("DecisionTreeRegressor", "tree", keep_tree),
    "RandomForestClassifier": ("RandomForestClassifier", "forest", keep_forest),
    "RandomForestRegressor": ("RandomForestRegressor", "forest", keep_forest),
    "ExtraTreesClassifier": ("ExtraTreesClassifier", "forest", keep_forest),
    "ExtraTreesRegressor": ("ExtraTreesRegressor", "forest", keep_forest),
    "GradientBoostingClassifier": (
        "GradientBoostingClassifier", "boosting", keep_gradient_boosting,
    ),
    "GradientBoostingRegressor": (
        "GradientBoostingRegressor", "boosting", keep_gradient_boosting,
    ),
    "HistGradientBoostingClassifier": (
        "HistGradientBoostingClassifier", "boosting", keep_hist_gradient_boosting,
    ),
    "HistGradientBoostingRegressor": (
        "HistGradientBoostingRegressor", "boosting", keep_hist_gradient_boosting,
    ),
}  # fmt: skip


def from_sklearn(model: Any) -> Any:
    """Make a model of ours of a tree or an ensemble of trees that scikit-learn has fitted.

    It predicts what scikit-learn's does, up to the rounding of sums. All else is that of our
    estimators: ``save``, explanations, rules of single trees.

    Parameters
    ----------
    model : estimator
        A fitted ``DecisionTree*``, ``ExtraTree*``, ``RandomForest*``, ``ExtraTrees*``,
        ``GradientBoosting*`` or ``HistGradientBoosting*``, as ``Classifier`` or ``Regressor``.

    Returns
    -------
    model : estimator
        Of the class of that name, with its parameters; a ``DecisionTree*`` of an ``ExtraTree*``.

    Raises
    ------
    TypeError
        If it is no such estimator.
    NotFittedError
        If it is not fitted.
    ValueError
        If it has what ours have not: boosting that begins from another estimator (``init=``).

    Notes
    -----
    scikit-learn's exact trees round a value to float32 before they compare it; the thresholds here
    say the same of float64, so predictions agree for data of both. Which rows a tree of a forest
    drew is not taken over: there is no out-of-bag error, and no ``estimators_samples_``.

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
            f"a {type(model).__module__}.{name} is none of the trees and ensembles of trees of "
            f"scikit-learn that can be read: give one of {', '.join(_KNOWN)}"
        )
    check_is_fitted(model)
    ours, package, keep = _KNOWN[name]
    estimator_class = getattr(import_module(f"arboleda.{package}"), ours)
    return keep(_with_parameters(estimator_class, model), model)


def _with_parameters(estimator_class: Any, model: Any) -> Any:
    """Return an estimator with the parameters of a model that it has, and whose value it allows."""
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
