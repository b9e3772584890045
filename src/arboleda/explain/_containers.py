"""A table in its own container, whose columns are read, taken and replaced.

What comes out is of the kind that went in, so that a pipeline fitted on it can be asked: pandas
stays pandas with its types, polars polars, Arrow Arrow, an array an array, a matrix sparse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from arboleda._engine.arrays import ArraySource
from arboleda._engine.categories import LabelColumn
from arboleda._engine.frames import Frame, FrameSource, as_frame
from arboleda._engine.numbers import check_engine_numbers
from arboleda._sparse import check_sparse

__all__ = ["Container", "container_of"]

Array = npt.NDArray[Any]
Places = slice | npt.NDArray[np.intp]


class Container(Protocol):
    """A table of rows. A native column is a column as the container itself holds it."""

    @property
    def native(self) -> Any:
        """The table as a user has it."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    def names(self) -> list[Any] | None:
        """Names of the columns, if the container has any."""

    def is_labelled(self, column: int) -> bool:
        """Whether the column holds categories by its type, or by values that are text or dates."""

    def numbers(self, column: int, place: str) -> Array:
        """Return the column as finite numbers, NaN where missing."""

    def labels(self, column: int, place: str) -> LabelColumn:
        """Return the column as labels."""

    def take(self, rows: Places) -> Self:
        """Return some rows."""

    def values_at(self, column: int, rows: Places) -> Any:
        """Return a native column of the values in some rows."""

    def of_numbers(self, column: int, values: npt.NDArray[np.float64]) -> Any:
        """Return numbers as a native column, in the column's own type if it holds them all."""

    def replaced(self, columns: Mapping[int, Any]) -> Any:
        """Return the native table with native columns in the place of some of its own."""


def container_of(X: Any) -> Container:
    """Return a table in its container.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)

    Raises
    ------
    ValueError
        If it has no rows, no columns or another number of dimensions, is a lazy frame, or has two
        columns of one name.
    """
    check_sparse(X)
    if sparse.issparse(X):
        found: Container = SparseContainer(X)
    else:
        frame = as_frame(X)
        found = DenseContainer(_array_of(X)) if frame is None else FrameContainer(frame)
    for count, what in zip(found.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(f"X has 0 {what}(s): at least 1 is needed")
    return found


class FrameContainer:
    """A frame of pandas, polars or Arrow."""

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

    def values_at(self, column: int, rows: Places) -> Any:
        if self._is_pandas:
            values = self.native.iloc[:, column].array
            return values[rows] if isinstance(rows, slice) else values.take(rows)
        return self._frame.get_column(self._frame.columns[column])[rows]

    def of_numbers(self, column: int, values: npt.NDArray[np.float64]) -> Any:
        name = self._frame.columns[column]
        held = str(self._frame.get_column(name).dtype).lower().replace("boolean", "bool")
        kept = _in_type(values, held)
        if self._is_pandas:
            return kept
        series = nw.new_series(name, kept, backend=self._frame.implementation)
        return series.fill_nan(None) if kept.dtype.kind == "f" else series

    def replaced(self, columns: Mapping[int, Any]) -> Any:
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

    def values_at(self, column: int, rows: Places) -> Array:
        values: Array = self.native[rows, column]
        return values

    def of_numbers(self, column: int, values: npt.NDArray[np.float64]) -> Array:
        del column  # all have one type
        return values if self.native.dtype.kind == "O" else _in_type(values, self.native.dtype.name)

    def replaced(self, columns: Mapping[int, Any]) -> Array:
        own = self.native.dtype
        types = {column.dtype for column in columns.values()} - {own}
        dtype = own if own.kind == "O" or not types else np.result_type(own, *types)
        copy = self.native.astype(dtype)
        for place, column in columns.items():
            copy[:, place] = column
        return copy


class SparseContainer:
    """A sparse matrix, all of whose columns hold numbers."""

    names = None

    def __init__(self, matrix: Any) -> None:
        self.native = matrix
        self.shape: tuple[int, int] = matrix.shape

    def is_labelled(self, column: int) -> bool:
        del column
        return False

    def numbers(self, column: int, place: str) -> Array:
        return check_engine_numbers(self.values_at(column, slice(None)), place)

    def labels(self, column: int, place: str) -> LabelColumn:
        raise ValueError(
            f"column {place} of X is of a sparse matrix, which categorical columns cannot be: give "
            "a dense table, or encode its categories as numbers"
        )

    def take(self, rows: Places) -> SparseContainer:
        return SparseContainer(self.native.tocsr()[rows].asformat(self.native.format))

    def values_at(self, column: int, rows: Places) -> Array:
        values: Array = self.native.tocsc()[:, [column]].toarray()[rows, 0]
        return values

    def of_numbers(self, column: int, values: npt.NDArray[np.float64]) -> Array:
        del column  # all have one type
        return _in_type(values, self.native.dtype.name)

    def replaced(self, columns: Mapping[int, Any]) -> Any:
        by_column = self.native.tocsc()
        parts, start = [], 0
        for place in sorted(columns):
            column = type(by_column)(np.asarray(columns[place]).reshape(-1, 1))
            parts += [by_column[:, start:place], column]
            start = place + 1
        parts.append(by_column[:, start:])
        joined = sparse.hstack([part for part in parts if part.shape[1]], format="csc")
        return joined.asformat(self.native.format)


def _array_of(X: Any) -> Array:
    if isinstance(X, np.ma.MaskedArray):  # NumPy would read what is under the mask
        hidden, X = np.ma.getmaskarray(X), np.ma.getdata(X).astype(object)
        X[hidden] = None
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # by itself NumPy writes numbers beside text as text
    if array.ndim != 2:
        raise ValueError(
            f"X has {array.ndim} dimension(s), a table of rows and columns has 2: of one row make "
            "X.reshape(1, -1), of one column X.reshape(-1, 1)"
        )
    return array


def _in_type(values: npt.NDArray[np.float64], name: str) -> Array:
    """Return numbers in a type if it holds them all, else as they are."""
    try:
        dtype = np.dtype(name)
    except TypeError:  # no type of NumPy's, as decimal
        return values
    if dtype.kind not in "fiub":
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        kept = values.astype(dtype)
        same = np.array_equal(kept.astype(np.float64), values, equal_nan=True)
    return kept if same else values
