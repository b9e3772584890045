"""Cross columns: the difference and the product of each pair of some numeric columns.

A tree approximates a boundary such as a < b, or a product, by many splits along both columns. One
split of the difference or the product is enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import DenseTable, SparseTable

Floats = npt.NDArray[np.float64]

# Maximum number of columns that are crossed with each other.
MAX_CROSSED = 6
_PER_PAIR = 2  # a difference and a product


def select_crossed_columns(importances: Floats, kinds: Sequence[str]) -> tuple[int, ...]:
    """Return the most important numeric columns in ascending order; empty if there is only one.

    Parameters
    ----------
    importances : ndarray of shape (n_columns,)
        A column of importance 0 is not selected.
    kinds : sequence of {"numeric", "categorical"}
    """
    order = np.argsort(-importances, kind="stable").tolist()
    useful = [j for j in order if importances[j] > 0.0 and kinds[j] == "numeric"][:MAX_CROSSED]
    return tuple(sorted(useful)) if len(useful) > 1 else ()


def append_crosses(
    table: DenseTable | SparseTable, crossed: Sequence[int]
) -> DenseTable | SparseTable:
    """Append the difference and the product of each pair of columns to a table.

    Missing values of either column are missing in both. Results that overflow become the largest
    finite number.

    Parameters
    ----------
    table : DenseTable or SparseTable
        A sparse table must not have crossed columns.
    crossed : sequence of int
        Indices of numeric columns.
    """
    if not len(crossed) or not isinstance(table, DenseTable):
        return table
    numbers = [table.columns[j].astype(np.float64) for j in crossed]
    appended: list[npt.NDArray[np.float64]] = []
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore", invalid="ignore"):
        for first, second in combinations(numbers, 2):
            for values in (first - second, first * second):
                appended.append(np.clip(values, -largest, largest, out=values))
    n_levels = (*table.n_levels, *[0] * len(appended))
    return replace(table, columns=[*table.columns, *appended], n_levels=n_levels, matrix=None)


def extend_row(numbers: list[float], crossed: Sequence[int]) -> list[float]:
    """Append to the numbers of one row what `append_crosses` appends to a table."""
    largest = float(np.finfo(np.float64).max)
    appended = []
    for first, second in combinations([numbers[j] for j in crossed], 2):
        for value in (first - second, first * second):
            appended.append(value if math.isnan(value) else min(max(value, -largest), largest))
    return [*numbers, *appended]


def count_crosses(crossed: Sequence[int]) -> int:
    """Return the number of columns that `append_crosses` appends."""
    return _PER_PAIR * len(crossed) * (len(crossed) - 1) // 2


def share_crosses(shares: Floats, crossed: Sequence[int]) -> Floats:
    """Divide the shares of the appended columns equally between their two sources."""
    n_columns = shares.size - count_crosses(crossed)
    divided = shares[:n_columns].copy()
    for pair, both in zip(
        combinations(crossed, 2), shares[n_columns:].reshape(-1, _PER_PAIR).sum(axis=1), strict=True
    ):
        divided[list(pair)] += both / 2.0
    return divided
