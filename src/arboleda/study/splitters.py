"""Splits that keep groups of rows together, and splits along time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from arboleda._utils.errors import StudyError
from arboleda.tables.table import Column

__all__ = [
    "check_times",
    "encode_groups",
    "hold_out_groups",
    "hold_out_latest",
    "make_forward_folds",
    "make_group_folds",
    "make_windows",
]

Rows = npt.NDArray[np.int64]
# Mixed with the seed, so that its other uses draw different numbers.
_PURPOSE = 11


def encode_groups(column: Column) -> Rows:
    """Return the group number of each row.

    Raises
    ------
    StudyError
        If a row has no group, or all rows have the same.
    """
    n_missing = int(column.missing.sum())
    if n_missing:
        raise StudyError(
            f"The column of groups {column.name!r} is missing in {n_missing:,} of "
            f"{len(column.values):,} rows; give every row its group."
        )
    distinct, codes = np.unique(column.values, return_inverse=True)
    if len(distinct) == 1:
        raise StudyError(
            f"The column of groups {column.name!r} holds only one group; name a column "
            "with several groups."
        )
    return codes.astype(np.int64)


def hold_out_groups(groups: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Split into training and test rows; no group has rows on both sides.

    Groups are visited in random order; each goes to the test if this brings the test closer to its
    share of the rows.
    """
    sizes = np.bincount(groups)
    wanted = share * len(groups)
    order = np.random.default_rng([seed, _PURPOSE]).permutation(len(sizes))
    taken, held_out = 0, np.zeros(len(sizes), dtype=bool)
    for group in order:
        nearer = abs(taken + sizes[group] - wanted) < abs(taken - wanted)
        if nearer and held_out.sum() < len(sizes) - 1:
            held_out[group], taken = True, taken + sizes[group]
    if not taken:
        # Each group has more than twice the share of rows: the smallest is closest to it.
        held_out[int(sizes.argmin())] = True
    in_test = held_out[groups]
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def make_group_folds(
    groups: Rows, classes: Rows | None, n_folds: int, seed: int, name: str
) -> Iterator[tuple[Rows, Rows]]:
    """Yield the fit and score rows of each fold, approximately stratified by class.

    Raises
    ------
    StudyError
        If there are fewer groups than folds, or every class has fewer rows than folds.
    """
    n_groups = len(np.unique(groups))
    if n_groups < n_folds:
        raise StudyError(
            f"The training rows hold only {n_groups} of the groups of {name!r}, too few for "
            f"{n_folds} folds; choose fewer folds with --cv."
        )
    if classes is None:
        splitter = GroupKFold(n_folds, shuffle=True, random_state=seed)
        yield from splitter.split(groups, None, groups)
        return
    if np.bincount(classes).max() < n_folds:
        raise StudyError(
            f"No class has the {n_folds} training rows that {n_folds} folds need; choose fewer "
            "folds with --cv."
        )
    stratified = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    yield from stratified.split(groups, classes, groups)


def check_times(column: Column) -> None:
    """Check that a column can order the rows in time.

    Raises
    ------
    StudyError
        If it holds text, booleans, missing values or only one time.
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
            f"The column of times {column.name!r} holds the same time in every row; name a "
            "column with several times."
        )


def hold_out_latest(column: Column, share: float) -> tuple[Rows, Rows]:
    """Split into training rows and the latest rows; no time has rows on both sides."""
    order = np.argsort(column.values, kind="stable")
    changes = _find_changes(column.values[order])
    start = _find_nearest(changes, round((1 - share) * len(order)))
    return np.sort(order[:start]), np.sort(order[start:])


def make_windows(column: Column, train: Rows, n_folds: int) -> tuple[tuple[Rows, Rows], ...]:
    """Return folds of expanding windows, each scored on the next window, in time order.

    The training rows are sorted by time and split into n + 1 windows W of about equal size; no time
    is in two windows. Fold i is fitted to W0 ... Wi and scored on Wi+1.

    Raises
    ------
    StudyError
        If there are too few distinct times.
    """
    folds = make_forward_folds(column.values[train], n_folds)
    if folds is None:
        n_times = len(np.unique(column.values[train]))
        raise StudyError(
            f"The training rows have {n_times} distinct times of {column.name!r}, too few or too "
            f"unevenly spread for {n_folds + 1} windows; choose fewer folds with --cv."
        )
    return tuple((train[fit], train[score]) for fit, score in folds)


def make_forward_folds(times: npt.NDArray[Any], n_folds: int) -> list[tuple[Rows, Rows]] | None:
    """Return the folds of `make_windows` as indices; None with too few distinct times."""
    order = np.argsort(times, kind="stable")
    changes = _find_changes(times[order])
    wanted = [round(i * len(order) / (n_folds + 1)) for i in range(1, n_folds + 1)]
    starts = [_find_nearest(changes, at) for at in wanted] if changes.size else []
    if len(set(starts)) < n_folds:
        return None
    ends = [*starts[1:], len(order)]
    return [(order[:start], order[start:end]) for start, end in zip(starts, ends, strict=True)]


def _find_changes(values: npt.NDArray[Any]) -> Rows:
    """Return the indices at which a new value begins in sorted values."""
    return np.flatnonzero(np.diff(values) > 0) + 1


def _find_nearest(changes: Rows, place: int) -> int:
    return int(changes[np.abs(changes - place).argmin()])
