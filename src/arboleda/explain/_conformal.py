"""Conformal quantiles, scores and sets, and empirical coverage."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.target import read_target
from arboleda._utils.coverage import compute_rank
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.number_types import is_real
from arboleda._utils.results import Result
from arboleda.explain._containers import make_container

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "COVERAGES",
    "Codes",
    "Flags",
    "Floats",
    "Method",
    "Sets",
    "as_native_table",
    "as_target_array",
    "compute_adaptive_scores",
    "compute_least_ambiguous_scores",
    "compute_limit",
    "compute_rank",
    "compute_scores",
    "encode_labels",
    "read_coverage",
    "read_coverages",
    "read_pair",
    "take_rows",
    "unwrap_pipeline",
    "warn_few_rows",
]

Floats = npt.NDArray[np.float64]

# Default coverages of coverage curves.
COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


def compute_limit(scores: Floats, coverage: float) -> float:
    """Return the conformal quantile of sorted scores; infinite if there are too few."""
    rank = compute_rank(coverage, len(scores))
    return float(scores[rank - 1]) if rank <= len(scores) else math.inf


def warn_few_rows(coverage: float, n_rows: int, what: str, *, callers: int = 2) -> None:
    """Warn if there are too few rows to guarantee the coverage with finite intervals or sets.

    ``callers`` is the number of stack frames between this function and the user's code.
    """
    if compute_rank(coverage, n_rows) > n_rows:
        needed = math.ceil(1 / (1 - Fraction(repr(float(coverage))))) - 1
        warnings.warn(
            f"coverage={coverage} needs at least {needed:,} {what}, but there are {n_rows:,}: "
            "intervals are infinite and sets contain every class; give more rows or a lower "
            "coverage",
            stacklevel=callers + 1,
        )


def read_coverage(coverage: Any) -> float:
    """Check the share of rows to be covered and return it as a float."""
    is_number = is_real(coverage) and not isinstance(coverage, bool)
    if not is_number or not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}")
    return float(coverage)


def read_coverages(coverages: Any) -> tuple[float, ...]:
    """Check several coverages and return them ascending, without repeats."""
    if is_real(coverages):
        coverages = (coverages,)
    found = tuple(sorted({read_coverage(coverage) for coverage in coverages}))
    if not found:
        raise ValueError("coverages is empty: give at least one, such as (0.8, 0.9)")
    return found


def read_pair(pair: Any, name: str, *, numeric: bool) -> tuple[Any, npt.NDArray[Any]]:
    """Check that a table and its target match, and return them.

    Raises
    ------
    TypeError
        If it is not a pair.
    ValueError
        If X has no rows or columns, the lengths differ, or y is not one number or label per row.
    """
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"{name} must be a pair, {name}=(X, y), got {type(pair).__name__}")
    X, target = as_native_table(pair[0]), as_target_array(pair[1], numeric=numeric)
    if target.ndim != 1:
        raise ValueError(
            f"y of {name} has shape {target.shape}, but one value per row is expected: handle "
            "several targets one by one"
        )
    if X.shape[0] != len(target):
        raise ValueError(f"X of {name} has {X.shape[0]} rows, but y has {len(target)}")
    if numeric and target.dtype.kind not in "biuf":
        raise ValueError(f"y of {name} must be numeric, got dtype {target.dtype}")
    return X, target.astype(np.float64) if numeric else target


def as_target_array(y: Any, *, numeric: bool) -> npt.NDArray[Any]:
    """Return a target as an array; a single column becomes one-dimensional."""
    target = np.asarray(read_target(y, numeric=numeric))
    return target[:, 0] if target.ndim == 2 and target.shape[1] == 1 else target


def as_native_table(X: Any) -> Any:
    """Return a table in its native type; lists become arrays."""
    return make_container(X).native


def take_rows(X: Any, rows: slice | npt.NDArray[np.intp]) -> Any:
    """Return some rows of a table in its native type."""
    return make_container(X).take(rows).native


def unwrap_pipeline(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step of a fitted pipeline and its input table; other estimators unchanged."""
    while isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator[-1]
    return estimator, X


Method = Literal["lac", "aps"]


def compute_scores(method: Method, probabilities: Floats, seed: int | None) -> Floats:
    """Compute the scores of all classes; "aps" with a seed is randomized.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
    seed : int or None
        Seed of one random number per row; None: not randomized.
    """
    if method == "lac":
        return compute_least_ambiguous_scores(probabilities)
    n_rows = len(probabilities)
    draws = np.zeros(n_rows) if seed is None else check_random_state(seed).random_sample(n_rows)
    return compute_adaptive_scores(probabilities, draws)


def compute_least_ambiguous_scores(probabilities: Floats) -> Floats:
    """Compute 1 - p_k, whose sets are smallest on average (Sadinle, Lei, Wasserman 2019)."""
    return 1.0 - probabilities


def compute_adaptive_scores(probabilities: Floats, draws: npt.NDArray[np.float64]) -> Floats:
    """Sum the probabilities from the largest down to the class's own, minus u times the latter.

    Romano, Sesia and Candes (2020), equation (5): the least tau whose set contains the class. Ties
    are ordered by class.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
    draws : ndarray of shape (n_rows,)
        u of each row, from 0 (the whole probability of the class counts) to 1.

    Examples
    --------
    >>> compute_adaptive_scores(np.array([[0.25, 0.5, 0.25]]), np.array([0.5]))
    array([[0.625, 0.25 , 0.875]])
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    descending = np.take_along_axis(probabilities, order, axis=1)
    sums = np.cumsum(descending, axis=1) - draws[:, np.newaxis] * descending
    scores = np.empty_like(sums)
    np.put_along_axis(scores, order, sums, axis=1)
    return scores


Array = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Sets(Result):
    """Sets of classes, one per row.

    Attributes
    ----------
    contains : ndarray of bool, shape (n_rows, n_classes)
        Which classes are in the set of each row.
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_rows, n_classes)
        Probabilities of the classifier.
    coverage : float
        Nominal coverage.
    """

    contains: Flags
    classes: Array
    probabilities: Floats
    coverage: float

    @property
    def size(self) -> npt.NDArray[np.int64]:
        """Number of classes in each set; 0 if no class conforms."""
        size: npt.NDArray[np.int64] = self.contains.sum(axis=1)
        return size

    def covers(self, y: Any) -> Flags:
        """Return which rows have their class in their set.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            A class that is unknown to the classifier is in no set.

        Returns
        -------
        inside : ndarray of bool, shape (n_rows,)
        """
        labels = as_target_array(y, numeric=False)
        if labels.shape != (len(self.contains),):
            raise ValueError(f"y has shape {labels.shape}, but there are {len(self.contains)} sets")
        codes = encode_labels(labels, self.classes)
        inside: Flags = self.contains[np.arange(len(codes)), codes] & (codes >= 0)
        return inside

    def labels(self) -> list[Array]:
        """Return the classes of each set, the most probable first.

        Returns
        -------
        labels : list of ndarray
        """
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        return [
            self.classes[ranked[inside[ranked]]]
            for ranked, inside in zip(order, self.contains, strict=True)
        ]

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_rows": len(self.contains),
            "classes": self.classes.tolist(),
            "coverage": self.coverage,
            "mean_size": float(self.size.mean()) if self.size.size else np.nan,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per set as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``labels``, a tuple with the most probable class first, and ``size``.
        """
        labels = [tuple(found.tolist()) for found in self.labels()]
        return new_frame({"labels": labels, "size": self.size})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot how many sets hold each number of classes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        counts = np.bincount(self.size, minlength=len(self.classes) + 1)
        ax.bar(range(len(counts)), counts, 0.66)
        ax.locator_params(integer=True)
        ax.set_xlabel("classes in the set")
        ax.set_ylabel("sets")
        return ax

    def _make_preview(self) -> pd.DataFrame:
        # Few of many sets: their labels are sorted one by one.
        first = Sets(self.contains[:100], self.classes, self.probabilities[:100], self.coverage)
        return first.to_frame()


def encode_labels(labels: Array, classes: Array) -> Codes:
    """Return the index of each label among the classes; -1 for others."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([places.get(label, -1) for label in labels.tolist()], dtype=np.intp)
