"""Rows that members learn from, and rows that they answer for."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from arboleda.tree._folds import Split, check_row_indices

__all__ = ["Folds", "folds_of"]

Rows = npt.NDArray[np.intp]


class Folds:
    """Splits of a table, and the rows that are in one of their tests.

    Parameters
    ----------
    splits : list of (ndarray, ndarray)
        Rows to learn from, rows to answer for.
    n_rows : int
        Of the table.

    Attributes
    ----------
    rows : ndarray
        Rows that are in a test, ascending.
    times : ndarray
        In how many tests each of them is.
    """

    def __init__(self, splits: list[Split], n_rows: int) -> None:
        self.splits = splits
        self.n_rows = n_rows
        times = np.zeros(n_rows, dtype=np.int64)
        for _, test in splits:
            np.add.at(times, test, 1)
        self.rows: Rows = np.flatnonzero(times)
        self.times = times[self.rows]

    def __len__(self) -> int:
        """Return the number of splits."""
        return len(self.splits)

    def places(self, split: int) -> Rows:
        """Places among `rows` of the rows to answer for in a split."""
        return np.searchsorted(self.rows, self.splits[split][1])


def folds_of(cv: Any, X: Any, y: npt.NDArray[Any], groups: Any, *, classes: bool) -> Folds:
    """Splits of a cross-validation.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        An int, or 5 for None, means so many folds in the order of the rows, stratified if y holds
        classes; if there are groups, no group is cut in two.
    X, y, groups : array-like
    classes : bool
        Whether y holds classes.

    Raises
    ------
    ValueError
        If a split has no rows to learn from or says rows that are not there, or no row is in a
        test.
    """
    cv = 5 if cv is None else cv
    if groups is not None and isinstance(cv, Integral):
        cv = (StratifiedGroupKFold if classes else GroupKFold)(int(cv))
    splitter = check_cv(cv, y, classifier=classes)
    splits: list[Split] = []
    for number, (train, test) in enumerate(_splits(splitter, X, y, groups)):
        split = check_row_indices(train, len(y), number), check_row_indices(test, len(y), number)
        if not split[0].size:
            raise ValueError(f"cv gave no rows to learn from in split {number}")
        both = np.intersect1d(*split)
        if both.size:
            raise ValueError(
                f"cv gave row {both[0]} in split {number} both to learn from and to answer for: "
                "members would answer for what they have seen"
            )
        splits.append(split)
    folds = Folds(splits, len(y))
    if not folds.rows.size:
        raise ValueError("cv gave no rows to answer for")
    return folds


def _splits(splitter: Any, X: Any, y: npt.NDArray[Any], groups: Any) -> list[Any]:
    try:
        return list(splitter.split(X, y, groups))
    except ValueError as error:
        raise ValueError(
            f"{str(error).rstrip('.')}: set cv to fewer folds or to other ones, or give more rows"
        ) from error
