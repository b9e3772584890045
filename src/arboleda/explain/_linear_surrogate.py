"""A weighted linear model of a few columns, fitted to the first two moments of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LinearSurrogate", "Moments", "choose_columns", "fit_columns"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

# Share of a column's variance not explained by others below which it counts as rounding.
_NOTHING_LEFT = 1e-10
# Share of the target's variance below which a gain counts as rounding.
_NOTHING_GAINED = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted mean and covariance of some columns and, last, a target.

    Attributes
    ----------
    total : float
        Sum of the weights.
    squares : float
        Sum of their squares.
    mean : ndarray of shape (n_columns + 1,)
    covariance : ndarray of shape (n_columns + 1, n_columns + 1)
        Covariance with divisor ``total``.
    """

    total: float
    squares: float
    mean: Floats
    covariance: Floats

    @property
    def n_effective(self) -> float:
        """Effective sample size (Kish 1965)."""
        return self.total**2 / self.squares if self.squares > 0.0 else 0.0

    @classmethod
    def compute(cls, columns: Floats, target: Floats, weight: Floats) -> Moments:
        """Compute the moments of columns (n, n_columns), their target and their weights."""
        joined = np.column_stack([columns, target])
        total = float(weight.sum())
        if total <= 0.0:
            width = joined.shape[1]
            return cls(0.0, 0.0, np.zeros(width), np.zeros((width, width)))
        share = weight / total
        mean = share @ joined
        joined -= mean
        covariance = (joined * share[:, np.newaxis]).T @ joined
        return cls(total, float(weight @ weight), mean, covariance)

    @classmethod
    def combine(cls, parts: Sequence[Moments]) -> Moments:
        """Combine the moments of several samples."""
        total = float(sum(part.total for part in parts))
        squares = float(sum(part.squares for part in parts))
        shares = [part.total / total if total > 0.0 else 0.0 for part in parts]
        mean = np.sum([s * part.mean for s, part in zip(shares, parts, strict=True)], axis=0)
        covariance = np.zeros_like(parts[0].covariance)
        for share, part in zip(shares, parts, strict=True):
            apart = part.mean - mean
            covariance += share * (part.covariance + np.outer(apart, apart))
        return cls(total, squares, mean, covariance)


@dataclass(frozen=True, eq=False)
class LinearSurrogate:
    """A linear model of some columns: ``intercept + sum of weights x columns``."""

    columns: Integers
    weights: Floats
    intercept: float
    fidelity: float  # weighted R2


def choose_columns(moments: Moments, n_columns: int) -> Integers:
    """Select columns one by one, each time the one that increases the weighted R2 most.

    Forward selection by orthogonal least squares: the gain of a column is what it explains after
    the selected columns are projected out of it and of the target. Ties go to the first column.

    Parameters
    ----------
    moments : Moments
    n_columns : int
        Maximum number of columns; fewer are selected if no other column explains anything.

    Returns
    -------
    columns : ndarray of int
        In order of selection.
    """
    left = moments.covariance.copy()
    floor = np.diag(left)[:-1] * _NOTHING_LEFT
    target = float(left[-1, -1])
    chosen: list[int] = []
    while len(chosen) < n_columns and target > 0.0:
        variance = np.diag(left)[:-1]
        usable = (variance > floor) & (variance > 0.0)
        usable[chosen] = False
        gain = np.zeros(len(variance))
        gain[usable] = left[-1, :-1][usable] ** 2 / variance[usable]
        best = int(gain.argmax()) if gain.size else 0
        if not gain.size or gain[best] <= _NOTHING_GAINED * target:
            break
        chosen.append(best)
        left -= np.outer(left[:, best], left[best]) / left[best, best]
    return np.array(chosen, dtype=np.intp)


def fit_columns(moments: Moments, columns: Integers) -> LinearSurrogate:
    """Fit the target by weighted least squares to some columns.

    Linearly dependent columns share their weight (minimum-norm solution).

    Parameters
    ----------
    moments : Moments
    columns : ndarray of int

    Returns
    -------
    LinearSurrogate
        Its fidelity is 1 if the target is constant.
    """
    covariance = moments.covariance
    among = covariance[np.ix_(columns, columns)]
    with_target = covariance[columns, -1]
    size = np.sqrt(np.diag(among))
    size[size == 0.0] = 1.0
    scaled = among / np.outer(size, size)
    weights = np.linalg.lstsq(scaled, with_target / size, rcond=_NOTHING_LEFT)[0] / size
    target = float(covariance[-1, -1])
    unexplained = target - 2.0 * weights @ with_target + weights @ among @ weights
    return LinearSurrogate(
        columns=columns,
        weights=weights,
        intercept=float(moments.mean[-1] - weights @ moments.mean[columns]),
        fidelity=1.0 - max(float(unexplained), 0.0) / target if target > 0.0 else 1.0,
    )
