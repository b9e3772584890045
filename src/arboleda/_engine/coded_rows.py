"""The codes of a table in a file, as fits and predictions read them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from arboleda._engine.coded_file import (
    Bytes,
    CodedHeader,
    compute_checksum,
    keep_pages,
    open_direct,
    read_ahead,
    read_coded_header,
    read_series,
)
from arboleda._engine.column_options import find_categorical_columns
from arboleda._engine.columns import MISSING, DenseTable, FileTable, Schema, set_columns
from arboleda._native import BinnedDataset
from arboleda._utils.errors import ModelFormatError
from arboleda._utils.memory import available_memory
from arboleda._utils.text import format_names

Array = npt.NDArray[Any]

# Of the memory that is available, the share above which trees read the file from beginning to end
# instead of here and there.
_SWEPT_SHARE = 0.5
_WINDOW_BYTES = 1 << 21  # of rows that a sweep reads together
_BLOCK_ROWS = 1 << 16


class CodedRows(FileTable):
    """The rows of a coded table, with the interface of the tables of `columns.py`.

    Parameters
    ----------
    path : Path
        Name of the file in messages.
    file : ndarray of uint8
        The file, mapped into memory.
    header : CodedHeader
    status : os.stat_result
        Status of the file when it was mapped.
    """

    def __init__(
        self, path: Path, file: Bytes, header: CodedHeader, status: os.stat_result
    ) -> None:
        self._path = path
        self._file = file
        self._header = header
        self._status = status
        self._coded: BinnedDataset | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Map a file into memory, and check all but its codes.

        Raises
        ------
        ModelFormatError
            If it is not the file of a coded table, is damaged, or was written by a newer version.
        OSError
            If the file does not exist or cannot be read.
        """
        if path.stat().st_size == 0:
            raise ModelFormatError(f"{path}: the file is empty")
        with path.open("rb") as opened:
            status = os.fstat(opened.fileno())
            file: Bytes = np.memmap(opened, dtype=np.uint8, mode="r")
        with NamingFile(path):
            return cls(path, file, read_coded_header(file), status)

    @property
    def n_bytes(self) -> int:
        """Length of the file."""
        return int(self._file.size)

    @property
    def checksum(self) -> int:
        """Checksum of all but codes, target and weights, of which the header has checksums."""
        return compute_checksum(self._file, self._header)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._header.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns, without the target and the weights."""
        return self._header.schema.n_columns

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, self.n_columns

    @property
    def max_bins(self) -> int:
        """Maximum number of bins of a numeric column, missing values aside."""
        return self._header.max_bins

    @property
    def schema(self) -> Schema:
        """Names and categories of the columns."""
        return self._header.schema

    @property
    def n_levels(self) -> tuple[int, ...]:
        """Number of levels of each column, 0 for a numeric one."""
        return self._header.schema.n_levels

    @property
    def target_name(self) -> str | None:
        """Name of the column of the target; None if the file has none."""
        return None if self._header.target is None else self._header.target.name

    def read_series(self, role: str) -> Array:
        """Return the target or the weights; numbers are read-only and stay in the file.

        Raises
        ------
        ValueError
            If the file has none.
        """
        with NamingFile(self._path):
            values = read_series(self._file, self._header, role)
        if values is None:
            raise ValueError(f"{self._path} has no {role}: write it with {role}=, or keep it apart")
        return values

    @property
    def native(self) -> NoReturn:
        """Raise an error: what reads values does not read a coded table."""
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raise an error, for what reads the values of columns."""
        raise ValueError(
            "this does not read a CodedTable, which has no values: pass rows of the original "
            "table. fit reads it, and so do predict, predict_proba, decision_function and score of "
            "boosting and forests"
        )

    def code(
        self,
        n_threads: int,
        max_bins: int | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> BinnedDataset:
        """Return the codes, which are checked on the first call.

        The bins are those of all rows, whatever ``rows``.

        Raises
        ------
        ValueError
            If the bins of the file are others than ``max_bins``.
        ModelFormatError
            If a code is not valid.
        """
        if max_bins is None:
            raise ValueError(
                f"without max_bins, a fit needs the values of X, and {self._path} has bins only: "
                f"set max_bins={self.max_bins}, or, where the estimator has no such parameter, "
                "use HistGradientBoostingClassifier or HistGradientBoostingRegressor"
            )
        if max_bins != self.max_bins:
            raise ValueError(
                f"max_bins={max_bins}, but {self._path} was written with max_bins={self.max_bins}: "
                f"set max_bins={self.max_bins}, or write the table anew"
            )
        header = self._header
        if self._coded is None:
            with NamingFile(self._path), self._begin_sweeps() as swept:
                self._coded = BinnedDataset.of_file(
                    self._file,
                    header.n_rows,
                    header.sections["columns"][0],
                    [column.native for column in header.columns],
                    header.sections["rows"][0],
                    header.stride,
                    list(header.order),
                    swept,
                    n_threads,
                )
                if tuple(self._coded.row_order()) != header.order:
                    self._coded = None
                    raise ModelFormatError("the columns of its rows have another order")
        return self._coded

    @contextmanager
    def _begin_sweeps(self) -> Iterator[tuple[int, int, int] | None]:
        """Return what the engine needs to read a file in sweeps, while it checks the codes.

        That is a descriptor for direct reads, or -1; the bytes of memory for a fit and for codes
        that stay there; and the bytes that are read together. None where the codes fit in memory
        together with what a fit needs.
        """
        memory = available_memory()
        header = self._header
        n_bytes = self.n_rows * (header.stride + self.n_columns)
        if memory is None or n_bytes <= _SWEPT_SHARE * memory:
            yield None
            return
        # A fit reads target and weights several times for each tree.
        series = (header.sections.get(name, (0, 0)) for name in ("target", "sample_weight"))
        available = max(memory - sum(length for _, length in series), 0)
        read_ahead(self._file, header)
        descriptor = open_direct(self._path, self._status)
        try:
            if descriptor >= 0:
                keep_pages(self._file, header)
            yield descriptor, available, _WINDOW_BYTES
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def code_like(self, learned: BinnedDataset, n_threads: int) -> BinnedDataset:
        """Return the codes if their bins are those of another table.

        Raises
        ------
        ValueError
            If they are not.
        """
        coded = self.code(n_threads, self.max_bins)
        for j, levels in enumerate(self.schema.levels):
            same = levels is not None or all(
                np.array_equal(mine, other)
                for mine, other in zip(coded.edges(j), learned.edges(j), strict=True)
            )
            if not same:
                raise ValueError(
                    f"column {self.schema.describe(j)} of {self._path} has other bins than the "
                    "training rows: pass validation rows as a table of values"
                )
        return coded

    def take(self, rows: npt.NDArray[np.integer]) -> DenseTable:
        """Return some rows with a value of each bin instead of those that were coded."""
        codes = self._codes[:, rows]
        columns = [values[codes[j]] for j, values in enumerate(self._values_of_codes(self.schema))]
        return DenseTable(columns, len(rows), self.n_levels)

    @property
    def _codes(self) -> Bytes:
        at, length = self._header.sections["columns"]
        return self._file[at : at + length].reshape(self.n_columns, self.n_rows)

    def set_columns(self, estimator: Any, categorical_features: Any) -> None:
        """Set the columns of an estimator that is fitted on this table.

        Raises
        ------
        ValueError
            If its categorical columns are others than those of the file.
        """
        schema = self.schema
        if not isinstance(categorical_features, str):
            source = _Columns(schema)
            chosen = find_categorical_columns(categorical_features, source, schema.names)
            for j, (is_chosen, n_levels) in enumerate(zip(chosen, self.n_levels, strict=True)):
                if is_chosen is not bool(n_levels):
                    raise ValueError(
                        f"column {schema.describe(j)} is {'not ' * (not n_levels)}categorical in "
                        f"{self._path}, but {'not ' * (not is_chosen)}in categorical_features: set "
                        "categorical_features='from_dtype', or write the table anew"
                    )
        estimator.schema_ = schema
        set_columns(estimator, schema)

    # Prediction

    def predict_blocks(
        self,
        predict: Callable[[DenseTable], Array],
        estimator: Any,
        thresholds: Iterable[tuple[int, float]],
    ) -> Array:
        """Return the predictions of an estimator for all rows, block by block.

        Parameters
        ----------
        predict : callable
            Returns the predictions for a table of the estimator's columns.
        estimator : estimator
            Its `schema_` is that of the columns.
        thresholds : iterable of (int, float)
            The column and the threshold of each numeric split.

        Raises
        ------
        ValueError
            If the columns are not those of the estimator, or a threshold separates values of one
            bin, so that codes do not tell on which side they are.
        """
        schema: Schema = estimator.schema_
        places = self._find_columns(schema, type(estimator).__name__)
        for column, threshold in thresholds:
            self._check_threshold(places[column], threshold)
        self.code(1, self.max_bins)  # checks the codes
        values = self._values_of_codes(schema, places)
        parts = []
        for begin in range(0, self.n_rows, _BLOCK_ROWS):
            codes = self._codes[:, begin : begin + _BLOCK_ROWS]
            columns = [values[j][codes[place]] for j, place in enumerate(places)]
            parts.append(predict(DenseTable(columns, codes.shape[1], schema.n_levels)))
        return np.concatenate(parts)

    def _find_columns(self, schema: Schema, owner: str) -> list[int]:
        """Return the place of each column of an estimator."""
        mine = self.schema
        if schema.names is None:
            if schema.n_columns != self.n_columns:
                raise ValueError(
                    f"X has {self.n_columns} features, but {owner} is expecting "
                    f"{schema.n_columns} features as input"
                )
            places = list(range(self.n_columns))
        else:
            missing = [name for name in schema.names if name not in mine.places]
            extra = [name for name in mine.names or () if name not in schema.places]
            if missing or extra:
                faults = [f"lacks {format_names(missing)}"] * bool(missing)
                faults += [f"has {format_names(extra)}, unseen at fit"] * bool(extra)
                raise ValueError(
                    "The feature names should match those that were passed during fit: "
                    f"{self._path} {' and '.join(faults)}"
                )
            places = [mine.places[name] for name in schema.names]
        for j, place in enumerate(places):
            if (schema.levels[j] is None) is not (mine.levels[place] is None):
                raise ValueError(
                    f"column {mine.describe(place)} is {mine.kinds[place]} in {self._path}, but "
                    f"was {schema.kinds[j]} in fit"
                )
        return places

    def _check_threshold(self, column: int, threshold: float) -> None:
        coded = self._header.columns[column]
        code = int(np.searchsorted(coded.upper, threshold, side="right"))
        if code < coded.n_values and coded.lower[code] <= threshold:
            raise ValueError(
                f"the model separates values of one bin of column {self.schema.describe(column)} "
                f"at {threshold!r}: {self._path} does not tell on which side they are. Predict "
                "the original table"
            )

    def _values_of_codes(self, schema: Schema, places: Iterable[int] | None = None) -> list[Array]:
        """Return the value of each code of each column, in the format of an estimator's table."""
        values: list[Array] = []
        for j, place in enumerate(range(self.n_columns) if places is None else places):
            labels, codes = self.schema.levels[place], schema.codes[j]
            if labels is None or codes is None:
                lower = self._header.columns[place].lower
                values.append(np.append(lower, np.nan))
            else:
                known = [codes.get(label, MISSING) for label in labels]
                values.append(np.array([*known, MISSING], dtype=np.uint16))
        return values


class _Columns:
    """The columns of a schema, for the selection of categorical ones."""

    def __init__(self, schema: Schema) -> None:
        self.n_rows = 0
        self.n_columns = schema.n_columns

    def is_labelled(self, column: int) -> bool:
        raise NotImplementedError

    def numbers(self, column: int, place: str) -> NoReturn:
        raise NotImplementedError

    def labels(self, column: int, place: str) -> NoReturn:
        raise NotImplementedError


class NamingFile:
    """Context that adds the name of the file to errors of its format."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, ModelFormatError):
            raise ModelFormatError(f"{self._path}: {error}") from error


def iterate_thresholds(
    trees: Iterable[Any], levels: tuple[int, ...]
) -> Iterator[tuple[int, float]]:
    """Yield the distinct columns and thresholds of the numeric splits of trees."""
    seen: set[tuple[int, float]] = set()
    for tree in trees:
        feature, threshold = tree.feature, tree.threshold
        for j, t in zip(feature.tolist(), threshold.tolist(), strict=True):
            if j >= 0 and not levels[j] and (j, t) not in seen:
                seen.add((j, t))
                yield j, t
