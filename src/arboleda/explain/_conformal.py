"""What intervals and sets share: which of the sorted scores is the limit, and the rows given."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.target import read_target
from arboleda.explain._containers import container_of

__all__ = [
    "COVERAGES",
    "Floats",
    "column_of",
    "limit_of",
    "rank_of",
    "read_coverage",
    "read_coverages",
    "read_pair",
    "rows_of",
    "table_of",
    "tell_of_few_rows",
    "without_steps",
]

Floats = npt.NDArray[np.float64]

# What curves of coverage ask for unless told otherwise.
COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)


def rank_of(coverage: float, n_rows: int) -> int:
    """Which of n sorted scores is the limit: ceil((n + 1) coverage), from 1 on.

    The score of one more row of the same kind is at most the k-th smallest of n with probability
    k / (n + 1) or more. The product is that of the number as it is written: 0.56 of 100 is 56.

    Returns
    -------
    k : int
        n + 1 where n rows are too few: no score is large enough.
    """
    return math.ceil((n_rows + 1) * Fraction(repr(float(coverage))))


def limit_of(scores: Floats, coverage: float) -> float:
    """The limit among sorted scores; infinite where they are too few."""
    rank = rank_of(coverage, len(scores))
    return float(scores[rank - 1]) if rank <= len(scores) else math.inf


def tell_of_few_rows(coverage: float, n_rows: int, what: str, *, callers: int = 2) -> None:
    """Warn where so few rows can promise that coverage by an answer that says nothing alone.

    The warning is about the line of the user, so many calls above.
    """
    if rank_of(coverage, n_rows) > n_rows:
        needed = math.ceil(1 / (1 - Fraction(repr(float(coverage))))) - 1
        warnings.warn(
            f"coverage={coverage} needs at least {needed:,} {what}, but there are {n_rows:,}: "
            "the answer is everything; give more rows, or a lower coverage",
            stacklevel=callers + 1,
        )


def read_coverage(coverage: Any) -> float:
    """Return the share of rows to be covered, checked."""
    is_number = isinstance(coverage, Real) and not isinstance(coverage, bool)
    if not is_number or not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must be a number between 0 and 1, as 0.9; got {coverage!r}")
    return float(coverage)


def read_coverages(coverages: Any) -> tuple[float, ...]:
    """Return several shares, ascending, each once."""
    if isinstance(coverages, Real):
        coverages = (coverages,)
    found = tuple(sorted({read_coverage(coverage) for coverage in coverages}))
    if not found:
        raise ValueError("coverages names none: give some, as (0.8, 0.9)")
    return found


def read_pair(pair: Any, name: str, *, numeric: bool) -> tuple[Any, npt.NDArray[Any]]:
    """Return a table in its own container and its target, checked to belong together.

    Raises
    ------
    TypeError
        If it is no pair.
    ValueError
        If there is no row or column, the lengths differ, or y is not one number or label a row.
    """
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"{name} must be a pair, {name}=(X, y); got {type(pair).__name__}")
    X, target = table_of(pair[0]), column_of(pair[1], numeric=numeric)
    if target.ndim != 1:
        raise ValueError(
            f"y of {name} has the shape {target.shape}: one value a row is expected; ask for each "
            "of several targets by itself"
        )
    if X.shape[0] != len(target):
        raise ValueError(f"X of {name} has {X.shape[0]} rows, but y has {len(target)}")
    if numeric and target.dtype.kind not in "biuf":
        raise ValueError(f"y of {name} has the type {target.dtype}: numbers are expected")
    return X, target.astype(np.float64) if numeric else target


def column_of(y: Any, *, numeric: bool) -> npt.NDArray[Any]:
    """Return a target as an array; one column becomes one dimension."""
    target = np.asarray(read_target(y, numeric=numeric))
    return target[:, 0] if target.ndim == 2 and target.shape[1] == 1 else target


def table_of(X: Any) -> Any:
    """Return a table as an estimator takes it: lists become arrays, others stay as they are."""
    return container_of(X).native


def rows_of(X: Any, rows: slice | npt.NDArray[np.intp]) -> Any:
    """Return some rows of a table in its own container."""
    return container_of(X).take(rows).native


def without_steps(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a fitted pipeline and the table as it gets it; others as they are."""
    while isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator[-1]
    return estimator, X
