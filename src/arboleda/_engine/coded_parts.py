"""Parts of a table that is larger than memory, and the columns that are collected from them.

Every part is read once. Its columns are appended to one temporary file each, so that memory holds
one part, whatever the number of rows.
"""

from __future__ import annotations

import glob
import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from arboleda._engine.coded_file import MAX_CODES
from arboleda._engine.column_options import find_categorical_columns
from arboleda._engine.columns import MISSING, Name, Schema
from arboleda._engine.encoding import encode, learn_levels
from arboleda._engine.frames import (
    Frame,
    as_frame,
    get_column_names,
    is_labelled,
    read_frame,
    read_labels,
)
from arboleda._engine.labels import Label, sort_labels
from arboleda._utils.text import format_names

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Frames = Iterable[Any] | Callable[[], Iterable[Any]]
_BATCH_ROWS = 1 << 18
_CSV_BLOCK = 1 << 24


@dataclass(frozen=True)
class Part:
    """Some rows of the table, and the name of their source in messages."""

    name: str
    frame: Frame


def read_frames(frames: Frames) -> Iterator[Part]:
    """Yield the frames of an iterable, or of a callable that returns one.

    Raises
    ------
    TypeError
        If an item is not a frame.
    """
    for number, item in enumerate(frames() if callable(frames) else frames):
        frame = as_frame(item)
        if frame is None:
            raise TypeError(
                f"frame {number} is of type {type(item).__name__}: give frames of pandas, polars "
                "or Arrow, whose columns have names"
            )
        yield Part(f"frame {number}", frame)


def read_parquet(paths: Paths) -> Iterator[Part]:
    """Yield the rows of Parquet files, batch by batch."""
    pa, pq = _import_arrow("pyarrow.parquet")
    for path in find_files(paths):
        try:
            # What is buffered in advance stays in memory to the end of the file.
            with pq.ParquetFile(path, pre_buffer=False) as file:
                empty = pa.Table.from_batches([], schema=file.schema_arrow)
                yield _part(path, empty)
                for batch in file.iter_batches(_BATCH_ROWS):
                    yield _part(path, pa.Table.from_batches([batch]))
        except pa.ArrowException as error:
            raise ValueError(f"{path} cannot be read as a Parquet file: {error}") from error


def read_csv(paths: Paths) -> Iterator[Part]:
    """Yield the rows of CSV files, block by block.

    The types of the columns are those of the first block that has a value of each; integers are
    read as 64-bit floats.
    """
    pa, csv = _import_arrow("pyarrow.csv")
    types: dict[str, Any] = {}
    for path in find_files(paths):
        read = csv.ReadOptions(block_size=_CSV_BLOCK)
        convert = csv.ConvertOptions(column_types=types, strings_can_be_null=True)
        try:
            if Path(path).stat().st_size == 0:
                raise ValueError(f"{path} is empty: it has no line of column names")
            with csv.open_csv(path, read_options=read, convert_options=convert) as batches:
                yield _part(path, pa.Table.from_batches([], schema=batches.schema))
                for batch in batches:
                    yield _part(path, pa.Table.from_batches([batch]))
                    for name, column in zip(batch.schema.names, batch.columns, strict=True):
                        if name not in types and column.null_count < len(column):
                            is_number = pa.types.is_integer(column.type)
                            types[name] = pa.float64() if is_number else column.type
        except pa.ArrowException as error:
            known = ", ".join(f"{name!r} {kind}" for name, kind in types.items())
            raise ValueError(
                f"{path} cannot be read as a CSV file: {error}. Columns read so far: {known}"
            ) from error


def find_files(paths: Paths) -> list[str]:
    """Return the files of a pattern, or of a sequence of patterns, each sorted by name.

    Raises
    ------
    FileNotFoundError
        If a pattern matches no file.
    """
    found = []
    for pattern in [paths] if isinstance(paths, str | os.PathLike) else paths:
        name = os.fspath(pattern)
        matching = [name] if Path(name).is_file() else sorted(glob.glob(name))  # noqa: PTH207 - patterns may be absolute
        if not matching:
            raise FileNotFoundError(f"no file matches {name!r}")
        found += matching
    return found


def _import_arrow(module: str) -> tuple[Any, Any]:
    try:
        import pyarrow

        return pyarrow, importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"reading files needs the package {error.name}: pip install 'arboleda[study]'"
        ) from error


def _part(path: str, table: Any) -> Part:
    frame = as_frame(table)
    assert frame is not None
    return Part(path, frame)


class ColumnFile:
    """Numbers of one type, appended to a temporary file."""

    def __init__(self, path: Path, dtype: npt.DTypeLike) -> None:
        self.path = path
        self.dtype = np.dtype(dtype)
        path.touch()

    def append(self, values: npt.NDArray[Any]) -> None:
        """Append numbers, converted to the type of the file."""
        with self.path.open("ab") as file:
            np.ascontiguousarray(values, dtype=self.dtype).tofile(file)

    def read(self) -> npt.NDArray[Any]:
        """Return the numbers as a view of the file."""
        if self.path.stat().st_size == 0:
            return np.empty(0, dtype=self.dtype)
        return np.memmap(self.path, dtype=self.dtype, mode="r")


class LabelFile(ColumnFile):
    """Labels, appended to a temporary file as their positions in the order of appearance."""

    def __init__(self, path: Path, name: str, dtype: npt.DTypeLike, max_labels: int) -> None:
        super().__init__(path, dtype)
        self._name = name
        self._max_labels = max_labels
        self.positions: dict[Label, int] = {}

    def append_labels(self, series: Any, source: str) -> None:
        """Append the labels of a column of a part."""
        place = f"{self._name!r}, {source},"
        column = read_labels(series, place)
        for label in learn_levels(column, place, many=True):
            self.positions.setdefault(label, len(self.positions))
        if len(self.positions) > self._max_labels:
            raise ValueError(
                f"column {self._name!r} has more than {self._max_labels} categories up to {source}:"
                " a coded table has one byte per value. Merge rare categories, encode the column "
                "as numbers, or leave it out of categorical_features"
            )
        codes = encode(column, self.positions, place)
        self.append(np.where(codes == MISSING, -1, codes.astype(np.int64)))

    def sorted_labels(self) -> tuple[tuple[Label, ...], npt.NDArray[np.uint16]]:
        """Return the sorted labels, and the code of each position; the last is of missing ones."""
        labels = sort_labels(self.positions)
        codes = np.full(len(labels) + 1, MISSING, dtype=np.uint16)
        for code, label in enumerate(labels):
            codes[self.positions[label]] = code
        return labels, codes


class CollectedColumns:
    """The columns of all parts, in temporary files of a folder.

    Parameters
    ----------
    folder : Path
    target, sample_weight : str or None
        Names of the columns of the target and the weights.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        As in the estimators; indices count without the target and the weights.
    """

    def __init__(
        self, folder: Path, target: str | None, sample_weight: str | None, categorical_features: Any
    ) -> None:
        self._folder = folder
        self._special = {"target": target, "sample_weight": sample_weight}
        self._categorical_features = categorical_features
        self._first: Part | None = None
        self._types: dict[Name, tuple[str, str]] = {}  # kind of each column, and where it was seen
        self.names: tuple[Name, ...] = ()
        self.columns: list[ColumnFile] = []
        self.special: dict[str, ColumnFile] = {}
        self.n_rows = 0

    def add(self, part: Part) -> None:
        """Append the rows of a part.

        Raises
        ------
        ValueError
            If it has other columns or types than the parts before, or a value is not valid. The
            message names the part, the column and both types.
        """
        names = get_column_names(part.frame)
        if names is None:
            raise ValueError(f"{part.name} has columns without names")
        if self._first is None:
            self._first = part
            self._set_names(part, names)
        elif set(names) != set(get_column_names(self._first.frame) or ()):
            self._refuse_columns(part, names)
        if len(part.frame) == 0:
            return
        self._check_types(part, names)
        if not self.columns:
            self._begin(part)
        source = read_frame(self._select(part.frame, names))
        for j, column in enumerate(self.columns):
            place = f"{self.names[j]!r}, {part.name},"
            if isinstance(column, LabelFile):
                column.append_labels(self._series(part.frame, names, self.names[j]), part.name)
            else:
                column.append(source.numbers(j, place))
        for role, name in self._special.items():
            if name is not None:
                self._append_special(role, name, self._series(part.frame, names, name), part.name)
        self.n_rows += len(part.frame)

    def make_schema(self) -> Schema:
        """Return the names of the columns and their sorted categories."""
        levels = [
            column.sorted_labels()[0] if isinstance(column, LabelFile) else None
            for column in self.columns
        ]
        return Schema(self.names, tuple(levels))

    def read(self, j: int) -> npt.NDArray[Any]:
        """Return a column in the engine's format: numbers, or codes of sorted categories."""
        column = self.columns[j]
        values = column.read()
        return column.sorted_labels()[1][values] if isinstance(column, LabelFile) else values

    def _set_names(self, part: Part, names: tuple[Name, ...]) -> None:
        for role, name in self._special.items():
            if name is not None and name not in names:
                raise ValueError(
                    f"{role}={name!r} is not a column of {part.name}, which has "
                    f"{format_names(list(names))}"
                )
        self.names = tuple(name for name in names if name not in self._special.values())
        if not self.names:
            raise ValueError(f"{part.name} has no column besides the target and the weights")

    def _refuse_columns(self, part: Part, names: tuple[Name, ...]) -> None:
        assert self._first is not None
        known = get_column_names(self._first.frame) or ()
        lost = [name for name in known if name not in names]
        more = [name for name in names if name not in known]
        faults = [f"lacks {format_names(lost)}"] * bool(lost)
        faults += [f"has {format_names(more)}, unseen before"] * bool(more)
        raise ValueError(
            f"{part.name} {' and '.join(faults)}: the first part is {self._first.name}, and all "
            "parts must have the same columns"
        )

    def _check_types(self, part: Part, names: tuple[Name, ...]) -> None:
        for name in names:
            series = self._series(part.frame, names, name)
            kind = _get_kind(series)
            if kind is None:
                continue
            known, source = self._types.setdefault(name, (kind, part.name))
            if kind != known:
                raise ValueError(
                    f"column {name!r} of {part.name} is of type {series.dtype} ({kind}), but in "
                    f"{source} it is {known}: convert one of them"
                )

    def _begin(self, part: Part) -> None:
        names = get_column_names(part.frame) or ()
        source = read_frame(self._select(part.frame, names))
        mask = find_categorical_columns(self._categorical_features, source, self.names)
        for j, (name, is_category) in enumerate(zip(self.names, mask, strict=True)):
            path = self._folder / f"column_{j}"
            if is_category:
                self.columns.append(LabelFile(path, str(name), np.int16, MAX_CODES))
            else:
                series = self._series(part.frame, names, name)
                is_short = series.dtype == nw.Float32
                self.columns.append(ColumnFile(path, np.float32 if is_short else np.float64))

    def _append_special(self, role: str, name: str, series: Any, source: str) -> None:
        """Append the target or the weights of a part."""
        path = self._folder / role
        if is_labelled(series) and role == "target":
            file = self.special.setdefault(role, LabelFile(path, name, np.int32, 2**31 - 1))
            assert isinstance(file, LabelFile)
            before = file.path.stat().st_size // 4
            file.append_labels(series, source)
            missing = file.read()[before:] < 0
        else:
            values = _Numbers(series).values
            kept = series.dtype.is_integer() or series.dtype == nw.Boolean
            dtype = values.dtype if kept and role == "target" else np.dtype(np.float64)
            file = self.special.setdefault(role, ColumnFile(path, dtype))
            missing = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(1, dtype=bool)
            if role == "sample_weight":
                missing = missing | (values < 0)
            if not missing.any() and not np.can_cast(values.dtype, file.dtype, "safe"):
                raise ValueError(
                    f"column {name!r} of {source} has the type {values.dtype}, but before it was "
                    f"{file.dtype}: convert one of them"
                )
            if not missing.any():
                file.append(values)
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            needed = "present and finite" if role == "target" else "finite and non-negative"
            raise ValueError(
                f"the {role} {name!r} of {source} is {series[row]} in row {row} of {self._where()}"
                f": it must be {needed}; drop such rows"
            )

    def _where(self) -> str:
        return f"those after the first {self.n_rows:,} rows" if self.n_rows else "the table"

    def _select(self, frame: Frame, names: tuple[Name, ...]) -> Frame:
        places = {name: j for j, name in enumerate(names)}
        return frame.select([frame.columns[places[name]] for name in self.names])

    @staticmethod
    def _series(frame: Frame, names: tuple[Name, ...], name: Name) -> Any:
        return frame.get_column(frame.columns[names.index(name)])


class _Numbers:
    """A column as numbers; missing ones are NaN."""

    def __init__(self, series: Any) -> None:
        from arboleda._engine.frames import read_numbers

        self.values = read_numbers(series, repr(series.name))


def _get_kind(series: Any) -> str | None:
    """Return the kind of a column's type, which all parts share; None if it has no value."""
    dtype = series.dtype
    if series.null_count() == len(series) and not dtype.is_numeric():
        return None
    if is_labelled(series):
        return "text"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype == nw.Float32:
        return "32-bit float"
    return "number" if dtype.is_numeric() else str(dtype)
