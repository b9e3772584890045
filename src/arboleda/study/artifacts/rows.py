"""Rows of a study's table that are saved beside its models, with the held-out predictions.

Intervals, sets of classes and calibrated decisions about new rows rest on it. The file is a plain
array (``.npy``): a line for each row, its target, then the model's answer as
`arboleda.study.execution.prediction_store` keeps it.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from arboleda.study.artifacts.files import FileList, checked_bytes, put
from arboleda.study.artifacts.layout import Layout
from arboleda.study.data.table import Column
from arboleda.study.errors import StudyFormatError
from arboleda.study.execution.prediction_store import Predictions
from arboleda.study.plan import Plan

__all__ = [
    "ROWS",
    "SPLIT",
    "HeldOut",
    "Rows",
    "read_held_out",
    "read_rows",
    "save_held_out",
    "save_rows",
]

SPLIT, ROWS = "split.parquet", "rows.parquet"
# Of a larger table a random part of this size is kept: 160 MB before compression.
KEPT_CELLS = 20_000_000
# What the seed is mixed with, so that two uses of it draw different numbers.
_PURPOSE = 7
_TEST, _NEVER = -1, -2


@dataclass(frozen=True, repr=False)
class Rows:
    """Rows of a study's table.

    Attributes
    ----------
    X : pyarrow.Table
        The columns that the models take, numbers, truth values, dates and text.
    y : ndarray of shape (n,)
        The target's values, as the models predict them.
    codes : ndarray of shape (n,)
        The places of the classes among ``classes_``, int64; in a regression ``y``.
    numbers : ndarray of shape (n,)
        The rows' places in the study's table, from 0, ascending.
    fold : ndarray of shape (n,)
        The fold, from 0, in which a training row was predicted by a model that had not seen it; -1
        for test rows, -2 for rows that no fold predicts, as the earliest of a time are.
    n_rows : int
        How many such rows the study had; more than n where the folder keeps only a part of them.
    groups : ndarray of shape (n,) or None
        The number of each row's group, int64, where the study divided its rows by groups.
    """

    X: pa.Table
    y: npt.NDArray[Any]
    codes: npt.NDArray[Any]
    numbers: npt.NDArray[np.int64]
    fold: npt.NDArray[np.int64]
    n_rows: int
    groups: npt.NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"Rows: {len(self):,} of {self.n_rows:,}, {self.X.num_columns} columns"


def save_rows(plan: Plan, folder: Path) -> dict[str, Any]:
    """Write the split, and the rows or a random part of them.

    Returns
    -------
    kept : dict
        ``files``, the list of files, and ``error``, why the rows are not there, or None.
    """
    files: dict[str, Any] = {}
    try:
        fold = np.full(plan.table.n_rows, _NEVER, dtype=np.int8)
        fold[plan.split.test] = _TEST
        for k, (_, score) in enumerate(plan.split.partition):
            fold[score] = k
        kept = np.zeros(plan.table.n_rows, dtype=bool)
        kept[_drawn(plan)] = True
        split = {"fold": fold, "kept": kept}
        if plan.split.groups is not None:
            split["group"] = plan.split.groups
        files[SPLIT] = put(folder, SPLIT, _parquet(pa.table(split)))
        names = [*(c.name for c in plan.table.columns if plan.roles[c.name].role == "feature")]
        data = {name: _arrow(plan.table.column(name), kept) for name in names}
        data[plan.target.name] = pa.array(plan.target.y[kept])
        files[ROWS] = put(folder, ROWS, _parquet(pa.table(data)))
    except OSError as error:
        return {"files": files, "error": error.strerror or str(error)}
    return {"files": files, "error": None}


def _drawn(plan: Plan) -> npt.NDArray[np.int64]:
    """All rows, or as many as there is room for: test rows take at most half of it."""
    train, test = plan.split.train, plan.split.test
    n_columns = 1 + sum(role.role == "feature" for role in plan.roles.values())
    room = max(KEPT_CELLS // n_columns, 2)
    if room >= len(train) + len(test):
        return np.concatenate([train, test])
    draw = np.random.default_rng([plan.seed, _PURPOSE])
    n_test = min(len(test), room // 2)
    some_test = draw.choice(test, n_test, replace=False)
    return np.concatenate([draw.choice(train, room - n_test, replace=False), some_test])


def _arrow(column: Column, kept: npt.NDArray[np.bool_]) -> pa.Array:
    values = column.values[kept]
    missing = np.isnan(values)
    if column.kind == "numeric":
        return pa.array(values, mask=missing)
    filled = np.where(missing, 0, values)
    if column.kind == "boolean":
        return pa.array(filled.astype(bool), mask=missing)
    if column.kind == "datetime":
        ticks = np.round(filled * 1e6).astype("int64").astype("datetime64[us]")
        return pa.array(ticks, pa.timestamp("us"), mask=missing)
    codes = pa.array(filled.astype(np.int32), mask=missing)
    return pa.DictionaryArray.from_arrays(codes, pa.array(column.levels, pa.large_string()))


def _parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def read_rows(
    folder: Path,
    files: FileList,
    layout: Layout,
    target: str,
    classes: npt.NDArray[Any] | None,
    *,
    test: bool,
) -> Rows:
    """The kept training or test rows.

    Raises
    ------
    StudyFormatError
        If the files are missing or damaged, or no rows were kept.
    """
    split = _read(folder, SPLIT, files, ["fold", "kept"], ["group"])
    data = _read(folder, ROWS, files, [*layout.raw_names, target])
    try:
        fold = np.asarray(split["fold"].to_numpy(), dtype=np.int64)
        kept = np.asarray(split["kept"].to_numpy(), dtype=bool)
        groups = None
        if "group" in split.column_names:
            groups = np.asarray(split["group"].to_numpy(), dtype=np.int64)
        wanted = (fold == _TEST) == test
        here = wanted[kept]
        codes = np.asarray(data[target].to_numpy())[here]
        codes = codes.astype(np.float64 if classes is None else np.int64)
        y = codes if classes is None else classes[codes]
        x = data.select(list(layout.raw_names)).filter(pa.array(here))
    except (pa.ArrowException, IndexError, ValueError, TypeError) as error:
        raise StudyFormatError(
            f"The rows in {folder} are damaged ({error}); run the study's command again."
        ) from error
    numbers = np.flatnonzero(kept & wanted)
    some = None if groups is None else groups[numbers]
    return Rows(x, y, codes, numbers, fold[numbers], int(wanted.sum()), some)


def _read(
    folder: Path,
    name: str,
    files: Mapping[str, Any],
    columns: Sequence[str],
    optional: Sequence[str] = (),
) -> pa.Table:
    content = checked_bytes(folder, name, files)
    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        raise StudyFormatError(f"The file {folder / name} is damaged: {error}.") from error
    if [name for name in table.column_names if name not in optional] != [*columns]:
        raise StudyFormatError(
            f"The file {folder / name} holds other columns than the study's table."
        )
    return table


HELD_OUT = "held_out.npy"
# More rows make no quantile better that anybody would see.
MOST_ROWS = 100_000
# What the seed is mixed with, so that two uses of it draw different numbers.
_HELD_OUT_PURPOSE = 13

# Targets (numbers of classes, or values), and what was said of their rows.
HeldOut = tuple[npt.NDArray[Any], Predictions]


def save_held_out(held_out: HeldOut | None, folder: Path, seed: int) -> dict[str, Any]:
    """Write the answers, or those about a random part of the rows.

    Returns
    -------
    kept : dict
        ``files``, the list of files, and ``error``, why it is not there, or None.
    """
    if held_out is None:
        return {"files": {}, "error": "what the best model said of held-out rows is not known"}
    y, said = held_out
    columns = [y, said.predicted] if said.score is None else [y, said.predicted, said.score]
    table = np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)
    if len(table) > MOST_ROWS:
        draw = np.random.default_rng([seed, _HELD_OUT_PURPOSE])
        table = table[np.sort(draw.choice(len(table), MOST_ROWS, replace=False))]
    content = io.BytesIO()
    np.lib.format.write_array(content, table, (1, 0), allow_pickle=False)
    try:
        return {"files": {HELD_OUT: put(folder, HELD_OUT, content.getvalue())}, "error": None}
    except OSError as error:
        return {"files": {}, "error": error.strerror or str(error)}


def read_held_out(folder: Path, files: FileList, n_classes: int) -> HeldOut:
    """The targets and answers that were kept; ``n_classes`` is 0 in a regression.

    Raises
    ------
    StudyFormatError
        If the file is missing or damaged.
    """
    content = checked_bytes(folder, HELD_OUT, files)
    try:
        table = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        _check(table, n_classes)
    except (ValueError, TypeError, EOFError) as error:
        raise StudyFormatError(
            f"The file {folder / HELD_OUT} is damaged ({str(error)[:200]}); run the study's "
            "command again: what is done is kept."
        ) from error
    kind = np.int64 if n_classes else np.float64
    score = table[:, 2:] if table.shape[1] > 2 else None
    return table[:, 0].astype(kind), Predictions(table[:, 1].astype(kind), score)


def _check(table: Any, n_classes: int) -> None:
    if table.dtype != np.float64 or table.ndim != 2 or not len(table):
        raise ValueError("it is no table of numbers")
    if table.shape[1] not in (2, 2 + n_classes):
        raise ValueError(f"it has {table.shape[1]} columns")
    codes = table[:, :2]
    if not np.isfinite(codes).all():
        raise ValueError("it holds answers that are no numbers")
    if n_classes and not ((codes >= 0) & (codes < n_classes) & (codes % 1 == 0)).all():
        raise ValueError("it holds classes that there are not")
