"""Checks of the rows, classes and weights passed to `fit`, and units of columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from arboleda._base.targets import encode_classes
from arboleda._engine.columns import Column, DenseTable, Schema, SparseTable
from arboleda._engine.table import check_table
from arboleda._engine.target import check_total_weight, read_target, read_weight

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClassRows:
    """Rows of positive weight.

    Parameters
    ----------
    table : DenseTable
        Their columns.
    classes : ndarray of shape (n_classes,)
        All labels of y, sorted, including those of rows with weight 0.
    labels : ndarray of shape (n_rows,)
        Class index of each row.
    weight : ndarray of shape (n_rows,)
    all_labels : ndarray of shape (n_all_rows,)
        Class indices of all rows.
    kept : ndarray of shape (n_rows,)
        Indices of the rows with positive weight.
    """

    table: DenseTable
    classes: Array
    labels: npt.NDArray[np.intp]
    weight: Floats
    all_labels: npt.NDArray[np.intp]
    kept: npt.NDArray[np.intp]

    @cached_property
    def class_weight(self) -> Floats:
        """Total weight of each class; 0 for classes without rows."""
        return self.sums(self.weight)

    @cached_property
    def unit_weight(self) -> Floats:
        """Weights scaled by a power of two, such that the largest is about 1."""
        return _unit_weight(self.weight)

    def sums(self, values: Floats) -> Floats:
        """Sum the values of the rows of each class."""
        return sums_by_class(self.labels, values, self.classes.size)


def read_class_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, categorical_features: Any = None
) -> ClassRows:
    """Check the arguments of `fit`, and drop rows of weight 0.

    Rows whose weight is below 1e-308 of the largest are dropped too.

    Raises
    ------
    ValueError
        If the table, the labels or the weights are invalid, or lengths differ.
    TypeError
        If X is sparse.
    """
    table = dense_table(
        estimator, check_table(estimator, X, reset=True, categorical_features=categorical_features)
    )
    classes, labels = encode_classes(read_target(y, numeric=False), estimator)
    check_consistent_length(table, labels)
    weight = read_weight(sample_weight, table)
    check_total_weight(weight)
    if weight is None:
        weight = np.ones(table.n_rows)
    kept = np.flatnonzero(_unit_weight(weight) >= np.finfo(np.float64).tiny)
    if kept.size < weight.size:
        table = table.take(kept)
    return ClassRows(table, classes, labels[kept], weight[kept], labels, kept)


def _unit_weight(weight: Floats) -> Floats:
    scaled: Floats = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
    return scaled


def sums_by_class(labels: npt.NDArray[np.intp], values: Floats, n_classes: int) -> Floats:
    """Sum the values of the rows of each class."""
    return np.bincount(labels, values, minlength=n_classes).astype(np.float64, copy=False)


def dense_table(estimator: Any, table: DenseTable | SparseTable) -> DenseTable:
    """Check that a table is not sparse.

    Raises
    ------
    TypeError
        If the table is sparse.
    """
    if isinstance(table, SparseTable):
        raise TypeError(
            f"X is sparse, which {type(estimator).__name__} does not support: pass a dense table, "
            "for example X.toarray()"
        )
    return table


def as_floats(column: Column) -> Floats:
    """Return a numeric column as float64, with NaN for missing values."""
    return column.astype(np.float64, copy=False)


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


def complete_matrix(estimator: Any, table: DenseTable, schema: Schema) -> Floats:
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
