"""Checks of the rows, classes and weights passed to `fit`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from arboleda._engine.columns import Column
from arboleda._engine.table import SparseTable, Table, check_table
from arboleda._engine.target import check_total_weight, read_target, read_weight
from arboleda.tree._class_target import encode_classes

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClassRows:
    """Rows of positive weight.

    Parameters
    ----------
    table : Table
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

    table: Table
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


def dense_table(estimator: Any, table: Table | SparseTable) -> Table:
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
