"""Mutual information of the columns of a table with its target."""

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
    """Who messages about the table speak of."""


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
    """Mutual information of each column with the target, in nats.

    I(x; y) is the sum over all pairs of p(x, y) log(p(x, y) / (p(x) p(y))): 0 for what is
    independent, the entropy of y for what determines it. Categories are counted, and a missing
    value is a category. Counted information is reduced by what an uninformative column with as many
    rows in each of its levels shows in the mean (Vinh, Epps, Bailey 2010), so that an identifier
    has none.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        A table of any container, with numbers, categories and missing values.
    y : array-like of shape (n_samples,)
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or numbers. "auto": numbers that are not all whole mean regression,
        anything else classification, as scikit-learn's ``type_of_target`` has it.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        As in `DecisionTreeClassifier`.
    continuous : {"bins", "neighbors"}, default="bins"
        How numbers are measured: cut into ``n_bins`` bins of equally many rows and counted, or by
        nearest neighbours (Kraskov et al. 2004; Ross 2014), as scikit-learn's
        ``mutual_info_classif`` and ``mutual_info_regression`` do; that sees more and is slower.
    n_bins : int, default=5
        A column with no more values than this keeps each, and is counted either way.
    n_neighbors : int, default=3
        Neighbours of ``continuous="neighbors"``: more scatter less and blur more.
    random_state : int, RandomState or None, default=None
        For the noise that breaks ties of ``continuous="neighbors"``.
    n_jobs : int, default=None
        Threads that read X. The result does not depend on it.

    Returns
    -------
    information : ndarray of shape (n_features,)
        Never negative.

    Raises
    ------
    ValueError
        If a parameter is out of range, X holds an infinite value or text in a numeric column, y
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
    given = {
        "task": task,
        "categorical_features": categorical_features,
        "continuous": continuous,
        "n_bins": n_bins,
        "n_neighbors": n_neighbors,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    constraints = {name: GreedySelector._parameter_constraints[name] for name in given}
    validate_parameter_constraints(constraints, given, "mutual_information")
    table = check_table(
        _MutualInformation(), X, reset=True, categorical_features=categorical_features
    )
    target, found_task = read_classes_or_numbers(y, task, _MutualInformation())
    check_consistent_length(table, target)
    measure = make_measure(
        table,
        target,
        found_task,
        continuous=continuous,
        n_bins=n_bins,
        n_neighbors=n_neighbors,
        random_state=check_random_state(random_state),
        n_threads=resolve_n_jobs(n_jobs),
    )
    return np.maximum(measure.with_target(), 0.0)
