"""Columns in units in which squares neither leave float64 nor vanish, and which CV may compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from arboleda._engine.schema import Schema
from arboleda._engine.table import Table
from arboleda.learners._class_rows import sums_by_class

Floats = npt.NDArray[np.float64]

# Farther from the origin than so many units counts as so far: sums of squares stay in float64.
_FARTHEST = 1e130
# A variance within the classes of less than this share of the whole is that of rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Units:
    """Powers of two by which columns are divided, and the point from which they count.

    Parameters
    ----------
    exponent : ndarray of shape (n_columns,)
    origin : ndarray of shape (n_columns,)
        In the new units; a row, so that a constant column is exactly 0.
    """

    exponent: npt.NDArray[np.int32]
    origin: Floats

    @classmethod
    def of(cls, X: Floats, *, common: bool) -> Self:
        """Return units in which the largest values are about 1: of each column, or of all."""
        largest = np.abs(X).max(axis=0)
        exponent = np.frexp(largest.max() if common else largest)[1]
        exponent = np.broadcast_to(exponent, largest.shape).astype(np.int32)
        return cls(exponent, np.ldexp(X[0], -exponent))

    def enter(self, X: Floats) -> Floats:
        """Turn a table into these units, in place."""
        with np.errstate(over="ignore", under="ignore"):
            np.ldexp(X, -self.exponent, out=X)
            X -= self.origin
        np.clip(X, -_FARTHEST, _FARTHEST, out=X)
        return X

    def leave(self, X: Floats) -> Floats:
        """Return rows in the columns' own units."""
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
        If a value is missing; it is named.
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
            f"{type(estimator).__name__} needs all values: fill them in, for example with "
            "sklearn.impute.SimpleImputer"
        )
    return X


def within_scale(
    X: Floats, labels: npt.NDArray[np.intp], weight: Floats, *, common: bool
) -> Floats:
    """Return the standard deviation within the classes, pooled, of each column.

    It is not less than a hundred-thousandth of that of all rows; where this is 0 too, it is 1. With
    `common` it is the root of the mean square over all columns.
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
    """Return the mean row of each class; zeros of a class without rows."""
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
