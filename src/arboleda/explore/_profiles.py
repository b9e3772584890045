"""Profiles of the target: its mean, or the shares of its classes, by groups of a column."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._numbers import plain
from arboleda.explore._explored_table import ExploredTable, Target
from arboleda.study.data.table import Column

__all__ = ["describe_profiles"]

Floats = npt.NDArray[np.float64]

SHOWN = 6
INTERVALS = 8  # of a numeric column, with about equal numbers of rows
LEVELS = 8  # of a categorical column, the most frequent
MOST_CLASSES = 8


def describe_profiles(
    subject: ExploredTable, goal: Target, names: Sequence[str]
) -> list[dict[str, Any]]:
    """Compute the profiles of the first columns named, from all rows with a target.

    A group is a level of a category, an interval of numbers, all other levels, or the rows without
    a value. With more than eight classes, there are no profiles.
    """
    if len(goal.labels) > MOST_CLASSES:
        return []
    return [
        {"name": name, "groups": _make_groups(subject, goal, subject.table.column(name))}
        for name in names[:SHOWN]
    ]


def _make_groups(subject: ExploredTable, goal: Target, column: Column) -> list[dict[str, Any]]:
    values, y = column.values[goal.known], goal.y[goal.known]
    present = ~np.isnan(values)
    if column.kind in ("string", "boolean"):
        codes, labels = _make_levels(column, values[present])
    else:
        codes, labels = _make_intervals(values[present], column.kind == "datetime")
    group = np.full(len(values), len(labels))
    group[present] = codes
    described = []
    for place, label in enumerate([*labels, None]):
        rows = group == place
        if rows.any():
            described.append(
                {"label": label, "n_rows": int(rows.sum()), **_summarize_target(goal, y[rows])}
            )
    return described


def _summarize_target(goal: Target, y: Floats) -> dict[str, Any]:
    """Return the shares of the classes or the mean of a quantity; the other is None."""
    if goal.labels:
        counts = np.bincount(y.astype(np.int64), minlength=len(goal.labels))
        return {"shares": (counts / len(y)).tolist(), "mean": None}
    # Divide first: the sum of large numbers may overflow.
    return {"shares": None, "mean": float((y / len(y)).sum())}


def _make_levels(column: Column, values: Floats) -> tuple[npt.NDArray[np.int64], list[str]]:
    distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[order] = np.arange(len(distinct))
    words = column.levels or ("false", "true")
    labels = [words[int(distinct[k])] for k in order[:LEVELS]]
    if len(distinct) > LEVELS:
        labels.append(f"{len(distinct) - LEVELS} others")
    return np.minimum(rank, LEVELS)[codes], labels


def _make_intervals(values: Floats, dates: bool) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return intervals that end at values of the column, or the values if there are few."""
    write = _format_day if dates else plain
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


def _format_day(seconds: float) -> str:
    return str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))
