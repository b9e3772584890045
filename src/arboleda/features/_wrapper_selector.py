"""Base class of wrapper searches, with cached cross-validated scores of subsets of columns."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Sequence
from math import ceil
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.utils import Tags, check_array, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_consistent_length

from arboleda._base.mixins import restore_on_failure
from arboleda._engine.frames import as_frame
from arboleda._engine.table import check_table
from arboleda._engine.target import read_target
from arboleda.features._table_selector import TableSelector, read_classes_or_numbers

__all__ = ["SubsetScores", "WrapperSelector"]

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
            self.n_features_ = int(self.support_.sum())
            self.n_evaluations_ = scores.n_evaluated
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
        of_estimator = get_tags(self.estimator)
        tags.input_tags.allow_nan = of_estimator.input_tags.allow_nan
        tags.input_tags.sparse = of_estimator.input_tags.sparse
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
