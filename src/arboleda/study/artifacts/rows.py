"""Rows of a study's table and the best model's held-out predictions, saved beside the models.

Prediction intervals, prediction sets and calibrated decisions are based on held-out predictions.
Their file is an array (``.npy``) with a line for each row: its target, then the prediction and
scores as in `arboleda.study.execution.prediction_store`.
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

from arboleda._utils.errors import StudyFormatError
from arboleda.scoring.scores import Predictions
from arboleda.study.artifacts.files import FileList, read_checked_file, write_file
from arboleda.study.plan import Plan
from arboleda.tables.layout import Layout
from arboleda.tables.table import Column
from arboleda.tables.timed_target import join_relevance, join_times

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
# Of a larger table, a random sample of this size is saved: 160 MB before compression.
MAX_SAVED_CELLS = 20_000_000
# Mixed into the seed: each use of it draws different numbers.
_PURPOSE = 7
_TEST, _NEVER = -1, -2


@dataclass(frozen=True, repr=False)
class Rows:
    """Rows of a study's table.

    Attributes
    ----------
    X : pyarrow.Table
        The columns that the models take: numbers, Booleans, dates and text.
    y : ndarray of shape (n,)
        The target's values, as the models predict them. Of a time to an event, two fields:
        ``event`` and ``time``.
    codes : ndarray of shape (n,)
        The indices of the classes in ``classes_``, int64; without classes ``y``, and of a ranking
        with the queries: two fields, ``relevance`` and ``query``.
    numbers : ndarray of shape (n,)
        The indices of the rows in the study's table, ascending.
    fold : ndarray of shape (n,)
        The fold, from 0, in which a training row was held out; -1 for test rows, -2 for rows that
        no fold holds out, such as the earliest in splits by time.
    n_rows : int
        The number of such rows in the study; more than n if the folder has only a sample of them.
    groups : ndarray of shape (n,) or None
        The index of each row's group, int64, if the study split its rows by groups.
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
    """Write the split, and the rows or a random sample of them.

    Returns
    -------
    result : dict
        ``files``, the list of files, and ``error``, the reason why rows were not saved, or None.
    """
    files: dict[str, Any] = {}
    try:
        fold = np.full(plan.table.n_rows, _NEVER, dtype=np.int8)
        fold[plan.split.test] = _TEST
        for k, (_, score) in enumerate(plan.split.partition):
            fold[score] = k
        is_saved = np.zeros(plan.table.n_rows, dtype=bool)
        is_saved[_draw_rows(plan)] = True
        split = {"fold": fold, "kept": is_saved}
        if plan.split.groups is not None:
            split["group"] = plan.split.groups
        files[SPLIT] = write_file(folder, SPLIT, _encode_parquet(pa.table(split)))
        names = [*(c.name for c in plan.table.columns if plan.roles[c.name].role == "feature")]
        data = {name: _convert_to_arrow(plan.table.column(name), is_saved) for name in names}
        data[plan.target.name] = pa.array(plan.target.values[is_saved])
        if plan.target.task == "survival" and plan.target.second is not None:
            data[plan.target.second] = pa.array(plan.target.y["event"][is_saved])
        files[ROWS] = write_file(folder, ROWS, _encode_parquet(pa.table(data)))
    except OSError as error:
        return {"files": files, "error": error.strerror or str(error)}
    return {"files": files, "error": None}


def _draw_rows(plan: Plan) -> npt.NDArray[np.int64]:
    """Return all rows, or a sample within the limit; test rows take at most half of it."""
    train, test = plan.split.train, plan.split.test
    n_columns = 1 + sum(role.role == "feature" for role in plan.roles.values())
    room = max(MAX_SAVED_CELLS // n_columns, 2)
    if room >= len(train) + len(test):
        return np.concatenate([train, test])
    draw = np.random.default_rng([plan.seed, _PURPOSE])
    n_test = min(len(test), room // 2)
    some_test = draw.choice(test, n_test, replace=False)
    return np.concatenate([draw.choice(train, room - n_test, replace=False), some_test])


def _convert_to_arrow(column: Column, is_saved: npt.NDArray[np.bool_]) -> pa.Array:
    values = column.values[is_saved]
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


def _encode_parquet(table: pa.Table) -> bytes:
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
    task: str = "regression",
    second: str | None = None,
) -> Rows:
    """Read the saved training or test rows.

    ``second`` is the column of events, or of queries, if the task has one.

    Raises
    ------
    StudyFormatError
        If the files are missing or damaged.
    """
    split = _read_table(folder, SPLIT, files, ["fold", "kept"], ["group"])
    events = [second] if task == "survival" and second is not None else []
    data = _read_table(folder, ROWS, files, [*layout.raw_names, target, *events])
    try:
        fold = np.asarray(split["fold"].to_numpy(), dtype=np.int64)
        is_saved = np.asarray(split["kept"].to_numpy(), dtype=bool)
        groups = None
        if "group" in split.column_names:
            groups = np.asarray(split["group"].to_numpy(), dtype=np.int64)
        is_wanted = (fold == _TEST) == test
        here = is_wanted[is_saved]
        codes = np.asarray(data[target].to_numpy())[here]
        codes = codes.astype(np.float64 if classes is None else np.int64)
        if events:
            codes = join_times(np.asarray(data[second].to_numpy(), dtype=bool)[here], codes)
        y = codes if classes is None else classes[codes]
        x = data.select(list(layout.raw_names)).filter(pa.array(here))
    except (pa.ArrowException, IndexError, ValueError, TypeError) as error:
        raise StudyFormatError(
            f"The rows in {folder} are damaged ({error}); run the study's command again."
        ) from error
    numbers = np.flatnonzero(is_saved & is_wanted)
    groups = None if groups is None else groups[numbers]
    if task == "ranking":
        if groups is None:
            raise StudyFormatError(
                f"The rows in {folder} are damaged (they lack the queries); run the study's "
                "command again."
            )
        codes = join_relevance(codes, groups)
    return Rows(x, y, codes, numbers, fold[numbers], int(is_wanted.sum()), groups)


def _read_table(
    folder: Path,
    name: str,
    files: Mapping[str, Any],
    columns: Sequence[str],
    optional: Sequence[str] = (),
) -> pa.Table:
    content = read_checked_file(folder, name, files)
    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        raise StudyFormatError(f"The file {folder / name} is damaged: {error}.") from error
    if [name for name in table.column_names if name not in optional] != [*columns]:
        raise StudyFormatError(
            f"The file {folder / name} has other columns than the study's table."
        )
    return table


HELD_OUT = "held_out.npy"
# More rows do not noticeably improve quantiles.
MAX_HELD_OUT_ROWS = 100_000
# Mixed into the seed: each use of it draws different numbers.
_HELD_OUT_PURPOSE = 13

# Targets (indices of classes, or values), and the predictions of their rows.
HeldOut = tuple[npt.NDArray[Any], Predictions]


def save_held_out(held_out: HeldOut | None, folder: Path, seed: int) -> dict[str, Any]:
    """Write held-out predictions, or those of a random sample of the rows.

    Returns
    -------
    result : dict
        ``files``, the list of files, and ``error``, the reason why they were not saved, or None.
    """
    if held_out is None:
        return {"files": {}, "error": "there are no held-out predictions of the best model"}
    y, predictions = held_out
    columns = [y, predictions.predicted]
    if predictions.score is not None:
        columns.append(predictions.score)
    table = np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)
    if len(table) > MAX_HELD_OUT_ROWS:
        draw = np.random.default_rng([seed, _HELD_OUT_PURPOSE])
        table = table[np.sort(draw.choice(len(table), MAX_HELD_OUT_ROWS, replace=False))]
    content = io.BytesIO()
    np.lib.format.write_array(content, table, (1, 0), allow_pickle=False)
    try:
        return {
            "files": {HELD_OUT: write_file(folder, HELD_OUT, content.getvalue())},
            "error": None,
        }
    except OSError as error:
        return {"files": {}, "error": error.strerror or str(error)}


def read_held_out(folder: Path, files: FileList, n_classes: int) -> HeldOut:
    """Read held-out targets and predictions; ``n_classes`` is 0 in a regression.

    Raises
    ------
    StudyFormatError
        If the file is missing or damaged.
    """
    content = read_checked_file(folder, HELD_OUT, files)
    try:
        table = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        _check_held_out(table, n_classes)
    except (ValueError, TypeError, EOFError) as error:
        raise StudyFormatError(
            f"The file {folder / HELD_OUT} is damaged ({str(error)[:200]}); run the study's "
            "command again: completed work is reused."
        ) from error
    kind = np.int64 if n_classes else np.float64
    score = table[:, 2:] if table.shape[1] > 2 else None
    return table[:, 0].astype(kind), Predictions(table[:, 1].astype(kind), score)


def _check_held_out(table: Any, n_classes: int) -> None:
    if table.dtype != np.float64 or table.ndim != 2 or not len(table):
        raise ValueError("it is not a table of numbers")
    if table.shape[1] not in (2, 2 + n_classes):
        raise ValueError(f"it has {table.shape[1]} columns")
    codes = table[:, :2]
    if not np.isfinite(codes).all():
        raise ValueError("it has predictions that are not finite")
    if n_classes and not ((codes >= 0) & (codes < n_classes) & (codes % 1 == 0)).all():
        raise ValueError("it has unknown classes")
