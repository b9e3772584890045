"""Base class of forward selection by mutual information."""

from __future__ import annotations

import sys
from abc import abstractmethod
from math import ceil
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_consistent_length

from arboleda._engine.table import check_table
from arboleda._engine.threads import resolve_n_jobs
from arboleda.features._measures import Continuous, Measure, make_measure
from arboleda.features._table_selector import TableSelector
from arboleda.features._target import Task, read_classes_or_numbers
from arboleda.tree._restore_on_failure import restore_on_failure

__all__ = ["GreedySelector"]

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
        self.scores_ = np.maximum(measure.with_target(), 0.0)
        self.candidates_ = self._select_candidates()
        self.support_ = np.zeros(n_columns, dtype=bool)
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
        self.order_ = np.array(order, dtype=np.intp)
        self.order_scores_ = np.array(values)

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
