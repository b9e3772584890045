"""Splits along time: models are fitted to earlier rows than they are scored on."""

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.study.data.table import Column
from arboleda.study.errors import StudyError

__all__ = ["check_times", "forward_folds", "hold_out_latest", "windows"]

Rows = npt.NDArray[np.int64]


def check_times(column: Column) -> None:
    """Check that a column can order the rows.

    Raises
    ------
    StudyError
        If it holds text, booleans or missing values, or only one time.
    """
    if column.kind not in ("datetime", "numeric"):
        shown = f"text such as {column.levels[0][:60]!r}" if column.levels else "truth values"
        raise StudyError(
            f"The column of times {column.name!r} holds {shown}; give it dates such as 2024-05-31, "
            "or numbers."
        )
    n_missing = int(column.missing.sum())
    if n_missing:
        raise StudyError(
            f"The column of times {column.name!r} is missing in {n_missing:,} of "
            f"{len(column.values):,} rows; give every row its time."
        )
    if column.values.min() == column.values.max():
        raise StudyError(
            f"The column of times {column.name!r} holds the same time in every row; there is "
            "nothing to order by."
        )


def hold_out_latest(column: Column, share: float) -> tuple[Rows, Rows]:
    """Split into training rows and the latest rows; no time is on both sides."""
    order = np.argsort(column.values, kind="stable")
    changes = _changes(column.values[order])
    start = _nearest(changes, round((1 - share) * len(order)))
    return np.sort(order[:start]), np.sort(order[start:])


def windows(column: Column, train: Rows, n_folds: int) -> tuple[tuple[Rows, Rows], ...]:
    """Return expanding-window folds, each scored on the window that follows, in time order.

    The training rows are sorted and split into n + 1 windows W of about the same size, with no time
    in two of them; fold i is fitted to W0 ... Wi and scored on Wi+1.

    Raises
    ------
    StudyError
        If there are too few distinct times.
    """
    folds = forward_folds(column.values[train], n_folds)
    if folds is None:
        n_times = len(np.unique(column.values[train]))
        raise StudyError(
            f"The training rows have {n_times} distinct times of {column.name!r}, too few or too "
            f"unevenly spread for {n_folds + 1} windows; choose fewer folds with --cv."
        )
    return tuple((train[fit], train[score]) for fit, score in folds)


def forward_folds(times: npt.NDArray[Any], n_folds: int) -> list[tuple[Rows, Rows]] | None:
    """Return the folds of `windows` as indices of times; None with too few distinct times."""
    order = np.argsort(times, kind="stable")
    changes = _changes(times[order])
    wanted = [round(i * len(order) / (n_folds + 1)) for i in range(1, n_folds + 1)]
    starts = [_nearest(changes, at) for at in wanted] if changes.size else []
    if len(set(starts)) < n_folds:
        return None
    ends = [*starts[1:], len(order)]
    return [(order[:start], order[start:end]) for start, end in zip(starts, ends, strict=True)]


def _changes(values: npt.NDArray[Any]) -> Rows:
    """Return the indices in ascending values at which a new value begins."""
    return np.flatnonzero(np.diff(values) > 0) + 1


def _nearest(changes: Rows, place: int) -> int:
    return int(changes[np.abs(changes - place).argmin()])
