"""Rows to learn from and rows to judge by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.boosting import BoostingRows
from arboleda._engine.fit import BinnedDataset
from arboleda._engine.table import SparseTable, Table
from arboleda.boosting._watch import Stopping
from arboleda.tree._folds import fold_splits, hold_out, keep_every_class

Floats = npt.NDArray[np.float64]
RowNumbers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Rows:
    """Some rows of a table, with the targets and weights of all of them.

    Parameters
    ----------
    X : array-like
        The table as the caller gave it.
    table : Table or SparseTable
        The same, read.
    target : ndarray of shape (n_samples,)
        Numbers, or classes as 0, 1, ..
    weight : ndarray of shape (n_samples,), or None
    numbers : ndarray
        Which rows, ascending; none has the weight 0.
    offset : ndarray of shape (n_samples, n_outputs), or None
        Raw scores of an initial model.
    """

    X: Any
    table: Table | SparseTable
    target: Floats
    weight: Floats | None
    numbers: RowNumbers
    offset: Floats | None = None

    @classmethod
    def of_weight(
        cls, X: Any, table: Table | SparseTable, target: Floats, weight: Floats | None
    ) -> Rows:
        """Rows whose weight is not 0; the others may have any target, and get a usual one."""
        if weight is None:
            return cls(X, table, target, None, np.arange(table.n_rows, dtype=np.uint32))
        numbers = np.flatnonzero(weight)
        return cls(X, table, np.where(weight > 0.0, target, target[numbers[0]]), weight, numbers)

    @property
    def targets(self) -> Floats:
        """Targets of these rows."""
        return self.target[self.numbers]

    @property
    def weights(self) -> Floats | None:
        """Weights of these rows."""
        return None if self.weight is None else self.weight[self.numbers]

    def coded(self, table: BinnedDataset) -> BoostingRows:
        """Return these rows as the engine takes them, given the codes of their table."""
        return BoostingRows(table, self.numbers, self.target, self.weight, self.offset)


@dataclass(frozen=True)
class Problem:
    """What boosting works on.

    Parameters
    ----------
    rows : Rows
        To learn from.
    validation : Rows or None
        To judge by.
    stopping : Stopping or None
        When to stop early.
    """

    rows: Rows
    validation: Rows | None
    stopping: Stopping | None

    @property
    def judging(self) -> Rows:
        """The rows whose score says when to stop."""
        return self.rows if self.validation is None else self.validation


def holdout_split(rows: Rows, fraction: float, *, stratify: bool, seed: int) -> tuple[Rows, Rows]:
    """Part rows at random into those to learn from and those to judge by.

    Parameters
    ----------
    rows : Rows
    fraction : float or int
        Share of the rows to judge by, or their number.
    stratify : bool
        Whether the target holds classes: of every class the same share is set aside, and at least
        one row of it stays to learn from.
    seed : int

    Raises
    ------
    ValueError
        If no row would be left on either side.
    """
    numbers = rows.numbers.astype(np.intp)
    learn: RowNumbers
    judge: RowNumbers
    learn, judge = hold_out(fraction, rows.target, numbers, stratify=stratify, seed=seed)
    if stratify:
        learn, judge = keep_every_class(learn, judge, rows.target)
    if not (learn.size and judge.size):
        raise ValueError(
            f"validation_fraction={fraction} of n_samples={rows.numbers.size} leaves {learn.size} "
            f"rows to learn from and {judge.size} to judge by: change it, give more rows, or give "
            "the validation rows as X_val and y_val"
        )
    return replace(rows, numbers=learn), replace(rows, numbers=judge)


def kfold_splits(rows: Rows, n_folds: int, *, stratify: bool, seed: int) -> list[tuple[Rows, Rows]]:
    """Deal rows out to folds: for each the other rows to learn from, and its own to judge by.

    Parameters
    ----------
    rows : Rows
        At least as many as folds.
    n_folds : int
    stratify : bool
        Whether the target holds classes: they are dealt out evenly, and all stay to learn from.
    seed : int
    """
    parts = []
    numbers = rows.numbers.astype(np.intp)
    splits = fold_splits(n_folds, rows.target, numbers, stratify=stratify, seed=seed)
    for split in splits:
        learn, judge = keep_every_class(*split, rows.target) if stratify else split
        if judge.size:
            parts.append((replace(rows, numbers=learn), replace(rows, numbers=judge)))
    return parts
