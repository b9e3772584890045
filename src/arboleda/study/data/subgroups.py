"""Subgroups of rows by the values of a column."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from arboleda.study.data.table import Column, Table
from arboleda.study.errors import StudyError

__all__ = ["Parts", "check_score_by", "find_subgroups"]

# Further values are pooled.
MOST_VALUES = 20
# Maximum distinct numbers that are grouped by value; others are grouped by quartiles.
MOST_NUMBERS = 10

# Indices of the test rows of each group, by the name of the group.
Parts = Mapping[str, npt.NDArray[np.int64]]


def check_score_by(table: Table, target: str, by: Sequence[str]) -> None:
    """Check that the columns exist and are not the target.

    Raises
    ------
    StudyError
        If a column cannot be used.
    """
    for name in by:
        if name == target:
            raise StudyError(
                f"The column {name[:60]!r} is the target, which has metrics per class; name "
                "another one with --score-by."
            )
        table.column(name)


def find_subgroups(column: Column, rows: npt.NDArray[np.int64]) -> Parts:
    """Group rows by the values of a column.

    Each text, boolean, and number of a few is a group; of many texts, each of the most frequent
    ones. Other numbers and dates make four groups, cut at the quartiles. Rows with a missing value
    are a group, too.

    Parameters
    ----------
    column : Column
    rows : ndarray of int
        Rows of the table.

    Returns
    -------
    parts : dict of str to ndarray
        Indices in ``rows``.
    """
    values, missing = column.values[rows], column.missing[rows]
    known = np.flatnonzero(~missing)
    distinct = np.unique(values[known])
    if column.kind in ("string", "boolean") or (
        column.kind == "numeric" and len(distinct) <= MOST_NUMBERS
    ):
        parts = _by_value(column, values, known)
    else:
        parts = _by_quarter(column, values, known)
    if missing.any():
        parts["(missing)"] = np.flatnonzero(missing)
    return parts


def _by_value(
    column: Column, values: npt.NDArray[np.float64], known: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[np.int64]]:
    distinct, counts = np.unique(values[known], return_counts=True)
    if len(distinct) > MOST_VALUES:
        frequent = np.argsort(-counts, kind="stable")[: MOST_VALUES - 1]
        listed = distinct[np.sort(frequent)]
    else:
        listed = distinct
    parts = {_text(column, value): known[values[known] == value] for value in listed}
    if len(listed) < len(distinct):
        name = f"({len(distinct) - len(listed)} other values)"
        parts[name] = known[~np.isin(values[known], listed)]
    return parts


def _by_quarter(
    column: Column, values: npt.NDArray[np.float64], known: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[np.int64]]:
    if not known.size:
        return {}
    here = values[known]
    cuts = np.unique(np.quantile(here, [0.25, 0.5, 0.75], method="lower"))
    place = np.searchsorted(cuts, here, side="left")
    texts = [_text(column, cut) for cut in cuts]
    names = [f"up to {texts[0]}"]
    names += [f"above {low} up to {high}" for low, high in pairwise(texts)]
    names.append(f"above {texts[-1]}")
    found = {name: known[place == k] for k, name in enumerate(names)}
    return {name: rows for name, rows in found.items() if rows.size}


def _text(column: Column, value: float) -> str:
    if column.kind == "string":
        return column.levels[int(value)]
    if column.kind == "boolean":
        return "true" if value else "false"
    if column.kind == "datetime":
        try:
            return (
                datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00")
            )
        except (OverflowError, ValueError, OSError):
            return f"{value:g} s"
    return f"{value:.6g}"
