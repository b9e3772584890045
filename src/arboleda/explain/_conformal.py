"""Helpers of prediction intervals and sets: the conformal quantile, and checks of the rows."""

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
from arboleda.explain._containers import make_container

__all__ = [
    "COVERAGES",
    "Floats",
    "as_native_table",
    "as_target_array",
    "compute_limit",
    "compute_rank",
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


def compute_rank(coverage: float, n_rows: int) -> int:
    """Compute the rank of the limit among n sorted scores: ceil((n + 1) coverage), from 1.

    The score of one more exchangeable row is at most the k-th smallest of n with probability at
    least k / (n + 1). The product is computed exactly from the decimal form of ``coverage``: 0.56
    times 100 is 56.

    Returns
    -------
    k : int
        n + 1 if n rows are too few: no score is large enough.
    """
    return math.ceil((n_rows + 1) * Fraction(repr(float(coverage))))


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
    is_number = isinstance(coverage, Real) and not isinstance(coverage, bool)
    if not is_number or not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}")
    return float(coverage)


def read_coverages(coverages: Any) -> tuple[float, ...]:
    """Check several coverages and return them ascending, without repeats."""
    if isinstance(coverages, Real):
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
