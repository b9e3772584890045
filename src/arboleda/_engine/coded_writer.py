"""Writing of coded tables: edges from all rows of a column, then its codes."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.coded_file import (
    MAX_CODES,
    CodedColumn,
    CodedHeader,
    SectionWriter,
    Series,
    view_bytes,
)
from arboleda._engine.coded_parts import CollectedColumns, ColumnFile, LabelFile, Part
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._native import BinnedDataset
from arboleda._utils.files import open_atomically
from arboleda._utils.number_types import is_integer

_BLOCK_ROWS = 1 << 16
_CHECKED_BYTES = 1 << 24


def write_coded_table(
    path: Path,
    parts: Iterable[Part],
    *,
    target: str | None,
    sample_weight: str | None,
    max_bins: int,
    categorical_features: Any,
    n_jobs: int | None,
) -> None:
    """Write the coded table of some parts.

    Temporary files beside ``path`` take the room of the columns as float32 or float64. Memory holds
    a part; then a column, with about 17 bytes per row for sorting it.

    Raises
    ------
    ValueError
        If there are no rows, or the parts do not match each other; see `CollectedColumns`.
    """
    if not (is_integer(max_bins) and 2 <= max_bins <= MAX_CODES):
        raise ValueError(f"max_bins must be an integer from 2 to {MAX_CODES}, got {max_bins!r}")
    n_threads = resolve_n_jobs(n_jobs)
    with TemporaryDirectory(prefix=f".{path.name[:40]}.", dir=path.parent) as folder:
        collected = CollectedColumns(Path(folder), target, sample_weight, categorical_features)
        for part in parts:
            collected.add(part)
        if collected.n_rows == 0:
            raise ValueError("the parts have no rows")
        with open_atomically(path) as file:
            writer = SectionWriter(file)
            columns = _write_columns(writer, collected, max_bins, n_threads)
            edges = [edge for column in columns for edge in (column.lower, column.upper)]
            writer.begin("edges")
            writer.write(np.concatenate(edges).astype("<f8"))
            file.flush()
            order, stride = _write_rows(writer, Path(file.name), columns, n_threads)
            series = {
                role: _write_series(writer, role, name, collected.special[role])
                for role, name in (("target", target), ("sample_weight", sample_weight))
                if name is not None
            }
            writer.finish(
                CodedHeader(
                    collected.n_rows,
                    int(max_bins),
                    collected.make_schema(),
                    tuple(columns),
                    tuple(order),
                    stride,
                    writer.sections,
                    series.get("target"),
                    series.get("sample_weight"),
                )
            )


def _write_columns(
    writer: SectionWriter, collected: CollectedColumns, max_bins: int, n_threads: int
) -> list[CodedColumn]:
    """Write the codes of each column, as the engine learns them from all of its rows."""
    writer.begin("columns")
    columns = []
    for j, n_levels in enumerate(collected.make_schema().n_levels):
        values = collected.read(j)
        coded = BinnedDataset([values], collected.n_rows, n_threads, (n_levels,), max_bins, None)
        writer.write(coded.byte_codes(0))
        has_missing = bool(coded.missing_columns().size)
        if n_levels:
            columns.append(CodedColumn(n_levels, True, has_missing))
        else:
            lower, upper = coded.edges(0)
            columns.append(CodedColumn(lower.size, False, has_missing, lower, upper))
        del values, coded
        collected.columns[j].path.unlink()
    return columns


def _write_rows(
    writer: SectionWriter, path: Path, columns: list[CodedColumn], n_threads: int
) -> tuple[list[int], int]:
    """Write the codes row by row; return the order of the columns, and the bytes of a row."""
    at, length = writer.sections["columns"]
    n_rows = length // len(columns)
    file = np.memmap(path, dtype=np.uint8, mode="r")
    native = [column.native for column in columns]
    table = BinnedDataset.of_file(file, n_rows, at, native, 0, 0, [], None, n_threads)
    order = table.row_order()
    stride = _choose_stride(len(order))
    codes = file[at : at + length].reshape(len(columns), n_rows)
    writer.begin("rows")
    for begin in range(0, n_rows, _BLOCK_ROWS):
        block = codes[order, begin : begin + _BLOCK_ROWS]
        rows = np.zeros((block.shape[1], stride), dtype=np.uint8)
        rows[:, : len(order)] = block.T
        writer.write(rows)
    writer.pad_rows()
    return order, stride


def _choose_stride(n_columns: int) -> int:
    """Return the bytes of a row: rows do not straddle cache lines where that costs little."""
    for width in (8, 16, 32, 64):
        if n_columns <= width and 8 * n_columns >= 7 * width:
            return width
    return max(1, n_columns)


def _write_series(writer: SectionWriter, role: str, name: str, column: ColumnFile) -> Series:
    values = column.read()
    labels = tuple(column.positions) if isinstance(column, LabelFile) else None
    dtype = values.dtype.newbyteorder("<")
    writer.begin(role)
    crc = 0
    for begin in range(0, values.size, _CHECKED_BYTES):
        block: npt.NDArray[Any] = np.ascontiguousarray(
            values[begin : begin + _CHECKED_BYTES], dtype=dtype
        )
        crc = zlib.crc32(view_bytes(block), crc)
        writer.write(block)
    return Series(name, dtype.str, labels, crc)
