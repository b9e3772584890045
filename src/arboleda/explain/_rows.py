"""Rows of a table in any container, read by columns and copied with other values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from arboleda._engine.column_options import select_columns
from arboleda._engine.columns import Schema, get_missing_code
from arboleda._engine.encoding import encode, is_missing, learn_levels
from arboleda._engine.labels import Label
from arboleda.explain._containers import Container, make_container

__all__ = ["MAX_ROWS", "TableRows", "as_one_row", "read_rows"]

Floats = npt.NDArray[np.float64]
Places = slice | npt.NDArray[np.intp]

# Rows predicted at a time: enough to hide the overhead of a call.
MAX_ROWS = 1 << 16


@dataclass(frozen=True)
class _CategoryPalette:
    """The levels of a column, and a native column with each level once and a missing value last."""

    levels: tuple[Label, ...]
    palette: Any
    has_missing: bool


class TableRows:
    """The rows of a table, read by columns.

    Values of a column are float64: numbers, or codes of categories, which are indices into the
    column's `levels`; NaN where missing.

    Parameters
    ----------
    container : Container
    names : tuple of str
        Names of the columns, as displayed.
    categorical : tuple of bool
        Which columns are categorical.
    """

    n_columns: int
    n_rows: int

    def __init__(
        self, container: Container, names: tuple[str, ...], categorical: tuple[bool, ...]
    ) -> None:
        self._container = container
        self.names = names
        self.categorical = categorical
        self.n_rows, self.n_columns = container.shape
        self._categories: dict[int, _CategoryPalette] = {}

    @property
    def native(self) -> Any:
        """The table in its native type."""
        return self._container.native

    def find_column(self, feature: Any) -> int:
        """Return the index of the column with a name or index.

        Raises
        ------
        ValueError
            If there is no such column.
        TypeError
            If ``feature`` is neither a name nor an index.
        """
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
            if not 0 <= feature < self.n_columns:
                raise ValueError(
                    f"column {feature} does not exist: X has {self.n_columns} columns, numbered "
                    "from 0"
                )
            return int(feature)
        own = self._container.names
        if own is not None and feature in own:
            return own.index(feature)
        if not isinstance(feature, str | tuple):
            raise TypeError(f"a column must be a name or an index, got {feature!r}")
        if feature not in self.names:
            shown = ", ".join(map(repr, self.names[:20]))
            raise ValueError(
                f"{feature!r} is not a column of X; its columns are {shown}"
                f"{', ...' if self.n_columns > 20 else ''}"
            )
        return self.names.index(str(feature))

    def values(self, column: int) -> Floats:
        """Return a column as numbers, or as codes of its categories; NaN where missing.

        Raises
        ------
        ValueError
            If a value is infinite, or is not a number in a numeric column.
        """
        place = repr(self.names[column])
        if not self.categorical[column]:
            return np.asarray(self._container.numbers(column, place), dtype=np.float64)
        codes = {label: code for code, label in enumerate(self.levels(column))}
        found = encode(self._container.labels(column, place), codes, place)
        return np.where(found == get_missing_code(len(codes)), np.nan, found.astype(np.float64))

    def levels(self, column: int) -> tuple[Label, ...]:
        """Return the sorted labels of a categorical column; an empty tuple for numbers."""
        return self._read_categories(column).levels if self.categorical[column] else ()

    def missing(self, column: int) -> npt.NDArray[np.bool_]:
        """Return in which rows a column is missing."""
        return np.isnan(self.values(column))

    def take(self, rows: Places) -> TableRows:
        """Return some rows; category codes are unchanged."""
        for column in np.flatnonzero(self.categorical).tolist():
            self._read_categories(column)
        taken = TableRows(self._container.take(rows), self.names, self.categorical)
        taken._categories = self._categories
        return taken

    def put(self, columns: Mapping[int, Floats]) -> Any:
        """Return the native table with other values in some columns.

        Parameters
        ----------
        columns : mapping of int to ndarray of shape (n_rows,)
            New values of each column, encoded like `values`. A category is written as it occurs in
            the table; a number that the column's type cannot represent widens the type.

        Raises
        ------
        ValueError
            If a category is missing in the new values but in no row of the table.
        """
        return self._container.replace_columns(
            {column: self._make_native_column(column, values) for column, values in columns.items()}
        )

    def gather(self, columns: Mapping[int, npt.NDArray[np.intp]]) -> Any:
        """Return the native table with the values of some columns taken from other rows.

        Parameters
        ----------
        columns : mapping of int to ndarray of shape (n_rows,)
            For each column, the row that each value comes from, such as a permutation.
        """
        return self._container.replace_columns(
            {column: self._container.get_values(column, rows) for column, rows in columns.items()}
        )

    def iter_blocks(
        self, columns: Mapping[int, Floats], most_rows: int = MAX_ROWS
    ) -> Iterator[tuple[slice, slice, Any]]:
        """Yield every row with every point of a grid, in tables of bounded size.

        Parameters
        ----------
        columns : mapping of int to ndarray of shape (n_points,)
            Values of each column at each point.
        most_rows : int
            Largest number of rows of a table.

        Yields
        ------
        rows, points : slice
            Rows and points of the table.
        table
            All ``rows`` at the first of the ``points``, then all at the next, and so on.
        """
        n_points = len(next(iter(columns.values())))
        for first in range(0, self.n_rows, most_rows):
            rows = slice(first, min(first + most_rows, self.n_rows))
            n_taken = rows.stop - first
            part = self if n_taken == self.n_rows else self.take(rows)
            together = max(1, most_rows // n_taken)
            for start in range(0, n_points, together):
                points = slice(start, min(start + together, n_points))
                n_copies = points.stop - start
                copies = part
                if n_copies > 1:
                    copies = part.take(np.tile(np.arange(n_taken, dtype=np.intp), n_copies))
                put = {j: np.repeat(grid[points], n_taken) for j, grid in columns.items()}
                yield rows, points, copies.put(put)

    def _make_native_column(self, column: int, values: Floats) -> Any:
        if not self.categorical[column]:
            return self._container.from_numbers(column, np.asarray(values, dtype=np.float64))
        known = self._read_categories(column)
        absent = np.isnan(values)
        if absent.any() and not known.has_missing:
            raise ValueError(
                f"column {self.names[column]!r} of X has no missing value in any row, so a missing "
                "value cannot be written to it"
            )
        places = np.where(absent, len(known.levels), values).astype(np.intp)
        return known.palette[places]

    def _read_categories(self, column: int) -> _CategoryPalette:
        if column not in self._categories:
            place = repr(self.names[column])
            found = self._container.labels(column, place)
            levels = learn_levels(found, place, many=True)
            codes = encode(found, {label: c for c, label in enumerate(levels)}, place)
            distinct, first = np.unique(codes, return_index=True)
            has_missing = bool(distinct[-1] == get_missing_code(len(levels)))
            palette = self._container.get_values(column, first.astype(np.intp))
            self._categories[column] = _CategoryPalette(levels, palette, has_missing)
        return self._categories[column]


def read_rows(X: Any, estimator: Any = None, categorical_features: Any = None) -> TableRows:
    """Read a table of any container.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        A pandas, polars or Arrow frame, an array, or nested lists.
    estimator : estimator, default=None
        Provides column names if the table has none, and the columns that it treated as categorical.
    categorical_features : array-like of bool, int or str, default=None
        Categorical columns, in addition to those recognized by dtype or values; "from_dtype" adds
        none.

    Returns
    -------
    TableRows

    Raises
    ------
    ValueError
        If the table has no rows or columns, duplicate column names or is not two-dimensional, or a
        given column does not exist.
    """
    if isinstance(categorical_features, str) and categorical_features != "from_dtype":
        raise ValueError(
            f"categorical_features must be a list, got {categorical_features!r}: for one column "
            f"give [{categorical_features!r}]"
        )
    container = make_container(X)
    n_columns = container.shape[1]
    own = container.names
    names = tuple(map(str, own)) if own is not None else _read_feature_names(estimator, n_columns)
    named = select_columns(categorical_features, n_columns, names, "categorical_features")
    known = _read_fitted_categories(estimator, own, n_columns)
    categorical = tuple(container.is_labelled(j) or named[j] or known[j] for j in range(n_columns))
    return TableRows(container, names, categorical)


def _read_feature_names(estimator: Any, n_columns: int) -> tuple[str, ...]:
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(names) == n_columns:
        return tuple(map(str, names))
    return tuple(f"x[{j}]" for j in range(n_columns))


def _read_fitted_categories(estimator: Any, own: list[Any] | None, n_columns: int) -> list[bool]:
    """Return which columns an arboleda estimator treated as categorical, whatever their type."""
    schema = getattr(estimator, "schema_", None)
    if not isinstance(schema, Schema):
        return [False] * n_columns
    kinds = [levels is not None for levels in schema.levels]
    if own is None or schema.names is None:
        return kinds if len(kinds) == n_columns else [False] * n_columns
    return [name in schema.places and kinds[schema.places[name]] for name in own]


def as_one_row(row: Any, like: TableRows, estimator: Any) -> TableRows:
    """Read a row, given by itself or as a table of one row.

    Parameters
    ----------
    row : table of one row, or array-like, Series or mapping of shape (n_features,)
        Values of a mapping or Series are matched by column name, others by position.
    like : TableRows
        The training rows: a row that is not a table is converted to their container and types.
    estimator : estimator
        Provides column names if the table has none.

    Returns
    -------
    TableRows

    Raises
    ------
    ValueError
        If there is more than one row, or the columns are not those of the training rows.
    """
    table = row if _is_table(row) else _as_table(row, like)
    categorical = np.array(like.categorical)
    columns = _count_columns(table)
    if columns is not None and columns != like.n_columns:
        raise ValueError(
            f"the row has {columns} columns, but X_train has {like.n_columns}: give the same "
            "columns"
        )
    one = read_rows(table, estimator, categorical)
    if one.n_rows != 1:
        raise ValueError(
            f"explain() takes one row, got {one.n_rows}: give X.iloc[[i]] for a frame, or X[i] for "
            "an array"
        )
    if one.names != like.names:
        wrong = next(j for j, name in enumerate(one.names) if name != like.names[j])
        raise ValueError(
            f"column {wrong} of the row is {one.names[wrong]!r}, but {like.names[wrong]!r} in "
            "X_train: give the same columns in the same order"
        )
    return one


def _is_table(row: Any) -> bool:
    if isinstance(row, Mapping):
        return False
    shape = getattr(row, "shape", None)
    if shape is not None:
        return len(shape) == 2
    try:
        return bool(np.ndim(row) == 2)
    except ValueError:  # a ragged list
        return False


def _count_columns(table: Any) -> int | None:
    shape = getattr(table, "shape", None) or np.shape(table)
    return int(shape[1]) if len(shape) == 2 else None


def _as_table(row: Any, like: TableRows) -> Any:
    values = _order_values(row, like)
    native = like.native
    if sparse.issparse(native):
        return sparse.csr_matrix(np.asarray(values, dtype=native.dtype)[np.newaxis])
    if isinstance(native, np.ndarray):
        one = np.empty((1, len(values)), dtype=object)
        one[0] = values
        return one if native.dtype == object else one.astype(np.asarray(values).dtype)
    if nw.dependencies.is_pandas_dataframe(native):
        held = [_missing_as_none(value) for value in values]
        return type(native)([held], columns=native.columns).astype(native.dtypes.to_dict())
    frame = nw.from_native(native, eager_only=True)
    columns = {
        name: [_missing_as_none(value)] for name, value in zip(frame.columns, values, strict=True)
    }
    made = nw.from_dict(columns, backend=frame.implementation)
    return made.with_columns(nw.col(n).cast(t) for n, t in frame.schema.items()).to_native()


def _order_values(row: Any, like: TableRows) -> list[Any]:
    """Return the values of a row in the column order of the training table."""
    if nw.dependencies.is_pandas_series(row):
        named = {str(name): value for name, value in row.items()}
        if len(named) == len(row) and set(named) == set(like.names):
            row = named
    if isinstance(row, Mapping):
        named = {str(name): value for name, value in row.items()}
        absent = [name for name in like.names if name not in named]
        unknown = sorted(named.keys() - set(like.names))
        if absent or unknown:
            fault = (
                f"lacks the column {absent[0]!r} of X_train"
                if absent
                else f"has the column {unknown[0]!r}, which X_train does not have"
            )
            raise ValueError(f"the row {fault}: give exactly the columns of X_train")
        return [named[name] for name in like.names]
    try:
        values = list(row)
    except TypeError as error:
        raise TypeError(
            f"the row must be a table of one row, an array, a Series or a dict, got {row!r}"
        ) from error
    if len(values) != like.n_columns:
        raise ValueError(
            f"the row has {len(values)} values, but X_train has {like.n_columns} columns"
        )
    return values


def _missing_as_none(value: Any) -> Any:
    return None if is_missing(value) else value
