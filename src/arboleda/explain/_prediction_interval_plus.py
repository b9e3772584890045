"""Intervals from training rows, with residuals of models that were not fitted on each row.

With m_i a model not fitted on row i, R_i = |y_i - m_i(x_i)| and k = ceil((n + 1) coverage), the
interval for x is

    [ (n + 1 - k)-th smallest of m_i(x) - R_i ,  k-th smallest of m_i(x) + R_i ],

(Barber, Candes, Ramdas, Tibshirani 2021, "Predictive inference with the jackknife+"). Here m_i is
the model fitted without the fold of row i (CV+; one fold per row: jackknife+), or the mean of the
members of an ensemble for which row i is out of bag (jackknife+-after-bootstrap: Kim, Xu, Barber
2020, "Predictive inference is free with the jackknife+-after-bootstrap").
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv

from arboleda.bagging import each
from arboleda.explain._conformal import Floats, compute_rank, take_rows
from arboleda.explain._outputs import MemberPredictions, compute_oob_mask
from arboleda.explain._prediction_interval_rules import (
    Bounds,
    check_scores,
    fix_crossed_bounds,
    predict_values,
)

__all__ = ["CvPlus", "JackknifePlusAfterBootstrap", "PlusRule"]

# Number of values in one block of m_i(x): 16 MiB.
_BLOCK = 2**21
# Bits of a fixed-point number: sums of such integers are exact in float64.
_EXACT_BITS = 52


class PlusRule(ABC):
    """Residuals of training rows, and predictions of the models that were fitted without them."""

    residuals: Floats  # of shape (n_rows,)

    @property
    def n_rows(self) -> int:
        """Number of training rows with a residual."""
        return len(self.residuals)

    @abstractmethod
    def compute_guaranteed_coverage(self, coverage: float) -> float:
        """Return the proven coverage."""

    @abstractmethod
    def _predict(self, X: Any) -> Floats:
        """Predict each row."""

    @abstractmethod
    def _iter_left_out_predictions(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of m_i(x): rows of X, and (n_block, n_rows) predictions to overwrite."""

    def predict_bounds(self, X: Any, coverages: tuple[float, ...]) -> Bounds:
        """Compute the bounds and predictions of new rows."""
        prediction = self._predict(X)
        lower = np.full((len(coverages), len(prediction)), -np.inf)
        upper = np.full((len(coverages), len(prediction)), np.inf)
        ranks = [compute_rank(coverage, self.n_rows) for coverage in coverages]
        able = [k for k, rank in enumerate(ranks) if rank <= self.n_rows]
        # Zero-based: index rank - 1 from below, and its mirror image from above.
        places = np.array([ranks[k] - 1 for k in able], dtype=np.intp)
        mirrored = self.n_rows - 1 - places
        for rows, predictions in self._iter_left_out_predictions(X):
            if not able:
                break
            with np.errstate(over="ignore"):
                below = predictions - self.residuals
                above = np.add(predictions, self.residuals, out=predictions)
            below.partition(np.unique(mirrored), axis=1)
            above.partition(np.unique(places), axis=1)
            lower[able, rows] = below[:, mirrored].T
            upper[able, rows] = above[:, places].T
        # For coverages below one half the ends may cross.
        return Bounds(*fix_crossed_bounds(lower, upper), prediction)


class JackknifePlusAfterBootstrap(PlusRule):
    """The members of a fitted ensemble and their out-of-bag rows; nothing is refitted.

    Parameters
    ----------
    estimator : estimator
        A fitted forest or bagging of regressors, or a pipeline that ends in one.
    X, y
        Its training rows, in their original order. Rows that no member was fitted on (of weight 0)
        are ignored.
    """

    def __init__(self, estimator: Any, X: Any, y: Floats) -> None:
        self._estimator = estimator
        predictions = MemberPredictions(estimator, X)
        left_out = compute_oob_mask(predictions.ensemble, len(y))
        predictions.check_mean()
        sums, counts = np.zeros(len(y)), left_out.sum(axis=0)
        self._range = (np.inf, -np.inf)
        for member, values in enumerate(predictions.iter_predictions()):
            sums[left_out[member]] += values[left_out[member]]
            self._range = _extend_range(self._range, values)
        used = counts < len(left_out)
        never = int(np.count_nonzero(used & (counts == 0)))
        if never:
            warnings.warn(
                f"{never:,} of {len(y):,} training rows are out of bag for no member, so their "
                "residuals are unknown and intervals are wider than necessary: use more members",
                stacklevel=3,
            )
        is_scored = used & (counts > 0)
        with np.errstate(over="ignore"):
            residuals = np.abs(y[is_scored] - sums[is_scored] / counts[is_scored])
        check_scores(residuals)
        # A row that is never out of bag has an unknown residual: its ends are infinite.
        self.residuals = np.append(residuals, np.full(never, np.inf))
        unknown = np.ones((len(left_out), never), dtype=bool)
        self._left_out = np.hstack([left_out[:, is_scored], unknown])

    def compute_guaranteed_coverage(self, coverage: float) -> float:
        """Return 1 - 2 alpha: theorem 1 of Kim, Xu and Barber, for a random number of members."""
        return max(0.0, 2.0 * coverage - 1.0)

    def _predict(self, X: Any) -> Floats:
        return predict_values(self._estimator, X)

    def _iter_left_out_predictions(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        n_new, n_members = X.shape[0], len(self._left_out)
        step = max(1, min(_BLOCK // n_members, n_new))
        for first in range(0, n_new, step):
            part = slice(first, min(first + step, n_new))
            table = X if step >= n_new else take_rows(X, part)
            values = np.column_stack(
                list(MemberPredictions(self._estimator, table).iter_predictions())
            )
            yield from (
                (slice(first + rows.start, first + rows.stop), predictions)
                for rows, predictions in iter_subset_means(values, self._left_out, self._range)
            )


def _extend_range(so_far: tuple[float, float], values: Floats) -> tuple[float, float]:
    return min(so_far[0], float(values.min())), max(so_far[1], float(values.max()))


def iter_subset_means(
    values: Floats, chosen: npt.NDArray[np.bool_], usual: tuple[float, float]
) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of the mean of the members' values for every subset of members.

    This is an exact matrix product: values become integers times a power of two, with few enough
    bits that their sums are not rounded, so that the order of summation does not matter.

    Parameters
    ----------
    values : ndarray of shape (n, n_members)
    chosen : ndarray of bool, shape (n_members, n_choices)
        Every subset has a member.
    usual : tuple of two floats
        Range of the values of other rows: values within it are rounded identically in every call.

    Yields
    ------
    rows : slice
    means : ndarray of shape (n_block, n_choices)
    """
    n_members, n_choices = chosen.shape
    low, high = _extend_range(usual, values)
    center = low / 2 + high / 2
    # |q| < 2^bits, and n_members of them below 2^52.
    bits = _EXACT_BITS - math.ceil(math.log2(n_members + 1))
    _, exponent = math.frexp(max(high - center, center - low))
    shift = bits - exponent
    whole = np.rint(np.ldexp(values - center, shift))
    counts = chosen.sum(axis=0).astype(np.float64)
    n_columns = max(1, _BLOCK // n_members)
    step = max(1, _BLOCK // n_choices)
    for first in range(0, len(values), step):
        rows = slice(first, min(first + step, len(values)))
        means = np.empty((rows.stop - first, n_choices))
        for start in range(0, n_choices, n_columns):
            columns = slice(start, min(start + n_columns, n_choices))
            sums = whole[rows] @ chosen[:, columns].astype(np.float64)
            means[:, columns] = np.ldexp(sums / counts[columns], -shift) + center
        yield rows, means


class CvPlus(PlusRule):
    """Clones of an estimator, each fitted without one fold of the rows.

    Parameters
    ----------
    estimator : estimator
        A regressor; it need not be fitted.
    X, y
        Rows to fit it on.
    cv : int or splitter
        Number of folds, shuffled with ``random_state``, or a scikit-learn splitter with each row in
        one test fold.
    """

    def __init__(self, estimator: Any, X: Any, y: Floats, cv: Any, random_state: Any) -> None:
        n_rows = len(y)
        self._fold, n_folds = _assign_folds(X, y, cv, random_state)
        self._models = []
        self.residuals = np.empty(n_rows)
        # One after the other, unless joblib's backend runs tasks elsewhere.
        fits = each(partial(_fit_without, estimator, X, y, self._fold), range(n_folds), None)
        for fold, (model, predicted_outside) in enumerate(fits):
            outside = np.flatnonzero(self._fold == fold)
            with np.errstate(over="ignore"):
                self.residuals[outside] = np.abs(y[outside] - predicted_outside)
            self._models.append(model)
        check_scores(self.residuals)

    def compute_guaranteed_coverage(self, coverage: float) -> float:
        """Return 1 - 2 alpha less an excess for folds of several rows: Barber et al., theorem 4."""
        n, n_folds = self.n_rows, len(self._models)
        excess = min(2 * (1 - 1 / n_folds) / (n / n_folds + 1), (1 - n_folds / n) / (n_folds + 1))
        return max(0.0, 2.0 * coverage - 1.0 - excess)

    def _predict(self, X: Any) -> Floats:
        total = np.zeros(X.shape[0])
        for model in self._models:
            total += predict_values(model, X) / len(self._models)
        return total

    def _iter_left_out_predictions(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        values = np.column_stack([predict_values(model, X) for model in self._models])
        step = max(1, _BLOCK // self.n_rows)
        for first in range(0, len(values), step):
            rows = slice(first, min(first + step, len(values)))
            yield rows, values[rows][:, self._fold]


def _fit_without(
    estimator: Any, X: Any, y: Floats, folds: npt.NDArray[np.intp], fold: int
) -> tuple[Any, Floats]:
    """Fit a clone without the rows of a fold; return it with its predictions of these."""
    inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
    model = clone(estimator).fit(take_rows(X, inside), y[inside])
    return model, predict_values(model, take_rows(X, outside))


def _assign_folds(
    X: Any, y: Floats, cv: Any, random_state: Any
) -> tuple[npt.NDArray[np.intp], int]:
    """Return the fold of each row, and the number of folds."""
    n_rows = len(y)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if not 2 <= cv <= n_rows:
            raise ValueError(f"cv must be between 2 and the number of rows, {n_rows}, got {cv}")
        cv = KFold(int(cv), shuffle=True, random_state=random_state)
    fold = np.full(n_rows, -1, dtype=np.intp)
    n_folds = 0
    for _, outside in check_cv(cv).split(X, y):
        if (fold[outside] >= 0).any():
            raise ValueError(
                "cv puts a row into several test folds: method='cv+' needs each row in exactly one"
            )
        fold[outside] = n_folds
        n_folds += 1
    if (fold < 0).any():
        row = int(np.flatnonzero(fold < 0)[0])
        raise ValueError(
            f"cv puts row {row} into no test fold: method='cv+' needs each row in exactly one"
        )
    return fold, n_folds
