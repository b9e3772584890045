"""Rows that repeat others, and rows that contradict others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.explore._subject import Goal, Subject
from arboleda.study.data.describe import row_digests

__all__ = ["describe_duplicates"]

EXAMPLES = 8
ROWS = 6


def describe_duplicates(subject: Subject) -> dict[str, Any]:
    """Groups of equal rows, and groups that agree in all features but not in the target."""
    groups = _groups(row_digests(subject.table.columns))
    return {
        "n_repeats": sum(len(rows) - 1 for rows in groups),
        "n_groups": len(groups),
        "groups": [_example(rows) for rows in groups[:EXAMPLES]],
        "conflicts": None if subject.goal is None else _conflicts(subject, subject.goal),
    }


def _groups(digests: npt.NDArray[np.bytes_]) -> list[npt.NDArray[np.int64]]:
    """Row numbers of each group of more than one row, the largest first, then the earliest."""
    _, group, counts = np.unique(digests, return_inverse=True, return_counts=True)
    rows = np.argsort(group, kind="stable")
    parts = np.split(rows, np.cumsum(counts)[:-1])
    return sorted((p for p in parts if len(p) > 1), key=lambda p: (-len(p), int(p[0])))


def _conflicts(subject: Subject, goal: Goal) -> dict[str, Any] | None:
    """Columns that only name the rows have no say: with them no two rows would agree."""
    features = subject.features
    if not features:
        return None
    known = np.flatnonzero(goal.known)
    groups = [known[rows] for rows in _groups(row_digests(features)[known])]
    differing = [rows for rows in groups if len(np.unique(goal.y[rows])) > 1]
    return {
        "n_groups": len(differing),
        "n_rows": sum(map(len, differing)),
        "groups": [
            _example(rows) | {"targets": _targets(goal, rows[:ROWS])}
            for rows in differing[:EXAMPLES]
        ],
    }


def _example(rows: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Row numbers as a person counts them, from 1."""
    return {"n_rows": len(rows), "rows": [int(row) + 1 for row in rows[:ROWS]]}


def _targets(goal: Goal, rows: Sequence[int] | npt.NDArray[np.int64]) -> list[str | float]:
    values = goal.y[rows].tolist()
    return [goal.labels[int(v)] for v in values] if goal.labels else values
