"""Rescaled units of columns, in which squares neither overflow nor underflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from arboleda._engine.schema import Schema
from arboleda._engine.table import Table
from arboleda.learners._class_rows import sums_by_class

Floats = npt.NDArray[np.float64]

# Values are clipped to this distance from the origin, to keep sums of squares from overflowing.
_FARTHEST = 1e130
# A within-class variance below this share of the total variance is attributed to rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Units:
    """Powers of two by which columns are divided, and the origin that is subtracted.

    Parameters
    ----------
    exponent : ndarray of shape (n_columns,)
    origin : ndarray of shape (n_columns,)
        A row of the table in the new units, for which a constant column becomes exactly 0.
    """

    exponent: npt.NDArray[np.int32]
    origin: Floats

    @classmethod
    def of(cls, X: Floats, *, common: bool) -> Self:
        """Return units in which the largest value of each column, or of all, is about 1."""
        largest = np.abs(X).max(axis=0)
        exponent = np.frexp(largest.max() if common else largest)[1]
        exponent = np.broadcast_to(exponent, largest.shape).astype(np.int32)
        return cls(exponent, np.ldexp(X[0], -exponent))

    def enter(self, X: Floats) -> Floats:
        """Convert a table to these units, in place."""
        with np.errstate(over="ignore", under="ignore"):
            np.ldexp(X, -self.exponent, out=X)
            X -= self.origin
        np.clip(X, -_FARTHEST, _FARTHEST, out=X)
        return X

    def leave(self, X: Floats) -> Floats:
        """Convert rows back to the units of the columns."""
        own: Floats = np.ldexp(X + self.origin, self.exponent)
        return own


def divided(X: Floats, scale: Floats) -> Floats:
    """Divide the columns of a table by their scales, in place."""
    X /= scale
    np.clip(X, -_FARTHEST, _FARTHEST, out=X)
    return X


def complete_matrix(estimator: Any, table: Table, schema: Schema) -> Floats:
    """Copy a table of numbers into one array of shape (n_rows, n_columns).

    Raises
    ------
    ValueError
        If a value is missing; the message names it.
    """
    X = np.empty(table.shape)
    for j, column in enumerate(table.columns):
        X[:, j] = column
    missing = np.isnan(X.min(axis=0))
    if missing.any():
        j = int(np.flatnonzero(missing)[0])
        row = int(np.flatnonzero(np.isnan(X[:, j]))[0])
        raise ValueError(
            f"Input X contains NaN: column {schema.describe(j)} is missing in row {row}, and "
            f"{type(estimator).__name__} does not support missing values: impute them, for example "
            "with sklearn.impute.SimpleImputer"
        )
    return X


def within_scale(
    X: Floats, labels: npt.NDArray[np.intp], weight: Floats, *, common: bool
) -> Floats:
    """Return the pooled within-class standard deviation of each column.

    It is at least 1e-5 times the standard deviation of all rows, and 1 if both are 0. With `common`
    it is the root mean square over all columns.
    """
    n_classes = int(labels.max()) + 1
    total = sums_by_class(labels, weight, n_classes)
    means = class_means(X, labels, weight, n_classes)
    within = squares_within(X, labels, weight, means) / total.sum()
    center = total @ means / total.sum()
    overall = within + total @ (means - center) ** 2 / total.sum()
    if common:
        within, overall = within.mean(keepdims=True), overall.mean(keepdims=True)
    variance = np.maximum(within, _ROUNDING * overall)
    scale: Floats = np.sqrt(np.where(variance > 0.0, variance, 1.0))
    return np.broadcast_to(scale, X.shape[1:]).copy()


def class_means(X: Floats, labels: npt.NDArray[np.intp], weight: Floats, n_classes: int) -> Floats:
    """Return the mean row of each class; zeros for a class without rows."""
    means = np.zeros((n_classes, X.shape[1]))
    for k in range(n_classes):
        rows = labels == k
        if rows.any():
            means[k] = weight[rows] @ X[rows] / weight[rows].sum()
    return means


def squares_within(
    X: Floats, labels: npt.NDArray[np.intp], weight: Floats, means: Floats
) -> Floats:
    """Return the weighted sum of squared differences from the means of the classes, by column."""
    squares = np.zeros(X.shape[1])
    for k, mean in enumerate(means):
        rows = labels == k
        apart = X[rows] - mean
        squares += np.einsum("i,ij,ij->j", weight[rows], apart, apart)
    return squares
