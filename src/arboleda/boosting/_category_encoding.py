"""Which categorical columns are split as they are, and which become target statistics first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import SparseTable, Table
from arboleda._engine.schema import MISSING, Schema, get_missing_code
from arboleda.boosting._rows import Problem, Rows
from arboleda.boosting._target_statistics import TargetStatistics, learn_statistics

CategoryEncoding = Literal["auto", "native", "ordered"]

# "auto": columns of more categories than these become statistics, and columns with fewer rows for
# each of more than a few categories; benchmarks/categories.py measures it.
MOST_NATIVE_LEVELS = 255
FEW_LEVELS = 50
FEWEST_NATIVE_ROWS = 50


def with_statistics(
    problem: Problem,
    encoding: CategoryEncoding,
    kept: TargetStatistics | None,
    *,
    n_classes: int,
    seed: int,
) -> tuple[TargetStatistics, Problem]:
    """Put target statistics in the place of the columns that an encoding says.

    The rows to learn from get ordered statistics, from their own targets; all other rows get those
    of their categories, in which they have no part.

    Parameters
    ----------
    problem : Problem
    encoding : {"auto", "native", "ordered"}
    kept : TargetStatistics or None
        Those of an earlier fit that is continued: its trees ask about them, so they stay. The rows
        to learn from have ordered statistics all the same, for they may be the same rows.
    n_classes : int
        0: the target holds numbers.
    seed : int
    """
    rows, validation = problem.rows, problem.validation
    table = rows.table
    columns = _ordered_columns(rows, encoding) if kept is None else kept.columns
    if not columns or not isinstance(table, Table):
        return TargetStatistics((), ()), problem
    learned, replaced = learn_statistics(
        table, columns, rows.numbers, rows.target, rows.weight, n_classes=n_classes, seed=seed
    )
    statistics = learned if kept is None else kept
    learning = replace(rows, table=replaced)
    if validation is not None:
        same = validation.table is table
        judging = replaced if same else replaced_table(statistics, validation.table)
        validation = replace(validation, table=judging)
    return statistics, replace(problem, rows=learning, validation=validation)


def replaced_table(statistics: TargetStatistics, table: Table | SparseTable) -> Table | SparseTable:
    """Put statistics in the place of columns of rows that were not learned from."""
    return table if isinstance(table, SparseTable) else statistics.replaced(table)


def missing_columns(table: Table | SparseTable) -> npt.NDArray[np.int64]:
    """Numbers of the categorical columns that have missing values."""
    if not isinstance(table, Table):
        return np.empty(0, dtype=np.int64)
    found = [
        column
        for column, n_levels in enumerate(table.n_levels)
        if n_levels and (table.columns[column] == get_missing_code(n_levels)).any()
    ]
    return np.array(found, dtype=np.int64)


def statistics_defect(statistics: TargetStatistics, schema: Schema) -> str | None:
    """Tell in a sentence why statistics cannot be about these columns; None when they can."""
    for column, values in zip(statistics.columns, statistics.values, strict=True):
        levels = schema.levels[column] if column < schema.n_columns else None
        if levels is None:
            return "there are target statistics of a column that holds no categories"
        if len(values) != len(levels) + 1:
            return "a column has another number of categories than of target statistics"
    return None


def engine_directions(statistics: TargetStatistics, directions: Sequence[int]) -> list[int]:
    """Monotonic constraints of the columns that trees ask; those of statistics are free."""
    if not directions:
        return []
    return [directions[owner] for owner in statistics.owners(len(directions))]


def engine_sets(
    statistics: TargetStatistics, sets: Sequence[Sequence[int]], n_columns: int
) -> list[list[int]]:
    """Interaction constraints: all statistics of a column stand where the column did."""
    owners = statistics.owners(n_columns)
    return [np.flatnonzero(np.isin(owners, group)).tolist() for group in sets]


def _ordered_columns(rows: Rows, encoding: CategoryEncoding) -> tuple[int, ...]:
    table = rows.table
    if not isinstance(table, Table) or encoding == "native":
        return ()
    # Two categories are told apart by one question: statistics have nothing to add.
    most = 2
    if encoding == "auto":
        most = max(FEW_LEVELS, min(MOST_NATIVE_LEVELS, rows.numbers.size // FEWEST_NATIVE_ROWS))
    return tuple(
        column
        for column, n_levels in enumerate(table.n_levels)
        if n_levels > MISSING  # the engine does not number so many, however few are learned from
        or (n_levels > most and _n_present(table.columns[column][rows.numbers], n_levels) > most)
    )


def _n_present(codes: npt.NDArray[np.integer], n_levels: int) -> int:
    return int(np.count_nonzero(np.bincount(codes[codes < n_levels], minlength=1)))
