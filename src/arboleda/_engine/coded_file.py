"""The file of a coded table: preamble, codes, target and weights, and a header at the end.

    preamble | codes by column | edges | codes by row | target | weights | header, JSON

All numbers are little-endian. The preamble holds the magic bytes, the version, the CRC-32 of the
header, and its place and length. Sections begin at multiples of 4096 bytes. Reading trusts nothing:
everything that the header says is checked here, and the codes themselves by the engine.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import Schema
from arboleda._engine.labels import Label, label_from_json, label_to_json
from arboleda._utils.errors import ModelFormatError
from arboleda._utils.files import parse_strict_json
from arboleda._utils.operating_system import system

MAGIC = b"\x89arbcod\n"
VERSION = 1
MAX_CODES = 255  # of a column, missing values aside: a code has one byte
_PREAMBLE = struct.Struct("<8sIIQQ")
_ALIGNED = 4096
_CODE_RUN = 64  # bytes that the engine may read beyond the last row
_TYPES = {"<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"}
_KEYS = {
    "n_rows": int,
    "max_bins": int,
    "schema": dict,
    "columns": list,
    "order": list,
    "stride": int,
    "sections": dict,
    "target": dict | None,
    "sample_weight": dict | None,
}

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """A target or weights: numbers of a type, or the positions of labels.

    Parameters
    ----------
    name : str
        Name of the column that it was read from.
    dtype : str
        NumPy's name of the type of the numbers or positions.
    labels : tuple of label, or None
        The labels; None for numbers.
    crc : int
        CRC-32 of the section.
    """

    name: str
    dtype: str
    labels: tuple[Label, ...] | None
    crc: int

    def to_dict(self) -> dict[str, Any]:
        """Return the series as JSON-compatible data."""
        labels = None if self.labels is None else [label_to_json(label) for label in self.labels]
        return {"name": self.name, "dtype": self.dtype, "labels": labels, "crc": self.crc}

    @classmethod
    def from_dict(cls, data: Any) -> Series:
        """Create a series from the result of `to_dict`."""
        _insist(isinstance(data, dict) and data.keys() == {"name", "dtype", "labels", "crc"})
        name, dtype, labels, crc = data["name"], data["dtype"], data["labels"], data["crc"]
        _insist(isinstance(name, str) and dtype in _TYPES and _is_count(crc))
        _insist(labels is None or (isinstance(labels, list) and len(labels) > 0))
        if labels is not None:
            labels = tuple(label_from_json(label) for label in labels)
            _insist(dtype == "<i4")
        return cls(name, dtype, labels, crc)


@dataclass(frozen=True)
class CodedColumn:
    """The codes of a column: a category each, or the values from `lower` to `upper`."""

    n_values: int
    is_categorical: bool
    has_missing: bool
    lower: Floats = field(default_factory=lambda: np.empty(0))
    upper: Floats = field(default_factory=lambda: np.empty(0))  # empty: equal to lower

    @property
    def native(self) -> tuple[int, bool, bool, list[float], list[float]]:
        """The column in the engine's format."""
        is_exact = np.array_equal(self.lower, self.upper)
        upper = [] if is_exact else self.upper.tolist()
        return self.n_values, self.is_categorical, self.has_missing, self.lower.tolist(), upper


@dataclass(frozen=True)
class CodedHeader:
    """All of a coded table but its codes and series. Immutable.

    Parameters
    ----------
    n_rows : int
    max_bins : int
        Maximum number of bins of a numeric column.
    schema : Schema
    columns : tuple of CodedColumn
    order : tuple of int
        Columns in the order of the codes of a row.
    stride : int
        Bytes of a row.
    sections : dict
        Name of each section -> its first byte and length.
    target, sample_weight : Series or None
    """

    n_rows: int
    max_bins: int
    schema: Schema
    columns: tuple[CodedColumn, ...]
    order: tuple[int, ...]
    stride: int
    sections: Mapping[str, tuple[int, int]]
    target: Series | None
    sample_weight: Series | None

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        content = {
            "n_rows": self.n_rows,
            "max_bins": self.max_bins,
            "schema": self.schema.to_dict(),
            "columns": [[column.n_values, column.has_missing] for column in self.columns],
            "order": list(self.order),
            "stride": self.stride,
            "sections": {name: list(place) for name, place in self.sections.items()},
            "target": self.target.to_dict() if self.target else None,
            "sample_weight": self.sample_weight.to_dict() if self.sample_weight else None,
        }
        return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


class SectionWriter:
    """Writer of the sections, which are aligned; the preamble is written last.

    Parameters
    ----------
    file : binary file
        An empty file, open for writing.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sections: dict[str, tuple[int, int]] = {}
        file.write(bytes(_ALIGNED))

    def begin(self, name: str) -> int:
        """Begin a section and return its first byte."""
        at = self._file.tell()
        at += -at % _ALIGNED
        self._file.write(bytes(at - self._file.tell()))
        self.sections[name] = at, 0
        return at

    def write(self, data: npt.NDArray[Any] | bytes) -> None:
        """Append bytes to the section that was begun last."""
        self._file.write(data if isinstance(data, bytes) else view_bytes(data))
        name = next(reversed(self.sections))
        at, _ = self.sections[name]
        self.sections[name] = at, self._file.tell() - at

    def pad_rows(self) -> None:
        """Append the room that the engine reads beyond the last row."""
        self.write(bytes(_CODE_RUN))

    def finish(self, header: CodedHeader) -> None:
        """Write the header and the preamble."""
        content = header.to_bytes()
        at = self._file.tell()
        self._file.write(content)
        self._file.seek(0)
        self._file.write(_PREAMBLE.pack(MAGIC, VERSION, zlib.crc32(content), at, len(content)))


def read_ahead(file: Bytes, header: CodedHeader) -> None:
    """Have the system read pages of codes ahead, and drop them first once read."""
    for name in ("columns", "rows"):
        _advise(file, header.sections[name], "MADV_SEQUENTIAL")


def open_direct(path: Path, status: os.stat_result) -> int:
    """Open a file for reads that leave none of its pages in memory.

    Returns
    -------
    descriptor : int
        It is the caller's to close; -1 where there are no such reads, or the path is no longer that
        of the file with this status.
    """
    descriptor = system.open_direct(path)
    if descriptor >= 0 and not os.path.samestat(os.fstat(descriptor), status):
        os.close(descriptor)
        return -1
    return descriptor


def keep_pages(file: Bytes, header: CodedHeader) -> None:
    """Have the system read only those pages of rows that are used, and keep them."""
    _advise(file, header.sections["rows"], "MADV_RANDOM")


def _advise(file: Bytes, section: tuple[int, int], advice: str) -> None:
    mapping: Any = file.base
    if isinstance(mapping, mmap.mmap) and hasattr(mmap, advice):
        at, length = section
        before = at % mmap.PAGESIZE
        mapping.madvise(getattr(mmap, advice), at - before, before + length)


def view_bytes(array: npt.NDArray[Any]) -> memoryview:
    """Return the bytes of an array."""
    view: memoryview = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return view


def read_coded_header(file: Bytes) -> CodedHeader:
    """Read and check everything but the codes and the series.

    Raises
    ------
    ModelFormatError
        If it is not the file of a coded table, is damaged, or was written by a newer version.
    """
    if file.size < _PREAMBLE.size or file[: len(MAGIC)].tobytes() != MAGIC:
        raise ModelFormatError("this is no coded table of arboleda")
    _, version, crc, at, length = _PREAMBLE.unpack(file[: _PREAMBLE.size].tobytes())
    if version != VERSION:
        raise ModelFormatError(
            f"the coded table has format version {version}, and this version of arboleda reads "
            f"version {VERSION}: write it anew"
        )
    if at + length != file.size:
        raise ModelFormatError(
            f"the file is damaged: it should have {at + length} bytes and has {file.size}"
        )
    content = file[at:].tobytes()
    if zlib.crc32(content) != crc:
        raise ModelFormatError("the header does not match its checksum: the file is damaged")
    try:
        return _parse_header(parse_strict_json(content, "the header"), file)
    except ModelFormatError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ModelFormatError(f"the header is damaged: {error}") from error


def compute_checksum(file: Bytes, header: CodedHeader) -> int:
    """Return the CRC-32 of the header and the edges, which distinguishes a file from others.

    The header has the CRC-32 of target and weights; codes are not read.
    """
    at, length = header.sections["edges"]
    checksum: int = _PREAMBLE.unpack(file[: _PREAMBLE.size].tobytes())[2]
    return zlib.crc32(view_bytes(file[at : at + length]), checksum)


def _parse_header(data: Any, file: Bytes) -> CodedHeader:
    _insist(isinstance(data, dict) and data.keys() == _KEYS.keys())
    for name, kind in _KEYS.items():
        _insist(isinstance(data[name], kind) and not isinstance(data[name], bool))
    n_rows, stride = data["n_rows"], data["stride"]
    _insist(0 < n_rows < 2**32 and 0 < stride < 2**31 and 1 < data["max_bins"] <= MAX_CODES)
    schema = Schema.from_dict(data["schema"])
    columns = data["columns"]
    _insist(len(columns) == schema.n_columns > 0)
    for column in columns:
        _insist(isinstance(column, list) and len(column) == 2 and _is_count(column[0]))
        _insist(column[0] <= MAX_CODES and isinstance(column[1], bool))
    sections = _read_sections(data["sections"], file.size)
    target, weight = (
        None if data[name] is None else Series.from_dict(data[name])
        for name in ("target", "sample_weight")
    )
    _check_lengths(sections, n_rows, stride, len(columns))
    for name, series in (("target", target), ("sample_weight", weight)):
        _insist((series is not None) == (name in sections))
        if series is not None:
            _insist(sections[name][1] == n_rows * np.dtype(series.dtype).itemsize)
    _insist(weight is None or (weight.labels is None and weight.dtype == "<f8"))
    order = data["order"]
    _insist(all(_is_count(j) and j < len(columns) for j in order))
    _insist(len(set(order)) == len(order) <= stride)
    return CodedHeader(
        n_rows,
        data["max_bins"],
        schema,
        _read_edges(columns, schema, file, sections["edges"]),
        tuple(order),
        stride,
        sections,
        target,
        weight,
    )


def _read_sections(found: dict[str, Any], n_bytes: int) -> dict[str, tuple[int, int]]:
    sections = {}
    for name, place in found.items():
        _insist(isinstance(place, list) and len(place) == 2 and all(map(_is_count, place)))
        _insist(place[0] % _ALIGNED == 0 and place[0] + place[1] <= n_bytes)
        sections[name] = place[0], place[1]
    _insist({"columns", "edges", "rows"} <= sections.keys())
    _insist(sections.keys() <= {"columns", "edges", "rows", "target", "sample_weight"})
    return sections


def _check_lengths(
    sections: Mapping[str, tuple[int, int]], n_rows: int, stride: int, n_columns: int
) -> None:
    _insist(sections["columns"][1] == n_rows * n_columns)
    _insist(sections["rows"][1] == n_rows * stride + _CODE_RUN)


def _read_edges(
    columns: list[Any], schema: Schema, file: Bytes, place: tuple[int, int]
) -> tuple[CodedColumn, ...]:
    """Return the columns; each numeric one has the lower and then the upper edges of its codes."""
    n_levels = schema.n_levels
    n_edges = sum(
        n for (n, _), levels in zip(columns, schema.levels, strict=True) if levels is None
    )
    at, length = place
    _insist(length == 2 * 8 * n_edges)
    edges = file[at : at + length].view("<f8").astype(np.float64)
    result, first = [], 0
    for j, (n_values, has_missing) in enumerate(columns):
        if schema.levels[j] is not None:
            _insist(n_values == n_levels[j])
            result.append(CodedColumn(n_values, True, has_missing))
            continue
        lower, upper = edges[first : first + 2 * n_values].reshape(2, n_values)
        first += 2 * n_values
        result.append(CodedColumn(n_values, False, has_missing, lower, upper))
    return tuple(result)


def read_series(file: Bytes, header: CodedHeader, name: str) -> npt.NDArray[Any] | None:
    """Return the target or the weights, checked; numbers are a view of the file.

    Raises
    ------
    ModelFormatError
        If they are damaged.
    """
    series = header.target if name == "target" else header.sample_weight
    if series is None:
        return None
    at, length = header.sections[name]
    content = file[at : at + length]
    if zlib.crc32(view_bytes(content)) != series.crc:
        raise ModelFormatError(f"the {name} does not match its checksum: the file is damaged")
    values = content.view(series.dtype)
    if series.labels is None:
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ModelFormatError(f"the {name} has a value that is not finite")
        if values.dtype == np.bool_ and (content > 1).any():
            raise ModelFormatError(f"the {name} has a value that is neither true nor false")
        return values
    if values.min() < 0 or values.max() >= len(series.labels):
        raise ModelFormatError(f"the {name} has a label that is not in the header")
    is_text = all(isinstance(label, str) for label in series.labels)
    labels = np.array(series.labels, dtype=np.str_ if is_text else object)
    found: npt.NDArray[Any] = labels[values]
    return found


def _insist(holds: bool) -> None:
    if not holds:
        raise ModelFormatError("the header of the coded table is damaged, or not of this version")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63
