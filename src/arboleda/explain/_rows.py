"""The rows of a table of any container, seen by columns and asked for with other values in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.categories import encode, learn_levels
from arboleda._engine.kinds import select_columns
from arboleda._engine.labels import Label
from arboleda._engine.schema import Schema, get_missing_code
from arboleda.explain._containers import Container, container_of

__all__ = ["MOST_ROWS", "Rows", "read_rows"]

Floats = npt.NDArray[np.float64]
Places = slice | npt.NDArray[np.intp]

# Rows that an estimator is asked for at a time: enough to hide the cost of a call.
MOST_ROWS = 1 << 16


@dataclass(frozen=True)
class _Categories:
    """The levels of a column, and a native column that holds each once, then a missing one."""

    levels: tuple[Label, ...]
    palette: Any
    has_missing: bool


class Rows:
    """The rows of a table, seen by columns.

    Values of a column are float64: numbers, or codes of categories, which are places among the
    column's `levels`; NaN where missing.

    Parameters
    ----------
    container : Container
    names : tuple of str
        Of the columns, as they are shown.
    categorical : tuple of bool
        Which columns hold categories.
    """

    def __init__(
        self, container: Container, names: tuple[str, ...], categorical: tuple[bool, ...]
    ) -> None:
        self._container = container
        self.names = names
        self.categorical = categorical
        self.n_rows, self.n_columns = container.shape
        self._categories: dict[int, _Categories] = {}

    @property
    def native(self) -> Any:
        """The table in its own container."""
        return self._container.native

    def place_of(self, feature: Any) -> int:
        """Return the number of the column that a name or a number means.

        Raises
        ------
        ValueError
            If there is no such column.
        TypeError
            If it is neither.
        """
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
            if not 0 <= feature < self.n_columns:
                raise ValueError(
                    f"there is no column {feature}: X has {self.n_columns}, numbered from 0"
                )
            return int(feature)
        own = self._container.names
        if own is not None and feature in own:
            return own.index(feature)
        if not isinstance(feature, str | tuple):
            raise TypeError(f"a column is named by its name or its number; got {feature!r}")
        if feature not in self.names:
            shown = ", ".join(map(repr, self.names[:20]))
            raise ValueError(
                f"{feature!r} is no column of X; there are {shown}"
                f"{', ...' if self.n_columns > 20 else ''}"
            )
        return self.names.index(str(feature))

    def values(self, column: int) -> Floats:
        """Return a column as numbers, or as codes of its categories; NaN where missing.

        Raises
        ------
        ValueError
            If a value is infinite, or is no number where the column holds numbers.
        """
        place = repr(self.names[column])
        if not self.categorical[column]:
            return np.asarray(self._container.numbers(column, place), dtype=np.float64)
        codes = {label: code for code, label in enumerate(self.levels(column))}
        found = encode(self._container.labels(column, place), codes, place)
        return np.where(found == get_missing_code(len(codes)), np.nan, found.astype(np.float64))

    def levels(self, column: int) -> tuple[Label, ...]:
        """Return the labels that a column of categories holds, sorted; of numbers none."""
        return self._categories_of(column).levels if self.categorical[column] else ()

    def missing(self, column: int) -> npt.NDArray[np.bool_]:
        """Tell in which rows a column has no value."""
        return np.isnan(self.values(column))

    def take(self, rows: Places) -> Rows:
        """Return some rows; categories keep their codes."""
        for column in np.flatnonzero(self.categorical).tolist():
            self._categories_of(column)
        taken = Rows(self._container.take(rows), self.names, self.categorical)
        taken._categories = self._categories
        return taken

    def put(self, columns: Mapping[int, Floats]) -> Any:
        """Return the native table with other values in some columns.

        Parameters
        ----------
        columns : mapping of int to ndarray of shape (n_rows,)
            For each column its new values, as `values` gives them. A category gets what a row of
            the table holds that has it; a number that the column's type cannot hold widens it.

        Raises
        ------
        ValueError
            If a category is to be missing and is so in no row.
        """
        return self._container.replaced(
            {column: self._native_column(column, values) for column, values in columns.items()}
        )

    def gather(self, columns: Mapping[int, npt.NDArray[np.intp]]) -> Any:
        """Return the native table with some columns' values taken from other rows of it.

        Parameters
        ----------
        columns : mapping of int to ndarray of shape (n_rows,)
            For each column the row that each row's value comes from, as a permutation.
        """
        return self._container.replaced(
            {column: self._container.values_at(column, rows) for column, rows in columns.items()}
        )

    def blocks(
        self, columns: Mapping[int, Floats], most_rows: int = MOST_ROWS
    ) -> Iterator[tuple[slice, slice, Any]]:
        """Ask what every row would be with every point of a grid, in tables of bounded size.

        Parameters
        ----------
        columns : mapping of int to ndarray of shape (n_points,)
            For each column its value at each point.
        most_rows : int
            Rows of one table.

        Yields
        ------
        rows, points : slice
            Which rows at which points the table holds.
        table
            Of ``rows`` times ``points``: all rows at the first of the points, then all at the next.
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

    def _native_column(self, column: int, values: Floats) -> Any:
        if not self.categorical[column]:
            return self._container.of_numbers(column, np.asarray(values, dtype=np.float64))
        known = self._categories_of(column)
        absent = np.isnan(values)
        if absent.any() and not known.has_missing:
            raise ValueError(
                f"column {self.names[column]!r} of X is missing in no row, so that no missing "
                "value can be put there"
            )
        places = np.where(absent, len(known.levels), values).astype(np.intp)
        return known.palette[places]

    def _categories_of(self, column: int) -> _Categories:
        if column not in self._categories:
            place = repr(self.names[column])
            found = self._container.labels(column, place)
            levels = learn_levels(found, place, many=True)
            codes = encode(found, {label: c for c, label in enumerate(levels)}, place)
            distinct, first = np.unique(codes, return_index=True)
            has_missing = bool(distinct[-1] == get_missing_code(len(levels)))
            palette = self._container.values_at(column, first.astype(np.intp))
            self._categories[column] = _Categories(levels, palette, has_missing)
        return self._categories[column]


def read_rows(X: Any, estimator: Any = None, categorical_features: Any = None) -> Rows:
    """Read a table of any container.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_rows, n_columns)
        A frame of pandas, polars or Arrow, an array or lists of numbers or objects.
    estimator : estimator, default=None
        Tells names of columns where the table has none, and which columns it took for categories.
    categorical_features : array-like of bool, int or str, default=None
        Columns that hold categories, beside those whose type or values say so; of "from_dtype"
        none.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError
        If the table has no rows, no columns, two columns of one name or another number of
        dimensions, or a column named is none of it.
    """
    if isinstance(categorical_features, str) and categorical_features != "from_dtype":
        raise ValueError(
            f"categorical_features={categorical_features!r} must be a list: to name one column "
            f"give [{categorical_features!r}]"
        )
    container = container_of(X)
    n_columns = container.shape[1]
    own = container.names
    names = tuple(map(str, own)) if own is not None else _names_known_to(estimator, n_columns)
    named = select_columns(categorical_features, n_columns, names, "categorical_features")
    known = _categories_known_to(estimator, own, n_columns)
    categorical = tuple(container.is_labelled(j) or named[j] or known[j] for j in range(n_columns))
    return Rows(container, names, categorical)


def _names_known_to(estimator: Any, n_columns: int) -> tuple[str, ...]:
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(names) == n_columns:
        return tuple(map(str, names))
    return tuple(f"x[{j}]" for j in range(n_columns))


def _categories_known_to(estimator: Any, own: list[Any] | None, n_columns: int) -> list[bool]:
    """Columns that one of our estimators learned as categories, whatever their type here."""
    schema = getattr(estimator, "schema_", None)
    if not isinstance(schema, Schema):
        return [False] * n_columns
    kinds = [levels is not None for levels in schema.levels]
    if own is None or schema.names is None:
        return kinds if len(kinds) == n_columns else [False] * n_columns
    return [name in schema.places and kinds[schema.places[name]] for name in own]
