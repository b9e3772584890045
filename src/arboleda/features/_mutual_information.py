"""Mutual information of columns with the target, and greedy selection by it."""

from __future__ import annotations

import sys
from abc import abstractmethod
from math import ceil
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import (
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import check_consistent_length

from arboleda._base.mixins import restore_on_failure
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.table import check_table
from arboleda.features._base_selectors import TableSelector, Task, read_classes_or_numbers
from arboleda.features._measures import Continuous, Measure, make_measure

__all__ = ["GreedySelector", "mutual_information"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class GreedySelector(TableSelector):
    """Base class of forward selectors by mutual information, without the criterion."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [Interval(Integral, 1, None, closed="left")],
        "preselect": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "task": [StrOptions({"auto", "classification", "regression"})],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "continuous": [StrOptions({"bins", "neighbors"})],
        "n_bins": [Interval(Integral, 2, 65_536, closed="both")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
    }

    n_features_to_select: int
    preselect: int | float | None
    task: Task
    categorical_features: Any
    continuous: Continuous
    n_bins: int
    n_neighbors: int
    random_state: int | np.random.RandomState | None
    verbose: int
    n_jobs: int | None

    @abstractmethod
    def _compute_term(self, measure: Measure, last: int, others: Indices) -> Floats:
        """Compute the term of each other column for the column selected last."""

    @abstractmethod
    def _compute_criterion(self, relevance: Floats, mean: Floats) -> Floats:
        """Compute the criterion from I(x_j; y) and the mean term over the selected columns."""

    def fit(self, X: Any, y: Any) -> Self:
        """Select the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any table with numbers, categories and missing values.
        y : array-like of shape (n_samples,)
            Classes or numbers; see ``task``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X contains an infinite value or text in a numeric
            column, y has missing or infinite values, or the lengths differ. The selector stays
            unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            kinds = self.categorical_features
            table = check_table(self, X, reset=True, categorical_features=kinds)
            target, self.task_ = read_classes_or_numbers(y, self.task, self)
            check_consistent_length(table, target)
            measure = make_measure(
                table,
                target,
                self.task_,
                continuous=self.continuous,
                n_bins=self.n_bins,
                n_neighbors=self.n_neighbors,
                random_state=check_random_state(self.random_state),
                n_threads=resolve_n_jobs(self.n_jobs),
            )
            self._select(measure)
        return self

    def _select(self, measure: Measure) -> None:
        n_columns = self.n_features_in_
        n_selected = min(self.n_features_to_select, n_columns)
        self.scores_: Floats = np.maximum(measure.with_target(), 0.0)
        self.candidates_: Indices = self._select_candidates()
        self.support_: npt.NDArray[np.bool_] = np.zeros(n_columns, dtype=bool)
        order: list[int] = []
        values: list[float] = []
        totals = np.zeros(n_columns)
        while len(order) < n_selected:
            rest = self.candidates_[~self.support_[self.candidates_]]
            worth = self.scores_[rest]
            if order:
                totals[rest] += self._compute_term(measure, order[-1], rest)
                worth = self._compute_criterion(worth, totals[rest] / len(order))
            best = int(worth.argmax())
            order.append(int(rest[best]))
            values.append(float(worth[best]))
            self.support_[order[-1]] = True
            if self.verbose:
                self._report_progress(len(order), n_selected, order[-1], values[-1])
        self.order_: npt.NDArray[np.intp] = np.array(order, dtype=np.intp)
        self.order_scores_: Floats = np.array(values)

    def _select_candidates(self) -> Indices:
        """Return the columns to search: those with the largest information about the target."""
        n_columns, preselect = self.n_features_in_, self.preselect
        if preselect is None:
            return np.arange(n_columns)
        n_kept = ceil(preselect * n_columns) if isinstance(preselect, float) else int(preselect)
        n_selected = min(self.n_features_to_select, n_columns)
        if n_kept < n_selected:
            raise ValueError(
                f"preselect={preselect} keeps {n_kept} of {n_columns} columns, fewer than "
                f"n_features_to_select={self.n_features_to_select}: raise preselect."
            )
        order = np.argsort(-self.scores_, kind="stable")  # ties go to the first column
        return np.sort(order[:n_kept])

    def _report_progress(self, n_done: int, n_selected: int, column: int, value: float) -> None:
        name = self.schema_.describe(column)
        sys.stdout.write(f"column {n_done} of {n_selected}: {name}, {value:.4g}\n")
        sys.stdout.flush()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.continuous == "bins"
        return tags


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
