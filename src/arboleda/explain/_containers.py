"""Containers that read, select and replace the columns of a table in its native type.

The output has the type of the input, so that a pipeline fitted on it can predict: pandas stays
pandas with its dtypes, polars stays polars, Arrow stays Arrow, and arrays and sparse matrices stay
as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from arboleda._engine.arrays import ArraySource
from arboleda._engine.encoding import LabelColumn, check_engine_numbers
from arboleda._engine.frames import Frame, FrameSource, as_frame
from arboleda._utils.sparse import check_sparse

__all__ = ["Container", "make_container"]

Array = npt.NDArray[Any]
Places = slice | npt.NDArray[np.intp]


class Container(Protocol):
    """A table of rows. A native column is a column in the container's own type."""

    @property
    def native(self) -> Any:
        """The table in the type that the user passed."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def names(self) -> list[Any] | None:
        """Column names, or None if the container has none."""

    def is_labelled(self, column: int) -> bool:
        """Return whether the column is categorical by its dtype, or holds text or dates."""

    def numbers(self, column: int, place: str) -> Array:
        """Return the column as finite numbers, NaN where missing."""

    def labels(self, column: int, place: str) -> LabelColumn:
        """Return the column as labels."""

    def take(self, rows: Places) -> Self:
        """Return some rows."""

    def get_values(self, column: int, rows: Places) -> Any:
        """Return a native column with the values of some rows."""

    def from_numbers(self, column: int, values: npt.NDArray[np.float64]) -> Any:
        """Return numbers as a native column, in the column's own type if that is lossless."""

    def replace_columns(self, columns: Mapping[int, Any]) -> Any:
        """Return the native table with some columns replaced by native columns."""


def make_container(X: Any) -> Container:
    """Wrap a table in its container.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)

    Raises
    ------
    ValueError
        If it has no rows or columns, is not two-dimensional, is a lazy frame, or has duplicate
        column names.
    """
    check_sparse(X)
    if sparse.issparse(X):
        found: Container = SparseContainer(X)
    else:
        frame = as_frame(X)
        found = DenseContainer(_as_array(X)) if frame is None else FrameContainer(frame)
    for count, what in zip(found.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(f"X has 0 {what}(s), but at least 1 is required")
    return found


class FrameContainer:
    """A pandas, polars or Arrow frame."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._source = FrameSource(frame)
        self._is_pandas = nw.dependencies.is_pandas_dataframe(frame.to_native())

    @property
    def native(self) -> Any:
        return self._frame.to_native()

    @property
    def shape(self) -> tuple[int, int]:
        return self._frame.shape

    @property
    def names(self) -> list[Any]:
        return list(self._frame.columns)

    def is_labelled(self, column: int) -> bool:
        dated = self._frame.get_column(self._frame.columns[column]).dtype.is_temporal()
        return dated or self._source.is_labelled(column)

    def numbers(self, column: int, place: str) -> Array:
        return self._source.numbers(column, place)

    def labels(self, column: int, place: str) -> LabelColumn:
        return self._source.labels(column, place)

    def take(self, rows: Places) -> FrameContainer:
        if self._is_pandas:
            return FrameContainer(nw.from_native(self.native.iloc[rows], eager_only=True))
        return FrameContainer(self._frame[rows])

    def get_values(self, column: int, rows: Places) -> Any:
        if self._is_pandas:
            values = self.native.iloc[:, column].array
            return values[rows] if isinstance(rows, slice) else values.take(rows)
        return self._frame.get_column(self._frame.columns[column])[rows]

    def from_numbers(self, column: int, values: npt.NDArray[np.float64]) -> Any:
        name = self._frame.columns[column]
        held = str(self._frame.get_column(name).dtype).lower().replace("boolean", "bool")
        kept = _cast_if_exact(values, held)
        if self._is_pandas:
            return kept
        series = nw.new_series(name, kept, backend=self._frame.implementation)
        return series.fill_nan(None) if kept.dtype.kind == "f" else series

    def replace_columns(self, columns: Mapping[int, Any]) -> Any:
        if self._is_pandas:
            copy = self.native.copy(deep=False)
            for place, column in columns.items():
                copy.isetitem(place, column)
            return copy
        names = self._frame.columns
        return self._frame.with_columns(
            *(column.alias(names[place]) for place, column in columns.items())
        ).to_native()


class DenseContainer:
    """A two-dimensional array of numbers or of objects."""

    names = None

    def __init__(self, array: Array) -> None:
        self.native = array
        self.shape: tuple[int, int] = array.shape

    def is_labelled(self, column: int) -> bool:
        if self.native.dtype.kind != "O":
            return self.native.dtype.kind in "UTMm"
        return any(isinstance(value, str) for value in self.native[:, column].tolist())

    def numbers(self, column: int, place: str) -> Array:
        return ArraySource(self.native[:, column : column + 1]).numbers(0, place)

    def labels(self, column: int, place: str) -> LabelColumn:
        return ArraySource(self.native[:, column : column + 1]).labels(0, place)

    def take(self, rows: Places) -> DenseContainer:
        return DenseContainer(self.native[rows])

    def get_values(self, column: int, rows: Places) -> Array:
        values: Array = self.native[rows, column]
        return values

    def from_numbers(self, column: int, values: npt.NDArray[np.float64]) -> Array:
        del column  # all have one type
        return (
            values
            if self.native.dtype.kind == "O"
            else _cast_if_exact(values, self.native.dtype.name)
        )

    def replace_columns(self, columns: Mapping[int, Any]) -> Array:
        own = self.native.dtype
        types = {column.dtype for column in columns.values()} - {own}
        dtype = own if own.kind == "O" or not types else np.result_type(own, *types)
        copy = self.native.astype(dtype)
        for place, column in columns.items():
            copy[:, place] = column
        return copy


class SparseContainer:
    """A sparse matrix, whose columns are all numeric."""

    names = None

    def __init__(self, matrix: Any) -> None:
        self.native = matrix
        self.shape: tuple[int, int] = matrix.shape

    def is_labelled(self, column: int) -> bool:
        del column
        return False

    def numbers(self, column: int, place: str) -> Array:
        return check_engine_numbers(self.get_values(column, slice(None)), place)

    def labels(self, column: int, place: str) -> LabelColumn:
        raise ValueError(
            f"column {place} of X belongs to a sparse matrix and cannot be categorical: give a "
            "dense table, or encode the categories as numbers"
        )

    def take(self, rows: Places) -> SparseContainer:
        return SparseContainer(self.native.tocsr()[rows].asformat(self.native.format))

    def get_values(self, column: int, rows: Places) -> Array:
        values: Array = self.native.tocsc()[:, [column]].toarray()[rows, 0]
        return values

    def from_numbers(self, column: int, values: npt.NDArray[np.float64]) -> Array:
        del column  # all have one type
        return _cast_if_exact(values, self.native.dtype.name)

    def replace_columns(self, columns: Mapping[int, Any]) -> Any:
        by_column = self.native.tocsc()
        parts, start = [], 0
        for place in sorted(columns):
            column = type(by_column)(np.asarray(columns[place]).reshape(-1, 1))
            parts += [by_column[:, start:place], column]
            start = place + 1
        parts.append(by_column[:, start:])
        joined = sparse.hstack([part for part in parts if part.shape[1]], format="csc")
        return joined.asformat(self.native.format)


def _as_array(X: Any) -> Array:
    if isinstance(X, np.ma.MaskedArray):  # NumPy would read the masked values
        hidden, X = np.ma.getmaskarray(X), np.ma.getdata(X).astype(object)
        X[hidden] = None
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # NumPy would convert numbers beside text to text
    if array.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional, got {array.ndim} dimension(s): use X.reshape(1, -1) for "
            "one row, X.reshape(-1, 1) for one column"
        )
    return array


def _cast_if_exact(values: npt.NDArray[np.float64], name: str) -> Array:
    """Cast numbers to a type if that is lossless, else return them unchanged."""
    try:
        dtype = np.dtype(name)
    except TypeError:  # not a NumPy type, such as decimal
        return values
    if dtype.kind not in "fiub":
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        kept = values.astype(dtype)
        same = np.array_equal(kept.astype(np.float64), values, equal_nan=True)
    return kept if same else values
