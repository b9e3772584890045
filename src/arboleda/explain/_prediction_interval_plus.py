"""Intervals from training rows: each is judged by models that did not learn from it.

With m_i a model that did not see row i, R_i = |y_i - m_i(x_i)| and k = ceil((n + 1) coverage), the
answer about x is

    [ (n + 1 - k)-th smallest of m_i(x) - R_i ,  k-th smallest of m_i(x) + R_i ],

(Barber, Candes, Ramdas, Tibshirani 2021, "Predictive inference with the jackknife+"). Here m_i is
the model fitted without the fold of row i (CV+; a fold a row: jackknife+), or the mean of the
members of an ensemble whose bags row i is not in (jackknife+-after-bootstrap: Kim, Xu, Barber 2020,
"Predictive inference is free with the jackknife+-after-bootstrap").
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv

from arboleda.explain._conformal import Floats, rank_of, rows_of
from arboleda.explain._member_answers import MemberAnswers, left_out_by
from arboleda.explain._prediction_interval_rules import (
    Bounds,
    check_scores,
    predicted,
    uncrossed,
)

__all__ = ["CvPlus", "JackknifePlusAfterBootstrap", "PlusRule"]

# Numbers of one block of m_i(x): 16 MiB of them.
_BLOCK = 2**21
# Bits of a fixed-point number: sums of so large integers are exact in float64.
_EXACT_BITS = 52


class PlusRule(ABC):
    """Residuals of training rows, and what the models that left them out say of others."""

    residuals: Floats  # of shape (n_rows,)

    @property
    def n_rows(self) -> int:
        """Training rows that were judged."""
        return len(self.residuals)

    @abstractmethod
    def guaranteed(self, coverage: float) -> float:
        """Coverage that is a theorem."""

    @abstractmethod
    def _prediction(self, X: Any) -> Floats:
        """Prediction of each row."""

    @abstractmethod
    def _left_out_answers(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Blocks of m_i(x): rows of X, and their (n_block, n_rows) answers, not used again."""

    def bounds(self, X: Any, coverages: tuple[float, ...]) -> Bounds:
        """Answer about new rows."""
        prediction = self._prediction(X)
        lower = np.full((len(coverages), len(prediction)), -np.inf)
        upper = np.full((len(coverages), len(prediction)), np.inf)
        ranks = [rank_of(coverage, self.n_rows) for coverage in coverages]
        able = [k for k, rank in enumerate(ranks) if rank <= self.n_rows]
        # From 0: place rank - 1 from below, and as far from above.
        places = np.array([ranks[k] - 1 for k in able], dtype=np.intp)
        mirrored = self.n_rows - 1 - places
        for rows, answers in self._left_out_answers(X):
            if not able:
                break
            with np.errstate(over="ignore"):
                below = answers - self.residuals
                above = np.add(answers, self.residuals, out=answers)
            below.partition(np.unique(mirrored), axis=1)
            above.partition(np.unique(places), axis=1)
            lower[able, rows] = below[:, mirrored].T
            upper[able, rows] = above[:, places].T
        # Below a coverage of one half the ends may have changed places.
        return Bounds(*uncrossed(lower, upper), prediction)


class JackknifePlusAfterBootstrap(PlusRule):
    """The members of a fitted ensemble, and which rows each left out; nothing is fitted again.

    Parameters
    ----------
    estimator : estimator
        A fitted forest or bagging of regressors, or a pipeline that ends in one.
    X, y
        Its training rows, in their order. Rows that no member learned from (of weight 0) do not
        count.
    """

    def __init__(self, estimator: Any, X: Any, y: Floats) -> None:
        self._estimator = estimator
        answers = MemberAnswers(estimator, X)
        left_out = left_out_by(answers.ensemble, len(y))
        answers.check_mean()
        sums, counts = np.zeros(len(y)), left_out.sum(axis=0)
        self._range = (np.inf, -np.inf)
        for member, values in enumerate(answers.each()):
            sums[left_out[member]] += values[left_out[member]]
            self._range = _range_with(self._range, values)
        used = counts < len(left_out)
        never = int(np.count_nonzero(used & (counts == 0)))
        if never:
            warnings.warn(
                f"{never:,} of {len(y):,} training rows were left out by no member, so nothing is "
                "known of them and intervals are wider than need be: use more members",
                stacklevel=3,
            )
        judged = used & (counts > 0)
        with np.errstate(over="ignore"):
            residuals = np.abs(y[judged] - sums[judged] / counts[judged])
        check_scores(residuals)
        # Of a row that no member left out anything may be said: its ends are infinite.
        self.residuals = np.append(residuals, np.full(never, np.inf))
        unknown = np.ones((len(left_out), never), dtype=bool)
        self._left_out = np.hstack([left_out[:, judged], unknown])

    def guaranteed(self, coverage: float) -> float:
        """1 - 2 alpha: theorem 1 of Kim, Xu and Barber, for a random number of members."""
        return max(0.0, 2.0 * coverage - 1.0)

    def _prediction(self, X: Any) -> Floats:
        return predicted(self._estimator, X)

    def _left_out_answers(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        n_new, n_members = X.shape[0], len(self._left_out)
        step = max(1, min(_BLOCK // n_members, n_new))
        for first in range(0, n_new, step):
            part = slice(first, min(first + step, n_new))
            table = X if step >= n_new else rows_of(X, part)
            values = np.column_stack(list(MemberAnswers(self._estimator, table).each()))
            yield from (
                (slice(first + rows.start, first + rows.stop), answers)
                for rows, answers in means_of_those(values, self._left_out, self._range)
            )


def _range_with(so_far: tuple[float, float], values: Floats) -> tuple[float, float]:
    return min(so_far[0], float(values.min())), max(so_far[1], float(values.max()))


def means_of_those(
    values: Floats, chosen: npt.NDArray[np.bool_], usual: tuple[float, float]
) -> Iterator[tuple[slice, Floats]]:
    """Mean of some members' values, for every choice of members; blocks of rows of the result.

    A matrix product, made exact: values become integers times a power of two, few enough bits that
    their sums have no rounding, so that no order of summation changes a bit.

    Parameters
    ----------
    values : ndarray of shape (n, n_members)
    chosen : ndarray of bool, shape (n_members, n_choices)
        Every choice has a member.
    usual : tuple of two floats
        Range of the values of other rows: what lies within it is rounded alike in every call.

    Yields
    ------
    rows : slice
    means : ndarray of shape (n_block, n_choices)
    """
    n_members, n_choices = chosen.shape
    low, high = _range_with(usual, values)
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
        Number of folds, drawn by ``random_state``, or a splitter of scikit-learn's that puts each
        row into one fold.
    """

    def __init__(self, estimator: Any, X: Any, y: Floats, cv: Any, random_state: Any) -> None:
        n_rows = len(y)
        self._fold, n_folds = _folds(X, y, cv, random_state)
        self._models = []
        self.residuals = np.empty(n_rows)
        for fold in range(n_folds):
            inside, outside = np.flatnonzero(self._fold != fold), np.flatnonzero(self._fold == fold)
            model = clone(estimator).fit(rows_of(X, inside), y[inside])
            told = predicted(model, rows_of(X, outside))
            with np.errstate(over="ignore"):
                self.residuals[outside] = np.abs(y[outside] - told)
            self._models.append(model)
        check_scores(self.residuals)

    def guaranteed(self, coverage: float) -> float:
        """1 - 2 alpha less a little for folds of several rows: theorem 4 of Barber et al."""
        n, n_folds = self.n_rows, len(self._models)
        excess = min(2 * (1 - 1 / n_folds) / (n / n_folds + 1), (1 - n_folds / n) / (n_folds + 1))
        return max(0.0, 2.0 * coverage - 1.0 - excess)

    def _prediction(self, X: Any) -> Floats:
        total = np.zeros(X.shape[0])
        for model in self._models:
            total += predicted(model, X) / len(self._models)
        return total

    def _left_out_answers(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        values = np.column_stack([predicted(model, X) for model in self._models])
        step = max(1, _BLOCK // self.n_rows)
        for first in range(0, len(values), step):
            rows = slice(first, min(first + step, len(values)))
            yield rows, values[rows][:, self._fold]


def _folds(X: Any, y: Floats, cv: Any, random_state: Any) -> tuple[npt.NDArray[np.intp], int]:
    """The fold of each row, and their number."""
    n_rows = len(y)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if not 2 <= cv <= n_rows:
            raise ValueError(
                f"cv={cv} folds of {n_rows} rows: give a number from 2 to that of the rows"
            )
        cv = KFold(int(cv), shuffle=True, random_state=random_state)
    fold = np.full(n_rows, -1, dtype=np.intp)
    n_folds = 0
    for _, outside in check_cv(cv).split(X, y):
        if (fold[outside] >= 0).any():
            raise ValueError("cv puts a row into several folds: method='cv+' needs it in one")
        fold[outside] = n_folds
        n_folds += 1
    if (fold < 0).any():
        row = int(np.flatnonzero(fold < 0)[0])
        raise ValueError(f"cv puts row {row} into no fold: method='cv+' needs every row in one")
    return fold, n_folds
