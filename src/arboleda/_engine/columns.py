"""Tables in the engine's format, and the schema of their columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from arboleda._engine.labels import Label, label_from_json, label_to_json
from arboleda._native import BinnedDataset

Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class DenseTable:
    """Columns in the engine's format.

    Parameters
    ----------
    columns : list of ndarray
        One-dimensional arrays of any stride; views of the caller's data if its type allows. A
        numeric column has a type that the engine supports, NaN is missing. A categorical column has
        level codes as uint16; 65535 is missing or unknown.
    n_rows : int
    n_levels : tuple of int
        Number of levels of each column, 0 for a numeric one.
    matrix : ndarray of float of shape (n_rows, n_columns), or None
        The array that all columns are views of, if there is one.
    """

    columns: list[Column]
    n_rows: int
    n_levels: tuple[int, ...]
    matrix: Column | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, len(self.columns)

    @property
    def native(self) -> tuple[Any, ...]:
        """Arguments of the engine's prediction functions."""
        return self.columns, self.n_rows

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Bin all rows, with at most ``max_bins`` bins per numeric column; None: no limit.

        The bins are computed from ``rows`` (ascending) only; None: from all.
        """
        return BinnedDataset(
            self.columns, self.n_rows, n_threads, self.n_levels, max_bins or 0, rows
        )

    def code_like(self, learned: BinnedDataset, n_threads: int) -> BinnedDataset:
        """Bin this table with the bins of another table."""
        return BinnedDataset.like(learned, self.columns, self.n_rows, n_threads)

    def take(self, rows: npt.NDArray[np.intp]) -> DenseTable:
        """Return a copy of some rows."""
        return DenseTable([column[rows] for column in self.columns], rows.size, self.n_levels)


@dataclass(frozen=True, slots=True)
class SparseTable:
    """A canonical sparse matrix in the engine's format, with numeric columns only.

    Parameters
    ----------
    matrix : sparse matrix or array
        CSR or CSC, canonical, with data of a type that the engine supports.
    """

    matrix: Any

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, self.n_columns

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Zeros, as no column is categorical."""
        return (0,) * self.n_columns

    @property
    def native(self) -> tuple[Any, ...]:
        """Arguments of the engine's prediction functions."""
        return *get_entries(self.matrix.tocsr()), self.n_columns

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Bin all rows, with at most ``max_bins`` bins per column; None: no limit.

        The bins are computed from ``rows`` (ascending) only; None: from all.
        """
        entries = get_entries(self.matrix.tocsc())
        return BinnedDataset.from_csc(*entries, self.n_rows, n_threads, max_bins or 0, rows)

    def code_like(self, learned: BinnedDataset, n_threads: int) -> BinnedDataset:
        """Bin this matrix with the bins of another table."""
        entries = get_entries(self.matrix.tocsc())
        return BinnedDataset.from_csc_like(learned, *entries, self.n_rows, n_threads)

    def take(self, rows: npt.NDArray[np.intp]) -> SparseTable:
        """Return a copy of some rows."""
        return SparseTable(self.matrix.tocsr()[rows])


def get_entries(matrix: Any) -> tuple[Column, npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the values, their indices within the lines, and the starts of the lines."""
    start = matrix.indptr.astype(np.int64, copy=False)
    used = slice(0, int(start[-1]))  # SciPy's arrays may be longer
    return matrix.data[used], matrix.indices[used].astype(np.int32, copy=False), start


class FileTable(ABC):
    """A table in a file that is fitted on without reading it into memory; see `coded_table.py`."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Names and categories of the columns."""

    @abstractmethod
    def set_columns(self, estimator: Any, categorical_features: Any) -> None:
        """Set the columns of an estimator that is fitted on this table."""


MISSING = 65535  # code of missing and unknown levels, above all level codes
MISSING_OF_MANY = 2**32 - 1  # the same for columns with more levels
Name = str | int | tuple[str | int, ...]


@dataclass(frozen=True)
class Schema:
    """The columns that an estimator was fitted on. Immutable.

    Parameters
    ----------
    names : tuple of str, int or tuple, or None
        Names of the columns; None if the table had none.
    levels : tuple
        For each column None if it is numeric, else its sorted labels: the code of a category is the
        index of its label.
    """

    names: tuple[Name, ...] | None
    levels: tuple[tuple[Label, ...] | None, ...]

    def __post_init__(self) -> None:
        if self.names is not None and len(self.names) != len(self.levels):
            raise ValueError(f"{len(self.names)} names for {len(self.levels)} columns")
        if self.names is not None and len(set(self.names)) != len(self.names):
            raise ValueError("two columns have the same name")
        for j, levels in enumerate(self.levels):
            if levels is not None and len(set(levels)) != len(levels):
                raise ValueError(f"column {j} has a level twice")

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.levels)

    @property
    def kinds(self) -> tuple[Literal["numeric", "categorical"], ...]:
        """Kind of each column."""
        return tuple("numeric" if levels is None else "categorical" for levels in self.levels)

    @cached_property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each column, 0 for a numeric one."""
        return tuple(0 if levels is None else len(levels) for levels in self.levels)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether no column is categorical."""
        return not any(levels is not None for levels in self.levels)

    @cached_property
    def names_are_text(self) -> bool:
        """Whether scikit-learn would keep the names as ``feature_names_in_``."""
        return self.names is not None and all(isinstance(name, str) for name in self.names)

    @cached_property
    def places(self) -> dict[Name, int]:
        """Index of the column of each name."""
        return {} if self.names is None else {name: j for j, name in enumerate(self.names)}

    @cached_property
    def codes(self) -> tuple[dict[Label, int] | None, ...]:
        """Code of each label, for each categorical column."""
        return tuple(
            None if levels is None else {label: code for code, label in enumerate(levels)}
            for levels in self.levels
        )

    def describe(self, column: int) -> str:
        """Return the name of a column for messages."""
        return repr(self.names[column]) if self.names is not None else str(column)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON-compatible data."""
        names = self.names
        return {
            "names": None if names is None else [_listed(name) for name in names],
            "columns": [
                {"kind": "numeric"}
                if levels is None
                else {"kind": "categorical", "levels": [label_to_json(label) for label in levels]}
                for levels in self.levels
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create a schema from the result of `to_dict`.

        Raises
        ------
        ValueError
            If the data is not a schema.
        """
        names, columns = data.get("names"), data.get("columns")
        if not isinstance(columns, list) or not (names is None or isinstance(names, list)):
            raise ValueError("a schema must have a list of columns, and a list of names or null")
        return cls(
            None if names is None else tuple(_name_from_json(name) for name in names),
            tuple(_levels_from_json(column) for column in columns),
        )

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.names, self.levels)  # without the cached lookup tables


def set_columns(estimator: Any, schema: Schema) -> None:
    """Set the attributes of an estimator that scikit-learn has for the columns of its table."""
    estimator.n_features_in_ = schema.n_columns
    if schema.names_are_text:
        estimator.feature_names_in_ = np.array(schema.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def get_missing_code(n_levels: int) -> int:
    """Return the code of missing and unknown levels in a column with a number of levels."""
    return MISSING if n_levels <= MISSING else MISSING_OF_MANY


def _listed(name: Name) -> str | int | list[str | int]:
    return list(name) if isinstance(name, tuple) else name


def _name_from_json(found: Any) -> Name:
    if isinstance(found, str) or type(found) is int:
        return found
    if isinstance(found, list) and all(isinstance(p, str) or type(p) is int for p in found):
        return tuple(found)
    raise ValueError(f"{str(found)[:80]} is not a name of a column")


def _levels_from_json(found: Any) -> tuple[Label, ...] | None:
    if found == {"kind": "numeric"}:
        return None
    if isinstance(found, dict) and found.keys() == {"kind", "levels"}:
        levels = found["levels"]
        if found["kind"] == "categorical" and isinstance(levels, list):
            return tuple(label_from_json(label) for label in levels)
    raise ValueError(f"{str(found)[:80]} is not a column of a schema")
