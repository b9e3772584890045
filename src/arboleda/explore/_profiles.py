"""How the target goes with a column: its mean, or the shares of its classes, in groups of rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._numbers import plain
from arboleda.explore._subject import Goal, Subject
from arboleda.study.data.table import Column

__all__ = ["describe_profiles"]

Floats = npt.NDArray[np.float64]

SHOWN = 6
INTERVALS = 8  # of a number, with equally many rows
LEVELS = 8  # of a category, the most frequent
MOST_CLASSES = 8


def describe_profiles(subject: Subject, goal: Goal, names: Sequence[str]) -> list[dict[str, Any]]:
    """Profiles of the first columns named, from all rows that have a target.

    A group is a level of a category, an interval of a number, the rest of the levels, or the rows
    without a value. With more than eight classes there are none.
    """
    if len(goal.labels) > MOST_CLASSES:
        return []
    return [
        {"name": name, "groups": _groups(subject, goal, subject.table.column(name))}
        for name in names[:SHOWN]
    ]


def _groups(subject: Subject, goal: Goal, column: Column) -> list[dict[str, Any]]:
    values, y = column.values[goal.known], goal.y[goal.known]
    present = ~np.isnan(values)
    if column.kind in ("string", "boolean"):
        codes, labels = _levels(column, values[present])
    else:
        codes, labels = _intervals(values[present], column.kind == "datetime")
    group = np.full(len(values), len(labels))
    group[present] = codes
    told = []
    for place, label in enumerate([*labels, None]):
        rows = group == place
        if rows.any():
            told.append({"label": label, "n_rows": int(rows.sum()), **_answer(goal, y[rows])})
    return told


def _answer(goal: Goal, y: Floats) -> dict[str, Any]:
    """Shares of the classes, or the mean of a quantity; the other one is None."""
    if goal.labels:
        counts = np.bincount(y.astype(np.int64), minlength=len(goal.labels))
        return {"shares": (counts / len(y)).tolist(), "mean": None}
    # Divided first: a sum of large numbers may be beyond double precision.
    return {"shares": None, "mean": float((y / len(y)).sum())}


def _levels(column: Column, values: Floats) -> tuple[npt.NDArray[np.int64], list[str]]:
    distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[order] = np.arange(len(distinct))
    words = column.levels or ("false", "true")
    labels = [words[int(distinct[k])] for k in order[:LEVELS]]
    if len(distinct) > LEVELS:
        labels.append(f"{len(distinct) - LEVELS} others")
    return np.minimum(rank, LEVELS)[codes], labels


def _intervals(values: Floats, dates: bool) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Intervals whose ends are values of the column; few distinct values stand alone."""
    write = _day if dates else plain
    distinct = np.unique(values)
    if len(distinct) <= INTERVALS:
        return np.searchsorted(distinct, values), [write(float(v)) for v in distinct]
    levels = np.arange(1, INTERVALS) / INTERVALS
    ends = np.unique(np.quantile(values, levels, method="inverted_cdf"))
    codes = np.searchsorted(ends, values)
    labels = []
    for code in np.unique(codes):
        inside = values[codes == code]
        low, high = write(float(inside.min())), write(float(inside.max()))
        labels.append(low if low == high else f"{low} to {high}")
    return np.unique(codes, return_inverse=True)[1], labels


def _day(seconds: float) -> str:
    return str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))
