"""Encoding of categorical columns: native splits, or ordered target statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from arboleda._engine.coded_rows import CodedRows
from arboleda._engine.coded_table import CodedTable
from arboleda._engine.columns import MISSING, DenseTable, Schema, SparseTable
from arboleda.boosting._rows import FitProblem, TrainingRows
from arboleda.boosting._target_statistics import TargetStatistics, learn_statistics

CategoryEncoding = Literal["auto", "native", "ordered"]

# "auto" encodes columns with more categories than MAX_NATIVE_LEVELS by statistics, and those with
# more than FEW_LEVELS and fewer rows per category than MIN_ROWS_PER_LEVEL;
# benchmarks/categories.py measures the effect.
MAX_NATIVE_LEVELS = 255
FEW_LEVELS = 50
MIN_ROWS_PER_LEVEL = 50


def encode_categories(
    problem: FitProblem,
    encoding: CategoryEncoding,
    compute_target: Callable[[TrainingRows], npt.NDArray[np.float64]],
    kept: TargetStatistics | None,
    *,
    n_classes: int,
    seed: int,
) -> tuple[TargetStatistics, FitProblem]:
    """Replace the columns that an encoding selects by target statistics.

    The training rows get ordered statistics, which are computed from their own targets; all other
    rows get the statistics of their categories over the training rows.

    Parameters
    ----------
    problem : Problem
    encoding : {"auto", "native", "ordered"}
    compute_target : callable
        Takes the training rows and returns numbers or classes of all rows of their table, whose
        means are the statistics.
    kept : TargetStatistics or None
        Statistics of an earlier fit that is continued. They are kept, since its trees split on
        them. The training rows still get ordered statistics, since they may be the same rows.
    n_classes : int
        Number of classes; 0 if the target is numeric.
    seed : int
        Seed of the order of the rows.

    Returns
    -------
    statistics : TargetStatistics
    problem : Problem
        With the tables replaced.
    """
    rows, validation = problem.rows, problem.validation
    table = rows.table
    if isinstance(rows.X, CodedTable):
        _check_native(rows.X._file_rows, encoding, rows.numbers.size)
    columns = _find_ordered_columns(rows, encoding) if kept is None else kept.columns
    if not columns or not isinstance(table, DenseTable):
        return TargetStatistics((), ()), problem
    learned, replaced = learn_statistics(
        table,
        columns,
        rows.numbers,
        compute_target(rows),
        rows.weight,
        n_classes=n_classes,
        seed=seed,
        shards=rows.shards,
    )
    statistics = learned if kept is None else kept
    if validation is not None:
        same = validation.table is table
        encoded = replaced if same else replaced_table(statistics, validation.table)
        validation = replace(validation, table=encoded)
    rows = replace(rows, table=replaced)
    return statistics, replace(problem, rows=rows, validation=validation)


def replaced_table(
    statistics: TargetStatistics, table: DenseTable | SparseTable
) -> DenseTable | SparseTable:
    """Replace the categorical columns of a table of new rows by their statistics."""
    return table if isinstance(table, SparseTable) else statistics.replaced(table)


def find_statistics_defect(statistics: TargetStatistics, schema: Schema) -> str | None:
    """Return a sentence about why statistics do not match the columns, or None if they do."""
    for column, values in zip(statistics.columns, statistics.values, strict=True):
        levels = schema.levels[column] if column < schema.n_columns else None
        if levels is None:
            return "there are target statistics of a column that is not categorical"
        if len(values) != len(levels) + 1:
            return "a column has different numbers of categories and of target statistics"
    return None


def map_monotonic_cst(statistics: TargetStatistics, directions: Sequence[int]) -> list[int]:
    """Return the monotonic constraints of the encoded columns."""
    if not directions:
        return []
    return [directions[owner] for owner in statistics.owners(len(directions))]


def map_interaction_cst(
    statistics: TargetStatistics, sets: Sequence[Sequence[int]], n_columns: int
) -> list[list[int]]:
    """Return the interaction constraints, with each column replaced by all of its statistics."""
    owners = statistics.owners(n_columns)
    return [np.flatnonzero(np.isin(owners, group)).tolist() for group in sets]


def _find_ordered_columns(rows: TrainingRows, encoding: CategoryEncoding) -> tuple[int, ...]:
    table = rows.table
    if not isinstance(table, DenseTable) or encoding == "native":
        return ()
    max_native = _get_max_native(encoding, rows.n_rows)
    return tuple(
        column
        for column, n_levels in enumerate(table.n_levels)
        if n_levels > MISSING  # beyond the engine's codes, even if few of them are in the rows
        or (
            n_levels > max_native
            and _count_present(rows, table.columns[column], n_levels) > max_native
        )
    )


def _get_max_native(encoding: CategoryEncoding, n_rows: int) -> int:
    """Return the number of categories up to which a column keeps them."""
    if encoding == "auto":
        return max(FEW_LEVELS, min(MAX_NATIVE_LEVELS, n_rows // MIN_ROWS_PER_LEVEL))
    return 2  # one split separates two categories: statistics add nothing


def _check_native(table: CodedRows, encoding: CategoryEncoding, n_rows: int) -> None:
    """Raise an error if a column of a file would be replaced by statistics."""
    for column, n_levels in enumerate(table.n_levels):
        if encoding != "native" and n_levels > _get_max_native(encoding, n_rows):
            raise ValueError(
                f"category_encoding={encoding!r} replaces the {n_levels} categories of column "
                f"{table.schema.describe(column)} by statistics, which a CodedTable does not "
                "support: set category_encoding='native'"
            )


def _count_present(rows: TrainingRows, codes: npt.NDArray[np.integer], n_levels: int) -> int:
    """Return how many levels occur in the rows."""
    codes = codes[rows.numbers]
    counts = np.bincount(codes[codes < n_levels], minlength=n_levels)
    return int(np.count_nonzero(rows.shards.is_any(counts > 0)))
