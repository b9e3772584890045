"""Base classes of the selectors: tables of any type, and searches over subsets of columns."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Sequence
from math import ceil
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import (
    _check_y,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from arboleda._base.mixins import copy_input_tags, restore_on_failure
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._base.targets import encode_classes
from arboleda._engine.columns import Schema
from arboleda._engine.frames import as_frame
from arboleda._engine.table import check_table, find_fitted_order
from arboleda._engine.target import read_target
from arboleda._utils.sparse import check_sparse

__all__ = ["SubsetScores", "TableSelector", "Task", "WrapperSelector", "read_classes_or_numbers"]

# Conversions that keep the types of the columns.
_CONVERSIONS: dict[str, Callable[[nw.DataFrame[Any]], Any]] = {
    "default": nw.DataFrame.to_native,
    "pandas": nw.DataFrame.to_pandas,
    "polars": nw.DataFrame.to_polars,
}


class TableSelector(NamesOtherParameters, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Selector of the columns in ``support_``."""

    n_features_in_: int
    schema_: Schema
    support_: npt.NDArray[np.bool_]

    def transform(self, X: Any) -> Any:
        """Reduce a table to the selected columns, in their order in the table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns of a data frame are matched by name, in any order.

        Returns
        -------
        X_r : ndarray, sparse matrix or frame of shape (n_samples, n_selected_features)
            A data frame stays a data frame, so columns keep their types; ``set_output`` converts it
            to another type of data frame, in which columns keep their types too.

        Raises
        ------
        ValueError
            If the columns are not those of ``fit``.
        """
        check_is_fitted(self)
        check_sparse(X)
        frame = as_frame(X)
        if frame is None or not self.support_.any():
            # Without columns, arrays keep their rows, unlike data frames, and scikit-learn warns.
            return super().transform(X)
        order = find_fitted_order(self, frame, self.schema_)
        chosen = self.get_support(indices=True).tolist()
        places = chosen if order is None else [order[j] for j in chosen]
        container = _get_output_config("transform", estimator=self)["dense"]
        return _CONVERSIONS[container](frame[:, places])

    def inverse_transform(self, X: Any) -> Any:
        """Restore the original columns, with zeros in those that were not selected.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected_features)

        Returns
        -------
        X_r : ndarray or sparse matrix of shape (n_samples, n_features)
        """
        check_sparse(X)
        return super().inverse_transform(X)

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


Task = Literal["auto", "classification", "regression"]


def read_classes_or_numbers(
    y: Any, task: Task, estimator: Any
) -> tuple[npt.NDArray[Any], Literal["classification", "regression"]]:
    """Validate a target and infer its task.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    task : {"auto", "classification", "regression"}
        "auto": regression if y has fractional numbers, else classification, as in scikit-learn's
        ``type_of_target``.
    estimator : object
        Estimator named in error messages.

    Returns
    -------
    target : ndarray of shape (n_samples,)
        Class indices, or float64 numbers.
    task : {"classification", "regression"}

    Raises
    ------
    ValueError
        If a value is missing, infinite or invalid for the task, or there are several targets.
    """
    target = read_target(y, numeric=task == "regression")
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn sums and casts huge values
        if task == "auto":
            task = "regression" if type_of_target(target) == "continuous" else "classification"
        if task == "classification":
            return encode_classes(target, estimator)[1], task
        numbers = _check_y(target, y_numeric=True, estimator=estimator)
    if numbers.dtype.kind in "Mm":
        raise ValueError(
            f"y has values of type {numbers.dtype}: convert dates and durations to numbers first."
        )
    return column_or_1d(numbers, warn=True).astype(np.float64), task


Mask = npt.NDArray[np.bool_]
History = dict[str, npt.NDArray[Any]]
# Order of subsets: by score, then by fewer columns.
Rank = tuple[float, int]


class SubsetScores:
    """Cache of cross-validated scores of subsets of columns.

    Parameters
    ----------
    estimator : estimator
        Estimator that is cloned for every fit.
    X : frame, ndarray or sparse matrix
    y : array-like
    splits : sequence of (train, test)
        Folds, the same for all subsets.
    scoring : str, callable or None
    n_jobs : int or None
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any, splits: Sequence[Any], scoring: Any, n_jobs: Any
    ) -> None:
        self._estimator = estimator
        self._frame = as_frame(X)
        self._X, self._y = X, y
        self._splits = splits
        self._scoring = scoring
        self._n_jobs = n_jobs
        self._scores: dict[bytes, float] = {}

    @property
    def n_evaluated(self) -> int:
        """Number of different subsets scored so far."""
        return len(self._scores)

    def compute_ranks(self, masks: Sequence[Mask]) -> list[Rank]:
        """Score subsets, with new ones in parallel.

        Returns
        -------
        ranks : list of (score, -n_columns)
            Greater is better.
        """
        new = {mask.tobytes(): mask for mask in masks if mask.tobytes() not in self._scores}
        if len(new) == 1:  # folds in parallel
            computed = [self._score(mask, self._n_jobs) for mask in new.values()]
        else:
            computed = Parallel(n_jobs=self._n_jobs)(
                delayed(self._score)(mask, 1) for mask in new.values()
            )
        self._scores.update(zip(new, computed, strict=True))
        return [(self._scores[mask.tobytes()], -int(mask.sum())) for mask in masks]

    def _score(self, mask: Mask, n_jobs: Any) -> float:
        columns = np.flatnonzero(mask)
        part = (
            self._X[:, columns]
            if self._frame is None
            else self._frame[:, columns.tolist()].to_native()
        )
        scores = cross_val_score(
            clone(self._estimator),
            part,
            self._y,
            scoring=self._scoring,
            cv=self._splits,
            n_jobs=n_jobs,
            error_score="raise",
        )
        return float(scores.mean())


class WrapperSelector(MetaEstimatorMixin, TableSelector):  # type: ignore[misc]
    """Search for the columns with the best cross-validated score of an estimator."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "scoring": [None, StrOptions(set(get_scorer_names())), callable],
        "cv": ["cv_object"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
    }

    estimator: Any
    n_features_to_select: int | float | None
    scoring: Any
    cv: Any
    random_state: int | np.random.RandomState | None
    verbose: int
    n_jobs: int | None
    score_: float
    support_: npt.NDArray[np.bool_]
    history_: History

    @abstractmethod
    def _search(
        self, scores: SubsetScores, n_columns: int, n_selected: int | None, random: Any
    ) -> tuple[Mask, Rank, History]:
        """Return the best subset found, its rank, and the history of the search."""

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Search for the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any table that the estimator accepts; data frames are passed on as data frames.
        y : array-like of shape (n_samples,)
            The target.
        groups : array-like of shape (n_samples,), default=None
            Passed to the splitter ``cv``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, the lengths differ, or fitting the estimator fails.
            The selector stays unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            table = check_table(self, X, reset=True, categorical_features="from_dtype")
            y = self._read_target(y)
            check_consistent_length(table, y, groups)
            if as_frame(X) is None:
                X = check_array(
                    X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False
                )
            cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
            splits = list(cv.split(np.zeros(table.n_rows), y, groups))
            scores = SubsetScores(self.estimator, X, y, splits, self.scoring, self.n_jobs)
            n_columns = self.n_features_in_
            random = check_random_state(self.random_state)
            self.support_, (self.score_, _), self.history_ = self._search(
                scores, n_columns, self._resolve_n_selected(n_columns), random
            )
            self.n_features_: int = int(self.support_.sum())
            self.n_evaluations_: int = scores.n_evaluated
        return self

    def _read_target(self, y: Any) -> Any:
        """Validate the target; class labels are returned as labels."""
        if not is_classifier(self.estimator):
            return read_target(y, numeric=True)
        read_classes_or_numbers(y, "classification", self)
        labels = np.asarray(read_target(y, numeric=False)).reshape(-1)
        # Metrics do not accept labels of type object.
        return np.array(labels.tolist()) if labels.dtype == object else labels

    def _resolve_n_selected(self, n_columns: int) -> int | None:
        """Return the number of columns of all subsets; None if it is not fixed."""
        n_features = self.n_features_to_select
        if n_features is None:
            return None
        n_selected = (
            ceil(n_features * n_columns) if isinstance(n_features, float) else int(n_features)
        )
        if n_selected > n_columns:
            raise ValueError(
                f"n_features_to_select={n_features} is more than the {n_columns} columns of X: "
                "lower it."
            )
        return n_selected

    def _report(self, text: str) -> None:
        if self.verbose:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.estimator)
        return tags


def draw_subset(n_columns: int, n_selected: int | None, random: np.random.RandomState) -> Mask:
    """Draw a random non-empty subset, of any or of a given size."""
    if n_selected is None:
        mask = random.random_sample(n_columns) < 0.5
        return ensure_non_empty(mask, random)
    mask = np.zeros(n_columns, dtype=bool)
    mask[random.choice(n_columns, n_selected, replace=False)] = True
    return mask


def ensure_non_empty(mask: Mask, random: np.random.RandomState) -> Mask:
    """Add a random column if the subset is empty."""
    if not mask.any():
        mask[random.randint(len(mask))] = True
    return mask


def swap_column(mask: Mask, column: int, random: np.random.RandomState) -> Mask:
    """Exchange a selected column for a random other one."""
    others = np.flatnonzero(~mask)
    result = mask.copy()
    if others.size:
        result[column] = False
        result[others[random.randint(len(others))]] = True
    return result
