"""Duplicate rows, and rows with equal features but different targets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explore._explored_table import ExploredTable, Target
from arboleda.study.data.describe import row_digests

__all__ = ["describe_duplicates"]

EXAMPLES = 8
ROWS = 6


def describe_duplicates(subject: ExploredTable) -> dict[str, Any]:
    """Find groups of equal rows, and groups with equal features but different targets."""
    groups = _find_groups(row_digests(subject.table.columns))
    return {
        "n_repeats": sum(len(rows) - 1 for rows in groups),
        "n_groups": len(groups),
        "groups": [_describe_group(rows) for rows in groups[:EXAMPLES]],
        "conflicts": None if subject.goal is None else _find_conflicts(subject, subject.goal),
    }


def _find_groups(digests: npt.NDArray[np.bytes_]) -> list[npt.NDArray[np.int64]]:
    """Return the row numbers of groups of several rows, the largest first, then the earliest."""
    _, group, counts = np.unique(digests, return_inverse=True, return_counts=True)
    rows = np.argsort(group, kind="stable")
    parts = np.split(rows, np.cumsum(counts)[:-1])
    return sorted((p for p in parts if len(p) > 1), key=lambda p: (-len(p), int(p[0])))


def _find_conflicts(subject: ExploredTable, goal: Target) -> dict[str, Any] | None:
    """Find groups of equal features and different targets, ignoring identifier columns."""
    features = subject.features
    if not features:
        return None
    known = np.flatnonzero(goal.known)
    groups = [known[rows] for rows in _find_groups(row_digests(features)[known])]
    differing = [rows for rows in groups if len(np.unique(goal.y[rows])) > 1]
    return {
        "n_groups": len(differing),
        "n_rows": sum(map(len, differing)),
        "groups": [
            _describe_group(rows) | {"targets": _get_targets(goal, rows[:ROWS])}
            for rows in differing[:EXAMPLES]
        ],
    }


def _describe_group(rows: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return the size of a group and its first row numbers, counted from 1."""
    return {"n_rows": len(rows), "rows": [int(row) + 1 for row in rows[:ROWS]]}


def _get_targets(goal: Target, rows: Sequence[int] | npt.NDArray[np.int64]) -> list[str | float]:
    values = goal.y[rows].tolist()
    return [goal.labels[int(v)] for v in values] if goal.labels else values
