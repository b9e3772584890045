"""Mutual information of columns with the target."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import check_consistent_length

from arboleda._engine.table import check_table
from arboleda._engine.threads import resolve_n_jobs
from arboleda.features._greedy_selector import GreedySelector
from arboleda.features._measures import Continuous, make_measure
from arboleda.features._target import Task, read_classes_or_numbers

__all__ = ["mutual_information"]


class _MutualInformation(BaseEstimator):  # type: ignore[misc]
    """Owner of the table, which error messages name."""


def mutual_information(
    X: Any,
    y: Any,
    *,
    task: Task = "auto",
    categorical_features: Any = "from_dtype",
    continuous: Continuous = "bins",
    n_bins: int = 5,
    n_neighbors: int = 3,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> npt.NDArray[np.float64]:
    """Estimate the mutual information of each column with the target, in nats.

    I(x; y) is the sum over all pairs of p(x, y) log(p(x, y) / (p(x) p(y))): 0 for independent
    variables, and the entropy of y if x determines y. Categories are counted, and a missing value
    is a category. Information from counts is reduced by its expectation for an uninformative column
    with the same numbers of rows of its levels (Vinh, Epps, Bailey 2010), so it is 0 for an
    identifier.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Any table with numbers, categories and missing values.
    y : array-like of shape (n_samples,)
        Classes or numbers.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y contains classes or numbers. "auto": regression if y has fractional numbers, else
        classification, as in scikit-learn's ``type_of_target``.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        See `DecisionTreeClassifier`.
    continuous : {"bins", "neighbors"}, default="bins"
        Estimator for numeric columns and regression targets: counting in ``n_bins`` quantile bins,
        or nearest neighbors (Kraskov et al. 2004; Ross 2014) as in scikit-learn's
        ``mutual_info_classif`` and ``mutual_info_regression``, which is more sensitive and slower.
    n_bins : int, default=5
        Number of bins. Columns with no more values than this are not binned, but counted in both
        modes.
    n_neighbors : int, default=3
        Number of neighbors of ``continuous="neighbors"``: more neighbors reduce the variance and
        increase the bias.
    random_state : int, RandomState or None, default=None
        Seed of the noise that breaks ties of ``continuous="neighbors"``.
    n_jobs : int, default=None
        Number of threads that read X. The result does not depend on it.

    Returns
    -------
    information : ndarray of shape (n_features,)
        Non-negative estimates.

    Raises
    ------
    ValueError
        If a parameter is out of range, X contains an infinite value or text in a numeric column, y
        has missing or infinite values, or the lengths differ.

    References
    ----------
    N. X. Vinh, J. Epps, J. Bailey (2010), "Information theoretic measures for clusterings
    comparison", Journal of Machine Learning Research 11.

    Examples
    --------
    >>> from arboleda.features import mutual_information
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> mutual_information(X, y).round(2)
    array([0.41, 0.22, 0.81, 0.77])
    """
    params = {
        "task": task,
        "categorical_features": categorical_features,
        "continuous": continuous,
        "n_bins": n_bins,
        "n_neighbors": n_neighbors,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    constraints = {name: GreedySelector._parameter_constraints[name] for name in params}
    validate_parameter_constraints(constraints, params, "mutual_information")
    table = check_table(
        _MutualInformation(), X, reset=True, categorical_features=categorical_features
    )
    target, resolved_task = read_classes_or_numbers(y, task, _MutualInformation())
    check_consistent_length(table, target)
    measure = make_measure(
        table,
        target,
        resolved_task,
        continuous=continuous,
        n_bins=n_bins,
        n_neighbors=n_neighbors,
        random_state=check_random_state(random_state),
        n_threads=resolve_n_jobs(n_jobs),
    )
    return np.maximum(measure.with_target(), 0.0)
